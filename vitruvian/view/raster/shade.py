"""Colour of every pixel: light on solids and on the ground, layers that let light through, and the eye's response.

Light on a surface of colour c with normal n, seen along v, is

    c (ambient(n) open + key (wrap(n.l) lit + fill(n)) ) + gloss (n.h)^p lit + rim (1 - n.v)^3

with `open` from ambient occlusion and `lit` from the shadow map, a tent-weighted mean of comparisons. Layers are mixed
front to back; their opacity grows where they are seen edge on (Schlick 1994). Samples are averaged after the tone curve
(Khronos PBR Neutral, which leaves mid tones as they are), so that bright edges stay smooth.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from vitruvian.view.colour import srgb_from_linear
from vitruvian.view.raster.cover import BACKGROUND, GROUND, layer_triangles
from vitruvian.view.raster.hit import ball_hit, triangle_hit
from vitruvian.view.raster.types import BAND

LAYERS = 8  # light-passing layers kept per sample

# Linear light.
SKY_TOP = (0.50, 0.57, 0.66)
SKY_LOW = (0.80, 0.83, 0.86)
GROUND_COLOUR = (0.72, 0.745, 0.775)
AMBIENT_SKY = (0.44, 0.49, 0.56)
AMBIENT_GROUND = (0.27, 0.255, 0.24)
KEY = (1.13, 1.05, 0.93)
FILL = (0.10, 0.125, 0.16)
RIM = 0.22
GROUND_SHADE = 0.62  # part of the light that the key's shadow takes from the ground
GRID_SHADE = 0.115

# sRGB byte of linear light, by table.
ENCODED_LAST = 16383
ENCODED = (255.0 * srgb_from_linear(np.arange(ENCODED_LAST + 1) / ENCODED_LAST) + 0.5).astype(np.uint8)


@njit(cache=True, nogil=True)
def shade_band(
    band, view, light, floor, solid, clear, clear_bins, balls, samples, nearness, owner, open_sky, half, out
):
    """Colours (sRGB, 8 bit) of one band of rows, into out (height, width, 3)."""
    height, width, count = nearness.shape
    n_solid = solid.faces.shape[0]
    top = band * BAND
    bottom = min(top + BAND, height)
    glass = clear_bins.start[band + 1] > clear_bins.start[band]
    rows = BAND if glass else 1
    columns = width if glass else 1
    layer_near = np.empty((rows, columns, count, LAYERS), np.float32)
    layer_owner = np.empty((rows, columns, count, LAYERS), np.int32)
    layer_count = np.zeros((rows, columns, count), np.int32)
    if glass:
        layer_triangles(band, clear_bins, samples, nearness, layer_near, layer_owner, layer_count)
    done_owner = np.empty(count, np.int32)
    done_colour = np.empty((count, 3))
    pane_owner = np.empty(count * LAYERS, np.int32)
    pane_colour = np.empty((count * LAYERS, 4))
    for y in range(top, bottom):
        for x in range(width):
            red, green, blue = 0.0, 0.0, 0.0
            done, panes = 0, 0
            # Inside ground and background, one sample tells all.
            taken = count
            if owner[y, x, 0] < 0:
                taken = 1
                for s in range(count):
                    if owner[y, x, s] != owner[y, x, 0] or (glass and layer_count[y - top, x, s] > 0):
                        taken = count
            for s in range(taken):
                rx = (x + samples[s, 0] - view.cx) / view.focal
                ry = (y + samples[s, 1] - view.cy) / view.focal
                who = owner[y, x, s]
                at = 0
                while at < done and done_owner[at] != who:
                    at += 1
                if at == done:
                    if who == BACKGROUND:
                        c = _background(y, height)
                    elif who == GROUND:
                        c = _ground(y, x, rx, ry, nearness[y, x, s], view, light, floor, open_sky, half, height)
                    elif who < n_solid:
                        hit = triangle_hit(solid, who, view, rx, ry)
                        f = solid.finish[who]
                        open_here = _open(open_sky, half, y, x, 1.0 / nearness[y, x, s])
                        c = _lit(hit, f[1], f[2], view, light, open_here)
                    else:
                        hit = ball_hit(balls, who - n_solid, view, rx, ry)
                        open_here = _open(open_sky, half, y, x, 1.0 / nearness[y, x, s])
                        c = _lit(hit, 0.2, 0.2, view, light, open_here)
                    done_owner[done] = who
                    done_colour[done, 0], done_colour[done, 1], done_colour[done, 2] = c[0], c[1], c[2]
                    done += 1
                r, g, b = done_colour[at, 0], done_colour[at, 1], done_colour[at, 2]
                if glass:
                    for k in range(layer_count[y - top, x, s] - 1, -1, -1):
                        pane = layer_owner[y - top, x, s, k]
                        at = 0
                        while at < panes and pane_owner[at] != pane:
                            at += 1
                        if at == panes:
                            hit = triangle_hit(clear, pane, view, rx, ry)
                            pane_owner[panes] = pane
                            p = _pane(hit, clear.finish[pane], view, light, y, height)
                            for i in range(4):
                                pane_colour[panes, i] = p[i]
                            panes += 1
                        keep = 1.0 - pane_colour[at, 3]
                        r = r * keep + pane_colour[at, 0]
                        g = g * keep + pane_colour[at, 1]
                        b = b * keep + pane_colour[at, 2]
                r, g, b = _tone(r, g, b)
                red += r
                green += g
                blue += b
            out[y, x, 0] = ENCODED[int(min(max(red / taken, 0.0), 1.0) * ENCODED_LAST + 0.5)]
            out[y, x, 1] = ENCODED[int(min(max(green / taken, 0.0), 1.0) * ENCODED_LAST + 0.5)]
            out[y, x, 2] = ENCODED[int(min(max(blue / taken, 0.0), 1.0) * ENCODED_LAST + 0.5)]


@njit(cache=True, nogil=True)
def _lit(hit, gloss, soft, view, light, open_here):
    """Light that leaves a solid place towards the eye."""
    px, py, pz, nx, ny, nz, cr, cg, cb = hit
    distance = np.sqrt(px * px + py * py + pz * pz)
    vx, vy, vz = -px / distance, -py / distance, -pz / distance
    lx, ly, lz = light.axes[2, 0], light.axes[2, 1], light.axes[2, 2]
    nl = nx * lx + ny * ly + nz * lz
    nv = max(nx * vx + ny * vy + nz * vz, 0.0)
    wrapped = max((nl + soft) / (1.0 + soft), 0.0)
    lit = 0.0
    if wrapped > 0.0:
        lit = _reached(light, px + view.eye[0], py + view.eye[1], pz + view.eye[2], nx, ny, nz, max(nl, 0.0))
    hx, hy, hz = lx + vx, ly + vy, lz + vz
    size = np.sqrt(hx * hx + hy * hy + hz * hz)
    nh = max((nx * hx + ny * hy + nz * hz) / size, 0.0) if size > 0.0 else 0.0
    shine = gloss * nh**40 * lit * max(nl, 0.0) + 0.35 * gloss * nh**8 * lit * max(nl, 0.0)
    up = 0.5 + 0.5 * nz
    # The fill comes from the far side of the eye's vertical, opposite the key.
    fill = max(-0.6 * (nx * lx + ny * ly) + 0.45 * nv, 0.0) * open_here
    rim = RIM * (1.0 - nv) ** 3 * (0.35 + 0.65 * up) * open_here
    key = wrapped * lit * (0.55 + 0.45 * open_here)
    r = cr * (
        (AMBIENT_GROUND[0] + (AMBIENT_SKY[0] - AMBIENT_GROUND[0]) * up) * open_here + KEY[0] * key + FILL[0] * fill
    )
    g = cg * (
        (AMBIENT_GROUND[1] + (AMBIENT_SKY[1] - AMBIENT_GROUND[1]) * up) * open_here + KEY[1] * key + FILL[1] * fill
    )
    b = cb * (
        (AMBIENT_GROUND[2] + (AMBIENT_SKY[2] - AMBIENT_GROUND[2]) * up) * open_here + KEY[2] * key + FILL[2] * fill
    )
    return r + shine + rim * (0.4 + 0.6 * cr), g + shine + rim * (0.4 + 0.6 * cg), b + shine + rim * (0.4 + 0.6 * cb)


@njit(cache=True, nogil=True)
def _pane(hit, finish, view, light, y, height):
    """Premultiplied colour and opacity of a layer that lets light through."""
    opacity, gloss, soft, sheen = finish[0], finish[1], finish[2], finish[3]
    r, g, b = _lit(hit, 0.0, max(soft, 0.35), view, light, 1.0)
    px, py, pz, nx, ny, nz = hit[0], hit[1], hit[2], hit[3], hit[4], hit[5]
    distance = np.sqrt(px * px + py * py + pz * pz)
    vx, vy, vz = -px / distance, -py / distance, -pz / distance
    nv = min(max(nx * vx + ny * vy + nz * vz, 0.0), 1.0)
    edge = (1.0 - nv) ** 4
    alpha = opacity + (1.0 - opacity) * 0.55 * edge
    # What the surface mirrors lies on top of what it lets through.
    mirror = sheen * (0.04 + 0.96 * edge)
    tx = 2.0 * nv * nz - vz
    sky = _sky(max(min(0.5 + 0.5 * tx, 1.0), 0.0))
    lx, ly, lz = light.axes[2, 0], light.axes[2, 1], light.axes[2, 2]
    hx, hy, hz = lx + vx, ly + vy, lz + vz
    size = np.sqrt(hx * hx + hy * hy + hz * hz)
    nh = abs(nx * hx + ny * hy + nz * hz) / size if size > 0.0 else 0.0
    shine = gloss * (nh**90 + 0.25 * nh**14)
    keep = alpha * (1.0 - mirror)
    total = min(keep + mirror + 0.5 * shine * opacity, 1.0)
    return (
        r * keep + sky[0] * mirror + shine,
        g * keep + sky[1] * mirror + shine,
        b * keep + sky[2] * mirror + shine,
        total,
    )


@njit(cache=True, nogil=True)
def _reached(light, x, y, z, nx, ny, nz, nl):
    """Part of the key light that reaches a place: tent-weighted mean over 5 x 5 texels of the shadow map."""
    # Step off the surface, further where light grazes it, so that it does not shade itself.
    away = light.texel * (1.2 + 2.2 * np.sqrt(max(1.0 - nl * nl, 0.0)))
    x, y, z = x + away * nx, y + away * ny, z + away * nz
    a = light.axes
    u = (a[0, 0] * x + a[0, 1] * y + a[0, 2] * z - light.corner[0]) / light.texel - 0.5
    v = (a[1, 0] * x + a[1, 1] * y + a[1, 2] * z - light.corner[1]) / light.texel - 0.5
    w = np.float32(a[2, 0] * x + a[2, 1] * y + a[2, 2] * z + 0.6 * light.texel)
    n = light.nearest.shape[0]
    i, j = int(np.floor(u)), int(np.floor(v))
    if i < 2 or j < 2 or i >= n - 3 or j >= n - 3:
        return 1.0
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
            if light.nearest[j + q, i + p] <= w:
                total += wp * wq
    return total / weight


@njit(cache=True, nogil=True)
def _ground(y, x, rx, ry, close, view, light, floor, open_sky, half, height):
    """Colour of the ground plane, which fades into the background away from what stands on it."""
    depth = 1.0 / close
    gx = view.eye[0] + depth * (view.axes[0, 0] * rx + view.axes[1, 0] * ry + view.axes[2, 0])
    gy = view.eye[1] + depth * (view.axes[0, 1] * rx + view.axes[1, 1] * ry + view.axes[2, 1])
    sky = _background(y, height)
    far = np.sqrt((gx - floor.centre[0]) ** 2 + (gy - floor.centre[1]) ** 2) / floor.radius
    fade = min(max((5.2 - far) / 3.9, 0.0), 1.0)
    fade = fade * fade * (3.0 - 2.0 * fade)
    if fade <= 0.0:
        return sky
    a = light.axes
    u = (a[0, 0] * gx + a[0, 1] * gy + a[0, 2] * floor.height - light.corner[0]) / light.texel - 0.5
    v = (a[1, 0] * gx + a[1, 1] * gy + a[1, 2] * floor.height - light.corner[1]) / light.texel - 0.5
    shade = (1.0 - GROUND_SHADE * _dark(light, u, v)) * (0.35 + 0.65 * _open(open_sky, half, y, x, depth))
    # Size of a pixel on the ground, along the worse direction, softens the grid's lines.
    fall = max((view.eye[2] - floor.height) / (depth * np.sqrt(1.0 + rx * rx + ry * ry)), 1e-3)
    foot = depth / (view.focal * fall)
    shade *= 1.0 - GRID_SHADE * max(_line(gx, floor.spacing, foot), _line(gy, floor.spacing, foot))
    # A shadow is a little cooler than the lit ground.
    cool = 1.0 - shade
    r = GROUND_COLOUR[0] * shade * (1.0 - 0.05 * cool)
    g = GROUND_COLOUR[1] * shade
    b = GROUND_COLOUR[2] * shade * (1.0 + 0.07 * cool)
    return sky[0] + (r - sky[0]) * fade, sky[1] + (g - sky[1]) * fade, sky[2] + (b - sky[2]) * fade


@njit(cache=True, nogil=True)
def _line(place, spacing, foot):
    """Coverage of a pixel by a line of the grid, thin but never thinner than a pixel is wide."""
    wide = 0.012 * spacing
    off = abs(place / spacing - np.floor(place / spacing + 0.5)) * spacing
    soft = max(foot, 1e-9)
    cover = min(max((0.5 * wide + 0.5 * soft - off) / soft, 0.0), 1.0) * min(wide / soft, 1.0) ** 0.5
    return cover * min(max((spacing / soft - 3.0) / 12.0, 0.0), 1.0)


@njit(cache=True, nogil=True)
def _dark(light, u, v):
    """Part of the key light kept from the ground at texel (u, v): sharp near what casts the shade, soft away from it."""
    blocks = light.covered.shape[0] // light.wide.shape[0]
    wu, wv = (u + 0.5) / blocks - 0.5, (v + 0.5) / blocks - 0.5
    wide = _bilinear(light.wide, wu, wv)
    if wide <= 0.0:
        return 0.0
    mix = _bilinear(light.blur, wu, wv)
    n = light.covered.shape[0]
    i, j = int(np.floor(u)), int(np.floor(v))
    if i < 2 or j < 2 or i >= n - 3 or j >= n - 3:
        return wide
    fu, fv = u - i, v - j
    total, weight = 0.0, 0.0
    for q in range(-2, 4):
        for p in range(-2, 4):
            w = max(3.0 - abs(q - fv), 0.0) * max(3.0 - abs(p - fu), 0.0)
            total += w * light.covered[j + q, i + p]
            weight += w
    return total / weight * (1.0 - mix) + wide * mix


@njit(cache=True, nogil=True)
def _bilinear(values, u, v):
    n = values.shape[0]
    i, j = int(np.floor(u)), int(np.floor(v))
    if i < 0 or j < 0 or i >= n - 1 or j >= n - 1:
        return 0.0
    p, q = u - i, v - j
    low = values[j, i] * (1.0 - p) + values[j, i + 1] * p
    high = values[j + 1, i] * (1.0 - p) + values[j + 1, i + 1] * p
    return low * (1.0 - q) + high * q


@njit(cache=True, nogil=True)
def _open(open_sky, half, y, x, depth):
    """Openness at a full-size pixel: mean of the four half-size neighbours, those of like depth first."""
    height, width = open_sky.shape
    u, v = 0.5 * x, 0.5 * y
    i, j = min(int(u), width - 1), min(int(v), height - 1)
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


@njit(cache=True, nogil=True)
def _background(y, height):
    return _sky(1.0 - (y + 0.5) / height)


@njit(cache=True, nogil=True)
def _sky(up):
    t = up * up * (3.0 - 2.0 * up)
    return (
        SKY_LOW[0] + (SKY_TOP[0] - SKY_LOW[0]) * t,
        SKY_LOW[1] + (SKY_TOP[1] - SKY_LOW[1]) * t,
        SKY_LOW[2] + (SKY_TOP[2] - SKY_LOW[2]) * t,
    )


@njit(cache=True, nogil=True)
def _tone(r, g, b):
    """Khronos PBR Neutral tone curve: unchanged below 0.76, then compressed towards white."""
    start, mute = 0.76, 0.15
    peak = max(r, g, b)
    if peak < start:
        return r, g, b
    room = 1.0 - start
    new = 1.0 - room * room / (peak + room - start)
    scale = new / peak
    mix = 1.0 - 1.0 / (mute * (peak - new) + 1.0)
    return r * scale * (1 - mix) + new * mix, g * scale * (1 - mix) + new * mix, b * scale * (1 - mix) + new * mix
