"""What each sample sees: the z-buffer, and for light-passing surfaces the nearest few layers in order.

Every pixel has S samples at places spread over it. A triangle covers a sample when the sample's barycentric
coordinates, affine on the screen, are all positive. Owners: -2 the background, -1 the ground, else a triangle, else
(from the number of triangles on) a ball. Of two things at the same nearness the first in the list stays.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from vitruvian.view.raster.types import BAND

BACKGROUND = -2
GROUND = -1


@njit(cache=True, nogil=True, error_model="numpy")
def clear_band(band, view, floor, samples, nearness, owner):
    """Fill a band of rows with ground and background."""
    height, width, count = nearness.shape
    # The plane z = h seen from above: 1 / depth = -(ray's fall) / (height of the eye over it).
    above = view.ez - floor.height
    drawn = floor.shown and above > 0.0
    ax, ay, az = view.rz, view.dz, view.fz
    for y in range(band * BAND, min(band * BAND + BAND, height)):
        for x in range(width):
            for s in range(count):
                close = 0.0
                if drawn:
                    rx = x + samples[s, 0] - view.cx
                    ry = y + samples[s, 1] - view.cy
                    close = max(-((ax * rx + ay * ry) / view.focal + az) / above, 0.0)
                nearness[y, x, s] = close
                owner[y, x, s] = GROUND if close > 0.0 else BACKGROUND


@njit(cache=True, nogil=True, error_model="numpy")
def cover_triangles(band, bins, samples, nearness, owner):
    """Draw a band's triangles into nearness and owner, each of shape (height, width, S)."""
    height, width, count = nearness.shape
    shift = np.empty((count, 4))
    corners, ids, items = bins.corners, bins.ids, bins.items
    for j in range(bins.start[band], bins.start[band + 1]):
        item = items[j]
        ok, a0, b0, c0, a1, b1, c1, az, bz, cz, x_first, x_last, y_first, y_last = _edges(
            corners, item, band, width, height
        )
        if not ok:
            continue
        a2, b2 = -a0 - a1, -b0 - b1
        reach0 = max(a0, 0.0) + max(b0, 0.0)
        reach1 = max(a1, 0.0) + max(b1, 0.0)
        reach2 = max(a2, 0.0) + max(b2, 0.0)
        for s in range(count):
            shift[s, 0] = a0 * samples[s, 0] + b0 * samples[s, 1]
            shift[s, 1] = a1 * samples[s, 0] + b1 * samples[s, 1]
            shift[s, 2] = az * samples[s, 0] + bz * samples[s, 1]
        who = ids[item]
        for y in range(y_first, y_last + 1):
            for x in range(x_first, x_last + 1):
                u = a0 * x + b0 * y + c0
                v = a1 * x + b1 * y + c1
                if u + reach0 < 0.0 or v + reach1 < 0.0 or 1.0 - u - v + reach2 < 0.0:
                    continue
                close = az * x + bz * y + cz
                for s in range(count):
                    us, vs = u + shift[s, 0], v + shift[s, 1]
                    if us >= 0.0 and vs >= 0.0 and us + vs <= 1.0:
                        here = np.float32(close + shift[s, 2])
                        if here > nearness[y, x, s]:
                            nearness[y, x, s] = here
                            owner[y, x, s] = who


@njit(cache=True, nogil=True, error_model="numpy")
def layer_triangles(band, bins, samples, nearness, layer_near, layer_owner, layer_count):
    """Keep, per sample, the nearest layers in front of what is solid, nearest first.

    layer_near and layer_owner are the band's own, shape (K, BAND, width, S); layer_count (BAND, width, S).
    """
    height, width, count = nearness.shape
    most = layer_near.shape[0]
    top = band * BAND
    corners, ids, items = bins.corners, bins.ids, bins.items
    for j in range(bins.start[band], bins.start[band + 1]):
        item = items[j]
        ok, a0, b0, c0, a1, b1, c1, az, bz, cz, x_first, x_last, y_first, y_last = _edges(
            corners, item, band, width, height
        )
        if not ok:
            continue
        a2, b2 = -a0 - a1, -b0 - b1
        reach0 = max(a0, 0.0) + max(b0, 0.0)
        reach1 = max(a1, 0.0) + max(b1, 0.0)
        reach2 = max(a2, 0.0) + max(b2, 0.0)
        for y in range(y_first, y_last + 1):
            for x in range(x_first, x_last + 1):
                u0, v0 = a0 * x + b0 * y + c0, a1 * x + b1 * y + c1
                if u0 + reach0 < 0.0 or v0 + reach1 < 0.0 or 1.0 - u0 - v0 + reach2 < 0.0:
                    continue
                close = az * x + bz * y + cz
                for s in range(count):
                    px, py = samples[s, 0], samples[s, 1]
                    u = u0 + a0 * px + b0 * py
                    v = v0 + a1 * px + b1 * py
                    if u < 0.0 or v < 0.0 or u + v > 1.0:
                        continue
                    here = np.float32(close + az * px + bz * py)
                    if here <= nearness[y, x, s]:
                        continue
                    filled = layer_count[y - top, x, s]
                    place = filled
                    while place > 0 and layer_near[place - 1, y - top, x, s] < here:
                        place -= 1
                    if place >= most:
                        continue
                    last = min(filled, most - 1)
                    for k in range(last, place, -1):
                        layer_near[k, y - top, x, s] = layer_near[k - 1, y - top, x, s]
                        layer_owner[k, y - top, x, s] = layer_owner[k - 1, y - top, x, s]
                    layer_near[place, y - top, x, s] = here
                    layer_owner[place, y - top, x, s] = ids[item]
                    layer_count[y - top, x, s] = min(filled + 1, most)


@njit(cache=True, nogil=True, error_model="numpy")
def cover_balls(band, bins, view, parallel, first_owner, samples, nearness, owner):
    """Draw a band's balls, seen in perspective or (the light's view) in parallel."""
    height, width, count = nearness.shape
    for j in range(bins.start[band], bins.start[band + 1]):
        item = bins.items[j]
        box = bins.corners[item]
        x_first, x_last = int(max(box[0], 0.0)), int(min(box[1], width - 1.0))
        y_first = max(int(max(box[2], 0.0)), band * BAND)
        y_last = min(int(min(box[3], height - 1.0)), band * BAND + BAND - 1)
        cx, cy, cz, r = box[4], box[5], box[6], box[7]
        texels = 0.5 * (box[1] - box[0])
        for y in range(y_first, y_last + 1):
            for x in range(x_first, x_last + 1):
                for s in range(count):
                    if parallel:
                        dx, dy = (x + samples[s, 0] - cx) / texels, (y + samples[s, 1] - cy) / texels
                        inside = 1.0 - dx * dx - dy * dy
                        if inside < 0.0:
                            continue
                        here = np.float32(cz + r * np.sqrt(inside))
                    else:
                        dx = (x + samples[s, 0] - view.cx) / view.focal
                        dy = (y + samples[s, 1] - view.cy) / view.focal
                        a = dx * dx + dy * dy + 1.0
                        b = dx * cx + dy * cy + cz
                        inside = b * b - a * (cx * cx + cy * cy + cz * cz - r * r)
                        if inside < 0.0:
                            continue
                        here = np.float32(a / (b - np.sqrt(inside)))
                    if here > nearness[y, x, s]:
                        nearness[y, x, s] = here
                        owner[y, x, s] = first_owner + bins.ids[item]


@njit(cache=True, nogil=True, error_model="numpy")
def _edges(c, i, band, width, height):
    """Affine barycentrics u = a0 x + b0 y + c0, v = a1 x + ..., nearness az x + ..., and the pixels of the box."""
    x0, y0, z0, x1, y1, z1 = c[i, 0], c[i, 1], c[i, 2], c[i, 3], c[i, 4], c[i, 5]
    x2, y2, z2 = c[i, 6], c[i, 7], c[i, 8]
    area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    x_first = int(max(min(x0, x1, x2), 0.0))
    x_last = int(min(max(x0, x1, x2), width - 1.0))
    y_first = max(int(max(min(y0, y1, y2), 0.0)), band * BAND)
    y_last = min(int(min(max(y0, y1, y2), height - 1.0)), band * BAND + BAND - 1)
    if area == 0.0:
        return False, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0, 0, 0
    a0, b0 = (y1 - y2) / area, (x2 - x1) / area
    c0 = (x1 * y2 - x2 * y1) / area
    a1, b1 = (y2 - y0) / area, (x0 - x2) / area
    c1 = (x2 * y0 - x0 * y2) / area
    az = a0 * z0 + a1 * z1 - (a0 + a1) * z2
    bz = b0 * z0 + b1 * z1 - (b0 + b1) * z2
    cz = c0 * z0 + c1 * z1 + (1.0 - c0 - c1) * z2
    return True, a0, b0, c0, a1, b1, c1, az, bz, cz, x_first, x_last, y_first, y_last
