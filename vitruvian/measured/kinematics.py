"""Inverse kinematics of a whole trial: the pose of our body in every frame, and how far it is from what was measured.

Each frame is a damped Gauss-Newton problem over all joint coordinates (see `pose_kernels`), started from the frame
before it. What markers do not see is settled by a weak pull to a standing posture, each coordinate in parts of its
range, so that vertebrae share a bend as in `control.spine`; beyond its range a coordinate is held by a stiff penalty.
Elbows and knees may straighten, which people's do: the tables' ranges begin where both are bent a little.
Ribs, sternum and jaw keep their place here and follow the spine afterwards (`control.Relaxer`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control import HANGING, pose
from vitruvian.control.relax import CAGE
from vitruvian.errors import InputError
from vitruvian.measured.pose_kernels import damped_step, pose_equations
from vitruvian.skeleton import bone_poses, difference, integrate, world_twists

Array = np.ndarray
Progress = Callable[[float, float], None]
POSTURE = 4e-6  # [m²] weight of a coordinate one range from standing: a marker 1 mm off costs as much as half a range
STOP = 0.2  # [m²/rad²] weight of a coordinate beyond its limits: 1 mm of a marker against 0.3 degrees
SMALL = 1e-6  # [rad, m] a step that ends a frame
FOREARM = 80.0  # [degrees] of pronation, thumbs ahead, where nothing measures it
STRAIGHT = {"Ul": -18.5, "Tfp": -5.5}  # [degrees] coordinate of a straight elbow or knee: the tables' zero is bent
HELD = (*CAGE, "Rb1", "Man")


@dataclass(frozen=True, eq=False)
class Goals:
    """What the poses of f frames should meet: points of bones at places, and orientations of bones."""

    names: tuple[str, ...]  # of the points, then of the orientations
    point_bone: Array  # (m,)
    point_local: Array  # [m] in the bones' frames, (m, 3)
    place: Array  # [m], (f, m, 3); NaN where nothing was seen
    point_weight: Array  # (m,)
    turn_bone: Array  # (k,)
    turn: Array  # bone to world, (f, k, 3, 3)
    turn_weight: Array  # [m²/rad²], (k,)


@dataclass(frozen=True, eq=False)
class Fit:
    """Poses, and what is left: distances [m] of points (f, m), angles [rad] of orientations (f, k)."""

    q: Array  # (f, n_q)
    distance: Array
    angle: Array
    steps: int  # Gauss-Newton steps of all frames


class PoseFitter:
    """Inverse kinematics for one body; holds scratch memory, no state."""

    def __init__(self, body: Body):
        s = body.skeleton
        if not body.free_root:
            raise InputError("measured motion needs a body whose pelvis is free")
        self.body = body
        held = np.array([s.names[b].removesuffix("_l").removesuffix("_r") in HELD for b in s.dof_bone])
        self.free = np.flatnonzero(~held)
        self.slot = np.full(s.n_v, -1, dtype=np.int64)
        self.slot[self.free] = np.arange(len(self.free))
        columns = [np.flatnonzero(s.supports[b] & ~held) for b in range(s.n_bones)]
        self._start = np.cumsum([0, *(len(c) for c in columns)]).astype(np.int64)
        self._columns = np.concatenate(columns).astype(np.int64)
        self.standing = standing(body)
        low, high = s.forces.low.copy(), s.forces.high.copy()
        for bone, angle in STRAIGHT.items():
            for side in "lr":
                at = s.v_slice(f"{bone}_{side}")
                low[at] = np.minimum(low[at], np.radians(angle))
        self.low, self.high = low, high
        span = np.where(np.isfinite(high - low), high - low, 1.0)
        self.posture = POSTURE / np.maximum(span, 0.02) ** 2
        self.posture[:6] = 0.0
        self.reference = _limited(body, self.standing)
        n = len(self.free)
        self._H, self._L, self._g, self._step = np.empty((n, n)), np.empty((n, n)), np.empty(n), np.empty(s.n_v)

    def fit(self, goals: Goals, start: Array, progress: Progress | None = None) -> Fit:
        """Poses for every frame; start: a pose near the first one, (n_q,)."""
        frames = len(goals.place)
        q, out, total = start.copy(), np.empty((frames, len(start))), 0
        for f in range(frames):
            q, steps = self.frame(goals, f, q, 300 if f == 0 else 40)
            out[f], total = q, total + steps
            if progress is not None:
                progress(f + 1, frames)
        return Fit(out, *self.residuals(goals, out), total)

    def frame(self, goals: Goals, f: int, q: Array, most: int) -> tuple[Array, int]:
        """The pose of frame f, from q; and the steps that it took."""
        s = self.body.skeleton
        cost = self._equations(goals, f, q)
        damping = 1e-6
        for count in range(1, most + 1):  # noqa: B007
            H, g = self._H.copy(), self._g.copy()
            moved, better = False, False
            for _ in range(15):
                if damped_step(H, g, damping, self.slot, self._L, self._step):
                    largest = float(np.abs(self._step).max())
                    step = self._step * min(1.0, 0.5 / max(largest, 1e-300))
                    trial = integrate(s, q, step)
                    new = self._equations(goals, f, trial)
                    if new <= cost:
                        better, moved = True, largest > SMALL
                        break
                damping = 10.0 * max(damping, 1e-9)
            if not better:
                break
            gain = cost - new
            q, cost, damping = trial, new, max(0.1 * damping, 1e-10)
            if not moved or gain < 1e-7 * cost + 1e-16:
                break
        return q, count

    def residuals(self, goals: Goals, q: Array) -> tuple[Array, Array]:
        """Distances [m] (f, m) and angles [rad] (f, k) of poses q (f, n_q) from the goals."""
        distance, angle = np.full(goals.place.shape[:2], np.nan), np.full(goals.turn.shape[:2], np.nan)
        for f in range(len(q)):
            T = bone_poses(self.body.skeleton, q[f])
            P = T[goals.point_bone]
            x = np.einsum("mij,mj->mi", P[:, :3, :3], goals.point_local) + P[:, :3, 3]
            distance[f] = np.linalg.norm(x - goals.place[f], axis=1)
            D = np.einsum("kij,kil->kjl", T[goals.turn_bone, :3, :3], goals.turn[f])
            trace = np.clip(0.5 * (np.trace(D, axis1=1, axis2=2) - 1.0), -1.0, 1.0)
            angle[f] = np.arccos(trace)
        return distance, angle

    def equations(self, goals: Goals, f: int, q: Array) -> tuple[float, Array, Array]:
        """Cost of frame f at q, its Gauss-Newton matrix (n, n) and right side (n,) on the coordinates `free`."""
        cost = self._equations(goals, f, q)
        lower = np.tril(self._H)
        return cost, lower + np.tril(lower, -1).T, self._g.copy()

    def _equations(self, goals: Goals, f: int, q: Array) -> float:
        s = self.body.skeleton
        poses, twists = world_twists(s, q)
        return float(
            pose_equations(
                s.topology, q, s.neutral, poses, twists, self._columns, self._start, self.slot,
                goals.point_bone, goals.point_local, goals.place[f], goals.point_weight,
                goals.turn_bone, goals.turn[f], goals.turn_weight,
                self.reference, self.posture, self.low, self.high, STOP, self._H, self._g,
            )
        )  # fmt: skip


def standing(body: Body) -> Array:
    """The posture of what nothing measures: upright, arms hanging, thumbs ahead; (n_q,)."""
    return pose(body, {**HANGING, "forearm": FOREARM})


def _limited(body: Body, q: Array) -> Array:
    """Coordinates as limits count them, (n_v,): for ball joints the rotation vector from neutral."""
    s = body.skeleton
    y = difference(s, s.neutral, q)
    for i, joint in enumerate(s.joints):
        if joint.n_q == joint.n_v:
            y[s.v_start[i] : s.v_start[i + 1]] = q[s.q_start[i] : s.q_start[i + 1]]
    return y
