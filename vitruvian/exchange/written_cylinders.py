"""Which cylinders muscles bend round in other programs.

Ours give way smoothly to an end that comes near their axis, and some let go of a line that has passed it
(`muscle.wrapping`). Other programs' cylinders do neither: one that an end is inside of does not count at all. So each
is written with the radius, from none to its own, whose way round is nearest to ours in length (least squares over poses
within the joints' ranges, left and right together).

Of the two ways round a cylinder ours is told by the sense of turning, so that it may go far round. Other programs are
told a direction, and take the way whose contacts lie more on that side: one that has gone far round may no longer be
it. So that direction is turned about the axis to the middle of those with which the way is ours in all poses.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from vitruvian.muscle import Cylinder, path_points
from vitruvian.muscle.wrapping import contact_of
from vitruvian.skeleton import bone_poses, integrate

if TYPE_CHECKING:
    from vitruvian.anatomy import Body

Array = np.ndarray
POSES, SEED = 120, 0
USUAL = 0.7  # share of the joints' ranges that decides on radii; sides are to be right in all of them
FREE = 0.5  # [m, rad] to both sides where a joint has no range
SHARES = np.array([0.0, *np.linspace(0.3, 1.0, 29)])  # of the radius, that are tried
SIDES = np.radians(np.arange(-120.0, 121.0, 15.0))  # turns of the side, that are tried
SAME = 5e-5  # [m] rms: sides that are as good


def written_cylinders(body: Body) -> list[Cylinder]:
    """Every cylinder of `body.muscles.cylinders` as it is written, one after the other; radius 0: left out."""
    muscles, wraps = body.muscles, body.muscles.wraps
    out = [c for each in muscles.cylinders for c in each]
    usual, all_over = (_met(body, _poses(body, share)) for share in (USUAL, 1.0))
    pairs: dict[tuple[str, int], list[int]] = {}
    for j in range(len(out)):
        m = int(wraps.muscle[j])
        pairs.setdefault((muscles.names[m][:-2], int(wraps.near[j] - muscles.offsets[m])), []).append(j)
    for both in pairs.values():
        radius = wraps.radius[both[0]] * SHARES

        def misfit(met: tuple[Array, Array], side: float) -> Array:
            """Root of the mean square [m] for each radius."""
            (a, b), ours = met
            off = [_excess(a[j], b[j], radius, side) - ours[j][:, None] for j in both]  # noqa: B023
            return np.asarray(np.sqrt(np.mean(np.square(off), axis=(0, 1))))

        least = np.array([misfit(all_over, side).min() for side in SIDES])
        good = SIDES[least <= least.min() + SAME]
        side = float(good[np.argmin(np.abs(good - good.mean()))])
        best = float(radius[np.argmin(misfit(usual, side))])
        for j in both:
            first, second, _ = wraps.frame[j]
            out[j] = replace(out[j], radius=best, side=tuple(np.cos(side) * first + np.sin(side) * second))
    return out


def _met(body: Body, poses: Array) -> tuple[Array, Array]:
    """Ends of every cylinder's segment in its frame over n poses, (2, w, n, 3), and how much longer our way is [m],
    (w, n)."""
    muscles, wraps = body.muscles, body.muscles.wraps
    n = len(wraps.radius)
    ends, ours = np.empty((2, n, len(poses), 3)), np.empty((n, len(poses)))
    for k, q in enumerate(poses):
        placed = np.asarray(bone_poses(body.skeleton, q))
        points = path_points(muscles, placed)
        T = placed[wraps.bone]
        for end in range(2):
            away = np.einsum("wji,wj->wi", T[:, :3, :3], points[wraps.near + end] - T[:, :3, 3]) - wraps.centre
            ends[end, :, k] = np.einsum("wij,wj->wi", wraps.frame, away)
        for j in range(n):
            _, hold, extra = contact_of(wraps, j, placed, points)
            ours[j, k] = hold * extra
    return ends, ours


def _excess(a: Array, b: Array, radius: Array, side: float) -> Array:
    """How much longer [m] the way from a (n, 3) to b (n, 3) round cylinders of each radius (k,) is in MuJoCo than
    straight on, (n, k); 0 where an end is inside, or where the line is clear on the side told, which lies at an angle
    `side` [rad] from the frame's first axis."""
    d1, d2 = np.hypot(a[:, 0], a[:, 1])[:, None], np.hypot(b[:, 0], b[:, 1])[:, None]
    from1, from2 = np.arctan2(a[:, 1], a[:, 0])[:, None], np.arctan2(b[:, 1], b[:, 0])[:, None]
    t1, t2 = (np.sqrt(np.maximum(d * d - radius**2, 0.0)) for d in (d1, d2))
    alpha1, alpha2 = np.arctan2(t1, radius), np.arctan2(t2, radius)
    told, rise = np.array([np.cos(side), np.sin(side)]), (b[:, 2] - a[:, 2])[:, None]
    good, ways = [], []
    for sense in (1.0, -1.0):
        phi1, phi2 = from1 + sense * alpha1, from2 - sense * alpha2
        middle = np.stack([np.cos(phi1) + np.cos(phi2), np.sin(phi1) + np.sin(phi2)], axis=-1)
        good.append(middle @ told / np.maximum(np.linalg.norm(middle, axis=-1), 1e-12))
        ways.append(np.hypot(t1 + radius * np.mod(sense * (phi2 - phi1), 2.0 * np.pi) + t2, rise))
    longer = np.where(good[0] > good[1], ways[0], ways[1]) - np.linalg.norm(b - a, axis=1)[:, None]
    along = (b - a)[:, :2]
    at = np.clip(-(a[:, :2] * along).sum(axis=1) / np.maximum((along**2).sum(axis=1), 1e-18), 0.0, 1.0)
    near = a[:, :2] + at[:, None] * along  # of the line, to the axis
    clear = (np.hypot(near[:, 0], near[:, 1])[:, None] >= radius) & (near @ told >= 0.0)[:, None]
    return np.where(~clear & (radius < np.minimum(d1, d2)) & (radius > 0.0), longer, 0.0)


def _poses(body: Body, share: float) -> Array:
    """Within that share of the joints' ranges, (POSES, n_q); the first is the default pose."""
    s, rng = body.skeleton, np.random.default_rng(SEED)
    low, high = s.forces.low, s.forces.high
    neutral = s.neutral_q()
    middle = np.zeros(s.n_v)  # of a hinge its neutral angle, from which ranges do not count
    for i, joint in enumerate(s.joints):
        if joint.n_q == joint.n_v:
            middle[s.v_start[i] : s.v_start[i + 1]] = neutral[s.q_start[i] : s.q_start[i + 1]]
    low, high = np.where(np.isfinite(low), low - middle, -FREE), np.where(np.isfinite(high), high - middle, FREE)
    moves = share * rng.uniform(low, np.maximum(high, low), (POSES - 1, s.n_v))
    return np.array([body.default_q, *(integrate(s, neutral, move, 1.0) for move in moves)])
