"""Cross-sections of closed surfaces."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def section_area(vertices: Array, faces: Array, point: Array, normal: Array) -> float:
    """Area [m²] that a plane cuts out of a closed surface, by Green's theorem over the cut's edges."""
    n = normal / np.linalg.norm(normal)
    u = np.cross(n, np.eye(3)[np.argmin(np.abs(n))])
    u /= np.linalg.norm(u)
    w = np.cross(n, u)
    height = (vertices - point) @ n
    corners = height[faces]
    total = 0.0
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        for sign in (1.0, -1.0):  # corner a alone on one side
            alone = (sign * corners[:, a] > 0.0) & (sign * corners[:, b] <= 0.0) & (sign * corners[:, c] <= 0.0)
            f = faces[alone]
            ends = []
            for other in (b, c):
                ha, ho = height[f[:, a]], height[f[:, other]]
                s = (ha / (ha - ho))[:, None]
                ends.append((1.0 - s) * vertices[f[:, a]] + s * vertices[f[:, other]] - point)
            p, q = ends
            total += 0.5 * sign * float(np.sum((p @ u) * (q @ w) - (p @ w) * (q @ u)))
    return abs(total)
