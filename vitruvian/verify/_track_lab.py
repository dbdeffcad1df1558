"""A made-up motion laboratory: known motions of our own body, written as C3D files with markers and force plates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vitruvian.anatomy import Body, human
from vitruvian.control import HANGING, pose
from vitruvian.errors import MissingExtra
from vitruvian.measured import site_places
from vitruvian.measured.smooth import Course, smoothed
from vitruvian.skeleton import bone_poses, inverse_dynamics
from vitruvian.spatial import exp_so3, quaternion_from_rotation

Array = np.ndarray
RATE = 100.0  # [1/s]
HEIGHT, MASS = 1.78, 74.0
SIDED = ("ASI", "PSI", "THI", "KNE", "KNM", "TIB", "ANK", "ANM", "HEE", "TOE", "MT5", "SHO", "UPA", "ELB", "ELM", "FRM",
         "WRA", "WRB", "FIN", "FHD", "BHD")  # fmt: skip
MIDLINE = ("C7", "T10", "CLAV", "STRN")
MARKERS = tuple(f"{side}{name}" for side in "LR" for name in SIDED) + MIDLINE
ODD = {"pelvis": 0.95, "trunk": 1.06, "shoulders": 1.05, "upper arm": 0.93, "forearm": 1.08, "thigh": 1.10,
       "shank": 0.92, "foot": 1.05}  # fmt: skip  # proportions of another subject
PLATE = 0.25  # [m] half the side of a force plate


def subject(*, odd: bool = False) -> Body:
    """Whom the laboratory measures; odd: someone whose proportions are not ours."""
    return human(feet="universal", height=HEIGHT, mass=MASS, proportions=ODD if odd else None)


def stride(body: Body, seconds: float = 1.2) -> tuple[Array, Array]:
    """Time [s] (f,) and poses (f, n_q) of a made-up gait: all limbs and the trunk swing, the pelvis travels."""
    time = np.arange(round(seconds * RATE) + 1) / RATE
    poses = []
    for t in time:
        a = 2.0 * np.pi * t / seconds
        swing = np.sin(a)
        table: dict[str, Any] = {
            "left hip": [-12.0 - 22.0 * swing, 3.0 * np.cos(a), 4.0 * swing],
            "right hip": [-12.0 + 22.0 * swing, -3.0 * np.cos(a), -4.0 * swing],
            "left knee": 28.0 + 24.0 * np.cos(a),
            "right knee": 28.0 - 24.0 * np.cos(a),
            "left ankle": [8.0 * np.sin(a + 1.0), 4.0 * np.cos(a)],
            "right ankle": [-8.0 * np.sin(a + 1.0), -4.0 * np.cos(a)],
            "left arm": {"direction": [0.16, 0.35 * swing, -1.0]},
            "right arm": {"direction": [0.16, -0.35 * swing, -1.0]},
            "left elbow": 30.0 + 15.0 * swing,
            "right elbow": 30.0 - 15.0 * swing,
            "forearm": 80.0,
            "chest": [6.0, 2.0 * np.sin(a), 5.0 * np.cos(a)],
            "head": [4.0, 0.0, 2.0 * np.cos(a)],
        }
        q = pose(body, table)
        q[:3] += (0.02 * np.sin(a), -1.3 * t, 0.02 * np.cos(2.0 * a))
        q[3:7] = quaternion_from_rotation(exp_so3(np.radians([3.0, 2.0 * np.sin(a), 5.0 * np.sin(a)])))
        poses.append(q)
    return time, np.array(poses)


def squat(body: Body, seconds: float = 2.0) -> Course:
    """A slow squat with both feet planted, smooth, at RATE."""
    time = np.arange(round(seconds * RATE) + 1) / RATE
    poses = []
    for t in time:
        u = 0.5 - 0.5 * np.cos(2.0 * np.pi * t / seconds)
        shift = [0.0, 0.02 + 0.03 * u, -0.03 - 0.06 * u]
        q = pose(
            body, {**HANGING, "forearm": 80.0, "pelvis": {"shift": shift, "turn": [10.0 * u, 0.0, 0.0]}, "feet": 0.0}
        )
        poses.append(q)
    return smoothed(body, time, np.array(poses), rate=RATE, cutoff=0.0)


def squat_plates(body: Body, course: Course) -> list[tuple[Array, Array, Array]]:
    """One plate under each foot of a squat: half the ground's force each, beside each other in line with the whole's
    centre of pressure; as `write_c3d` wants them."""
    force, moment = ground_wrench(body, course)
    y = moment[:, 0] / force[:, 2]
    poses, plates = bone_poses(body.skeleton, course.q[0]), []
    for foot in ("Fo_l", "Fo_r"):
        x = poses[body.skeleton.index(foot), :3, 3]
        at = np.column_stack([np.full(len(y), x[0]), y, np.zeros(len(y))])
        plates.append((np.array([x[0], x[1] - 0.05, 0.0]), 0.5 * force, np.cross(at, 0.5 * force)))
    return plates


def marker_places(body: Body, poses: Array, names: Sequence[str] = MARKERS) -> Array:
    """Places [m] of markers, (f, m, 3)."""
    bones, local = site_places(body, names)
    out = np.empty((len(poses), len(names), 3))
    for f, q in enumerate(poses):
        T = bone_poses(body.skeleton, q)[bones]
        out[f] = np.einsum("mij,mj->mi", T[:, :3, :3], local) + T[:, :3, 3]
    return out


def ground_wrench(body: Body, course: Course) -> tuple[Array, Array]:
    """Force [N] and moment about the origin [N m] that the ground must give, (f, 3) each."""
    force, moment = np.empty((len(course.q), 3)), np.empty((len(course.q), 3))
    for f, (q, v, a) in enumerate(zip(course.q, course.v, course.a)):
        T = bone_poses(body.skeleton, q)[0]
        need = inverse_dynamics(body.skeleton, q, v, a)[:6]
        force[f] = T[:3, :3] @ need[3:]
        moment[f] = T[:3, :3] @ need[:3] + np.cross(T[:3, 3], force[f])
    return force, moment


def write_c3d(
    path: Path,
    places: Array,
    names: Sequence[str] = MARKERS,
    *,
    unit: str = "mm",
    plates: Sequence[tuple[Array, Array, Array]] = (),
) -> None:
    """Write markers [m] (f, m, 3; NaN is unseen) and plates (middle (3,), force on the subject (f, 3), its moment about
    the origin (f, 3)) as a C3D file with lengths in `unit`."""
    try:
        import ezc3d
    except ImportError:
        raise MissingExtra("ezc3d", "pip install ezc3d") from None
    size = {"mm": 1000.0, "m": 1.0}.get(unit, 1.0)
    c: Any = ezc3d.c3d()
    frames = len(places)
    points = np.ones((4, len(names), frames))
    points[:3] = size * np.transpose(places, (2, 1, 0))
    c["parameters"]["POINT"]["RATE"]["value"] = [RATE]
    c["parameters"]["POINT"]["UNITS"]["value"] = [unit]
    c["parameters"]["POINT"]["LABELS"]["value"] = list(names)
    c["data"]["points"] = points
    if plates:
        channels, corners = [], []
        for middle, force, moment in plates:
            about = moment - np.cross(middle, force)
            # the plate's own axes: x as the world's, y and z turned about; it feels the subject's push
            flip = np.array([1.0, -1.0, -1.0])
            channels += list((-force * flip).T) + list((-about * flip * size).T)
            square = PLATE * np.array([[1, -1, 0], [-1, -1, 0], [-1, 1, 0], [1, 1, 0]])
            corners.append((size * (middle + square)).T)
        c["parameters"]["ANALOG"]["RATE"]["value"] = [RATE]
        c["parameters"]["ANALOG"]["LABELS"]["value"] = [f"{w}{k + 1}" for k in range(len(plates)) for w in
                                                        ("Fx", "Fy", "Fz", "Mx", "My", "Mz")]  # fmt: skip
        c["parameters"]["ANALOG"]["UNITS"]["value"] = (["N"] * 3 + [f"N{unit}"] * 3) * len(plates)
        c["data"]["analogs"] = np.array(channels)[None]
        for name, value in (
            ("USED", [len(plates)]),
            ("TYPE", [2] * len(plates)),
            ("ZERO", [0, 0]),
            ("CORNERS", np.stack(corners, axis=2)),
            ("ORIGIN", np.zeros((3, len(plates)))),
            ("CHANNEL", np.arange(1, 6 * len(plates) + 1).reshape(len(plates), 6).T.astype(float)),
        ):
            c.add_parameter("FORCE_PLATFORM", name, value)
            if name in ("USED", "TYPE", "ZERO", "CHANNEL"):  # whole numbers, which the library writes only when told
                own = c["parameters"]["FORCE_PLATFORM"][name]
                own["type"], own["value"] = 2, np.asarray(value, dtype=int)
    c.write(str(path))
