"""Muscle lines that bend round bones: one-sided cylinders, and frames that ride on one bone as another one turns.

**Cylinder.** It is fixed to a bone and bends one straight segment of a path. In its plane (x along the side that the
path must pass, y so that the path turns counter-clockwise) the ends lie at distance d from the axis; tangents of
length t = sqrt(d² - r²) touch it at

    φ₁ = atan2(y₁, x₁) + atan2(t₁, r),   φ₂ = atan2(y₂, x₂) - atan2(t₂, r),   θ = φ₂ - φ₁,

and for θ > 0 the path is W = sqrt(p² + Δz²), p = t₁ + r θ + t₂: the shortest one round the cylinder, so that its
change is that of the two straight parts with their contacts held (envelope theorem). Contact is soft: with the straight
length S and the excess E = W - S,

    length = S + E²/(E + E₀),   d length = (1 - w) dS + w dW,   w = 1 - (E₀/(E + E₀))²,

which is C² at lift-off; E₀ = 0.004 R, 0.1 mm for a knee. An end that comes near the axis makes the cylinder of radius R
give way smoothly, which counts in dW too (∂W/∂r = θ p/W):

    r = (R⁻ⁿ + (0.97 d₁)⁻ⁿ + (0.97 d₂)⁻ⁿ)^(-1/n),   n = 14.

No pose makes a path jump, for the excess fades to nothing (times 1 - u³ (10 - 15 u + 6 u²)) before the way round the
other side would be as near. Two kinds do so differently; ψ is the angle from end to end, counter-clockwise, and
A = ψ - θ:
- a tendon in a groove or sheath (knee, elbow, wrist) holds until it goes round by 135 degrees: u = (θ - 135°)/45°;
- a muscle that slips (on the head of the humerus) does so once its straight line has passed to the wrong side of the
  axis, and is free when that line clears the cylinder there: u = (ψ - π)/(π - A).

**Carrier.** A frame without mass and without a coordinate of its own: its place in the bone `base` is a curve of one
number ρ of how the bone `driver` stands against it, either the turn about an axis (a patella on the femur, by the
knee's flexion) or the rise of an axis along another (a scapula, by the arm's elevation). A pull on it does work with ρ,
and so turns the driver against the base by the torque (∂l/∂ρ) ∂ρ/∂(rotation).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numba as nb
import numpy as np
from scipy.interpolate import CubicSpline

from vitruvian.errors import InputError

Array = np.ndarray
SOFT = 0.004  # E₀ over the radius
GIVE = 0.97  # of an end's distance from the axis, beyond which a cylinder gives way
SHARP = 14.0  # n: how suddenly it does
LEAVES = np.radians(135.0)  # angle of contact beyond which even a held path slips off
ARC = 6  # points that are drawn for a segment with a cylinder, beside its ends
TURN, RISE = 0, 1


@dataclass(frozen=True)
class Cylinder:
    """An obstacle for the segment `segment` (0 for the first) of a muscle's path, in the frame of its bone.

    The path, from origin to insertion, turns about +axis (right-handed) as it passes the side."""

    segment: int
    bone: str
    centre: tuple[float, float, float]  # [m]
    axis: tuple[float, float, float]
    side: tuple[float, float, float]  # from the axis to where the path passes
    radius: float  # [m]
    slips: bool = False  # lets go of a line that passes to the wrong side of its axis


@dataclass(frozen=True, eq=False)
class Carrier:
    """A frame that rides on `base` as `driver` moves; it starts parallel to both, as they stand in the default pose."""

    name: str
    base: str
    driver: str
    kind: int  # TURN: ρ is the turn [rad] of driver against base about `axis`; RISE: ρ = `up` . (turned `axis`)
    axis: tuple[float, float, float]
    up: tuple[float, float, float]  # for RISE
    pivot: tuple[float, float, float]  # axis about which the frame turns
    at: Array  # evenly spaced ρ, shape (k,)
    place: Array  # of its origin in the base's frame [m], shape (k, 3)
    angle: Array  # [rad], shape (k,)


class Wraps(NamedTuple):
    """w cylinders, laid out for the kernels."""

    muscle: Array  # (w,)
    segment: Array  # (w,) row of the straight line
    near: Array  # (w,) path point where the segment begins; it ends at the next
    row: Array  # (w,) row of the near straight part; the far one follows
    bone: Array  # (w,)
    centre: Array  # (w, 3) in the bone's frame [m]
    frame: Array  # (w, 3, 3) rows: side, across, axis
    radius: Array  # (w,) [m]
    slips: Array  # (w,) bool


class Carriers(NamedTuple):
    """c carriers, k points that ride on them, g pairs of a muscle and a carrier."""

    bones: Array  # (c, 3) base, driver, kind
    vectors: Array  # (c, 3, 3) axis, up, pivot
    knots: Array  # (c, 2) first ρ and step
    curve: Array  # (c, n, 4, 4) interval, (x, y, z, angle), power 0..3
    point: Array  # (k,) index of the path point
    frame: Array  # (k,) its carrier
    place: Array  # (k, 3) in the carrier's frame [m]
    gear: Array  # (g, 2) carrier, row of its torque
    start: Array  # (g + 1,)
    line: Array  # rows that pull on it
    sign: Array  # +1 by their far end, -1 by their near end


def cylinder_frame(whose: str, c: Cylinder) -> Array:
    """Rows side, across, axis (3, 3) of a cylinder, unit vectors; `whose` opens the error."""
    axis, side = np.array(c.axis, float), np.array(c.side, float)
    if not (c.radius > 0 and np.isfinite([*c.centre, *axis, *side]).all()) or np.linalg.norm(axis) == 0:
        raise InputError(f"{whose}: a cylinder needs a radius and an axis, got {c}")
    axis /= np.linalg.norm(axis)
    side = side - (side @ axis) * axis
    if np.linalg.norm(side) < 1e-6:
        raise InputError(f"{whose}: the side {c.side} of a cylinder lies along its axis {c.axis}")
    side /= np.linalg.norm(side)
    return np.array([side, np.cross(axis, side), axis])


def carrier_frame(c: Carrier) -> Array:
    """Pose (4, 4) of a carrier in its base while the driver stands as in the default pose."""
    tables = Carriers(np.array([[0, 0, c.kind]]), *carrier_tables([c]), *NO_POINTS)
    out = np.empty((1, 4, 4))
    carried_points(tables, np.eye(4)[None], np.empty((0, 3)), out, np.empty((1, 6)), np.empty((1, 3)))
    return out[0]


def carrier_tables(carriers: Sequence[Carrier]) -> tuple[Array, Array, Array]:
    """vectors, knots and curve of `Carriers`."""
    vectors = np.array([[c.axis, c.up, c.pivot] for c in carriers], float).reshape(-1, 3, 3)
    knots = np.array([[c.at[0], c.at[1] - c.at[0]] for c in carriers], float).reshape(-1, 2)
    longest = max((len(c.at) - 1 for c in carriers), default=0)
    curve = np.zeros((len(carriers), longest, 4, 4))
    for i, c in enumerate(carriers):
        if not np.allclose(np.diff(c.at), c.at[1] - c.at[0]):
            raise InputError(f"carrier '{c.name}': its curve must be evenly spaced")
        spline = CubicSpline(c.at, np.column_stack([c.place, c.angle]))
        pieces = spline.c[::-1].transpose(1, 2, 0)  # interval, channel, rising power
        curve[i, : len(pieces)] = pieces
        curve[i, len(pieces) :] = np.nan
    return vectors, knots, curve


_NONE = np.zeros(0, np.int64)
NO_POINTS = (_NONE, _NONE, np.zeros((0, 3)), np.zeros((0, 2), np.int64), np.zeros(1, np.int64), _NONE, np.zeros(0))


# --- kernels -------------------------------------------------------------------------------------------------------


@nb.njit(cache=True)
def carried_points(carriers, poses, points, poses_out, twists, slopes):
    """Place the points that ride on carriers; fill the carriers' poses (c, 4, 4), twists per ρ (c, 6) in the world
    and ∂ρ/∂(rotation of driver against base) in the world (c, 3)."""
    for i in range(len(carriers.bones)):
        _carrier(carriers, i, poses, poses_out[i], twists[i], slopes[i])
    for j in range(len(carriers.point)):
        T, x, out = poses_out[carriers.frame[j]], carriers.place[j], points[carriers.point[j]]
        for a in range(3):
            out[a] = T[a, 0] * x[0] + T[a, 1] * x[1] + T[a, 2] * x[2] + T[a, 3]


@nb.njit(cache=True)
def _carrier(carriers, i, poses, T, twist, slope):
    B, D = poses[carriers.bones[i, 0]], poses[carriers.bones[i, 1]]
    R = np.ascontiguousarray(B[:3, :3]).T @ np.ascontiguousarray(D[:3, :3])
    a, up, n = carriers.vectors[i, 0], carriers.vectors[i, 1], carriers.vectors[i, 2]
    if carriers.bones[i, 2] == RISE:
        d = R @ a
        rho = d @ up
        g = np.cross(d, up)
    else:
        w = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
        trace = R[0, 0] + R[1, 1] + R[2, 2]
        S, C = a @ w, 0.5 * (trace - 1.0)
        rho = np.arctan2(S, C)
        even = 0.5 * (R @ a + R.T @ a)
        g_S = 0.5 * (trace * a - even + np.cross(w, a))
        g = (C * g_S + S * w) / (C * C + S * S)
    first, step = carriers.knots[i, 0], carriers.knots[i, 1]
    n_pieces = carriers.curve.shape[1]
    while n_pieces > 1 and np.isnan(carriers.curve[i, n_pieces - 1, 0, 0]):
        n_pieces -= 1
    k = int(np.floor((rho - first) / step))
    k = min(max(k, 0), n_pieces - 1)
    x = rho - first - k * step
    value, rate = np.empty(4), np.empty(4)
    for c in range(4):
        p = carriers.curve[i, k, c]
        value[c] = p[0] + x * (p[1] + x * (p[2] + x * p[3]))
        rate[c] = p[1] + x * (2.0 * p[2] + 3.0 * x * p[3])
    s, c1 = np.sin(value[3]), 1.0 - np.cos(value[3])
    K = np.array([[0.0, -n[2], n[1]], [n[2], 0.0, -n[0]], [-n[1], n[0], 0.0]])
    Q = np.eye(3) + s * K + c1 * (K @ K)
    Rb = np.ascontiguousarray(B[:3, :3])
    T[:3, :3] = Rb @ Q
    T[:3, 3] = Rb @ value[:3] + B[:3, 3]
    T[3, :3] = 0.0
    T[3, 3] = 1.0
    turning = Rb @ (rate[3] * n)
    moving = Rb @ (rate[:3] - rate[3] * np.cross(n, value[:3]))
    twist[:3] = turning
    twist[3:] = moving - np.cross(turning, B[:3, 3])
    slope[:] = Rb @ g


@nb.njit(cache=True)
def bend(wraps, poses, points, lines, length):
    """Share each segment with a cylinder between its straight line and the two straight parts round the cylinder."""
    a, b = np.empty(3), np.empty(3)
    for j in range(len(wraps.segment)):
        row = wraps.row[j]
        lines[row] = 0.0
        lines[row + 1] = 0.0
        T, c, F, i, R = poses[wraps.bone[j]], wraps.centre[j], wraps.frame[j], wraps.near[j], wraps.radius[j]
        _into(T, c, F, points[i], a)
        _into(T, c, F, points[i + 1], b)
        g = _contact(a, b, R, wraps.slips[j])
        if g.hold == 0.0:
            continue
        d1, d2, r, t1, t2 = g.d1, g.d2, g.r, g.t1, g.t2
        plane, rise = t1 + r * g.theta + t2, b[2] - a[2]
        W = np.sqrt(plane * plane + rise * rise)
        dx, dy = b[0] - a[0], b[1] - a[1]
        S = np.sqrt(dx * dx + dy * dy + rise * rise)
        E, soft = max(W - S, 0.0), SOFT * R
        extra, share = E * E / (E + soft), soft / (E + soft)
        length[wraps.muscle[j]] += g.hold * extra
        w, fade = g.hold * (1.0 - share * share), g.slope * extra
        for k in range(6):
            lines[wraps.segment[j], k] *= 1.0 - w
        # directions of both straight parts: along the tangents, climbing alike
        flat, climb = w * plane / W, w * rise / W
        # d length by ψ, by each end's distance from the axis, by r; a near end's line is counted with -1
        turn, shade = fade * g.by_turn, fade * g.by_cover
        by_r = flat * g.theta - shade * (1.0 / t1 + 1.0 / t2)
        out1 = by_r * g.give1 + shade * r / (d1 * t1)
        out2 = by_r * g.give2 + shade * r / (d2 * t2)
        u1x = -np.sin(g.phi1) * flat - turn * a[1] / (d1 * d1) - out1 * a[0] / d1
        u1y = np.cos(g.phi1) * flat + turn * a[0] / (d1 * d1) - out1 * a[1] / d1
        u2x = -np.sin(g.phi2) * flat - turn * b[1] / (d2 * d2) + out2 * b[0] / d2
        u2y = np.cos(g.phi2) * flat + turn * b[0] / (d2 * d2) + out2 * b[1] / d2
        _line(T, F, u1x, u1y, climb, points[i], lines[row])
        _line(T, F, u2x, u2y, climb, points[i + 1], lines[row + 1])


@nb.njit(cache=True)
def arcs(wraps, poses, points, offsets, curve_offsets, out):
    """Points of all paths as they run, ARC more for each cylinder; in contact they lie on it."""
    a, b, x = np.empty(3), np.empty(3), np.empty(3)
    j = 0
    for m in range(len(offsets) - 1):
        o = curve_offsets[m]
        for i in range(offsets[m], offsets[m + 1]):
            out[o] = points[i]
            o += 1
            if j < len(wraps.near) and wraps.near[j] == i:
                T, c, F = poses[wraps.bone[j]], wraps.centre[j], wraps.frame[j]
                _into(T, c, F, points[i], a)
                _into(T, c, F, points[i + 1], b)
                g = _contact(a, b, wraps.radius[j], wraps.slips[j])
                for k in range(ARC):
                    _drawn(a, b, g, k, x)
                    for n in range(3):
                        out[o, n] = T[n, 3]
                        for q in range(3):
                            out[o, n] += T[n, q] * (c[q] + F[0, q] * x[0] + F[1, q] * x[1] + F[2, q] * x[2])
                    o += 1
                j += 1


@nb.njit(cache=True)
def gears(carriers, twists, slopes, lines):
    """Torque rows of carriers, from the lines that pull on them."""
    for g in range(len(carriers.gear)):
        i, row = carriers.gear[g, 0], carriers.gear[g, 1]
        pull = 0.0
        for k in range(carriers.start[g], carriers.start[g + 1]):
            w = lines[carriers.line[k]]
            for c in range(6):
                pull += carriers.sign[k] * twists[i, c] * w[c]
        for c in range(3):
            lines[row, c] = pull * slopes[i, c]
            lines[row, 3 + c] = 0.0


class _Contact(NamedTuple):
    """How a segment meets its cylinder, in the cylinder's plane."""

    hold: float  # share of the excess that counts; 0: no contact
    slope: float  # of it by u
    by_turn: float  # ∂u/∂ψ
    by_cover: float  # ∂u/∂A
    d1: float  # of the ends from the axis [m]
    d2: float
    r: float  # of the cylinder, which may have given way [m]
    give1: float  # ∂r/∂d₁
    give2: float
    t1: float  # of the tangents [m]
    t2: float
    theta: float  # angle of contact
    phi1: float  # angles of both contacts
    phi2: float


@nb.njit(cache=True)
def _contact(a, b, R, slips):
    d1, d2 = max(np.sqrt(a[0] * a[0] + a[1] * a[1]), 1e-9), max(np.sqrt(b[0] * b[0] + b[1] * b[1]), 1e-9)
    x1, x2 = R / (GIVE * d1), R / (GIVE * d2)
    most = max(x1, x2, 1.0)  # powers of numbers up to 1
    r = R / most * (most**-SHARP + (x1 / most) ** SHARP + (x2 / most) ** SHARP) ** (-1.0 / SHARP)
    give1 = GIVE * (r / (GIVE * d1)) ** (SHARP + 1.0)
    give2 = GIVE * (r / (GIVE * d2)) ** (SHARP + 1.0)
    t1, t2 = np.sqrt(d1 * d1 - r * r), np.sqrt(d2 * d2 - r * r)
    alpha1, alpha2 = np.arctan2(t1, r), np.arctan2(t2, r)
    from_a = np.arctan2(a[1], a[0])
    turn = np.arctan2(b[1], b[0]) - from_a
    if turn < 0.0:
        turn += 2.0 * np.pi
    cover = alpha1 + alpha2
    theta = turn - cover
    if slips:
        width = np.pi - cover
        u = (turn - np.pi) / width
        by_turn, by_cover = 1.0 / width, u / width
    else:
        width = np.pi - LEAVES
        u = (theta - LEAVES) / width
        by_turn, by_cover = 1.0 / width, -1.0 / width
    if theta <= 0.0 or u >= 1.0:
        hold, slope = 0.0, 0.0
    elif u <= 0.0:
        hold, slope = 1.0, 0.0
    else:
        hold, slope = 1.0 - u * u * u * (10.0 - u * (15.0 - 6.0 * u)), -30.0 * u * u * (1.0 - u) * (1.0 - u)
    phi1 = from_a + alpha1
    return _Contact(hold, slope, by_turn, by_cover, d1, d2, r, give1, give2, t1, t2, theta, phi1, phi1 + theta)


@nb.njit(cache=True)
def contact_of(wraps, j, poses, points):
    """How cylinder j meets its segment: the radius [m] that is left of it, the share of contact that it holds, and how
    much longer the way round is than straight on [m], 0 where it does not touch."""
    a, b, i = np.empty(3), np.empty(3), wraps.near[j]
    T, c, F = poses[wraps.bone[j]], wraps.centre[j], wraps.frame[j]
    _into(T, c, F, points[i], a)
    _into(T, c, F, points[i + 1], b)
    g = _contact(a, b, wraps.radius[j], wraps.slips[j])
    if g.theta <= 0.0:
        return g.r, g.hold, 0.0
    plane, rise = g.t1 + g.r * g.theta + g.t2, b[2] - a[2]
    straight = np.sqrt((b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2 + rise * rise)
    return g.r, g.hold, np.sqrt(plane * plane + rise * rise) - straight


@nb.njit(cache=True)
def _drawn(a, b, g, k, x):
    """Point k of ARC of a segment as it runs: on the cylinder as far as that holds it, else on the straight line."""
    f = (k + 1.0) / (ARC + 1.0)
    for n in range(3):
        x[n] = (1.0 - f) * a[n] + f * b[n]
    if g.hold > 0.0:
        f = k / (ARC - 1.0)
        z = (g.t1 + f * g.r * g.theta) / (g.t1 + g.r * g.theta + g.t2)
        x[0] += g.hold * (g.r * np.cos(g.phi1 + f * g.theta) - x[0])
        x[1] += g.hold * (g.r * np.sin(g.phi1 + f * g.theta) - x[1])
        x[2] += g.hold * (a[2] + z * (b[2] - a[2]) - x[2])


@nb.njit(cache=True, inline="always")
def _into(T, c, F, point, out):
    """A world point in the cylinder's frame."""
    x, y, z = point[0] - T[0, 3], point[1] - T[1, 3], point[2] - T[2, 3]
    p0 = T[0, 0] * x + T[1, 0] * y + T[2, 0] * z - c[0]
    p1 = T[0, 1] * x + T[1, 1] * y + T[2, 1] * z - c[1]
    p2 = T[0, 2] * x + T[1, 2] * y + T[2, 2] * z - c[2]
    for k in range(3):
        out[k] = F[k, 0] * p0 + F[k, 1] * p1 + F[k, 2] * p2


@nb.njit(cache=True, inline="always")
def _line(T, F, x, y, z, point, out):
    """Wrench of the force (x, y, z), given in the cylinder's frame, through a world point."""
    l0 = F[0, 0] * x + F[1, 0] * y + F[2, 0] * z
    l1 = F[0, 1] * x + F[1, 1] * y + F[2, 1] * z
    l2 = F[0, 2] * x + F[1, 2] * y + F[2, 2] * z
    u0 = T[0, 0] * l0 + T[0, 1] * l1 + T[0, 2] * l2
    u1 = T[1, 0] * l0 + T[1, 1] * l1 + T[1, 2] * l2
    u2 = T[2, 0] * l0 + T[2, 1] * l1 + T[2, 2] * l2
    out[0] = point[1] * u2 - point[2] * u1
    out[1] = point[2] * u0 - point[0] * u2
    out[2] = point[0] * u1 - point[1] * u0
    out[3], out[4], out[5] = u0, u1, u2
