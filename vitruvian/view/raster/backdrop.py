"""What is behind everything: a sky that pales towards the horizon, and the ground with its grid and shadows."""

from __future__ import annotations

import numpy as np
from numba import njit

# Linear light.
SKY_TOP = (0.50, 0.57, 0.66)
SKY_LOW = (0.80, 0.83, 0.86)
GROUND_COLOUR = (0.72, 0.745, 0.775)
GROUND_SHADE = 0.62  # part of the light that the key's shadow takes from the ground
GRID_SHADE = 0.115


@njit(cache=True, nogil=True, error_model="numpy")
def background(y, height):
    """Sky in row y of the picture."""
    return sky(1.0 - (y + 0.5) / height)


@njit(cache=True, nogil=True, error_model="numpy")
def depth_light(y, height, medium):
    """Water in row y of a picture taken in it: darker downwards."""
    bright = 0.6 + 0.8 * (1.0 - (y + 0.5) / height)
    return medium.r * bright, medium.g * bright, medium.b * bright


@njit(cache=True, nogil=True, error_model="numpy")
def sky(up):
    """Light of the sky, from the horizon (0) to the top (1)."""
    t = up * up * (3.0 - 2.0 * up)
    return (
        SKY_LOW[0] + (SKY_TOP[0] - SKY_LOW[0]) * t,
        SKY_LOW[1] + (SKY_TOP[1] - SKY_LOW[1]) * t,
        SKY_LOW[2] + (SKY_TOP[2] - SKY_LOW[2]) * t,
    )


@njit(cache=True, nogil=True, error_model="numpy")
def ground(y, rx, ry, depth, view, light, covered, wide, blur, floor, open_here, height):
    """Colour of the ground plane, which fades into the background away from what stands on it."""
    gx = view.ex + depth * (view.rx * rx + view.dx * ry + view.fx)
    gy = view.ey + depth * (view.ry * rx + view.dy * ry + view.fy)
    air = background(y, height)
    far = np.sqrt((gx - floor.cx) ** 2 + (gy - floor.cy) ** 2) / floor.radius
    fade = min(max((5.2 - far) / 3.9, 0.0), 1.0)
    fade = fade * fade * (3.0 - 2.0 * fade)
    if fade <= 0.0:
        return air
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
    return air[0] + (r - air[0]) * fade, air[1] + (g - air[1]) * fade, air[2] + (b - air[2]) * fade


@njit(cache=True, nogil=True, error_model="numpy")
def _line(place, spacing, foot):
    """Coverage of a pixel by a line of the grid, thin but never thinner than a pixel is wide."""
    wide = 0.012 * spacing
    off = abs(place / spacing - np.floor(place / spacing + 0.5)) * spacing
    soft = max(foot, 1e-9)
    cover = min(max((0.5 * wide + 0.5 * soft - off) / soft, 0.0), 1.0) * min(wide / soft, 1.0) ** 0.5
    return cover * min(max((spacing / soft - 3.0) / 12.0, 0.0), 1.0)


@njit(cache=True, nogil=True, error_model="numpy")
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


@njit(cache=True, nogil=True, error_model="numpy")
def _bilinear(values, u, v):
    n = values.shape[0]
    i, j = int(np.floor(u)), int(np.floor(v))
    if i < 0 or j < 0 or i >= n - 1 or j >= n - 1:
        return 0.0
    p, q = u - i, v - j
    low = values[j, i] * (1.0 - p) + values[j, i + 1] * p
    high = values[j + 1, i] * (1.0 - p) + values[j + 1, i + 1] * p
    return low * (1.0 - q) + high * q
