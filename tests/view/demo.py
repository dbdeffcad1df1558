"""A small stage with one of everything, for tests of the eyes."""

from __future__ import annotations

import numpy as np

from vitruvian.systems.colours import BONE, SKIN, WATER
from vitruvian.view import MemoryRecording
from vitruvian.world import Camera, Frame, Joint, Lines, LinesFrame, Mesh, Points, Signal, Stage, Surface, SurfaceFrame

REST = (float(np.cos(0.45)), 0.0, float(np.sin(0.45)), 0.0)  # the elbow's: bent by 0.9 rad


def ball(radius: float, rings: int = 24, sides: int = 48) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and faces of a sphere with unit quads split in two; poles are single vertices."""
    theta = np.linspace(0.0, np.pi, rings + 1)[1:-1]
    phi = np.arange(sides) * 2.0 * np.pi / sides
    grid = np.stack(
        [
            np.outer(np.sin(theta), np.cos(phi)),
            np.outer(np.sin(theta), np.sin(phi)),
            np.outer(np.cos(theta), np.ones(sides)),
        ],
        axis=-1,
    ).reshape(-1, 3)
    vertices = radius * np.concatenate([[[0.0, 0.0, 1.0]], grid, [[0.0, 0.0, -1.0]]])
    faces = []
    for j in range(sides):
        k = (j + 1) % sides
        faces.append((0, 1 + j, 1 + k))
        for i in range(rings - 2):
            a, b = 1 + i * sides, 1 + (i + 1) * sides
            faces += [(a + j, b + j, a + k), (a + k, b + j, b + k)]
        last = 1 + (rings - 2) * sides
        faces.append((last + j, len(vertices) - 1, last + k))
    return vertices, np.array(faces, dtype=np.int32)


def box(x: float, y: float, z: float) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and faces of a box with these full edge lengths around the origin."""
    corners = np.array([[i, j, k] for i in (-0.5, 0.5) for j in (-0.5, 0.5) for k in (-0.5, 0.5)]) * (x, y, z)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    return corners, np.array(faces, dtype=np.int32)


def sheet(n: int, width: float) -> tuple[np.ndarray, np.ndarray]:
    """A flat square of n x n vertices in the plane z = 0."""
    place = np.linspace(-0.5 * width, 0.5 * width, n)
    x, y = np.meshgrid(place, place, indexing="ij")
    i, j = np.meshgrid(np.arange(n - 1), np.arange(n - 1), indexing="ij")
    a = (i * n + j).ravel()
    faces = np.concatenate([np.stack([a, a + n, a + 1], 1), np.stack([a + 1, a + n, a + n + 1], 1)])
    return np.stack([x.ravel(), y.ravel(), np.zeros(n * n)], 1), faces.astype(np.int32)


def demo(frames: int = 60, rate: float = 30.0) -> MemoryRecording:
    """An arm of three boxes with muscles, over a patch of water, with spray and a coloured cushion."""
    bodies = ("base", "upper", "lower")
    knob = ball(0.09)
    meshes = (
        Mesh("foot", "base", *box(0.5, 0.5, 0.12), layer="bones"),
        Mesh("post", "base", box(0.10, 0.10, 0.5)[0] + (0, 0, 0.3), box(1, 1, 1)[1], layer="bones"),
        Mesh("hinge", "upper", *knob, colour=BONE, layer="bones"),
        Mesh("upper", "upper", box(0.07, 0.07, 0.5)[0] + (0, 0, 0.25), box(1, 1, 1)[1], layer="bones"),
        Mesh("elbow", "lower", *knob, layer="bones"),
        Mesh("lower", "lower", box(0.06, 0.06, 0.45)[0] + (0, 0, 0.23), box(1, 1, 1)[1], layer="bones"),
        Mesh(
            "wall",
            "",
            box(0.04, 1.2, 0.5)[0] + (-1.1, 0.2, 0.25),
            box(1, 1, 1)[1],
            layer="room",
            colour=(0.55, 0.6, 0.7),
        ),
    )
    water, water_faces = sheet(60, 1.1)
    cushion, cushion_faces = ball(0.22, 30, 60)
    skin, skin_faces = ball(1.0, 30, 40)
    stage = Stage(
        bodies=bodies,
        joints=(
            Joint("base", "", words="the foot"),
            Joint("upper", "base"),
            Joint("lower", "upper", REST, "forearm, left"),
        ),
        meshes=meshes,
        surfaces=(
            Surface("pool", water_faces, layer="water", colour=WATER, opacity=0.45),
            Surface("cushion", cushion_faces, layer="flesh", value="stress", unit="kPa", value_range=(0.0, 5.0)),
            Surface("sleeve", skin_faces, layer="skin", colour=SKIN, opacity=0.35),
        ),
        lines=(
            Lines(
                "muscles",
                np.array([0, 3, 6, 9, 12]),
                np.array([0.03, 0.03, 0.022, 0.022]),
                names=("front", "back", "left", "right"),
                value="activation",
                layer="muscles",
                pulls=True,
            ),
            Lines("wire", np.array([0, 40]), np.array([0.008]), layer="wire", colour=(0.35, 0.37, 0.42)),
        ),
        points=(Points("spray", 0.012),),
        signals=(
            Signal("angle", "rad", "Elbow angle"),
            Signal("force", "N", "Contact force", components=("x", "y", "z")),
        ),
        cameras=(
            Camera("front", (1.3, -3.2, 1.6), (-0.05, 0.0, 0.55)),
            Camera("side", (3.4, 0.3, 1.0), (0.0, 0.0, 0.55)),
            Camera("top", (0.01, -0.6, 4.2), (0.0, 0.0, 0.3)),
        ),
    )
    time = np.arange(frames) / rate
    rng = np.random.default_rng(3)
    spray = np.stack([rng.uniform(0.1, 1.0, 60), rng.uniform(-0.9, 0.0, 60), rng.uniform(0.2, 0.55, 60)], 1)
    return MemoryRecording(
        stage,
        [_frame(float(t), water, cushion, skin, spray) for t in time],
        time,
        {"scene": "demo", "parameters": {"n": 3, "gravity": 9.81}},
    )


def _frame(t: float, water: np.ndarray, cushion: np.ndarray, skin: np.ndarray, spray: np.ndarray) -> Frame:
    shoulder, elbow = 0.3 * np.sin(2.0 * t), 0.9 + 0.5 * np.sin(3.0 * t)
    base = np.array([0, 0, 0.06, 1, 0, 0, 0], dtype=float)
    upper = np.array([0, 0, 0.62, np.cos(shoulder / 2), 0, np.sin(shoulder / 2), 0])
    tip = upper[:3] + 0.55 * np.array([np.sin(shoulder), 0, np.cos(shoulder)])
    turn = shoulder + elbow
    lower = np.array([*tip, np.cos(turn / 2), 0, np.sin(turn / 2), 0])
    hand = tip + 0.4 * np.array([np.sin(turn), 0, np.cos(turn)])
    half = upper[:3] + 0.25 * np.array([np.sin(shoulder), 0, np.cos(shoulder)])
    muscles = []
    for off in ((0.10, 0, 0), (-0.10, 0, 0), (0, 0.08, 0), (0, -0.08, 0)):
        muscles += [upper[:3] + np.multiply(off, 0.4), half + off, tip + 0.3 * (hand - tip) + np.multiply(off, 0.5)]
    wave = water + np.array([0.55, -0.55, 0.16])
    wave[:, 2] += 0.03 * np.sin(8 * wave[:, 0] + 4 * t) + 0.02 * np.cos(9 * wave[:, 1] - 3 * t)
    pad = cushion * (1, 1, 0.8 + 0.1 * np.sin(4 * t)) + (-0.6, -0.4, 0.19)
    sleeve = skin * (0.17, 0.17, 0.36)
    c, s = np.cos(turn), np.sin(turn)
    sleeve = sleeve @ np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]]) + 0.5 * (tip + hand)
    curve = np.linspace(0.0, 1.0, 40)
    wire = np.stack([-1.0 + 0.5 * curve, 0.5 + 0.2 * np.cos(12 * curve), 0.3 + 0.2 * np.sin(12 * curve)], 1)
    active = 0.5 + 0.5 * np.sin(3.0 * t + np.arange(4))
    drops = spray + np.stack([np.zeros(60), np.zeros(60), 0.1 * np.sin(5 * t + np.arange(60))], 1)
    return Frame(
        poses=np.stack([base, upper, lower]),
        signals={"angle": float(elbow), "force": np.array([np.sin(t), np.cos(t), 9.81])},
        surfaces={
            "pool": SurfaceFrame(wave),
            "cushion": SurfaceFrame(pad, values=5.0 * np.clip(pad[:, 2] / 0.4, 0, 1)),
            "sleeve": SurfaceFrame(sleeve),
        },
        lines={"muscles": LinesFrame(np.array(muscles), active, 100.0 * active), "wire": LinesFrame(wire)},
        points={"spray": drops},
    )
