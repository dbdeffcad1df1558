"""Ground under the fine surface: a spring and damper for each point, friction that sticks.

    f_n = A max(0, k d - c ż),      f_t = -A (k (y - a) + c ẏ)  within the cone |f_t| ≤ μ f_n

A is the point's area, d how deep it is, a the anchor that it got where it touched down. A force beyond the cone is cut
back to it and the anchor slides along, so that a foot at rest stays where it is. Forces go to the nodes through the
transpose of the embedding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

X, Y, TOUCHING = 0, 1, 2  # columns of anchors


class Ground(NamedTuple):
    """Numbers of the ground, per area of skin."""

    height: float = 0.0  # [m]
    stiffness: float = 5e6  # k [N/m³]
    damping: float = 5e4  # c [N s/m³]
    friction: float = 0.9  # μ
    present: bool = True


@njit(cache=True)
def point_force(ground, area, y, w, anchor, out):
    """Force [N] on a point at y that moves with w; out: force (3), then whether it slides. Returns the normal force."""
    depth = ground.height - y[2]
    out[0] = out[1] = out[2] = out[3] = 0.0
    if depth <= 0.0:
        return 0.0
    normal = area * (ground.stiffness * depth - ground.damping * w[2])
    if normal <= 0.0:
        return 0.0
    ax, ay = (anchor[X], anchor[Y]) if anchor[TOUCHING] > 0.0 else (y[0], y[1])
    fx = -area * (ground.stiffness * (y[0] - ax) + ground.damping * w[0])
    fy = -area * (ground.stiffness * (y[1] - ay) + ground.damping * w[1])
    size, most = np.sqrt(fx * fx + fy * fy), ground.friction * normal
    if size > most:
        fx, fy = fx * most / size, fy * most / size
        out[3] = 1.0
    out[0], out[1], out[2] = fx, fy, normal
    return normal


@njit(cache=True)
def move_anchor(ground, area, y, found, anchor):
    """Set the anchor after a step that ended with the force `found` at y; returns how far it slid [m]."""
    if found[2] <= 0.0:
        anchor[TOUCHING] = 0.0
        return 0.0
    if anchor[TOUCHING] == 0.0:
        anchor[X], anchor[Y], anchor[TOUCHING] = y[0], y[1], 1.0
    if found[3] == 0.0:
        return 0.0
    k = area * ground.stiffness
    ax, ay = y[0] + found[0] / k, y[1] + found[1] / k
    slid = np.sqrt((ax - anchor[X]) ** 2 + (ay - anchor[Y]) ** 2)
    anchor[X], anchor[Y] = ax, ay
    return slid


@njit(cache=True)
def skin_point(flesh, s, x, out):
    """out = where point s of the surface is when nodes are at x, or how fast with their velocities."""
    out[0] = out[1] = out[2] = 0.0
    for k in range(4):
        i, w = flesh.skin_nodes[s, k], flesh.skin_weights[s, k]
        out[0] += w * x[i, 0]
        out[1] += w * x[i, 1]
        out[2] += w * x[i, 2]


@njit(cache=True)
def under_ground(flesh, height, x, anchor, release, out):
    """Fill out (n_skin,) with the points of the skin below `height`, in rising order of elements; returns how many.

    An element whose corners are so high that none of its points can be low is passed over. release: what is not below
    loses its anchor."""
    count = 0
    for e in range(len(flesh.rider_nodes)):
        low = high = x[np.uint32(flesh.rider_nodes[e, 0]), 2]
        for k in range(1, 4):
            z = x[np.uint32(flesh.rider_nodes[e, k]), 2]
            low, high = min(low, z), max(high, z)
        first, last = flesh.rider_row[e], flesh.rider_row[e + 1]
        if low - flesh.rider_out[e] * (high - low) >= height:
            if release:
                for n in range(first, last):
                    anchor[np.uint32(flesh.rider[n]), TOUCHING] = 0.0
            continue
        for n in range(first, last):
            s, z = np.uint32(flesh.rider[n]), 0.0
            for k in range(4):
                z += flesh.skin_weights[s, k] * x[np.uint32(flesh.skin_nodes[s, k]), 2]
            if z < height:
                out[count] = s
                count += 1
            elif release:
                anchor[s, TOUCHING] = 0.0
    return count


@njit(cache=True)
def add_ground(flesh, ground, x, u, anchor, near, force, total):
    """Add ground forces to the nodes and move anchors; total: wrench on all (6), slip times load, load.

    near (n_skin,): room for a list."""
    y, w, found = np.empty(3), np.empty(3), np.empty(4)
    for n in range(under_ground(flesh, ground.height, x, anchor, True, near)):
        s = near[n]
        skin_point(flesh, s, x, y)
        skin_point(flesh, s, u, w)
        area = flesh.skin_area[s]
        normal = point_force(ground, area, y, w, anchor[s], found)
        slid = move_anchor(ground, area, y, found, anchor[s])
        add_point(flesh, s, y, found, force, total)
        total[6] += normal * slid
        total[7] += normal


@njit(cache=True)
def add_point(flesh, s, y, f, force, total):
    """A force f on point s of the surface, to the nodes and to the wrench on all."""
    for k in range(4):
        i, weight = flesh.skin_nodes[s, k], flesh.skin_weights[s, k]
        force[i, 0] += weight * f[0]
        force[i, 1] += weight * f[1]
        force[i, 2] += weight * f[2]
    total[0] += y[1] * f[2] - y[2] * f[1]
    total[1] += y[2] * f[0] - y[0] * f[2]
    total[2] += y[0] * f[1] - y[1] * f[0]
    total[3] += f[0]
    total[4] += f[1]
    total[5] += f[2]
