"""Where a ray of the camera meets a known triangle or ball: place, normal turned to the eye, colour.

The triangle is met as if it were an endless plane (the sample is known to lie on it), with barycentric coordinates by
Moeller and Trumbore 1997; so cut triangles need no attributes of their own.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def triangle_hit(vertices, faces, normals, colours, f, view, rx, ry):
    """(position relative to the eye, unit normal, linear colour), 9 numbers, on triangle f along ray (rx, ry, 1)."""
    a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
    v = vertices
    ax, ay, az = v[a, 0] - view.ex, v[a, 1] - view.ey, v[a, 2] - view.ez
    ex, ey, ez = v[b, 0] - v[a, 0], v[b, 1] - v[a, 1], v[b, 2] - v[a, 2]
    fx, fy, fz = v[c, 0] - v[a, 0], v[c, 1] - v[a, 1], v[c, 2] - v[a, 2]
    dx = view.rx * rx + view.dx * ry + view.fx
    dy = view.ry * rx + view.dy * ry + view.fy
    dz = view.rz * rx + view.dz * ry + view.fz
    gx, gy, gz = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
    facing = gx * dx + gy * dy + gz * dz
    u, w = 1.0 / 3.0, 1.0 / 3.0
    if facing != 0.0:
        # a + u e + w f = z d, by Cramer's rule.
        qx, qy, qz = ay * dz - az * dy, az * dx - ax * dz, ax * dy - ay * dx
        u = (fx * qx + fy * qy + fz * qz) / facing
        w = -(ex * qx + ey * qy + ez * qz) / facing
        u, w = min(max(u, 0.0), 1.0), min(max(w, 0.0), 1.0)
        if u + w > 1.0:
            u, w = u / (u + w), w / (u + w)
    t = 1.0 - u - w
    n = normals
    nx = t * n[f, 0, 0] + u * n[f, 1, 0] + w * n[f, 2, 0]
    ny = t * n[f, 0, 1] + u * n[f, 1, 1] + w * n[f, 2, 1]
    nz = t * n[f, 0, 2] + u * n[f, 1, 2] + w * n[f, 2, 2]
    length = np.sqrt(nx * nx + ny * ny + nz * nz)
    side = -1.0 if facing > 0.0 else 1.0
    if length > 0.0:
        side /= length
    k = colours
    return (
        ax + u * ex + w * fx,
        ay + u * ey + w * fy,
        az + u * ez + w * fz,
        nx * side,
        ny * side,
        nz * side,
        t * k[a, 0] + u * k[b, 0] + w * k[c, 0],
        t * k[a, 1] + u * k[b, 1] + w * k[c, 1],
        t * k[a, 2] + u * k[b, 2] + w * k[c, 2],
    )


@njit(cache=True, nogil=True, error_model="numpy")
def ball_hit(centres, radius, colours, i, view, rx, ry):
    """(position relative to the eye, unit normal, linear colour), 9 numbers, on ball i along ray (rx, ry, 1)."""
    cx, cy, cz = (
        centres[i, 0] - view.ex,
        centres[i, 1] - view.ey,
        centres[i, 2] - view.ez,
    )
    r = radius[i]
    dx = view.rx * rx + view.dx * ry + view.fx
    dy = view.ry * rx + view.dy * ry + view.fy
    dz = view.rz * rx + view.dz * ry + view.fz
    a = dx * dx + dy * dy + dz * dz
    b = dx * cx + dy * cy + dz * cz
    inside = b * b - a * (cx * cx + cy * cy + cz * cz - r * r)
    t = (b - np.sqrt(max(inside, 0.0))) / a
    px, py, pz = t * dx, t * dy, t * dz
    return (
        px,
        py,
        pz,
        (px - cx) / r,
        (py - cy) / r,
        (pz - cz) / r,
        colours[i, 0],
        colours[i, 1],
        colours[i, 2],
    )
