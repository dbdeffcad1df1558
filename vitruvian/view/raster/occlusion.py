"""Ambient occlusion in screen space: how much of the sky above a place is hidden by what is seen around it.

Worked out at half resolution on one sample per pixel. Around each place P with normal n, taps Q on a spiral within
`reach` add  max(0, n.(Q - P)/|Q - P| - bias) (1 - |Q - P|^2/reach^2); the spiral is turned from pixel to pixel in a
4 x 4 pattern, which a 4 x 4 mean over places of like depth then smooths away (after McGuire and others 2011,
"The Alchemy screen-space ambient obscurance algorithm").
"""

from __future__ import annotations

import numpy as np
from numba import njit

from vitruvian.view.raster.cover import GROUND
from vitruvian.view.raster.hit import ball_hit, triangle_hit

TAPS = 14
BIAS = 0.12
STRENGTH = 2.9
MOST_PIXELS = 90.0  # greatest reach on the half-size picture
TILE = 16  # pixels along a side of the tiles that say where solids are near

# Offsets of the taps at unit reach; each of the 16 pixels of a 4 x 4 block has its own turn of the spiral.
_TURN = (np.arange(16) * 7 % 16)[:, None] * (2.0 * np.pi / 16.0) + 2.399963229728653 * np.arange(TAPS)
SPIRAL = ((np.arange(TAPS) + 0.5) / TAPS)[None, :, None] * np.stack([np.cos(_TURN), np.sin(_TURN)], axis=-1)


@njit(cache=True, nogil=True, error_model="numpy")
def places(first, last, view, soup, balls, samples, nearness, owner, place, normal, solid):
    """Rows first..last of the half-size maps of positions (camera axes; z = 0 where nothing is) and normals.

    `solid` says which tiles hold more than ground and background.
    """
    vertices, faces, normals, colours = soup.vertices, soup.faces, soup.normals, soup.colours
    centres, radius, tints = balls.centres, balls.radius, balls.colours
    n_triangles = faces.shape[0]
    width = place.shape[1]
    for y in range(first, last):
        for x in range(width):
            close = nearness[2 * y, 2 * x, 0]
            who = owner[2 * y, 2 * x, 0]
            if close <= 0.0:
                place[y, x, 2] = 0.0
                continue
            rx = (2 * x + samples[0, 0] - view.cx) / view.focal
            ry = (2 * y + samples[0, 1] - view.cy) / view.focal
            depth = 1.0 / close
            place[y, x, 0], place[y, x, 1], place[y, x, 2] = rx * depth, ry * depth, depth
            if who == GROUND:
                nx, ny, nz = 0.0, 0.0, 1.0
            else:
                solid[y // TILE, x // TILE] = True
                if who < n_triangles:
                    hit = triangle_hit(vertices, faces, normals, colours, who, view, rx, ry)
                else:
                    hit = ball_hit(centres, radius, tints, who - n_triangles, view, rx, ry)
                nx, ny, nz = hit[3], hit[4], hit[5]
            normal[y, x, 0] = view.rx * nx + view.ry * ny + view.rz * nz
            normal[y, x, 1] = view.dx * nx + view.dy * ny + view.dz * nz
            normal[y, x, 2] = view.fx * nx + view.fy * ny + view.fz * nz


@njit(cache=True, nogil=True, error_model="numpy")
def openness(first, last, reach, focal, place, normal, near_solid, out):
    """Rows first..last of the unhidden part of the sky, 0..1; it is whole in tiles that are not near a solid."""
    height, width = out.shape
    for y in range(first, last):
        for x in range(width):
            pz = place[y, x, 2]
            out[y, x] = 1.0
            if pz <= 0.0 or not near_solid[y // TILE, x // TILE]:
                continue
            pixels = min(0.5 * reach * focal / pz, MOST_PIXELS)
            if pixels < 1.0:
                continue
            px, py = place[y, x, 0], place[y, x, 1]
            nx, ny, nz = normal[y, x, 0], normal[y, x, 1], normal[y, x, 2]
            turn = (x & 3) * 4 + (y & 3)
            hidden = 0.0
            for t in range(TAPS):
                qx, qy = int(x + pixels * SPIRAL[turn, t, 0] + 0.5), int(y + pixels * SPIRAL[turn, t, 1] + 0.5)
                if qx < 0 or qy < 0 or qx >= width or qy >= height or place[qy, qx, 2] <= 0.0:
                    continue
                dx, dy, dz = place[qy, qx, 0] - px, place[qy, qx, 1] - py, place[qy, qx, 2] - pz
                square = dx * dx + dy * dy + dz * dz
                if square <= 0.0 or square >= reach * reach:
                    continue
                rise = (dx * nx + dy * ny + dz * nz) / np.sqrt(square) - BIAS
                if rise > 0.0:
                    hidden += rise * (1.0 - square / (reach * reach))
            out[y, x] = max(1.0 - STRENGTH * hidden / TAPS, 0.0)


@njit(cache=True, nogil=True, error_model="numpy")
def smooth(first, last, reach, place, rough, out):
    """Rows first..last of the 4 x 4 mean over places of like depth."""
    height, width = out.shape
    for y in range(first, last):
        for x in range(width):
            z = place[y, x, 2]
            if z <= 0.0:
                out[y, x] = 1.0
                continue
            total, weight = 0.0, 0.0
            for j in range(max(y - 2, 0), min(y + 2, height)):
                for i in range(max(x - 2, 0), min(x + 2, width)):
                    if abs(place[j, i, 2] - z) < 0.5 * reach:
                        total += rough[j, i]
                        weight += 1.0
            out[y, x] = total / weight


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def open_at(open_sky, half, y, x, depth):
    """Openness at a full-size pixel: mean of the four half-size neighbours, those of like depth first."""
    height, width = open_sky.shape
    u, v = 0.5 * x, 0.5 * y
    i, j = min(int(u), width - 1), min(int(v), height - 1)
    ip, jp = min(i + 1, width - 1), min(j + 1, height - 1)
    if open_sky[j, i] + open_sky[j, ip] + open_sky[jp, i] + open_sky[jp, ip] == 4.0:
        return 1.0
    p, q = u - i, v - j
    total, weight = 0.0, 0.0
    for b in range(2):
        for a in range(2):
            ii, jj = min(i + a, width - 1), min(j + b, height - 1)
            z = half[jj, ii, 2]
            if z <= 0.0:
                continue
            w = (p if a else 1.0 - p) * (q if b else 1.0 - q) + 1e-3
            w /= 1e-4 + abs(z - depth) / depth
            total += w * open_sky[jj, ii]
            weight += w
    return total / weight if weight > 0.0 else 1.0
