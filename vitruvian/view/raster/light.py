"""Light that leaves a place towards the eye, on solids and on surfaces that let light through.

Light on a surface of colour c with normal n, seen along v, is

    c (ambient(n) open + key (wrap(n.l) lit + fill(n)) ) + gloss (n.h)^p lit + rim (1 - n.v)^3

with `open` from ambient occlusion and `lit` from the shadow map, a tent-weighted mean of comparisons. What hides the
sky sends light back itself, the more the lighter it is: with c for its colour, too, `open` grows by the fit of Jimenez
and others 2016, "Practical real-time strategies for accurate indirect occlusion". Without it white teeth are grey
between lips. Layers grow less transparent where they are seen edge on.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from vitruvian.view.raster.types import BLOCK

# Linear light.
AMBIENT_SKY = (0.44, 0.49, 0.56)
AMBIENT_GROUND = (0.27, 0.255, 0.24)
KEY = (1.06, 0.985, 0.875)
FILL = (0.10, 0.125, 0.16)
RIM = 0.22
PANE_SOFT = np.float32(0.35)
# A layer seen edge on hides more of what is behind it, so that its outline reads; light that enters a thin shell of
# thickness t passes t / n.v of it.
EDGE, EDGE_POWER = 0.9, 1.7


@njit(cache=True, nogil=True, error_model="numpy")
def _bounced(open_here, colour):
    """The open part of the sky, with light that comes back from surroundings of the same colour."""
    a, b, c = 2.0404 * colour - 0.3324, -4.7951 * colour + 0.6417, 2.7552 * colour + 0.6903
    return max(open_here, ((open_here * a + b) * open_here + c) * open_here)


@njit(cache=True, nogil=True, error_model="numpy")
def lit(hit, gloss, soft, view, light, nearest, highest, open_here):
    """Light that leaves a solid place towards the eye."""
    px, py, pz, nx, ny, nz, cr, cg, cb = hit
    distance = np.sqrt(px * px + py * py + pz * pz)
    vx, vy, vz = -px / distance, -py / distance, -pz / distance
    lx, ly, lz = light.lx, light.ly, light.lz
    nl = nx * lx + ny * ly + nz * lz
    nv = max(nx * vx + ny * vy + nz * vz, 0.0)
    wrapped = max((nl + soft) / (1.0 + soft), 0.0)
    reached = 0.0
    if wrapped > 0.0:
        reached = _reached(light, nearest, highest, px + view.ex, py + view.ey, pz + view.ez, nx, ny, nz, max(nl, 0.0))
    hx, hy, hz = lx + vx, ly + vy, lz + vz
    size = np.sqrt(hx * hx + hy * hy + hz * hz)
    nh = max((nx * hx + ny * hy + nz * hz) / size, 0.0) if size > 0.0 else 0.0
    shine = gloss * nh**40 * reached * max(nl, 0.0) + 0.35 * gloss * nh**8 * reached * max(nl, 0.0)
    up = 0.5 + 0.5 * nz
    # The fill comes from the far side of the eye's vertical, opposite the key.
    fill = max(-0.6 * (nx * lx + ny * ly) + 0.45 * nv, 0.0) * open_here
    rim = RIM * (1.0 - nv) ** 3 * (0.35 + 0.65 * up) * open_here
    key = wrapped * reached * (0.55 + 0.45 * open_here)
    r = cr * (
        (AMBIENT_GROUND[0] + (AMBIENT_SKY[0] - AMBIENT_GROUND[0]) * up) * _bounced(open_here, cr)
        + KEY[0] * key
        + FILL[0] * fill
    )
    g = cg * (
        (AMBIENT_GROUND[1] + (AMBIENT_SKY[1] - AMBIENT_GROUND[1]) * up) * _bounced(open_here, cg)
        + KEY[1] * key
        + FILL[1] * fill
    )
    b = cb * (
        (AMBIENT_GROUND[2] + (AMBIENT_SKY[2] - AMBIENT_GROUND[2]) * up) * _bounced(open_here, cb)
        + KEY[2] * key
        + FILL[2] * fill
    )
    return r + shine + rim * (0.4 + 0.6 * cr), g + shine + rim * (0.4 + 0.6 * cg), b + shine + rim * (0.4 + 0.6 * cb)


@njit(cache=True, nogil=True, error_model="numpy")
def soft_light(hit, view, light, nearest):
    """Light that water gives back from below its surface: sky and key, whichever way it faces, edges of shade sharp."""
    px, py, pz, nx, ny, nz, cr, cg, cb = hit
    wrapped = max(0.5 + 0.5 * (nx * light.lx + ny * light.ly + nz * light.lz), 0.0)
    x, y, z = px + view.ex, py + view.ey, pz + view.ez
    u = int((light.ax * x + light.ay * y + light.az * z - light.au) / light.texel)
    v = int((light.bx * x + light.by * y + light.bz * z - light.bv) / light.texel)
    n = nearest.shape[0]
    key = wrapped
    if 0 <= u < n and 0 <= v < n and nearest[v, u] > light.lx * x + light.ly * y + light.lz * z + 3.0 * light.texel:
        key = 0.0
    up = 0.5 + 0.5 * nz
    return (
        cr * (AMBIENT_GROUND[0] + (AMBIENT_SKY[0] - AMBIENT_GROUND[0]) * up + KEY[0] * key),
        cg * (AMBIENT_GROUND[1] + (AMBIENT_SKY[1] - AMBIENT_GROUND[1]) * up + KEY[1] * key),
        cb * (AMBIENT_GROUND[2] + (AMBIENT_SKY[2] - AMBIENT_GROUND[2]) * up + KEY[2] * key),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def pane_light(hit, opacity, gloss, soft, view, light, nearest, highest):
    """Premultiplied colour and opacity of a layer that lets light through."""
    r, g, b = lit(hit, np.float32(0.0), max(soft, PANE_SOFT), view, light, nearest, highest, 1.0)
    px, py, pz, nx, ny, nz = hit[0], hit[1], hit[2], hit[3], hit[4], hit[5]
    distance = np.sqrt(px * px + py * py + pz * pz)
    vx, vy, vz = -px / distance, -py / distance, -pz / distance
    nv = min(max(nx * vx + ny * vy + nz * vz, 0.0), 1.0)
    alpha = opacity + (1.0 - opacity) * EDGE * (1.0 - nv) ** EDGE_POWER
    hx, hy, hz = light.lx + vx, light.ly + vy, light.lz + vz
    size = np.sqrt(hx * hx + hy * hy + hz * hz)
    nh = abs(nx * hx + ny * hy + nz * hz) / size if size > 0.0 else 0.0
    shine = gloss * (nh**90 + 0.25 * nh**14)
    return r * alpha + shine, g * alpha + shine, b * alpha + shine, min(alpha + 0.5 * shine * opacity, 1.0)


@njit(cache=True, nogil=True, error_model="numpy")
def _reached(light, nearest, highest, x, y, z, nx, ny, nz, nl):
    """Part of the key light that reaches a place: tent-weighted mean over 5 x 5 texels of the shadow map; where every
    other of them agrees, what they say."""
    # Step off the surface, further where light grazes it, so that it does not shade itself.
    away = light.texel * (1.2 + 2.2 * np.sqrt(max(1.0 - nl * nl, 0.0)))
    x, y, z = x + away * nx, y + away * ny, z + away * nz
    u = (light.ax * x + light.ay * y + light.az * z - light.au) / light.texel - 0.5
    v = (light.bx * x + light.by * y + light.bz * z - light.bv) / light.texel - 0.5
    w = np.float32(light.lx * x + light.ly * y + light.lz * z + 0.6 * light.texel)
    n = nearest.shape[0]
    i, j = int(np.floor(u)), int(np.floor(v))
    if i < 2 or j < 2 or i >= n - 3 or j >= n - 3:
        return 1.0
    if highest[j // BLOCK, i // BLOCK] <= w:  # nothing near stands higher
        return 1.0
    clear = 0
    for q in range(-2, 4, 2):
        for p in range(-2, 4, 2):
            clear += nearest[j + q, i + p] <= w
    clear += nearest[j + 3, i + 3] <= w
    if clear == 10:
        return 1.0
    if clear == 0:
        return 0.0
    fu, fv = u - i, v - j
    total, weight = 0.0, 0.0
    for q in range(-2, 4):
        wq = 3.0 - abs(q - fv)
        if wq <= 0.0:
            continue
        for p in range(-2, 4):
            wp = 3.0 - abs(p - fu)
            if wp <= 0.0:
                continue
            weight += wp * wq
            if nearest[j + q, i + p] <= w:
                total += wp * wq
    return total / weight
