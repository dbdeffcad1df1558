"""Which radius the cylinders that muscles bend round get in other programs.

Ours give way smoothly to an end that comes near their axis, and some let go of a line that has passed it
(`muscle.wrapping`). Other programs' cylinders do neither: one that an end is inside of does not count at all. So each
is written with the radius, from none to its own, whose way round is nearest to ours in length (least squares over poses
within the joints' ranges, left and right together).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vitruvian.muscle import path_points
from vitruvian.muscle.wrapping import contact_of
from vitruvian.skeleton import bone_poses, integrate

if TYPE_CHECKING:
    from vitruvian.anatomy import Body

Array = np.ndarray
POSES, SEED = 120, 0
RANGE = 0.7  # share of the joints' ranges that is tried
FREE = 0.5  # [m, rad] to both sides where a joint has no range
SHARES = np.array([0.0, *np.linspace(0.3, 1.0, 29)])  # of the radius, that are tried


def written_radii(body: Body) -> Array:
    """Radius [m] of every cylinder of `body.muscles.wraps`, 0 for one that is left out, (w,)."""
    muscles, wraps = body.muscles, body.muscles.wraps
    n = len(wraps.radius)
    off = np.zeros((n, len(SHARES)))
    for q in _poses(body):
        poses = np.asarray(bone_poses(body.skeleton, q))
        points = path_points(muscles, poses)
        T = poses[wraps.bone]
        ends = [
            np.einsum(
                "wij,wj->wi",
                wraps.frame,
                np.einsum("wji,wj->wi", T[:, :3, :3], points[wraps.near + k] - T[:, :3, 3]) - wraps.centre,
            )
            for k in range(2)
        ]
        more = [contact_of(wraps, j, poses, points) for j in range(n)]
        ours = np.array([hold * extra for _, hold, extra in more])
        off += (_excess(ends[0], ends[1], wraps.radius[:, None] * SHARES) - ours[:, None]) ** 2
    pairs: dict[tuple[str, int], list[int]] = {}
    for j in range(n):
        m = int(wraps.muscle[j])
        pairs.setdefault((muscles.names[m][:-2], int(wraps.near[j] - muscles.offsets[m])), []).append(j)
    out = np.zeros(n)
    for both in pairs.values():
        out[both] = wraps.radius[both] * SHARES[int(np.argmin(off[both].sum(axis=0)))]
    return out


def _excess(a: Array, b: Array, radius: Array) -> Array:
    """How much longer [m] the way from a (w, 3) to b (w, 3) round cylinders of each radius (w, k) is than straight on,
    passed on one side always; 0 where an end is inside, (w, k)."""
    d1, d2 = np.hypot(a[:, 0], a[:, 1])[:, None], np.hypot(b[:, 0], b[:, 1])[:, None]
    turn = np.mod(np.arctan2(b[:, 1], b[:, 0]) - np.arctan2(a[:, 1], a[:, 0]), 2.0 * np.pi)[:, None]
    t1, t2 = (np.sqrt(np.maximum(d * d - radius**2, 0.0)) for d in (d1, d2))
    round_it = turn - np.arctan2(t1, radius) - np.arctan2(t2, radius)
    rise = (b[:, 2] - a[:, 2])[:, None]
    far = np.hypot(t1 + radius * round_it + t2, rise) - np.linalg.norm(b - a, axis=1)[:, None]
    return np.where((round_it > 0.0) & (radius < np.minimum(d1, d2)) & (radius > 0.0), far, 0.0)


def _poses(body: Body) -> Array:
    """Within the joints' ranges, (POSES, n_q); the first is the default pose."""
    s, rng = body.skeleton, np.random.default_rng(SEED)
    low, high = s.forces.low, s.forces.high
    neutral = s.neutral_q()
    middle = np.zeros(s.n_v)  # of a hinge its neutral angle, from which ranges do not count
    for i, joint in enumerate(s.joints):
        if joint.n_q == joint.n_v:
            middle[s.v_start[i] : s.v_start[i + 1]] = neutral[s.q_start[i] : s.q_start[i + 1]]
    low, high = np.where(np.isfinite(low), low - middle, -FREE), np.where(np.isfinite(high), high - middle, FREE)
    moves = RANGE * rng.uniform(low, np.maximum(high, low), (POSES - 1, s.n_v))
    return np.array([body.default_q, *(integrate(s, neutral, move, 1.0) for move in moves)])
