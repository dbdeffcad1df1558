"""The soles as a controller sees them: balls from heel to toes, where they are, how they move, what they can bear."""

from __future__ import annotations

from functools import lru_cache

import numba as nb
import numpy as np

from vitruvian.anatomy import Body, sole_balls
from vitruvian.skeleton import bone_poses

Array = np.ndarray
FEET = ("Fo_l", "Fo_r")
SIDE = {"Fo_l": 1.0, "Fo_r": -1.0}  # +x is the body's left


class Soles:
    """The balls of both soles of one body."""

    def __init__(self, body: Body):
        balls = sole_balls(body)
        self.bone = np.array([body.skeleton.index(bone) for bone, _, _ in balls])
        self.centre = np.array([centre for _, centre, _ in balls])  # in the bones' frames [m], (n, 3)
        self.radius = np.array([radius for _, _, radius in balls])
        self.foot = {foot: np.array([bone == foot for bone, _, _ in balls]) for foot in FEET}  # whose they are
        self.front = self.centre[:, 1] < -0.08 * body.scale

    @property
    def n(self) -> int:
        return len(self.bone)

    def points(self, poses: Array) -> Array:
        """Lowest point of each ball [m], (n, 3), of bones at `poses` (n_bones, 4, 4)."""
        at = poses[self.bone]
        out = np.einsum("nij,nj->ni", at[:, :3, :3], self.centre) + at[:, :3, 3]
        out[:, 2] -= self.radius
        return np.asarray(out)


@lru_cache(maxsize=8)
def soles_of(body: Body) -> Soles:
    return Soles(body)


def soles(body: Body, q: Array) -> Array:
    """Lowest point of each of the soles' balls in a pose [m], shape (n_balls, 3)."""
    return soles_of(body).points(bone_poses(body.skeleton, q))


@nb.njit(cache=True)
def point_jacobians(screws: Array, supports: Array, bones: Array, points: Array, out: Array) -> None:
    """out (n, 3, n_v): velocity of each point [m] (n, 3) of a bone per unit of the joint velocities, world axes."""
    for n in range(len(bones)):
        x, y, z = points[n, 0], points[n, 1], points[n, 2]
        moved = supports[bones[n]]
        for c in range(out.shape[2]):
            if moved[c]:
                t = screws[c]
                out[n, 0, c] = t[3] + t[1] * z - t[2] * y
                out[n, 1, c] = t[4] + t[2] * x - t[0] * z
                out[n, 2, c] = t[5] + t[0] * y - t[1] * x
            else:
                out[n, 0, c] = out[n, 1, c] = out[n, 2, c] = 0.0


@nb.njit(cache=True)
def fill_columns(
    muscle_start: Array,
    muscle_row: Array,
    muscle_value: Array,
    wide: Array,  # muscles that pull on the root through passive bones, bool, (n_muscles,)
    root_map: Array,  # (n_root, n_muscles)
    n_driven: int,
    jacobians: Array,  # of the balls that carry, (n, 3, rows)
    edges: Array,  # of the friction cones [N], (4, 3)
    start: Array,
    row: Array,
    value: Array,
) -> int:
    """Columns of muscles, then of the edges of each ball's friction cone; returns how many entries were filled."""
    at = 0
    start[0] = 0
    n = len(wide)
    for m in range(n):
        for k in range(muscle_start[m], muscle_start[m + 1]):
            row[at], value[at] = muscle_row[k], muscle_value[k]
            at += 1
        if wide[m]:
            for r in range(root_map.shape[0]):
                row[at], value[at] = n_driven + r, root_map[r, m]
                at += 1
        start[m + 1] = at
    for b in range(jacobians.shape[0]):
        J = jacobians[b]
        for e in range(4):
            for c in range(J.shape[1]):
                if J[0, c] != 0.0 or J[1, c] != 0.0 or J[2, c] != 0.0:
                    row[at] = c
                    value[at] = edges[e, 0] * J[0, c] + edges[e, 1] * J[1, c] + edges[e, 2] * J[2, c]
                    at += 1
            start[n + 4 * b + e + 1] = at
    return at
