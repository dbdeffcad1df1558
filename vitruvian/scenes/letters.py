"""A chain of letters, each sliding along the outline of the one before it (Lee 2008, figures 6.6 and 6.7).

The word starts upright on its baseline, hung by its first letter, and falls. Between two letters runs a roller: its
joint on the letter before is a closed curve spline along that outline. One-sided, the next letter is fixed to the
roller; two-sided, the roller also slides along the next letter's outline, by a second spline joint made from the
inverses of that outline's frames: T_next = T_letter · G(q₁) · flip · G'(q₂)⁻¹. Letters do not collide; nothing else
holds them together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from vitruvian.errors import InputError
from vitruvian.mesh import box, cylinder, extrude, join, moved, perimeter, resampled
from vitruvian.scenes._alphabet import Letter, letter
from vitruvian.skeleton import Inertia, Skeleton, SkeletonBuilder, joints
from vitruvian.spatial import Se3Spline, inverse, rotation_about, transform
from vitruvian.spatial.curves import closed_spline, frames_along
from vitruvian.systems import BonesSystem, Measure
from vitruvian.world import Camera, Mesh, Parameter, Recording, Report, Scene, Signal, World

HEIGHT, DEPTH = 0.30, 0.065  # of a letter [m]
DENSITY = 700.0  # hardwood [kg/m³]
ROLLER = 0.028 * HEIGHT  # radius [m]
ROLLER_MASS = 7850.0 * np.pi * ROLLER**2 * 2.1 * DEPTH  # steel [kg]
HANGER = np.array([0.0, 0.0, 2.5])  # the nail in the world [m]
COLOURS = (
    (0.78, 0.22, 0.18), (0.90, 0.45, 0.16), (0.95, 0.72, 0.22), (0.55, 0.68, 0.26), (0.22, 0.58, 0.42),
    (0.16, 0.53, 0.62), (0.22, 0.40, 0.70), (0.42, 0.30, 0.64), (0.65, 0.25, 0.50),
)  # fmt: skip


@dataclass(frozen=True)
class Chain:
    """The letters of a word, and where each touches the next along both outlines [m]."""

    letters: tuple[Letter, ...]
    before: tuple[float, ...]  # on the letter before, one per pair
    after: tuple[float, ...]  # on the letter after


def chain_of(word: str) -> Chain:
    """Spell a word, each letter touching the next where one of the two bulges farthest towards the other."""
    if len(word) < 2:
        raise InputError(f"word '{word}': a chain needs two letters or more")
    letters = tuple(letter(name, HEIGHT) for name in word)
    before, after = [], []
    for left, right in pairwise(letters):
        z = right.side(-1.0) if left.is_straight(1.0) else left.side(1.0)
        before.append(left.at_height(z, 1.0))
        after.append(right.at_height(z, -1.0))
    return Chain(letters, tuple(before), tuple(after))


def build_letters(
    word: str = "VITRUVIAN",
    *,
    two_sided: bool = False,
    friction: float = 0.0,
    gravity: float = 9.81,
    controls: int = 160,
) -> Skeleton:
    """Bones `1 V`, `2 I`, … with a `roller k` between each two; it starts (neutral) upright on the baseline."""
    chain = chain_of(word)
    builder = SkeletonBuilder(gravity=(0.0, 0.0, -gravity))
    names = bone_names(word)
    first = chain.letters[0]
    hinge = _hinge(first)
    builder.add_bone(
        names[0],
        joint=joints.Revolute((0.0, 1.0, 0.0)),
        placement=transform(None, HANGER),
        inertia=_inertia(first, transform(None, -hinge)),
        damping=friction * HEIGHT**2,
    )
    frame = transform(None, -hinge)  # the letter's own frame in its bone's
    for k, (left, right) in enumerate(pairwise(chain.letters)):
        here, there = outline_spline(left.name, controls), outline_spline(right.name, controls)
        contact, touching = here(chain.before[k]), there(chain.after[k])
        # The next letter starts upright, a roller's width to the right: both outlines face each other there.
        away = contact[:3, 3] + (2.0 * ROLLER, -_aside(k), 0.0) - touching[:3, 3]
        flip = inverse(contact) @ transform(None, away) @ touching
        roller = f"roller {k + 1}"
        builder.add_bone(
            roller,
            parent=names[k],
            placement=frame,
            joint=joints.CurveSpline(here),
            inertia=Inertia.cylinder(
                ROLLER_MASS, ROLLER, 2.1 * DEPTH, axis=(0.0, 1.0, 0.0), com=(0.0, 0.5 * _aside(k), ROLLER)
            ),
            neutral=[chain.before[k]],
            damping=friction,
        )
        frame = np.eye(4)
        if two_sided:
            builder.add_bone(
                names[k + 1],
                parent=roller,
                placement=flip,
                joint=joints.CurveSpline(outline_spline(right.name, controls, inverted=True)),
                inertia=_inertia(right, frame),
                neutral=[chain.after[k]],
                damping=friction,
            )
        else:
            held = flip @ inverse(touching)
            builder.add_bone(
                names[k + 1], parent=roller, placement=held, joint=joints.Fixed(), inertia=_inertia(right, frame)
            )
    return builder.build()


def bone_names(word: str) -> list[str]:
    """Names of the letters' bones."""
    return [f"{k + 1} {name}" for k, name in enumerate(word)]


@lru_cache(maxsize=64)
def outline_spline(name: str, controls: int, *, inverted: bool = False) -> Se3Spline:
    """The closed curve of tangent frames (x along, z outwards) on a letter's outline, or of their inverses."""
    shape = letter(name, HEIGHT)
    flat = resampled(shape.outline, controls)
    points = np.column_stack([flat[:, 0], np.zeros(controls), flat[:, 1]])
    outward = np.cross((0.0, 1.0, 0.0), np.roll(points, -1, axis=0) - np.roll(points, 1, axis=0))
    frames = frames_along(points, outward)
    if inverted:
        frames = np.array([inverse(frame) for frame in frames])
    return closed_spline(frames, perimeter(shape.outline))


def build(parameters: Mapping[str, Any]) -> World:
    word = parameters["word"].upper()
    skeleton = build_letters(
        word,
        two_sided=parameters["two_sided"],
        friction=parameters["friction"],
        gravity=parameters["gravity"],
        controls=parameters["controls"],
    )
    slides = [k for k, joint in enumerate(skeleton.joints) if isinstance(joint, joints.CurveSpline)]
    index = skeleton.q_start[slides]
    names = tuple(skeleton.names[k] for k in slides)
    simulation = BonesSystem(
        skeleton,
        meshes=_meshes(word),
        measures=(
            Measure(Signal("way", "m", "way along the outlines", names), lambda now: now.q[index]),
            Measure(Signal("speed", "m/s", "speed along the outlines", names), lambda now: now.v[index]),
        ),
        cameras=(
            Camera("front", (0.5, -5.2, 1.85), (0.12, 0.0, 1.45)),
            Camera("close", (2.4, -3.4, 2.2), (0.6, 0.0, 1.5)),
        ),
    )
    # Two-sided, light rollers run ahead of heavy letters, and faster.
    return World(simulation, frame_rate=60.0, substeps=parameters["substeps"] * (2 if parameters["two_sided"] else 1))


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    signals = recording.signals
    balance = signals["balance"]
    word = parameters["word"].upper()
    chain = chain_of(word)
    mass = sum(shape.body(DENSITY, DEPTH)["mass"] for shape in chain.letters)
    # What the whole word gains by falling by half its length, as it does when it comes to hang.
    scale = mass * parameters["gravity"] * 0.5 * sum(shape.width for shape in chain.letters)
    drift = float(np.abs(balance - balance[0]).max() / scale)
    gap = _gaps(recording, chain, word)
    metrics = {
        "energy_drift": drift,
        "distance_slid_m": float(np.abs(np.diff(signals["way"], axis=0)).sum()),
        "highest_speed": float(np.abs(signals["speed"]).max()),
        "letters": float(len(word)),
        "gap_error_m": gap,
    }
    return Report(
        checks={
            "energy within 0.5 %, friction counted": drift < 5e-3,
            "letters slide": metrics["distance_slid_m"] > 0.1 * HEIGHT,
            "rollers stay on the outlines": gap < 1e-3,
        },
        metrics=metrics,
    )


def _gaps(recording: Recording, chain: Chain, word: str) -> float:
    """How far rollers' contact points ever are from the outline of the letter before them [m]."""
    from vitruvian.spatial import transform_from_pose

    bodies = recording.bodies
    hinge = _hinge(chain.letters[0])
    worst = 0.0
    for i in range(0, len(recording), max(1, len(recording) // 30)):
        poses = [transform_from_pose(pose) for pose in recording.poses[i]]
        for k, shape in enumerate(chain.letters[:-1]):
            own = poses[bodies.index(bone_names(word)[k])]
            point = inverse(own) @ poses[bodies.index(f"roller {k + 1}")][:, 3]
            local = point[[0, 2]] + (hinge[[0, 2]] if k == 0 else 0.0)
            worst = max(worst, float(np.min(np.linalg.norm(resampled(shape.outline, 4000) - local, axis=1))))
    return worst


def _hinge(first: Letter) -> np.ndarray:
    """Where the first letter hangs on its nail [m], in the letter's frame: in its upper left."""
    return np.array([0.13 * HEIGHT, 0.0, 0.88 * HEIGHT])


def _aside(k: int) -> float:
    """How far letter k + 1 stands aside of letter k [m]: neighbours hang in two planes and so pass each other."""
    return (1.0 if k % 2 else -1.0) * 1.06 * DEPTH


def _inertia(shape: Letter, frame: np.ndarray) -> Inertia:
    return Inertia(**shape.body(DENSITY, DEPTH)).moved(frame)


def _meshes(word: str) -> tuple[Mesh, ...]:
    chain = chain_of(word)
    lying = transform(rotation_about((1.0, 0.0, 0.0), 0.5 * np.pi), None)
    meshes = []
    for k, (name, shape) in enumerate(zip(bone_names(word), chain.letters)):
        solid = extrude(shape.outline[::3], DEPTH, bevel=0.02 * HEIGHT, holes=tuple(h[::3] for h in shape.holes))
        if k == 0:
            solid = moved(solid, transform(None, -_hinge(shape)))
        meshes.append(Mesh(name, name, *solid, layer="letters", colour=COLOURS[k % len(COLOURS)]))
    roller = moved(cylinder(ROLLER, 2.1 * DEPTH, edge=0.2 * ROLLER), lying)
    for k in range(len(word) - 1):
        pin = moved(roller, transform(None, (0.0, 0.5 * _aside(k), ROLLER)))
        meshes.append(Mesh(f"roller {k + 1}", f"roller {k + 1}", *pin, layer="rollers", colour=(0.80, 0.80, 0.82)))
    nail = moved(cylinder(0.014, 0.30, edge=0.004), transform(lying[:3, :3], HANGER + np.array([0.0, 0.07, 0.0])))
    head = moved(cylinder(0.024, 0.012, edge=0.004), transform(lying[:3, :3], HANGER - np.array([0.0, 0.08, 0.0])))
    board = box((0.14, 0.03, 0.14), tuple(HANGER + np.array([0.0, 0.215, 0.0])))
    meshes.append(Mesh("nail", "", *join(nail, head, board), layer="stand", colour=(0.30, 0.31, 0.34)))
    return tuple(meshes)


scene = Scene(
    name="letters",
    summary="A chain of letters falls, each sliding along the outline of the one before",
    answers="Lee 2008, figures 6.6 and 6.7 (two_sided=true)",
    seconds=5.0,
    build=build,
    check=check,
    parameters={
        "word": Parameter("VITRUVIAN", "what to spell, of the letters A I N R T U V"),
        "two_sided": Parameter(False, "whether rollers also slide along the letter that they carry"),
        "friction": Parameter(2.0, "damping along the outlines", "N s/m", low=0.0, high=100.0),
        "gravity": Parameter(9.81, "acceleration of free fall", "m/s²", low=0.0, high=100.0),
        "controls": Parameter(160, "control frames of each outline", low=80, high=2000),
        "substeps": Parameter(100, "steps per frame of 1/60 s, twice as many if two-sided", low=1, high=1000),
    },
    qualities={"draft": {"substeps": 100}, "standard": {"substeps": 150}, "fine": {"substeps": 300, "controls": 240}},
)
