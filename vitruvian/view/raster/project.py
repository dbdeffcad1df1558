"""From the world to the screen: perspective for the camera, parallel for the light; and into bands of rows.

Nearness is 1 / z for the camera, which is affine on the screen, and the height towards the lamp for the light: in both
the greater is the nearer, so one z-buffer serves both. Triangles that cross the near plane are cut there.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from vitruvian.view.raster.types import BAND, Bins


@njit(cache=True, nogil=True)
def triangles_to_screen(vertices, faces, closed, view, near, width, height, samples):
    """Triangles as the camera sees them, in bands of rows; without those that turn away from it on closed surfaces, and
    those that pass between all `samples` of their pixels."""
    n, m = vertices.shape[0], faces.shape[0]
    seen = np.empty((n, 3))
    for i in range(n):
        seen[i, 0], seen[i, 1], seen[i, 2] = _to_camera(view, vertices[i, 0], vertices[i, 1], vertices[i, 2])
    crossing = 0
    for f in range(m):
        front = 0
        for i in range(3):
            front += seen[faces[f, i], 2] > near
        crossing += front == 2
    corners = np.empty((m + crossing, 9))
    ids = np.empty(m + crossing, np.int32)
    k = 0
    polygon = np.empty((4, 3))
    for f in range(m):
        if closed[f] and _turned_away(seen, faces, f):
            continue
        count = 0
        for i in range(3):
            a, b = faces[f, i], faces[f, (i + 1) % 3]
            za, zb = seen[a, 2], seen[b, 2]
            if za > near:
                for c in range(3):
                    polygon[count, c] = seen[a, c]
                count += 1
            if (za > near) != (zb > near):
                part = (near - za) / (zb - za)
                for c in range(2):
                    polygon[count, c] = seen[a, c] + part * (seen[b, c] - seen[a, c])
                polygon[count, 2] = near  # and not 0 by rounding, where the other end is very far behind
                count += 1
        for t in range(count - 2):
            for i in range(3):
                p = 0 if i == 0 else t + i
                closeness = 1.0 / polygon[p, 2]
                corners[k, 3 * i] = view.cx + view.focal * polygon[p, 0] * closeness
                corners[k, 3 * i + 1] = view.cy + view.focal * polygon[p, 1] * closeness
                corners[k, 3 * i + 2] = closeness
            if _visible(corners, k, width, height, samples):
                ids[k] = f
                k += 1
    return _into_bands(corners[:k], ids[:k], height, 3)


@njit(cache=True, nogil=True)
def makes(faces, colours, finish):
    """A number for each triangle, (m,) int32: that of the one before where both have one finish and one colour."""
    out = np.zeros(faces.shape[0], np.int32)
    for f in range(1, faces.shape[0]):
        a, b = faces[f, 0], faces[f - 1, 0]
        same = True
        for c in range(3):
            same = same and colours[a, c] == colours[b, c]
        for c in range(4):
            same = same and finish[f, c] == finish[f - 1, c]
        out[f] = out[f - 1] + (0 if same else 1)
    return out


@njit(cache=True, nogil=True)
def _turned_away(seen, faces, f):
    """Whether the eye is behind a triangle."""
    a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
    x, y, z = seen[a, 0], seen[a, 1], seen[a, 2]
    ux, uy, uz = seen[b, 0] - x, seen[b, 1] - y, seen[b, 2] - z
    vx, vy, vz = seen[c, 0] - x, seen[c, 1] - y, seen[c, 2] - z
    return x * (uy * vz - uz * vy) + y * (uz * vx - ux * vz) + z * (ux * vy - uy * vx) > 0.0


@njit(cache=True, nogil=True)
def triangles_to_light(vertices, faces, axes, corner, texel, size):
    """Triangles as the light sees them, in texels of its map."""
    m = faces.shape[0]
    corners = np.empty((m, 9))
    ids = np.empty(m, np.int32)
    k = 0
    for f in range(m):
        for i in range(3):
            v = faces[f, i]
            x, y, z = vertices[v, 0], vertices[v, 1], vertices[v, 2]
            corners[k, 3 * i] = (axes[0, 0] * x + axes[0, 1] * y + axes[0, 2] * z - corner[0]) / texel
            corners[k, 3 * i + 1] = (axes[1, 0] * x + axes[1, 1] * y + axes[1, 2] * z - corner[1]) / texel
            corners[k, 3 * i + 2] = axes[2, 0] * x + axes[2, 1] * y + axes[2, 2] * z
        if _visible(corners, k, size, size, 1):
            ids[k] = f
            k += 1
    return _into_bands(corners[:k], ids[:k], size, 3)


@njit(cache=True, nogil=True)
def balls_to_screen(centres, radius, view, near, width, height):
    """Boxes on the screen around balls: x0, x1, y0, y1, then centre in camera axes and radius."""
    n = centres.shape[0]
    boxes = np.empty((n, 8))
    ids = np.empty(n, np.int32)
    k = 0
    for i in range(n):
        boxes[k, 4], boxes[k, 5], boxes[k, 6] = _to_camera(view, centres[i, 0], centres[i, 1], centres[i, 2])
        r = radius[i]
        boxes[k, 7] = r
        if not boxes[k, 6] > near + r:
            continue
        for c in range(2):
            # Rays in the plane of this axis and the view line that touch the ball.
            across, ahead = boxes[k, 4 + c], boxes[k, 6]
            leg = np.sqrt(across * across + ahead * ahead - r * r)
            middle = view.cx if c == 0 else view.cy
            boxes[k, 2 * c] = middle + view.focal * (across * leg - ahead * r) / (ahead * leg + across * r)
            boxes[k, 2 * c + 1] = middle + view.focal * (across * leg + ahead * r) / (ahead * leg - across * r)
        if boxes[k, 1] >= 0.0 and boxes[k, 0] < width and boxes[k, 3] >= 0.0 and boxes[k, 2] < height:
            ids[k] = i
            k += 1
    return _into_bands(boxes[:k], ids[:k], height, 1)


@njit(cache=True, nogil=True)
def balls_to_light(centres, radius, axes, corner, texel, size):
    """Boxes in texels of the light's map around balls: as `balls_to_screen`, centre and radius in texels and [m]."""
    n = centres.shape[0]
    boxes = np.empty((n, 8))
    ids = np.empty(n, np.int32)
    k = 0
    for i in range(n):
        x, y, z = centres[i, 0], centres[i, 1], centres[i, 2]
        for c in range(2):
            middle = (axes[c, 0] * x + axes[c, 1] * y + axes[c, 2] * z - corner[c]) / texel
            boxes[k, 4 + c] = middle
            boxes[k, 2 * c] = middle - radius[i] / texel
            boxes[k, 2 * c + 1] = middle + radius[i] / texel
        boxes[k, 6] = axes[2, 0] * x + axes[2, 1] * y + axes[2, 2] * z
        boxes[k, 7] = radius[i]
        if boxes[k, 1] >= 0.0 and boxes[k, 0] < size and boxes[k, 3] >= 0.0 and boxes[k, 2] < size:
            ids[k] = i
            k += 1
    return _into_bands(boxes[:k], ids[:k], size, 1)


@njit(cache=True, nogil=True)
def _to_camera(view, x, y, z):
    x, y, z = x - view.ex, y - view.ey, z - view.ez
    return (
        view.rx * x + view.ry * y + view.rz * z,
        view.dx * x + view.dy * y + view.dz * z,
        view.fx * x + view.fy * y + view.fz * z,
    )


@njit(cache=True, nogil=True)
def _visible(c, k, width, height, samples):
    """Whether a triangle's box meets a sample of the screen; false for anything that is not a number.

    The n samples of a pixel lie in n rows and n columns, each in the middle of its own.
    """
    x0, x1 = min(c[k, 0], c[k, 3], c[k, 6]), max(c[k, 0], c[k, 3], c[k, 6])
    y0, y1 = min(c[k, 1], c[k, 4], c[k, 7]), max(c[k, 1], c[k, 4], c[k, 7])
    total = c[k, 0] + c[k, 1] + c[k, 3] + c[k, 4] + c[k, 6] + c[k, 7]
    if not (np.isfinite(total) and x1 >= 0.0 and x0 < width and y1 >= 0.0 and y0 < height):
        return False
    return _meets(x0, x1, samples) and _meets(y0, y1, samples)


@njit(cache=True, nogil=True, inline="always")
def _meets(low, high, samples):
    """Whether one of the places (k + 1/2) / samples lies between two numbers, or nearly."""
    return np.floor(high * samples + 0.501) > np.floor(low * samples + 0.499)


@njit(cache=True, nogil=True)
def _rows(c, i, kind, height):
    """First and last band that a triangle (kind 3) or box (kind 1) meets."""
    if kind == 3:
        top, bottom = min(c[i, 1], c[i, 4], c[i, 7]), max(c[i, 1], c[i, 4], c[i, 7])
    else:
        top, bottom = c[i, 2], c[i, 3]
    first = int(max(top, 0.0)) // BAND
    last = int(min(bottom, height - 1.0)) // BAND
    return first, last


@njit(cache=True, nogil=True)
def _into_bands(corners, ids, height, kind):
    bands = (height + BAND - 1) // BAND
    start = np.zeros(bands + 1, np.int64)
    n = corners.shape[0]
    for i in range(n):
        first, last = _rows(corners, i, kind, height)
        for b in range(first, last + 1):
            start[b + 1] += 1
    for b in range(bands):
        start[b + 1] += start[b]
    fill = start.copy()
    items = np.empty(start[bands], np.int32)
    for i in range(n):
        first, last = _rows(corners, i, kind, height)
        for b in range(first, last + 1):
            items[fill[b]] = i
            fill[b] += 1
    return Bins(corners, ids, start, items)
