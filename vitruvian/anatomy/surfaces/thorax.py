"""Ribs, costal cartilages and sternum, swept along what the tables know of them.

A rib is a curve in cylindrical coordinates about a vertical axis inside its half of the chest: radius r(θ) and height
z(θ) are penalised cubic splines (Eilers and Marx 1996) through its joint on the vertebra, the tip of the transverse
process that it rests on, its muscle attachments, and the beginning of its cartilage. The cross-section is an ellipse
that is narrow at neck and tip and stands upright, except in the first two ribs, which lie flat. All in the world
frame of the default pose [m]; paired parts are the left ones.
"""

# ruff: noqa: RUF005 -- here `array + [x, y, z]` adds vectors
from __future__ import annotations

import numpy as np
from scipy.interpolate import BSpline, CubicSpline

from vitruvian.anatomy.surfaces.landmarks import Landmarks
from vitruvian.anatomy.surfaces.shaping import Shape, joined, mirrored, swept

Array = np.ndarray
UP = np.array([0.0, 0.0, 1.0])

# Rib number -> how far the section leans from upright to flat [deg]; the others stand upright.
LEAN = {1: 78.0, 2: 45.0, 3: 22.0, 4: 10.0}
RIB_HEIGHT, RIB_THICKNESS = 0.0155, 0.0080  # of the shaft [m], cf. Mohr et al. 2007
INSET = 0.003  # attachment points lie on the outer face, this far from the rib's axis [m]


def ribs(marks: Landmarks) -> dict[str, Shape]:
    """Rib 1 of both sides as one bone, left ribs 2 to 10, and ribs 11 and 12 of both sides for their vertebrae."""
    shapes: dict[str, Shape] = {}
    for number in range(2, 11):
        name = f"Rb{number}"
        path = _rib_path(marks.joints[name], _tubercle(marks, number), marks.attachments[name], marks.junctions[name])
        shapes[name] = _rib(path, number)
    first = _rib_path(
        marks.joints["T1"] + [0.017, 0.006, 0.018],
        _tubercle(marks, 1),
        marks.attachments["Rb1"],
        marks.named("Rb1", "subclavius")[0] + [-0.003, -0.001, 0.003],
    )
    notch = marks.joints["Cla"] + [-0.004, -0.010, -0.010]
    bridge = _curve([first[-3], first[-1], notch], 12)
    rib = joined(
        [_rib(first, 1), swept(bridge, _constant([0.4, 1.0, 0.0], 12), np.full(12, 0.014), np.full(12, 0.008))]
    )
    shapes["Rb1"] = joined([rib, mirrored(rib)])
    for number, end in ((11, [0.123, -0.006, 1.277]), (12, [0.090, 0.023, 1.281])):
        vertebra = f"T{number}"
        points = marks.attachments[vertebra]
        head = marks.joints[vertebra] + [0.019, 0.016, 0.019]
        path = _rib_path(head, head + [0.014, 0.020, -0.002], points[points[:, 0] > 0.045], np.array(end))
        rib = _rib(path, number)
        shapes[f"Rb{number}"] = joined([rib, mirrored(rib)])
    return shapes


def cartilages(marks: Landmarks) -> dict[str, Shape]:
    """Left costal cartilages 2 to 5, and 6 to 10 as one piece."""
    shapes: dict[str, Shape] = {}
    for number in range(2, 6):
        joint, end = marks.joints[f"Cc{number}"], marks.junctions[f"Rb{number}"]
        middle = 0.5 * (joint + end) + [0.0, -0.004, -0.002]
        shapes[f"Cc{number}"] = _cartilage(_curve([joint, middle, end], 24), 0.0095, 0.0125)
    ends = {k: marks.junctions[f"Rb{k}"] for k in range(6, 11)}
    sixth = marks.joints["Cc6"]
    seventh = sixth + [-0.002, -0.002, -0.016]
    paths = {6: _curve([sixth, 0.55 * sixth + 0.45 * ends[6] + [0.0, -0.006, -0.010], ends[6]], 28)}
    paths[7] = _curve(
        [seventh, seventh + [0.030, -0.006, -0.014], 0.35 * seventh + 0.65 * ends[7] + [0.0, -0.009, -0.010], ends[7]],
        32,
    )
    for k in (8, 9, 10):  # each runs up along the one before and grows onto it
        above = paths[k - 1]
        meet = above[int(0.62 * len(above))]
        paths[k] = _curve([meet, 0.5 * (meet + ends[k]) + [0.002, -0.006, -0.006], ends[k]], 26)
    shapes["Cc6"] = joined([_cartilage(path, 0.0095, 0.0125) for path in paths.values()])
    return shapes


def sternum(marks: Landmarks) -> Shape:
    """Manubrium, body and xiphoid process as one plate."""
    top = marks.joints["Ste"]
    on_front = [top + [0.0, -0.006, 0.003]]
    on_front += [marks.named("Ste", f"pectoralis_major_0{k}")[0] for k in (2, 3, 4)]
    last = marks.named("Ste", "rectus_abdominis")[0]
    on_front += [marks.joints["Cc6"] + [0.0, -0.003, 0.0], last, last + [0.0, 0.004, -0.018]]
    rows = np.array(on_front) * [0.0, 1.0, 1.0]
    rows = rows[np.argsort(-rows[:, 2])]
    z = np.linspace(rows[0, 2], rows[-1, 2], 60)
    y = CubicSpline(rows[::-1, 2], rows[::-1, 1])(z) + 0.005
    path = np.stack([np.zeros_like(z), y, z], axis=1)
    # Half width [m] over height: clavicular notch, first rib, angle at the second, body, xiphoid process.
    joint = {k: marks.joints[f"Cc{k}"] for k in (2, 3, 4, 5, 6)}
    heights = [
        rows[0, 2],
        rows[0, 2] - 0.014,
        rows[0, 2] - 0.030,
        joint[2][2],
        joint[3][2],
        joint[4][2],
        joint[5][2],
        joint[6][2],
    ]
    widths = [0.023, 0.027, 0.021, 0.0125, 0.0135, 0.0165, 0.0185, 0.0150]
    heights += [joint[6][2] - 0.012, last[2], rows[-1, 2]]
    widths += [0.0095, 0.0065, 0.0030]
    order = np.argsort(heights)
    half = _monotone(np.array(heights)[order], np.array(widths)[order], z)
    thick = np.interp(z, [rows[-1, 2], last[2], joint[6][2], rows[0, 2]], [0.003, 0.005, 0.010, 0.011])
    vertices, faces = swept(path, _constant([1.0, 0.0, 0.0], len(z)), 2.0 * half, thick, sides=28, power=3.0)
    vertices = vertices.copy()
    upper = np.clip((vertices[:, 2] - rows[0, 2] + 0.020) / 0.020, 0.0, 1.0)
    vertices[:, 2] -= 0.008 * upper * np.exp(-((vertices[:, 0] / 0.011) ** 2))  # jugular notch
    return vertices, faces


def _rib_path(head: Array, tubercle: Array, points: Array, end: Array, count: int = 64) -> Array:
    """The axis of a rib from head to cartilage [m], shape (count, 3)."""
    centre = np.array([0.046, 0.5 * (head[1] + min(end[1], head[1] - 0.06)) + 0.006])
    outward = points[:, :2] - centre
    inner = points.copy()
    inner[:, :2] -= INSET * outward / np.linalg.norm(outward, axis=1, keepdims=True)
    data = np.concatenate([[head, tubercle, end], inner])
    weight = np.concatenate([[300.0, 30.0, 300.0], np.full(len(points), 1.0)])
    flat = data[:, :2] - centre
    angle = np.arctan2(flat[:, 0], flat[:, 1])
    angle = np.where(angle < -0.75 * np.pi, angle + 2.0 * np.pi, angle)
    low, high = angle[0], angle[2]
    keep = (angle >= low - 0.02) & (angle <= high + 0.02)
    theta = np.linspace(low, high, count)
    r = _smooth(angle[keep], np.linalg.norm(flat[keep], axis=1), weight[keep], theta)
    z = _smooth(angle[keep], data[keep, 2], weight[keep], theta)
    path = np.stack([centre[0] + r * np.sin(theta), centre[1] + r * np.cos(theta), z], axis=1)
    return _evenly(path, count)


def _rib(path: Array, number: int) -> Shape:
    n = len(path)
    share = np.linspace(0.0, 1.0, n)
    lean = np.radians(LEAN.get(number, 0.0))
    tangent = np.gradient(path, axis=0)
    outward = np.cross(tangent, UP)
    outward /= np.linalg.norm(outward, axis=1, keepdims=True)
    across = np.cos(lean) * UP - np.sin(lean) * outward
    height = RIB_HEIGHT * np.interp(
        share, [0.0, 0.04, 0.10, 0.20, 0.5, 0.9, 1.0], [0.85, 0.62, 0.72, 0.85, 1.0, 0.98, 1.05]
    )
    thick = RIB_THICKNESS * np.interp(
        share, [0.0, 0.04, 0.10, 0.16, 0.5, 0.9, 1.0], [1.30, 0.95, 1.15, 1.05, 1.0, 0.95, 1.05]
    )
    if number in (11, 12):
        taper = np.interp(share, [0.0, 0.5, 1.0], [1.0, 0.85, 0.35])
        height, thick = 0.85 * height * taper, 0.9 * thick * taper
    if number == 1:
        height = height * np.interp(share, [0.0, 0.2, 0.5, 1.0], [0.8, 0.9, 1.15, 1.2])
    return swept(path, across, height, thick)


def _cartilage(path: Array, at_joint: float, at_rib: float) -> Shape:
    """A cartilage from its medial end outwards; `at_joint` and `at_rib` are its heights [m] at both ends."""
    height = np.linspace(at_joint, at_rib, len(path))
    return swept(path, _constant(UP + [0.0, 0.2, 0.0], len(path)), height, 0.72 * height)


def _tubercle(marks: Landmarks, number: int) -> Array:
    """Where the rib rests on the transverse process: just in front of its tip."""
    points = marks.attachments[f"T{number}"]
    points = points[points[:, 0] < 0.048]
    tip = points[points[:, 0] >= np.quantile(points[:, 0], 0.8)].mean(axis=0)
    return tip + [0.001, -0.008, 0.0]


def _smooth(x: Array, y: Array, weight: Array, at: Array, stiffness: float = 0.5, pieces: int = 10) -> Array:
    """A penalised cubic spline through weighted data, evaluated at `at`."""
    low, high = at[0], at[-1]
    step = (high - low) / pieces
    knots = low + step * np.arange(-3, pieces + 4)
    basis = BSpline.design_matrix(np.clip(x, low, high - 1e-9), knots, 3).toarray()
    bend = np.diff(np.eye(basis.shape[1]), n=3, axis=0)
    matrix = basis.T @ (weight[:, None] * basis) + stiffness * bend.T @ bend
    coefficients = np.linalg.solve(matrix, basis.T @ (weight * y))
    return np.asarray(BSpline(knots, coefficients, 3)(at))


def _monotone(x: Array, y: Array, at: Array) -> Array:
    from scipy.interpolate import PchipInterpolator

    return np.asarray(PchipInterpolator(x, y)(at))


def _curve(points: list[Array], count: int) -> Array:
    """A cubic spline through the points, evenly sampled, shape (count, 3)."""
    nodes = np.array(points, float)
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(nodes, axis=0), axis=1))])
    return _evenly(CubicSpline(along, nodes)(np.linspace(0.0, along[-1], 8 * count)), count)


def _evenly(path: Array, count: int) -> Array:
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    at = np.linspace(0.0, along[-1], count)
    return np.stack([np.interp(at, along, path[:, k]) for k in range(3)], axis=1)


def _constant(vector: list[float] | Array, count: int) -> Array:
    return np.tile(np.asarray(vector, float), (count, 1))
