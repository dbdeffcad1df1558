"""Colour of every pixel: what each sample sees, layers that let light through in front of it, and the eye's response.

Pixels are taken in blocks of 2 × 2: where all their samples see the same triangle through the same surfaces, one colour
serves the block. Elsewhere samples of a pixel that lie on one surface share a colour, and the layers of a block share
theirs. Layers are mixed from back to front. Of a translucent skin only the nearest sheet counts: where limbs, fingers
or folds lie behind each other, all sheets together would show as dark patches. Samples are averaged after the tone
curve (Khronos PBR Neutral, which leaves mid tones as they are), so that bright edges stay smooth.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from vitruvian.view.colour import srgb_from_linear
from vitruvian.view.raster.backdrop import background, depth_light, ground, sky
from vitruvian.view.raster.cover import BACKGROUND, GROUND, layer_triangles
from vitruvian.view.raster.hit import ball_hit, triangle_hit
from vitruvian.view.raster.light import lit, pane_light
from vitruvian.view.raster.occlusion import open_at
from vitruvian.view.raster.types import BAND
from vitruvian.view.raster.water import faded, media, mirror_from_below, water_light

LAYERS = 8  # light-passing layers kept per sample
TOGETHER = 1e-3  # part of their distance by which two samples of a pixel on one surface may differ
ENDLESS = 1e3  # [m] of open water behind its surface
BALL_GLOSS, BALL_SOFT = np.float32(0.2), np.float32(0.2)

# sRGB byte of linear light, by table.
ENCODED_LAST = 16383
ENCODED = (255.0 * srgb_from_linear(np.arange(ENCODED_LAST + 1) / ENCODED_LAST) + 0.5).astype(np.uint8)


@njit(cache=True, nogil=True, error_model="numpy")
def shade_band(
    band,
    view,
    light,
    shadows,
    floor,
    medium,
    solid,
    clear,
    clear_bins,
    balls,
    samples,
    nearness,
    owner,
    open_sky,
    half,
    layer_near,
    layer_owner,
    layer_count,
    out,
):
    """Colours (sRGB, 8 bit) of one band of rows, into out (height, width, 3).

    layer_near, layer_owner (LAYERS, BAND, width, S) and layer_count (BAND, width, S) are room to work in.
    """
    height, width, count = nearness.shape
    # Arrays are taken out of their records here: doing it per pixel would count references per pixel.
    vertices, faces, normals, colours, finish = solid.vertices, solid.faces, solid.normals, solid.colours, solid.finish
    c_vertices, c_faces, c_normals, c_colours = clear.vertices, clear.faces, clear.normals, clear.colours
    c_finish = clear.finish
    make, c_make = solid.make, clear.make
    centres, radius, tints = balls.centres, balls.radius, balls.colours
    nearest, highest, covered = shadows.nearest, shadows.highest, shadows.covered
    wide, blur = shadows.wide, shadows.blur
    n_solid = faces.shape[0]
    outside = -2 if medium.wet else -1
    top = band * BAND
    bottom = min(top + BAND, height)
    glass = clear_bins.start[band + 1] > clear_bins.start[band]
    if glass:
        layer_count[:] = 0
        layer_triangles(band, clear_bins, samples, nearness, layer_near, layer_owner, layer_count)
    done_owner, done_near = np.empty(count, np.int32), np.empty(count, np.float32)
    done_colour = np.empty((count, 3))
    # Of each layer's triangle: light and opacity; for water also its own light in depth and how fast light fades [1/m].
    pane_owner, pane_near = np.empty(4 * count * LAYERS, np.int32), np.empty(4 * count * LAYERS, np.float32)
    pane_colour = np.empty((4 * count * LAYERS, 12))
    pane_of, last_pane = np.empty(LAYERS, np.int32), np.empty(LAYERS, np.int32)
    is_water = np.empty(LAYERS, np.float32)
    near = np.empty(LAYERS, np.float32)
    wet = np.empty(LAYERS, np.int32)
    alike = np.empty((2, 2), np.bool_)
    for place in range(((bottom - top + 1) // 2) * ((width + 1) // 2)):
        y0, x0 = top + 2 * (place // ((width + 1) // 2)), 2 * (place % ((width + 1) // 2))
        # the ground has fine lines and sharp shade under feet
        whole = y0 + 1 < bottom and x0 + 1 < width and owner[y0, x0, 0] != GROUND
        panes = 0
        for y in range(y0, min(y0 + 2, bottom)):
            for x in range(x0, min(x0 + 2, width)):
                one, who, here = True, owner[y, x, 0], nearness[y, x, 0]
                layers = layer_count[y - top, x, 0] if glass else 0
                for s in range(1, count):
                    other = owner[y, x, s]
                    if other != who:
                        both = 0 <= who < n_solid and 0 <= other < n_solid
                        if not both or make[who] != make[other] or abs(here - nearness[y, x, s]) > TOGETHER * here:
                            one = False
                            break
                    if glass and layer_count[y - top, x, s] != layers:
                        one = False
                        break
                    for k in range(layers):
                        pane, other = layer_owner[k, y - top, x, 0], layer_owner[k, y - top, x, s]
                        if pane != other:
                            close = layer_near[k, y - top, x, 0]
                            apart = abs(close - layer_near[k, y - top, x, s]) > TOGETHER * close
                            if apart or c_make[pane] != c_make[other]:
                                one = False
                                break
                alike[y - y0, x - x0] = one
                whole = whole and one and who == owner[y0, x0, 0]
                if whole and glass:
                    whole = layer_count[y0 - top, x0, 0] == layers
                    for k in range(layers if whole else 0):
                        pane, other = layer_owner[k, y0 - top, x0, 0], layer_owner[k, y - top, x, 0]
                        if pane != other:
                            close = layer_near[k, y0 - top, x0, 0]
                            apart = abs(close - layer_near[k, y - top, x, 0]) > TOGETHER * close
                            if apart or c_make[pane] != c_make[other]:
                                whole = False
                                break
        for corner in range(1 if whole else 4):
            y, x = y0 + corner // 2, x0 + corner % 2
            if y >= bottom or x >= width:
                continue
            red, green, blue = 0.0, 0.0, 0.0
            r, g, b = 0.0, 0.0, 0.0
            done, last_at, last_layers = 0, -1, -1
            taken = 1 if alike[y - y0, x - x0] else count
            for s in range(taken):
                rx = (x + (1.0 if whole else samples[s, 0]) - view.cx) / view.focal
                ry = (y + (1.0 if whole else samples[s, 1]) - view.cy) / view.focal
                who = owner[y, x, s]
                here = nearness[y, x, s]
                layers = layer_count[y - top, x, s] if glass else 0
                at = 0
                solid_here = 0 <= who < n_solid
                while at < done and done_owner[at] != who:
                    other = done_owner[at]
                    both = solid_here and 0 <= other < n_solid
                    if both and make[who] == make[other] and abs(here - done_near[at]) <= TOGETHER * here:
                        break
                    at += 1
                if at == done:
                    if who == BACKGROUND:
                        if medium.wet:
                            c = depth_light(y, height, medium)
                        elif medium.open:  # the sky that the water mirrors, so that both meet at the horizon
                            rise = (view.rz * rx + view.dz * ry + view.fz) / np.sqrt(1.0 + rx * rx + ry * ry)
                            c = sky(min(max(1.4 * rise, 0.0), 1.0))
                        else:
                            c = background(y, height)
                    elif who == GROUND:
                        depth = 1.0 / here
                        open_here = open_at(open_sky, half, y, x, depth)
                        c = ground(y, rx, ry, depth, view, light, covered, wide, blur, floor, open_here, height)
                    else:
                        open_here = open_at(open_sky, half, y, x, 1.0 / here)
                        if who < n_solid:
                            hit = triangle_hit(vertices, faces, normals, colours, who, view, rx, ry)
                            gloss, soft = finish[who, 1], finish[who, 2]
                        else:
                            hit = ball_hit(centres, radius, tints, who - n_solid, view, rx, ry)
                            gloss, soft = BALL_GLOSS, BALL_SOFT
                        c = lit(hit, gloss, soft, view, light, nearest, highest, open_here)
                    done_owner[done], done_near[done] = who, here
                    done_colour[done, 0], done_colour[done, 1], done_colour[done, 2] = c[0], c[1], c[2]
                    done += 1
                same = s > 0 and at == last_at and layers == last_layers
                last_at, last_layers = at, layers
                any_water = False
                for k in range(layers):
                    pane = layer_owner[k, y - top, x, s]
                    close = layer_near[k, y - top, x, s]
                    found = 0
                    while found < panes and pane_owner[found] != pane:
                        apart = abs(close - pane_near[found]) > TOGETHER * close
                        if c_make[pane] == c_make[pane_owner[found]] and not apart:
                            break
                        found += 1
                    if found == panes:
                        pane_owner[panes], pane_near[panes] = pane, close
                        if not _behind_its_own(k, layer_owner, y - top, x, s, c_finish):
                            hit = triangle_hit(c_vertices, c_faces, c_normals, c_colours, pane, view, rx, ry)
                            _shade_pane(
                                hit, c_finish, pane, view, light, nearest, highest, floor.radius, pane_colour, panes
                            )
                            panes += 1
                    same = same and last_pane[k] == found
                    pane_of[k] = last_pane[k] = found
                    is_water[k] = c_finish[pane, 3]
                    any_water = any_water or is_water[k] > 0.0
                    near[k] = close
                    wet[k] = outside
                if not same:
                    r, g, b = done_colour[at, 0], done_colour[at, 1], done_colour[at, 2]
                    slant = np.sqrt(1.0 + rx * rx + ry * ry)
                    end = 1.0 / here if here > 0.0 else -1.0
                    if layers > 0:
                        if any_water:
                            media(layers, near, is_water, wet, outside)
                        if end < 0.0:  # nothing solid behind; open water has no end
                            end = 1.0 / near[0] + (ENDLESS if medium.open else 2.0 * floor.radius)
                        r, g, b = _through(
                            r, g, b, layers, near, wet, is_water, end, slant, outside, medium, pane_of, pane_colour,
                            layer_owner, y - top, x, s, c_finish, solid_here and finish[who, 3] < 0.0,
                        )  # fmt: skip
                        end = 1.0 / near[0]
                    if medium.wet and end > 0.0:
                        r = faded(r, medium.r, medium.kr, end * slant)
                        g = faded(g, medium.g, medium.kg, end * slant)
                        b = faded(b, medium.b, medium.kb, end * slant)
                    r, g, b = _tone(r, g, b)
                red += r
                green += g
                blue += b
            red8 = ENCODED[int(min(max(red / taken, 0.0), 1.0) * ENCODED_LAST + 0.5)]
            green8 = ENCODED[int(min(max(green / taken, 0.0), 1.0) * ENCODED_LAST + 0.5)]
            blue8 = ENCODED[int(min(max(blue / taken, 0.0), 1.0) * ENCODED_LAST + 0.5)]
            for yy in range(y, y + (2 if whole else 1)):
                for xx in range(x, x + (2 if whole else 1)):
                    out[yy, xx, 0], out[yy, xx, 1], out[yy, xx, 2] = red8, green8, blue8


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _through(
    r, g, b, layers, near, wet, is_water, end, slant, outside, medium, pane_of, pane_colour,
    owners, y, x, s, finish, image,
):  # fmt: skip
    """Colour (r, g, b) of what lies at depth `end` [m], seen through a sample's layers, nearest first.

    image: whether that is an image in the surface of the water.
    """
    for k in range(layers - 1, -1, -1):
        start = 1.0 / near[k]
        if wet[k] == -2:
            path = max(end - start, 0.0) * slant
            r = faded(r, medium.r, medium.kr, path)
            g = faded(g, medium.g, medium.kg, path)
            b = faded(b, medium.b, medium.kb, path)
        elif wet[k] >= 0:
            w, path = pane_of[wet[k]], max(end - start, 0.0) * slant
            r = faded(r, pane_colour[w, 4], pane_colour[w, 7], path)
            g = faded(g, pane_colour[w, 5], pane_colour[w, 8], path)
            b = faded(b, pane_colour[w, 6], pane_colour[w, 9], path)
        back, end = end, start
        if _behind_its_own(k, owners, y, x, s, finish):
            continue
        at = pane_of[k]
        before = wet[k - 1] if k > 0 else outside
        if is_water[k] > 0.0 and before != -1 and wet[k] == -1:  # seen from below
            if image:  # light has come all the way through water, mirrored whole
                path = max(back - start, 0.0) * slant
                r = faded(r, medium.r, medium.kr, path)
                g = faded(g, medium.g, medium.kg, path)
                b = faded(b, medium.b, medium.kb, path)
                continue
            part = mirror_from_below(pane_colour[at, 10])
            w = pane_of[before] if before >= 0 else 0
            glow = pane_colour[at, 11]
            mr = glow * (pane_colour[w, 4] if before >= 0 else medium.r)
            mg = glow * (pane_colour[w, 5] if before >= 0 else medium.g)
            mb = glow * (pane_colour[w, 6] if before >= 0 else medium.b)
            r, g, b = r + (mr - r) * part, g + (mg - g) * part, b + (mb - b) * part
            continue
        keep = 1.0 - pane_colour[at, 3]
        r = r * keep + pane_colour[at, 0]
        g = g * keep + pane_colour[at, 1]
        b = b * keep + pane_colour[at, 2]
    return r, g, b


@njit(cache=True, nogil=True, error_model="numpy")
def _behind_its_own(k, owner, y, x, s, finish):
    """Whether a nearer layer than the k-th of a sample is of the same make and no water."""
    one = owner[k, y, x, s]
    if finish[one, 3] > 0.0:
        return False
    for j in range(k):
        other = owner[j, y, x, s]
        same = finish[other, 0] == finish[one, 0] and finish[other, 1] == finish[one, 1]
        if same and finish[other, 2] == finish[one, 2] and finish[other, 3] == finish[one, 3]:
            return True
    return False


@njit(cache=True, nogil=True, error_model="numpy")
def _shade_pane(hit, finish, pane, view, light, nearest, highest, reach, out, at):
    """Light and opacity of a layer into out[at, :4]; for water, what its depth does into the rest."""
    opacity, gloss, soft = finish[pane, 0], finish[pane, 1], finish[pane, 2]
    if finish[pane, 3] > 0.0:
        w = water_light(hit, opacity, view, light, nearest, reach)
        for i in range(12):
            out[at, i] = w[i]
    else:
        c = pane_light(hit, opacity, gloss, soft, view, light, nearest, highest)
        out[at, 0], out[at, 1], out[at, 2], out[at, 3] = c[0], c[1], c[2], c[3]


@njit(cache=True, nogil=True, error_model="numpy")
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
