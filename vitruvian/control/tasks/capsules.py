"""Capsules about the parts of a body, each the least that holds the part's skin at rest (Si 2013, 5.4).

A capsule is a segment with a radius. Links of the skin with few vertices go with their neighbour, the chest has two.
Pairs that share a joint, belong to the trunk, or already touch in the default pose (arms out) are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numba as nb
import numpy as np
from scipy.optimize import minimize
from scipy.spatial import ConvexHull

from vitruvian.anatomy import Body
from vitruvian.skeleton import bone_poses
from vitruvian.skin import BoundSkin

Array = np.ndarray
# part: the bone that carries it, the links whose skin it holds, and which side of the middle if not all
PARTS: dict[str, tuple[str, tuple[str, ...], int]] = {
    "pelvis": ("Pel", ("Pel", "L4"), 0),
    "belly": ("L2", ("L2", "T12"), 0),
    "left chest": ("T6", ("T9", "T6", "T3"), 1),
    "right chest": ("T6", ("T9", "T6", "T3"), -1),
    "neck": ("C3", ("C6", "C3"), 0),
    "head": ("Sku", ("Sku",), 0),
    **{
        f"{side} {part}": (f"{links[0]}_{side[0]}", tuple(f"{x}_{side[0]}" for x in links), 0)
        for side in ("left", "right")
        for part, links in {
            "shoulder": ("Cla",), "upper arm": ("Hu",), "forearm": ("Ul", "Rad"), "hand": ("Ha",), "thigh": ("Fe",),
            "shank": ("Tfp",), "foot": ("Fo",),
        }.items()
    },
}  # fmt: skip
TRUNK = ("pelvis", "belly", "left chest", "right chest", "neck", "head", "left shoulder", "right shoulder")
JOINED = (
    ("shoulder", "upper arm"),
    ("upper arm", "forearm"),
    ("forearm", "hand"),
    ("thigh", "shank"),
    ("shank", "foot"),
)
APART = 0.0  # [m] in the default pose; pairs nearer than that are one piece of flesh


@dataclass(frozen=True)
class Capsules:
    """Of one body."""

    names: tuple[str, ...]
    bones: Array  # that carry them, (k,)
    ends: Array  # in the bones' frames [m], (k, 2, 3)
    radius: Array  # [m], (k,)
    pairs: Array  # that may not meet, (p, 2)
    vertices: tuple[Array, ...]  # numbers of the skin's vertices that each holds

    def near(self, poses: Array) -> tuple[Array, Array, Array]:
        """Gap of each pair [m] (p,), less than zero where they overlap, and the nearest points of their axes (p, 2, 3);
        direction from the first to the second (p, 3)."""
        gap, points, normal = (
            np.empty(len(self.pairs)),
            np.empty((len(self.pairs), 2, 3)),
            np.empty((len(self.pairs), 3)),
        )
        _near(poses, self.bones, self.ends, self.radius, self.pairs, gap, points, normal)
        return gap, points, normal

    def overlap(self, poses: Array) -> float:
        """Deepest overlap of any pair [m]."""
        return float(max(0.0, -self.near(poses)[0].min()))


def fit_capsules(body: Body, skin: BoundSkin) -> Capsules:
    """Fit to a skin at rest; every vertex belongs to the link that moves it most."""
    s = body.skeleton
    poses = np.linalg.inv(skin.rest_inverse)
    at = {name: k for k, name in enumerate(skin.names)}
    main = skin.influence[:, 0]
    names, bones, ends, radius, held = [], [], [], [], []
    for part, (bone, links, side) in PARTS.items():
        mine = np.isin(main, [at[x] for x in links if x in at])
        if side:
            mine &= side * skin.rest[:, 0] >= 0.0
        numbers = np.flatnonzero(mine)
        if len(numbers) < 4:
            continue
        a, b, r = _fit(skin.rest[numbers])
        T = np.linalg.inv(poses[at[bone]])
        names.append(part)
        bones.append(s.index(bone))
        ends.append([T[:3, :3] @ x + T[:3, 3] for x in (a, b)])
        radius.append(r)
        held.append(numbers)
    all_pairs = [(i, j) for i, j in combinations(range(len(names)), 2) if not _joined(names[i], names[j])]
    made = Capsules(tuple(names), np.array(bones), np.array(ends), np.array(radius), np.array(all_pairs), tuple(held))
    gap = made.near(bone_poses(s, body.default_q))[0]
    return Capsules(made.names, made.bones, made.ends, made.radius, made.pairs[gap > APART], made.vertices)


def _joined(a: str, b: str) -> bool:
    if a in TRUNK and b in TRUNK:
        return True
    if {a.split()[0], b.split()[0]} == {"left", "right"} or not (a in TRUNK or b in TRUNK):
        (x, y), (p, q) = a.split(" ", 1), b.split(" ", 1)
        return x == p and ((y, q) in JOINED or (q, y) in JOINED)
    limb = b if a in TRUNK else a
    trunk = a if a in TRUNK else b
    side, part = limb.split(" ", 1)
    return (part == "upper arm" and trunk in (f"{side} chest", f"{side} shoulder", "neck")) or (
        part == "thigh" and trunk in ("pelvis", "belly")
    )


def _fit(points: Array) -> tuple[Array, Array, float]:
    """Least capsule about points (n, 3): ends of its axis and radius."""
    hull = points[ConvexHull(points).vertices]
    middle = hull.mean(axis=0)
    _, _, axes = np.linalg.svd(hull - middle, full_matrices=False)

    def at(x: Array) -> tuple[Array, Array, float]:
        d = axes[0] + x[0] * axes[1] + x[1] * axes[2]
        d = d / np.linalg.norm(d)
        o = middle + x[2] * axes[1] + x[3] * axes[2]
        along = (hull - o) @ d
        across = np.linalg.norm(hull - o - along[:, None] * d, axis=1)
        r = float(across.max()) * (1.0 + 1e-12) + 1e-9
        reach = np.sqrt(r * r - across**2)
        low, high = float((along + reach).min()), float((along - reach).max())
        if low > high:
            low = high = 0.5 * (low + high)
            r = float(np.linalg.norm(hull - o - low * d, axis=1).max()) + 1e-9
        return o + low * d, o + high * d, r

    def volume(x: Array) -> float:
        a, b, r = at(x)
        return float(r * r * (np.linalg.norm(b - a) + 4.0 / 3.0 * r))

    best = minimize(volume, np.zeros(4), method="Nelder-Mead", options={"maxiter": 400, "xatol": 1e-4, "fatol": 1e-9})
    return at(best.x)


@nb.njit(cache=True)
def _near(poses, bones, ends, radius, pairs, gap, points, normal):
    k = len(bones)
    world = np.empty((k, 2, 3))
    for c in range(k):
        T = poses[bones[c]]
        for e in range(2):
            for i in range(3):
                world[c, e, i] = T[i, 3]
                for j in range(3):
                    world[c, e, i] += T[i, j] * ends[c, e, j]
    for p in range(len(pairs)):
        a, b = pairs[p, 0], pairs[p, 1]
        s, t = _closest(world[a, 0], world[a, 1], world[b, 0], world[b, 1])
        size = 0.0
        for i in range(3):
            points[p, 0, i] = world[a, 0, i] + s * (world[a, 1, i] - world[a, 0, i])
            points[p, 1, i] = world[b, 0, i] + t * (world[b, 1, i] - world[b, 0, i])
            normal[p, i] = points[p, 1, i] - points[p, 0, i]
            size += normal[p, i] ** 2
        size = np.sqrt(size)
        gap[p] = size - radius[a] - radius[b]
        for i in range(3):
            normal[p, i] = normal[p, i] / size if size > 1e-9 else (1.0 if i == 0 else 0.0)


@nb.njit(cache=True)
def _closest(a, b, c, d):
    """Parameters (0 to 1) of the nearest points of the segments ab and cd (Ericson 2005, 5.1.9)."""
    u, v, w = b - a, d - c, a - c
    A, E, F = u @ u, v @ v, v @ w
    if A < 1e-12 and E < 1e-12:
        return 0.0, 0.0
    if A < 1e-12:
        return 0.0, min(max(F / E, 0.0), 1.0)
    C = u @ w
    if E < 1e-12:
        return min(max(-C / A, 0.0), 1.0), 0.0
    B = u @ v
    D = A * E - B * B
    s = min(max((B * F - C * E) / D, 0.0), 1.0) if D > 1e-12 else 0.0
    t = (B * s + F) / E
    if t < 0.0:
        return min(max(-C / A, 0.0), 1.0), 0.0
    if t > 1.0:
        return min(max((B - C) / A, 0.0), 1.0), 1.0
    return s, t
