"""Two joints as splines on SE(3), by option (Lee 2008, 6.5): the knee, whose axis moves, and the scapula on the thorax.

Knee: the tibia turns about the tabulated axis and its centre glides with flexion as measured by Yamaguchi & Zajac
1989 (the curve that OpenSim's gait2392 model uses). Scapula: two coordinates, protraction and elevation, slide it
over an ellipsoid that stands for the rib cage; the acromion stays on the sphere that the clavicle's end can reach, so
that springs between clavicle and scapula are nearly at rest everywhere.
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import BSpline
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from vitruvian.anatomy.scaling import Scale
from vitruvian.anatomy.tables import BoneRow, CoordinateRow, PointRow, Tables
from vitruvian.skeleton import SkeletonBuilder
from vitruvian.skeleton.joints import CurveSpline, SurfaceSpline
from vitruvian.spatial import Se3Spline, open_knots, rotation_about, transform

Array = np.ndarray

# Flexion [deg], forward and upward glide of the tibia against the femur [mm], zero at extension.
KNEE_GLIDE = np.array(
    [
        [-10.0, -1.0, 0.0],
        [0.0, 0.0, 0.0],
        [10.0, 1.0, -0.6],
        [20.0, 3.1, -1.6],
        [40.0, 6.2, -4.7],
        [60.0, 8.2, -9.2],
        [80.0, 8.2, -14.8],
        [100.0, 5.9, -20.6],
        [120.0, 0.9, -26.6],
        [145.0, -5.0, -34.0],
    ]
)
THORAX_CENTRE = np.array([0.0, -0.03, 1.46])  # [m] of the ellipsoid that the scapulas slide on
THORAX_RADII = np.array([0.125, 0.115, 0.21])
PROTRACTION = np.radians([-25.0, 30.0])
ELEVATION = np.radians([-12.0, 40.0])
UPWARD_ROTATION = 0.6  # of the scapula, per angle of clavicular elevation
GRID = 7


def knee_spline(bone: BoneRow) -> CurveSpline:
    """The knee as a curve on SE(3); its coordinate is the flexion angle [rad]."""
    angles = np.radians(KNEE_GLIDE[:, 0])
    scale = bone.joint[2] / 0.538  # of the tabulated body
    frames = []
    for angle, glide in zip(angles, KNEE_GLIDE[:, 1:] * 1e-3 * scale):
        turn = rotation_about(bone.axes[0], angle)
        # The glide is measured in the tibia's frame: forward is -y, up is +z.
        frames.append(transform(turn, turn @ np.array([0.0, -glide[0], glide[1]])))
    return CurveSpline(interpolating_spline(np.array(frames), angles))


def interpolating_spline(frames: Array, at: Array, rounds: int = 60) -> Se3Spline:
    """A cubic spline on SE(3) through `frames` (n, 4, 4) at coordinates `at` (n,), by correcting its control frames."""
    from vitruvian.spatial import exp_se3, inverse, log_se3

    n = len(frames)
    knots = np.concatenate([[at[0]] * 3, at[[0, *range(2, n - 2), n - 1]], [at[-1]] * 3])
    breaks = np.unique(knots)
    greville = np.array([knots[i + 1 : i + 4].mean() for i in range(n)])
    index = np.clip(np.searchsorted(at, greville) - 1, 0, n - 2)
    w = (greville - at[index]) / (at[index + 1] - at[index])
    control = np.array([frames[i] @ exp_se3(u * log_se3(inverse(frames[i]) @ frames[i + 1])) for i, u in zip(index, w)])
    for _ in range(rounds):
        spline = Se3Spline(control, breaks)
        error = [log_se3(inverse(spline(x)) @ T) for x, T in zip(at, frames)]
        if max(np.abs(e).max() for e in error) < 1e-12:
            break
        weights = np.zeros((n, n))
        for row, x in enumerate(at):
            first, values = _cubic_weights(knots, x)
            weights[row, first : first + 4] = values
        change = np.linalg.solve(weights, np.array(error))
        control = np.array([T @ exp_se3(c) for T, c in zip(control, change)])
    return Se3Spline(control, breaks)


def clavicle_or_scapula(point: PointRow, bones: dict[str, BoneRow]) -> str:
    """Which of the two bones a point labelled `Cs` lies on: the clavicle within 20 mm of its line, else the scapula."""
    if not point.bone.startswith("Cs_"):
        return point.bone
    side = point.bone[-1]
    if f"Sca_{side}" not in bones:
        return f"Cla_{side}"
    a, b = bones[f"Cla_{side}"].joint, bones[f"Sca_{side}"].joint
    along = np.clip((point.position - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
    near = np.linalg.norm(a + along * (b - a) - point.position) < 0.020
    return f"Cla_{side}" if near and along < 0.9 else f"Sca_{side}"


def add_spline_scapulas(
    builder: SkeletonBuilder, bone: BoneRow, tables: Tables, scale: Scale
) -> tuple[SurfaceSpline, tuple[CoordinateRow, ...]]:
    """The surface joint of one scapula, and the springs that hold it to its clavicle."""
    side = bone.name[-1]
    clavicle = tables.bones[f"Cla_{side}"]
    end = bone.joint  # the acromioclavicular joint
    builder.add_spring(
        f"acromion_{side}",
        clavicle.name,
        end - clavicle.joint,
        bone.name,
        np.zeros(3),
        2e4 * scale.mass,
        60.0 * scale.mass,
        0.0,
    )
    k = scale.torque
    rows = tuple(
        CoordinateRow(bone.name, word, low, high, 10.0 * k, 1.0 * k, 0.0, 300.0 * k, True, sense)
        for word, (low, high), sense in (("protraction", PROTRACTION, "+ forward"), ("elevation", ELEVATION, "+ up"))
    )
    return _scapula_surface(bone, clavicle, 1.0 if side == "l" else -1.0, scale.length), rows


def _scapula_surface(bone: BoneRow, clavicle: BoneRow, flip: float, s: float) -> SurfaceSpline:
    mirror = np.array([flip, 1.0, 1.0])
    breaks = [np.linspace(d[0], d[1], GRID - 2) for d in (PROTRACTION, ELEVATION)]
    knots = [open_knots(b, 4) for b in breaks]
    greville = [np.array([k[i + 1 : i + 4].mean() for i in range(GRID)]) for k in knots]
    for g in greville:
        g[np.argmin(np.abs(g))] = 0.0  # the tables' pose is met exactly
    acromion, root = bone.joint * mirror / s, clavicle.joint * mirror / s  # solved on the left, at the tables' size
    samples = np.zeros((GRID, GRID, 6))
    guess = np.zeros(3)
    for i, forward in enumerate(greville[0]):
        for j, up in enumerate(greville[1]):
            turn = Rotation.from_rotvec([0.0, 0.0, -forward]) * Rotation.from_rotvec([0.0, -up, 0.0])
            end = root + turn.apply(acromion - root)
            guess = _rest_on_thorax(end, acromion, up, guess if j else np.zeros(3))
            shift, angles = end - acromion, Rotation.from_rotvec(guess).as_euler("ZYX")
            samples[i, j] = [*(shift * mirror * s), *(angles * (flip, flip, 1.0))]
    designs = [BSpline.design_matrix(g, k, 3).toarray() for g, k in zip(greville, knots)]
    controls = np.einsum("ai,bj,ijc->cab", np.linalg.inv(designs[0]), np.linalg.inv(designs[1]), samples)
    return SurfaceSpline(controls, np.array([PROTRACTION, ELEVATION]), breaks=tuple(breaks))


def _rest_on_thorax(end: Array, acromion: Array, up: float, guess: Array) -> Array:
    """Rotation vector (3,) that puts the medial border on the ellipsoid again, turned upward as people do."""
    border = np.array([[0.071, 0.100, 1.585], [0.072, 0.107, 1.465]]) - acromion  # spine's root, lower angle
    height = [_ellipsoid(acromion + b) for b in border]

    def residual(w: Array) -> Array:
        turned = Rotation.from_rotvec(w).apply(border)
        off = [_ellipsoid(end + t) - h for t, h in zip(turned, height)]
        return np.array([*off, 0.2 * (w[1] + UPWARD_ROTATION * up)])

    return least_squares(residual, guess, xtol=1e-14, ftol=1e-14).x


def _ellipsoid(x: Array) -> float:
    return float(np.linalg.norm((x - THORAX_CENTRE) / THORAX_RADII))


def _cubic_weights(knots: Array, x: float) -> tuple[int, Array]:
    row = BSpline.design_matrix(np.array([x]), knots, 3).toarray()[0]
    first = min(int(np.flatnonzero(row)[0]), len(row) - 4)
    return first, row[first : first + 4]
