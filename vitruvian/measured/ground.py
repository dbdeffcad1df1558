"""What the ground does to the feet: from force plates, or estimated from the motion alone.

Plates: each plate's force goes to the foot that stands on its centre of pressure, frame by frame; a plate that pushes
where no foot is, or between two feet that share it, is an error that says so. A foot that stands on none, while
Newton's laws miss something, is named by `feet_without_plates`.

Without plates the wrench w on the whole body that Newton's laws ask for (inverse dynamics without ground) is shared
among points of the soles that are low and slow,

    min over forces f in friction pyramids of |D (B f - w)|² + Σ ε/s (|f|² + κ |f across|²),

s between 0 and 1 by a point's height over its lowest in the trial (a clip's feet are seldom flat on one floor) and its
speed (after the smooth contact of Jung et al. 2014, Multibody Syst. Dyn.
32:425, and Karatsidis et al. 2017, Sensors 17:75). When both feet stand, w alone does not say who carries what: the
part of f across the line from the point to a pivot above the centre of mass costs more, since the ground's forces of
people who walk meet near there (Maus et al. 2010, Nat. Commun. 1:70). What is left of w stays on the pelvis and is
reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls
from scipy.spatial import ConvexHull

from vitruvian.anatomy import Body
from vitruvian.errors import InputError
from vitruvian.measured.smooth import TWO_PASSES, Course
from vitruvian.measured.trial import ForcePlate
from vitruvian.skeleton import bone_poses, centre_of_mass, inverse_dynamics, world_twists

Array = np.ndarray
FEET = ("Fo_l", "Fo_r")
# under the left foot at the tables' size [m], in the foot's frame: heel, ball and toes, each inside and outside
SOLE = np.array(
    [[-0.025, 0.055, -0.060], [0.030, 0.055, -0.060], [-0.030, -0.135, -0.060], [0.062, -0.110, -0.060],
     [-0.015, -0.215, -0.058], [0.045, -0.185, -0.058]]
)  # fmt: skip
FRICTION = 0.8
LOW, THIN = 0.040, 0.010  # [m] height at which a point is half in contact, and how soft that is
LOWEST = 5.0  # percentile of a point's heights at which it stands on the ground
SLOW, SOFT = 0.8, 0.15  # [m/s] the same of its speed
EASE = 5e-2  # ε
ACROSS = 10.0  # κ
PIVOT = 0.15  # [m] of the pivot above the centre of mass
ARM = 1.0  # [m] of moments against forces in D
PRESSED = 20.0  # [N] above which a plate carries something
MARGIN = 0.08  # [m] around the sole's points within which a foot stands on a centre of pressure
MISSED, ASIDE = 0.1, 0.05  # force [body weights] and lever of the moment [m body weight] whose lack names a foot
STANDS = 0.1  # [s] that a foot stands at least
HIGH = 0.12  # [m] above which a foot stands on nothing


@dataclass(frozen=True, eq=False)
class GroundForce:
    """Force on each foot, and where from."""

    kind: str  # "force plates" or "estimated contact"
    force: Array  # on the left and right foot [N], world axes, (f, 2, 3)
    moment: Array  # about the world's origin [N m], (f, 2, 3)
    unused: tuple[str, ...] = ()  # plates on which nobody stood

    def wrenches(self, body: Body, poses: Array, frame: int) -> Array:
        """(moment, force) on each bone in its own frame, (n_bones, 6); poses (n_bones, 4, 4) of that frame."""
        out = np.zeros((body.n_bones, 6))
        for k, bone in enumerate(FEET):
            i = body.skeleton.index(bone)
            R, x = poses[i, :3, :3], poses[i, :3, 3]
            f = self.force[frame, k]
            out[i, :3] = R.T @ (self.moment[frame, k] - np.cross(x, f))
            out[i, 3:] = R.T @ f
        return out


def sole_points(body: Body, foot: str) -> Array:
    """Points under a foot in its frame [m], (n, 3)."""
    return np.asarray(SOLE * (-1.0 if foot.endswith("_r") else 1.0, 1.0, 1.0) @ body.size(foot))


def sole_motion(body: Body, course: Course) -> tuple[Array, Array]:
    """Places [m] and velocities [m/s] of both soles' points, (f, 2, n, 3)."""
    s = body.skeleton
    places = np.empty((len(course.q), 2, len(SOLE), 3))
    speeds = np.empty_like(places)
    for f, (q, v) in enumerate(zip(course.q, course.v)):
        poses, twists = world_twists(s, q)
        for k, foot in enumerate(FEET):
            i = s.index(foot)
            x = sole_points(body, foot) @ poses[i, :3, :3].T + poses[i, :3, 3]
            twist = (twists * (s.supports[i] * v)[:, None]).sum(axis=0)
            places[f, k], speeds[f, k] = x, np.cross(twist[:3], x) + twist[3:]
    return places, speeds


def estimated_contact(body: Body, course: Course) -> GroundForce:
    """Ground forces that Newton's laws ask for, on points of the soles that can carry them; the ground is at z = 0."""
    s = body.skeleton
    places, speeds = sole_motion(body, course)
    height = places[..., 2] - _rest(places[..., 2])
    weight = s.mass * float(np.linalg.norm(s.gravity))
    edges = np.array([[FRICTION, 0, 1], [-FRICTION, 0, 1], [0, FRICTION, 1], [0, -FRICTION, 1]]) / np.hypot(1, FRICTION)
    force, moment = np.zeros((len(course.q), 2, 3)), np.zeros((len(course.q), 2, 3))
    scale = np.r_[np.full(3, 1.0 / (ARM * weight)), np.full(3, 1.0 / weight)]
    for f, (q, v, a) in enumerate(zip(course.q, course.v, course.a)):
        share = _logistic((LOW - height[f]) / THIN) * _logistic((SLOW - np.linalg.norm(speeds[f], axis=-1)) / SOFT)
        share = share.ravel()
        on = share > 1e-3
        if not on.any():
            continue
        need = inverse_dynamics(s, q, v, a)[:6]
        pelvis = bone_poses(s, q)[0]
        pull = pelvis[:3, :3] @ need[3:]
        centre = centre_of_mass(s, q)
        turn = pelvis[:3, :3] @ need[:3] + np.cross(pelvis[:3, 3] - centre, pull)
        x = places[f].reshape(-1, 3)[on]
        columns = np.concatenate(
            [np.cross((x - centre)[:, None], edges[None]), np.broadcast_to(edges, (len(x), 4, 3))], axis=2
        ).reshape(-1, 6)
        system = np.concatenate([(columns * scale).T, _ease(x, centre, share[on], edges) / weight])
        found = nnls(system, np.r_[scale * np.r_[turn, pull], np.zeros(len(system) - 6)], maxiter=5000)[0]
        each = (found.reshape(-1, 4)[..., None] * edges).sum(axis=1)
        foot = np.flatnonzero(on) // len(SOLE)
        for k in range(2):
            force[f, k] = each[foot == k].sum(axis=0)
            moment[f, k] = np.cross(x[foot == k], each[foot == k]).sum(axis=0)
    return GroundForce("estimated contact", force, moment)


def _rest(height: Array) -> Array:
    """Height of each point where it stands on the ground (2, n), from all its heights (f, 2, n): the lowest, if that is
    near the ground at all."""
    low = np.percentile(height, LOWEST, axis=0)
    return np.asarray(np.where(np.abs(low) < HIGH, low, 0.0))


def _ease(x: Array, centre: Array, share: Array, edges: Array) -> Array:
    """Rows whose square is the cost of forces along the edges at points x (n, 3); (3 n, 4 n)."""
    n = len(x)
    out = np.zeros((3 * n, 4 * n))
    for k in range(n):
        u = centre - x[k]
        u[2] += PIVOT
        u /= np.linalg.norm(u)
        cost = np.eye(3) + (np.sqrt(1.0 + ACROSS) - 1.0) * (np.eye(3) - np.outer(u, u))
        out[3 * k : 3 * k + 3, 4 * k : 4 * k + 4] = np.sqrt(EASE / share[k]) * cost @ edges.T
    return out


def plate_forces(body: Body, course: Course, plates: Sequence[ForcePlate], cutoff: float) -> GroundForce:
    """Forces of plates on the feet that stand on them, filtered as the motion is."""
    from scipy.signal import butter, filtfilt

    places, _ = sole_motion(body, course)
    force, moment = np.zeros((len(course.q), 2, 3)), np.zeros((len(course.q), 2, 3))
    unused, t = [], course.time
    for plate in plates:
        rate = (len(plate.time) - 1) / (plate.time[-1] - plate.time[0])
        if plate.time[0] > t[0] + 0.02 or plate.time[-1] < t[-1] - 0.02:
            raise InputError(
                f"force plate {plate.name} was read from {plate.time[0]:.3g} to {plate.time[-1]:.3g} s, the motion "
                f"lasts from {t[0]:.3g} to {t[-1]:.3g} s (both from the motion's first frame)"
            )
        wrench = np.column_stack([plate.force, plate.moment])
        pressed = plate.force[:, 2] > PRESSED
        if not pressed.any():
            unused.append(plate.name)
            continue
        wrench = np.where(pressed[:, None], wrench, 0.0)
        if cutoff > 0.0 and 2.0 * cutoff / TWO_PASSES < rate:
            b, a = butter(2, 2.0 * cutoff / TWO_PASSES / rate)
            wrench = filtfilt(b, a, wrench, axis=0, padlen=min(len(wrench) - 2, round(rate)))
        on = np.interp(t, plate.time, pressed.astype(float)) > 0.5
        mine = np.column_stack([np.interp(t, plate.time, column) for column in wrench.T])
        raw = np.column_stack([np.interp(t, plate.time, c) for c in np.column_stack([plate.force, plate.moment]).T])
        centre = ForcePlate(plate.name, t, raw[:, :3], raw[:, 3:]).centre()
        whose = _standing_foot(plate.name, t, on, centre, raw[:, 2], places)
        for k in range(2):
            part = whose == k
            force[part, k] += mine[part, :3]
            moment[part, k] += mine[part, 3:]
    return GroundForce("force plates", force, moment, tuple(unused))


def feet_without_plates(body: Body, course: Course, ground: GroundForce, left: Array) -> list[str]:
    """Feet that stand low and still with no force on them while the wrench `left` on the pelvis (f, 6: moment, force)
    says that something carries the body there; one line each, with the time."""
    places, speeds = sole_motion(body, course)
    height = places[..., 2] - _rest(places[..., 2])
    stands = ((height < LOW) & (np.linalg.norm(speeds, axis=-1) < SLOW)).any(axis=2)
    weight = body.skeleton.mass * float(np.linalg.norm(body.skeleton.gravity))
    lacks = np.linalg.norm(left[:, 3:], axis=1) > MISSED * weight
    lacks |= np.linalg.norm(left[:, :3], axis=1) > ASIDE * weight
    out, t = [], course.time
    for k, side in enumerate(("left", "right")):
        alone = stands[:, k] & lacks & (ground.force[:, k, 2] < PRESSED)
        edge = np.flatnonzero(np.diff(np.concatenate([[0], alone.astype(int), [0]])))
        spans = [(t[a], t[b - 1]) for a, b in zip(edge[::2], edge[1::2]) if t[b - 1] - t[a] >= STANDS]
        if spans:
            when = ", ".join(f"{a:.2f} to {b:.2f} s" for a, b in spans[:6])
            out.append(f"the {side} foot stands on no force plate of its own from {when}: moments there are wrong")
    return out


def _standing_foot(name: str, t: Array, on: Array, centre: Array, push: Array, places: Array) -> Array:
    """The foot (0 left, 1 right) on a plate's centre of pressure in every frame, near contact as well."""
    whose = np.full(len(t), -1)
    for f in np.flatnonzero(on):
        far = np.array([_outside(centre[f, :2], places[f, k, :, :2]) for k in range(2)])
        far[places[f, :, :, 2].min(axis=1) > HIGH] = np.inf
        best = int(np.argmin(far))
        if far[best] > MARGIN and push[f] > 3.0 * PRESSED:
            where = ", ".join(f"{c:.2f}" for c in centre[f, :2])
            told = f"force plate {name} carries {push[f]:.0f} N at ({where}) m at {t[f]:.3g} s"
            raise InputError(f"{told} {_why_no_foot(centre[f, :2], places[f], far)}")
        whose[f] = best
    known = np.flatnonzero(whose >= 0)
    if len(known):  # the filter spreads a step beyond its frames; that belongs to the same foot
        nearest = known[np.argmin(np.abs(np.arange(len(t))[:, None] - known[None]), axis=1)]
        whose = whose[nearest]
    return whose


def _why_no_foot(centre: Array, places: Array, far: Array) -> str:
    """Why a plate's centre of pressure (2,) is under neither foot, and what to do; far: from each foot [m], infinite
    for one in the air."""
    if np.isfinite(far).all():
        hull = ConvexHull(places[:, :, :2].reshape(-1, 2)).equations
        if (hull[:, :2] @ centre + hull[:, 2]).max() < MARGIN:
            return (
                "between the feet: both stand on it, and what each of them carries is not measured. Leave the plate "
                "out (--without-plate); without any plates contact is estimated from the motion"
            )
    least = float(far.min())
    near = f"the nearest foot is {least:.2f} m away" if np.isfinite(least) else "no foot is near the ground"
    return f"with no foot on it: {near}. Leave the plate out (--without-plate), or check the axes of the file"


def _outside(point: Array, corners: Array) -> float:
    """Distance [m] of a point (2,) from the line through a sole: heel's middle to toes' middle, less half its width."""
    heel, toe = corners[:2].mean(axis=0), corners[-2:].mean(axis=0)
    way = toe - heel
    u = float(np.clip((point - heel) @ way / max(way @ way, 1e-9), 0.0, 1.0))
    half = 0.5 * float(np.linalg.norm(corners[2] - corners[3]))
    return max(0.0, float(np.linalg.norm(point - heel - u * way)) - half)


def _logistic(x: Array) -> Array:
    return 1.0 / (1.0 + np.exp(-np.clip(x, -50.0, 50.0)))
