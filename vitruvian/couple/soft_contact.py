"""The ground in an implicit step: forces at the prediction, their slopes in the matrix, what it really did."""

from __future__ import annotations

import numpy as np
from numba import njit

from vitruvian.flesh.posed.ground import add_point, move_anchor, point_force, skin_point, under_ground


@njit(cache=True)
def add_contact(flesh, ground, x, u, anchor, near, h, force, matrix):
    """Ground forces at the prediction and their slopes in the matrix: springs h², dampers h, sliding its secant."""
    y, w, found, away = np.empty(3), np.empty(3), np.empty(4), np.zeros(8)
    for s in near:
        if not _meets_ground(flesh, ground, s, x, u, anchor, y, w, found):
            continue
        area = flesh.skin_area[s]
        add_point(flesh, s, y, found, force, away)
        normal, across = contact_slopes(ground, area, w, found, h)
        for i in range(4):
            for j in range(4):
                weight = flesh.skin_weights[s, i] * flesh.skin_weights[s, j]
                m = matrix[flesh.skin_place[s, i, j]]
                m[0, 0] += weight * across
                m[1, 1] += weight * across
                m[2, 2] += weight * normal


@njit(cache=True)
def contact_slopes(ground, area, w, found, h):
    """Normal and tangential -h ∂f/∂u of a contact [kg], springs through h u."""
    normal = area * h * (ground.stiffness * h + ground.damping)
    if found[3] == 0.0:
        return normal, normal
    speed = np.sqrt(w[0] * w[0] + w[1] * w[1])
    return normal, min(normal, h * ground.friction * found[2] / max(speed, 1e-9))


@njit(cache=True)
def contact_impulse(flesh, ground, x, u, du, anchor, near, h, gained, total):
    """What the ground really did in the step, its slopes included, into `gained` and the wrench `total` [N]."""
    y, w, dw, found = np.empty(3), np.empty(3), np.empty(3), np.empty(4)
    for s in near:
        if not _meets_ground(flesh, ground, s, x, u, anchor, y, w, found):
            continue
        area = flesh.skin_area[s]
        normal, across = contact_slopes(ground, area, w, found, h)
        skin_point(flesh, s, du, dw)
        fx, fy, fz = found[0] - across * dw[0] / h, found[1] - across * dw[1] / h, found[2] - normal * dw[2] / h
        for out in (gained, total):
            out[0] += y[1] * fz - y[2] * fy
            out[1] += y[2] * fx - y[0] * fz
            out[2] += y[0] * fy - y[1] * fx
            out[3] += fx
            out[4] += fy
            out[5] += fz


@njit(cache=True)
def move_anchors(flesh, ground, x, u, anchor, near, total):
    y, w, found = np.empty(3), np.empty(3), np.empty(4)
    for n in range(under_ground(flesh, ground.height, x, anchor, True, near)):
        s = near[n]
        skin_point(flesh, s, x, y)
        skin_point(flesh, s, u, w)
        normal = point_force(ground, flesh.skin_area[s], y, w, anchor[s], found)
        total[6] += normal * move_anchor(ground, flesh.skin_area[s], y, found, anchor[s])
        total[7] += normal


@njit(cache=True)
def _meets_ground(flesh, ground, s, x, u, anchor, y, w, found):
    """Whether the ground pushes skin point s: its place y, velocity w and the force `found` (4,)."""
    skin_point(flesh, s, x, y)
    skin_point(flesh, s, u, w)
    return point_force(ground, flesh.skin_area[s], y, w, anchor[s], found) > 0.0
