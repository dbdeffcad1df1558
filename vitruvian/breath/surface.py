"""Where the vertices are, and volumes with their gradients.

V = Σ a · (b x c) / 6 over the triangles,   dV/da = (b x c) / 6 + ...
"""

from __future__ import annotations

import numba as nb
import numpy as np

from vitruvian.breath.model import Cavities

Array = np.ndarray


@nb.njit(cache=True)
def place(carried, x, poses, plate_bone, out):
    """Vertices [m] (n, 3), with free points and plate at x (p + 1, 3) and bones at poses (n_bones, 4, 4)."""
    last, R = len(x) - 1, poses[plate_bone]
    for i in range(len(out)):
        p = carried.point[i]
        if p >= 0:
            for k in range(3):
                out[i, k] = x[p, k]
            if p == last:
                o = carried.offset[i]
                for k in range(3):
                    out[i, k] += R[k, 0] * o[0] + R[k, 1] * o[1] + R[k, 2] * o[2]
            continue
        for k in range(3):
            out[i, k] = 0.0
        for j in range(2):
            b = carried.bone[i, j]
            if b >= 0:
                T, a, w = poses[b], carried.local[i, j], carried.share[i, j]
                for k in range(3):
                    out[i, k] += w * (T[k, 0] * a[0] + T[k, 1] * a[1] + T[k, 2] * a[2] + T[k, 3])


@nb.njit(cache=True)
def volume(faces, p):
    """Of a closed surface [m³]."""
    total = 0.0
    for f in range(len(faces)):
        a, b, c = p[faces[f, 0]], p[faces[f, 1]], p[faces[f, 2]]
        total += a[0] * (b[1] * c[2] - b[2] * c[1])
        total += a[1] * (b[2] * c[0] - b[0] * c[2])
        total += a[2] * (b[0] * c[1] - b[1] * c[0])
    return total / 6.0


@nb.njit(cache=True)
def volume_gradient(faces, p, out):
    """Volume [m³], and out = its gradient [m²], (n, 3)."""
    out[:] = 0.0
    total = 0.0
    for f in range(len(faces)):
        i, j, k = faces[f, 0], faces[f, 1], faces[f, 2]
        total += _add_cross(p[j], p[k], p[i], out[i])
        _add_cross(p[k], p[i], p[j], out[j])
        _add_cross(p[i], p[j], p[k], out[k])
    return total


@nb.njit(cache=True, inline="always")
def _add_cross(b, c, a, out):
    x = (b[1] * c[2] - b[2] * c[1]) / 6.0
    y = (b[2] * c[0] - b[0] * c[2]) / 6.0
    z = (b[0] * c[1] - b[1] * c[0]) / 6.0
    out[0] += x
    out[1] += y
    out[2] += z
    return a[0] * x + a[1] * y + a[2] * z


def vertices(cavities: Cavities, x: Array, poses: Array) -> Array:
    """All vertices [m], (n, 3)."""
    out = np.zeros((len(cavities.carried.point), 3))
    place(cavities.carried, x, poses, cavities.plate_bone, out)
    return out
