"""The subject's proportions: one factor for each segment, found together with the poses from all measured places.

With the size s of the body, the factors f and the poses q_k of some frames,

    min over s, f, q_k of Σ_k Σ w |places - x(q_k, s, f)|² + posture and limits of q_k + Σ prior (log f)²,

x is linear in s f for given turns of the bones. Each Gauss-Newton step eliminates the poses (Schur complement of their
normal equations), so that a longer thigh is told from a bent knee. The prior is worth a marker 5 mm off against a
factor 5 % off 1 in one frame: it decides what the markers do not see. Both sides have the same factor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.anatomy.body import REGIONS
from vitruvian.anatomy.proportions import LEAST, MOST, SEGMENTS, directions, segment_of
from vitruvian.errors import InputError
from vitruvian.measured.kinematics import Goals, PoseFitter
from vitruvian.skeleton import bone_poses, world_twists

Array = np.ndarray
PRIOR = (0.005 / 0.05) ** 2  # [m²] per squared logarithm of a factor
SEEN = 10.0  # times the prior that the places must say of a factor, or it is not measured
ROUNDS, SMALL = 25, 1e-4  # steps at most, and one that ends the search
LONGEST = 0.1  # of a step
SAMPLES = 12  # frames that are looked at
ASTRAY = 0.06  # [m] rms of a marker that is elsewhere than its name says
TRIES = 6  # searches, each without the markers that went astray most in the one before


@dataclass(frozen=True, eq=False)
class Proportions:
    """Factors of the segments against our body of the subject's size."""

    size: float  # of lengths, against the tables
    factors: Mapping[str, float]  # segments that the places measure
    unseen: tuple[str, ...]  # segments that they do not: factor 1
    doubted: tuple[str, ...] = ()  # markers so far off any body of ours that no segment follows them


class Shapes:
    """Bodies like one of the tables' size, for kinematics alone, of any size and proportions."""

    def __init__(self, body: Body):
        s = body.skeleton
        self.body, self.names = body, list(SEGMENTS)
        joints = dict(zip(s.names, bone_poses(s, body.default_q)[:, :3, 3]))
        own = {b: segment_of(b, REGIONS[body.bone_part[i]]) for i, b in enumerate(s.names)}
        along = directions(joints, own)
        self.number = np.array([self.names.index(own[b]) if own[b] else -1 for b in s.names])
        self.along = np.array([along.get(b, np.zeros((3, 3))) for b in s.names])

    def make(self, p: Array) -> Body:
        """The body whose size and factors have the logarithms p (1 + segments,)."""
        s, size = self.body.skeleton, float(np.exp(p[0]))
        more = np.where(self.number >= 0, np.exp(p[1:])[self.number] - 1.0, 0.0)
        stretch = size * (np.eye(3) + more[:, None, None] * self.along)
        offsets = s.offsets
        offsets[1:] = np.einsum("bij,bj->bi", stretch[s.parent[1:]], offsets[1:])
        sizes = dict(zip(s.names, stretch))
        return replace(self.body, skeleton=s.with_offsets(offsets), scale=size, sizes=sizes)

    def slopes(self, body: Body, T: Array) -> tuple[Array, Array]:
        """Of the joints' places in p, (n_bones, 3, 1 + segments), and of a place on a bone by its place in the bone's
        frame, (n_bones, 3, 1 + segments, 3); T: the poses of the bones of `body`."""
        s = body.skeleton
        own = np.zeros((s.n_bones, 3, 1 + len(self.names), 3))
        own[:, :, 0] = T[:, :3, :3]
        on = np.flatnonzero(self.number >= 0)
        own[on, :, 1 + self.number[on]] = T[on, :3, :3] @ self.along[on]
        joint = np.zeros(own.shape[:3])
        for i in range(1, s.n_bones):
            joint[i] = joint[s.parent[i]] + own[s.parent[i]] @ s.offsets[i]
        return joint, own


def found_proportions(
    body: Body, goals_of: Callable[[Body], Goals], size: float, start: Callable[[Body], Array], *, sized: bool
) -> Proportions:
    """body: of the tables' size; goals_of(body): what a body should meet, start(body): its pose (n_q,) near the first
    frame; size: a first guess, or with `sized` what is given."""
    shapes, doubted = Shapes(body), set[str]()
    for _ in range(TRIES):

        def trusted(b: Body) -> Goals:
            goals = goals_of(b)
            weight = [w * (n not in doubted) for n, w in zip(goals.names, goals.point_weight)]  # noqa: B023
            return replace(goals, point_weight=np.array(weight))

        p, H, astray = _search(shapes, trusted, size, start, sized)
        if not astray:
            break
        doubted |= astray
    seen = _told(H)[1:] > SEEN * PRIOR
    named = list(zip(shapes.names, np.exp(p[1:]), seen))
    factors = {name: float(f) for name, f, known in named if known}
    unseen = tuple(name for name, _, known in named if not known)
    return Proportions(float(np.exp(p[0])), factors, unseen, tuple(sorted(doubted)))


def _search(
    shapes: Shapes, goals_of: Callable[[Body], Goals], size: float, start: Callable[[Body], Array], sized: bool
) -> tuple[Array, Array, set[str]]:
    """Logarithms of size and factors, their normal equations, and markers that went astray."""
    frames = np.unique(np.linspace(0, len(goals_of(shapes.body).place) - 1, SAMPLES).astype(int))
    p = np.r_[np.log(size), np.zeros(len(shapes.names))]
    free = np.r_[not sized, np.ones(len(shapes.names), bool)]
    best, poses, reach = p, [start(shapes.make(p))], LONGEST
    lowest, H, g = np.inf, np.empty(0), np.empty(0)
    for _ in range(ROUNDS):
        cost, new_H, new_g, new_poses = _equations(shapes, goals_of(shapes.make(p)), poses, frames, p)
        if cost < lowest:
            lowest, H, g, poses, best = cost, new_H, new_g, new_poses, p
        else:
            reach *= 0.25
        step = np.zeros(len(p))
        step[free] = np.linalg.solve(H[np.ix_(free, free)], g[free])
        largest = float(np.abs(step).max())
        if min(largest, reach) < SMALL:
            break
        p = best + step * min(1.0, reach / largest)
        p[1:] = np.clip(p[1:], np.log(LEAST), np.log(MOST))
    found = shapes.make(best)
    goals = goals_of(found)
    some = replace(goals, place=goals.place[frames], turn=goals.turn[frames])
    far = np.sqrt(np.nanmean(PoseFitter(found).residuals(some, np.array(poses))[0] ** 2, axis=0))
    far = np.where(goals.point_weight > 0.0, np.nan_to_num(far), 0.0)
    least = max(ASTRAY, 0.5 * float(far.max()))
    return best, H, {name for name, d in zip(goals.names, far) if d > least}


def joint_proportions(lengths: Mapping[str, tuple[float, float]], size: float) -> Proportions:
    """From lengths between joints (measured, of a body of that size), where a file names joints."""
    factors = {name: theirs / ours for name, (theirs, ours) in lengths.items() if name in SEGMENTS}
    for name, factor in factors.items():
        if not LEAST <= factor <= MOST:
            raise InputError(
                f"the {name} is {factor:.2f} times as long as that of our body of this height; segments may be "
                f"{LEAST:g} to {MOST:g} times (--proportions ours does not ask)"
            )
    return Proportions(size, factors, tuple(name for name in SEGMENTS if name not in factors))


def _told(H: Array) -> Array:
    """What the places say of each unknown on its own, less the prior."""
    return np.diag(H) - np.r_[0.0, np.full(len(H) - 1, PRIOR)]


def _equations(
    shapes: Shapes, goals: Goals, start: list[Array], frames: Array, p: Array
) -> tuple[float, Array, Array, list[Array]]:
    """Cost, normal equations of p with the poses eliminated, and those poses."""
    body = shapes.make(p)
    fitter = PoseFitter(body)
    some = replace(goals, place=goals.place[frames], turn=goals.turn[frames])
    H, g = np.zeros((len(p), len(p))), np.zeros(len(p))
    poses: list[Array] = []
    cost = 0.0
    for k in range(len(frames)):
        q, _ = fitter.frame(some, k, start[k] if k < len(start) else poses[-1], 300)
        poses.append(q)
        here, Hq, gq = fitter.equations(some, k, q)
        Jq, Jp, e, w = _slopes(fitter, shapes, some, k, q)
        across = Jq.T @ (w[:, None] * Jp)
        solved = np.linalg.solve(Hq, np.column_stack([across, gq]))
        H += Jp.T @ (w[:, None] * Jp) - across.T @ solved[:, :-1]
        g += Jp.T @ (w * e) - across.T @ solved[:, -1]
        cost += here
    prior = PRIOR * np.r_[0.0, np.ones(len(p) - 1)]
    return cost + 0.5 * float(prior @ p**2), H + np.diag(prior), g - prior * p, poses


def _slopes(fitter: PoseFitter, shapes: Shapes, goals: Goals, k: int, q: Array) -> tuple[Array, Array, Array, Array]:
    """Slopes of all seen places in the free coordinates (3m, n) and in p (3m, 1 + segments), their errors and weights
    (3m,)."""
    s = fitter.body.skeleton
    T, twists = world_twists(s, q)
    use = np.flatnonzero((goals.point_weight > 0.0) & ~np.isnan(goals.place[k, :, 0]))
    bones, local = goals.point_bone[use], goals.point_local[use]
    x = np.einsum("mij,mj->mi", T[bones, :3, :3], local) + T[bones, :3, 3]
    t = twists[fitter.free]
    Jq = np.cross(t[None, :, :3], x[:, None, :]) + t[None, :, 3:]
    Jq *= s.supports[bones][:, fitter.free][:, :, None]
    joint, own = shapes.slopes(fitter.body, T)
    Jp = joint[bones] + np.einsum("mipj,mj->mip", own[bones], local)
    e = goals.place[k, use] - x
    columns = np.moveaxis(Jq, 2, 1).reshape(-1, len(fitter.free))
    return columns, Jp.reshape(len(columns), -1), e.ravel(), np.repeat(goals.point_weight[use], 3)
