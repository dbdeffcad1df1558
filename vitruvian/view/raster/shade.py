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
KEY = (1.06, 0.985, 0.875)
FILL = (0.10, 0.125, 0.16)
RIM = 0.22
GROUND_SHADE = 0.62  # part of the light that the key's shadow takes from the ground
GRID_SHADE = 0.115
PANE_SOFT = np.float32(0.35)
BALL_GLOSS, BALL_SOFT = np.float32(0.2), np.float32(0.2)

# sRGB byte of linear light, by table.
ENCODED_LAST = 16383
ENCODED = (255.0 * srgb_from_linear(np.arange(ENCODED_LAST + 1) / ENCODED_LAST) + 0.5).astype(np.uint8)


@njit(cache=True, nogil=True)
def shade_band(
    band, view, light, shadows, floor, solid, clear, clear_bins, balls, samples, nearness, owner, open_sky, half, out
):
    """Colours (sRGB, 8 bit) of one band of rows, into out (height, width, 3)."""
    height, width, count = nearness.shape
    # Arrays are taken out of their records here: doing it per pixel would count references per pixel.
    vertices, faces, normals, colours, finish = solid.vertices, solid.faces, solid.normals, solid.colours, solid.finish
    c_vertices, c_faces, c_normals, c_colours = clear.vertices, clear.faces, clear.normals, clear.colours
    c_finish = clear.finish
    centres, radius, tints = balls.centres, balls.radius, balls.colours
    nearest, covered, wide, blur = shadows.nearest, shadows.covered, shadows.wide, shadows.blur
    n_solid = faces.shape[0]
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
                        depth = 1.0 / nearness[y, x, s]
                        open_here = _open(open_sky, half, y, x, depth)
                        c = _ground(y, rx, ry, depth, view, light, covered, wide, blur, floor, open_here, height)
                    else:
                        open_here = _open(open_sky, half, y, x, 1.0 / nearness[y, x, s])
                        if who < n_solid:
                            hit = triangle_hit(vertices, faces, normals, colours, who, view, rx, ry)
                            gloss, soft = finish[who, 1], finish[who, 2]
                        else:
                            hit = ball_hit(centres, radius, tints, who - n_solid, view, rx, ry)
                            gloss, soft = BALL_GLOSS, BALL_SOFT
                        c = _lit(hit, gloss, soft, view, light, nearest, open_here)
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
                            hit = triangle_hit(c_vertices, c_faces, c_normals, c_colours, pane, view, rx, ry)
                            pane_owner[panes] = pane
                            opacity, gloss = c_finish[pane, 0], c_finish[pane, 1]
                            soft, sheen = c_finish[pane, 2], c_finish[pane, 3]
                            p = _pane(hit, opacity, gloss, soft, sheen, view, light, nearest)
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
def _lit(hit, gloss, soft, view, light, nearest, open_here):
    """Light that leaves a solid place towards the eye."""
    px, py, pz, nx, ny, nz, cr, cg, cb = hit
    distance = np.sqrt(px * px + py * py + pz * pz)
    vx, vy, vz = -px / distance, -py / distance, -pz / distance
    lx, ly, lz = light.lx, light.ly, light.lz
    nl = nx * lx + ny * ly + nz * lz
    nv = max(nx * vx + ny * vy + nz * vz, 0.0)
    wrapped = max((nl + soft) / (1.0 + soft), 0.0)
    lit = 0.0
    if wrapped > 0.0:
        lit = _reached(light, nearest, px + view.ex, py + view.ey, pz + view.ez, nx, ny, nz, max(nl, 0.0))
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
def _pane(hit, opacity, gloss, soft, sheen, view, light, nearest):
    """Premultiplied colour and opacity of a layer that lets light through."""
    r, g, b = _lit(hit, np.float32(0.0), max(soft, PANE_SOFT), view, light, nearest, 1.0)
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
    lx, ly, lz = light.lx, light.ly, light.lz
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
def _reached(light, nearest, x, y, z, nx, ny, nz, nl):
    """Part of the key light that reaches a place: tent-weighted mean over 5 x 5 texels of the shadow map."""
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


@njit(cache=True, nogil=True)
def _ground(y, rx, ry, depth, view, light, covered, wide, blur, floor, open_here, height):
    """Colour of the ground plane, which fades into the background away from what stands on it."""
    gx = view.ex + depth * (view.rx * rx + view.dx * ry + view.fx)
    gy = view.ey + depth * (view.ry * rx + view.dy * ry + view.fy)
    sky = _background(y, height)
    far = np.sqrt((gx - floor.cx) ** 2 + (gy - floor.cy) ** 2) / floor.radius
    fade = min(max((5.2 - far) / 3.9, 0.0), 1.0)
    fade = fade * fade * (3.0 - 2.0 * fade)
    if fade <= 0.0:
        return sky
    u = (light.ax * gx + light.ay * gy + light.az * floor.height - light.au) / light.texel - 0.5
    v = (light.bx * gx + light.by * gy + light.bz * floor.height - light.bv) / light.texel - 0.5
    shade = (1.0 - GROUND_SHADE * _dark(covered, wide, blur, u, v)) * (0.35 + 0.65 * open_here)
    # Size of a pixel on the ground, along the worse direction, softens the grid's lines.
    fall = max((view.ez - floor.height) / (depth * np.sqrt(1.0 + rx * rx + ry * ry)), 1e-3)
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
def _dark(covered, wide_map, blur, u, v):
    """Part of the key light kept from the ground at texel (u, v): sharp near what casts the shade, else soft."""
    blocks = covered.shape[0] // wide_map.shape[0]
    wu, wv = (u + 0.5) / blocks - 0.5, (v + 0.5) / blocks - 0.5
    wide = _bilinear(wide_map, wu, wv)
    if wide <= 0.0:
        return 0.0
    mix = _bilinear(blur, wu, wv)
    n = covered.shape[0]
    i, j = int(np.floor(u)), int(np.floor(v))
    if i < 2 or j < 2 or i >= n - 3 or j >= n - 3:
        return wide
    fu, fv = u - i, v - j
    total, weight = 0.0, 0.0
    for q in range(-2, 4):
        for p in range(-2, 4):
            w = max(3.0 - abs(q - fv), 0.0) * max(3.0 - abs(p - fu), 0.0)
            total += w * covered[j + q, i + p]
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
