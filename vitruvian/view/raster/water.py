"""Light on water: its surface mirrors the sky and the key light, its depth takes light away and gives its own.

A smooth surface mirrors the part  F = F0 + (1 - F0) (1 - n.v)^5  of what lies in the mirrored direction (Schlick 1994).
Over a path of length s through water, light of colour channel c fades to the part  exp(-k_c s)  (Beer and Lambert) and
the water's own colour, lit, takes the place of the rest. A ray is in water between the first of its surfaces and the
second, between the third and the fourth, and so on, whichever way their triangles face (the other way about when the
eye is in water); below a sheet without a bottom it is in water up to what stands behind. From below a surface mirrors
everything beyond the angle of total reflection.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from vitruvian.view.raster.backdrop import GROUND_COLOUR, sky
from vitruvian.view.raster.light import KEY, soft_light

INDEX = 1.33  # of refraction
F0 = 0.02  # mirrored head on, ((INDEX - 1) / (INDEX + 1))^2
DEPTH = 0.15  # path, in radii of what is shown, over which the part `opacity` of light is taken
SAME = 1e-5  # surfaces nearer to each other than this part of their distance are one: a ray through a shared edge
GLINT = 700  # exponent of the key light's mirror image
GLOW = 24  # exponent of the bright sky around it
TAKES_MOST, TAKES_LEAST = 1.5, 0.5  # fading, over the mean, of channels that its colour lacks and has most of
DIM = 0.8  # part of the light on its surface that water in its depth gives back in its colour


@njit(cache=True, nogil=True, error_model="numpy")
def water_light(hit, opacity, view, light, nearest, reach):
    """Mirrored light and its weight, own colour in depth, and how fast each channel fades [1/m], cosine to the
    normal, brightness of the depth mirrored from below: 12 numbers."""
    px, py, pz, nx, ny, nz = hit[0], hit[1], hit[2], hit[3], hit[4], hit[5]
    distance = np.sqrt(px * px + py * py + pz * pz)
    vx, vy, vz = -px / distance, -py / distance, -pz / distance
    nv = min(max(nx * vx + ny * vy + nz * vz, 0.0), 1.0)
    mirror = F0 + (1.0 - F0) * (1.0 - nv) ** 5
    mx, my, mz = 2.0 * nv * nx - vx, 2.0 * nv * ny - vy, 2.0 * nv * nz - vz
    r, g, b = _around(mx, my, mz, light)
    deep = soft_light(hit, view, light, nearest)
    dim = DIM * (1.0 - mirror)
    fade = -np.log(max(1.0 - opacity, 1e-3)) / (DEPTH * reach)
    # What water does not have in its own colour it takes fastest.
    cr, cg, cb = hit[6], hit[7], hit[8]
    slope = (TAKES_MOST - TAKES_LEAST) / max(cr, cg, cb, 1e-6)
    return (
        r * mirror,
        g * mirror,
        b * mirror,
        mirror,
        dim * deep[0],
        dim * deep[1],
        dim * deep[2],
        fade * (TAKES_MOST - slope * cr),
        fade * (TAKES_MOST - slope * cg),
        fade * (TAKES_MOST - slope * cb),
        nv,
        0.35 + 1.3 * min(max(1.0 + mz, 0.0), 1.0),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def mirror_from_below(nv):
    """Part of light that water's surface mirrors down again, seen at the cosine nv of the angle to its normal.

    Schlick's rule with the angle in air, by Snell's law; beyond 49 degrees everything.
    """
    sine2 = INDEX * INDEX * (1.0 - nv * nv)
    if sine2 >= 1.0:
        return 1.0
    return F0 + (1.0 - F0) * (1.0 - np.sqrt(1.0 - sine2)) ** 5


@njit(cache=True, nogil=True, error_model="numpy")
def faded(behind, deep, fade, path):
    """One colour channel after `path` [m] in water that gives `deep` of its own and fades others by `fade` [1/m]."""
    return deep + (behind - deep) * np.exp(-fade * path)


@njit(cache=True, nogil=True, error_model="numpy")
def media(layers, near, is_water, wet, start=-1):
    """Fill wet[k] with the layer whose water lies behind layer k of a sample (nearest first), or -1 where there is air.

    near: nearness (1/m) of the layers; is_water: positive where their surface is water's. start: what the eye is in,
    -1 for air, -2 for water.
    """
    within, last = start, -1
    for k in range(layers):
        if is_water[k] > 0.0:
            again = last >= 0 and near[last] - near[k] < SAME * near[last]
            if not again:
                within = k if within == -1 else -1
            last = k
        wet[k] = within


@njit(cache=True, nogil=True, error_model="numpy")
def _around(x, y, z, light):
    """What lies in a direction: sky, ground below, and two bright windows: the key light and one across from it."""
    air = sky(min(max(1.4 * z, 0.0), 1.0))
    low = min(max(-6.0 * z, 0.0), 1.0)
    along = max(x * light.lx + y * light.ly + z * light.lz, 0.0)
    across = max(-x * light.lx - y * light.ly + z * light.lz, 0.0)
    bright = 25.0 * along**GLINT + 25.0 * across**GLINT + 1.6 * (along**GLOW + across**GLOW)
    return (
        air[0] + (0.55 * GROUND_COLOUR[0] - air[0]) * low + KEY[0] * bright,
        air[1] + (0.55 * GROUND_COLOUR[1] - air[1]) * low + KEY[1] * bright,
        air[2] + (0.55 * GROUND_COLOUR[2] - air[2]) * low + KEY[2] * bright,
    )
