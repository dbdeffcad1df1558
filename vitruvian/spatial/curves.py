"""Closed curves for spline joints to run along: a flower-shaped wire, coastlines on a globe, and frames along them."""

from __future__ import annotations

import numpy as np

from vitruvian.spatial import Se3Spline, basis, exp_se3, inverse, log_se3

Array = np.ndarray


def flower(radius: float, petals: int, depth: float, count: int = 720) -> Array:
    """A flower in the x–z plane, r(θ) = radius (1 + depth cos(petals θ)), petal up, seen from −y; shape (count, 3)."""
    angle = 2.0 * np.pi * np.arange(count) / count
    r = radius * (1.0 + depth * np.cos(petals * (angle - 0.5 * np.pi)))
    return np.column_stack([r * np.cos(angle), np.zeros(count), r * np.sin(angle)])


def coastline(rng: np.random.Generator, centre: Array, size: float, roughness: float, count: int = 720) -> Array:
    """A coastline-like closed curve on the unit sphere about `centre` (unit, (3,)); shape (count, 3).

    The angular distance from the centre is size [rad] times 1 + Σ a_k cos(kθ + φ_k), with random phases and with
    amplitudes that fall as k^-1.4, as those of natural coasts roughly do; `roughness` is their overall size.
    """
    angle = 2.0 * np.pi * np.arange(count) / count
    order = np.arange(2, 10)
    amplitude = roughness * rng.uniform(0.5, 1.0, len(order)) * (order / 2.0) ** -1.4
    phase = rng.uniform(0.0, 2.0 * np.pi, len(order))
    distance = size * (1.0 + np.sum(amplitude * np.cos(np.outer(angle, order) + phase), axis=1))
    east = np.cross(np.eye(3)[int(np.argmin(np.abs(centre)))], centre)
    east /= np.linalg.norm(east)
    north = np.cross(centre, east)
    across = np.cos(angle)[:, None] * east + np.sin(angle)[:, None] * north
    return np.cos(distance)[:, None] * centre + np.sin(distance)[:, None] * across


def frames_along(points: Array, up: Array) -> Array:
    """Frames on a closed curve: origin on it, x along it, z as near to `up` as that allows; shape (n, 4, 4).

    points: evenly spaced [m], shape (n, 3); up: shape (n, 3) or (3,).
    """
    tangent = _fourth_order_step(points)
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    side = np.cross(up, tangent)
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    frames = np.zeros((len(points), 4, 4))
    frames[:, :3, 0], frames[:, :3, 1], frames[:, :3, 2] = tangent, side, np.cross(tangent, side)
    frames[:, :3, 3], frames[:, 3, 3] = points, 1.0
    return frames


def closed_spline(frames: Array, length: float, order: int = 6) -> Se3Spline:
    """A closed curve on SE(3) through evenly spaced `frames` (n, 4, 4), with coordinates 0 to `length` [m] around it.

    Frame j is met at j length / n. Control frames are moved by what the curve misses, divided by the weights that a
    uniform B-spline gives them (a circulant matrix); the twists between frames leave little for the next round.
    Quintic by default: time steps of high order need more smoothness than the cubic's C².
    """
    n = len(frames)
    breaks = length * np.arange(n + 1) / n
    centre = order // 2 - 1  # the control that acts most at the start of a span
    _, values = basis(np.arange(-order + 1.0, order + 1.0), order, 0.0)
    row = np.zeros(n)
    row[np.arange(-centre, centre + 1)] = values[0, : 2 * centre + 1]
    response = np.fft.rfft(row).real
    controls = np.roll(frames, centre, axis=0)
    for _ in range(8):
        spline = Se3Spline(controls, breaks, order=order, periodic=True)
        miss = np.array([log_se3(inverse(spline(q)) @ frame) for q, frame in zip(breaks[:-1], frames)])
        if np.abs(miss).max() < 1e-6:
            break
        miss = np.fft.irfft(np.fft.rfft(miss, axis=0) / response[:, None], n=n, axis=0)
        controls = np.array([c @ exp_se3(m) for c, m in zip(controls, np.roll(miss, centre, axis=0))])
    return spline


def _fourth_order_step(points: Array) -> Array:
    one = np.roll(points, -1, axis=0) - np.roll(points, 1, axis=0)
    two = np.roll(points, -2, axis=0) - np.roll(points, 2, axis=0)
    return (8.0 * one - two) / 12.0
