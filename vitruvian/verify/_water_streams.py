"""Water: streams. Periodic boxes and channels against analytic flows, which go on in a stream as in still water.

Taylor-Green vortices carried by a stream U: u = U + exp(-2 nu t) (sin X cos Y, -cos X sin Y), (X, Y) = (x, y) - U t.
A wave on a stream: speed U + sqrt(g / k tanh(k d)) (Airy 1845). A channel at its level and speed: nothing changes.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from vitruvian.verify._water_common import Array, G
from vitruvian.verify.book import Finding, claim, worst
from vitruvian.water import Tank, WaterState, fill, step, water_volume
from vitruvian.water.volume import water_parts

STREAM = (1.0, 0.5)  # [m/s]
LENGTH, HEIGHT, CELLS, PERIODS, STEPS = 0.5, 0.01, 16, 3, 32  # wavelength [m], height over it, cells, steps a period
STREAMS = (-0.5, 0.0, 0.5)  # [m/s], against and with the wave


@claim
def vortices_in_a_periodic_box_decay() -> Finding:
    """Amplitude of Taylor-Green vortices carried through a periodic box against exp(-2 nu t), t = 1, 64 cells."""
    found = [_vortices(n) for n in (32, 64)]
    order = np.log2(found[0][0] / found[1][0])
    detail = f"worst error {found[0][0]:.1e}, {found[1][0]:.1e} at 32, 64 cells, order {order:.2f}; Tank(order=2)"
    return Finding.error(found[1][1], 0.002, detail=detail)


@claim
def a_periodic_box_keeps_its_momentum() -> Finding:
    """Mean velocity of that flow after t = 1 over the stream's, both components; worst."""
    found = _vortices(64)
    return Finding.error(found[2], 1e-4, detail="64 cells; carried by interpolation, so not to the last digit")


@claim
def waves_travel_with_a_stream() -> Finding:
    """Speed of waves of 16 cells in a periodic tank less the stream's over the linear one; three streams."""
    found = {u: _wave(u) for u in STREAMS}
    detail = ", ".join(f"{u:+.1f} m/s: {100 * (f.speed - 1.0):+.2f} %" for u, f in found.items())
    return Finding(worst([f.speed for f in found.values()], 1.0), 1.0, 0.02, detail=detail)


@claim
def waves_do_not_grow_on_a_stream() -> Finding:
    """Height of those waves after three periods over that at the start; worst."""
    found = {u: _wave(u) for u in STREAMS}
    detail = ", ".join(f"{u:+.1f} m/s: {f.height:.3f}" for u, f in found.items())
    return Finding(worst([f.height for f in found.values()], 1.0), 1.0, 0.12, detail=detail)


@claim
def waves_on_a_stream_to_second_order() -> Finding:
    """Height of those waves after three periods over that at the start, with `Tank(order=2)`; farthest from 1."""
    found = {u: _wave(u, 2) for u in STREAMS}
    detail = ", ".join(f"{u:+.1f} m/s: {f.height:.3f}, speed {100 * (f.speed - 1):+.2f} %" for u, f in found.items())
    return Finding(worst([f.height for f in found.values()], 1.0), 1.0, 0.1, detail=detail)


@claim
def periodic_waves_keep_volume_and_momentum() -> Finding:
    """Volume put back in those waves, and change of their mean velocity over the wave's speed; worst."""
    found = [_wave(u) for u in STREAMS]
    detail = f"volume {worst([f.volume for f in found]):.1e}, momentum {worst([f.momentum for f in found]):.1e}"
    return Finding.error(worst([n for f in found for n in (f.volume, f.momentum)]), 1e-3, detail=detail)


@claim
def a_channel_keeps_its_level_and_speed() -> Finding:
    """Change of level over the depth, or of velocity over the stream's, of uniform channels after 2 s; worst."""
    found = [_channel(u, f) for u in (0.3, 1.0, 2.5) for f in (0.1, 0.4, 0.8)]
    worst_level, worst_speed = worst([f[0] for f in found]), worst([f[1] for f in found])
    detail = f"level {worst_level:.1e}, speed {worst_speed:.1e}; streams of Froude number 0.15 to 1.2"
    return Finding.error(max(worst_level, worst_speed), 1e-5, detail=detail)


@claim
def a_channel_keeps_its_book_of_mass() -> Finding:
    """Volume gained less what passed the sides, over all that passed, in those channels; worst."""
    found = worst([_channel(u, f)[2] for u in (0.3, 1.0, 2.5) for f in (0.1, 0.4, 0.8)])
    lost = _channel(0.5, 0.4, 0.06)[2]
    return Finding.error(found, 1e-5, detail=f"with a hump of 60 mm that runs out {lost:.1e}, the level set's loss")


@cache
def _vortices(n: int) -> tuple[float, float, float]:
    """Worst error of the velocity, error of the amplitude and of the mean velocity at t = 1."""
    nu, h = 0.05, 2.0 * np.pi / n
    tank = Tank(
        (n, n, 4), h, periodic="xy", free_surface=False, gravity=(0.0, 0.0, 0.0), viscosity=nu, order=2,
        largest_substep=0.25 * h, tolerance=1e-8,
    )  # fmt: skip
    state = fill(tank)
    state.u[:], state.v[:] = _carried(n, h, nu, 0.0)
    step(tank, state, 1.0)
    u, v = _carried(n, h, nu, 1.0)
    error = max(float(np.abs(state.u - u).max()), float(np.abs(state.v - v).max()))
    shape = (u - STREAM[0])[:-1]
    amplitude = float(((state.u[:-1] - STREAM[0]) * shape).mean() / (shape**2).mean() - 1.0)
    means = state.u[:-1].mean() / STREAM[0] - 1.0, state.v[:, :-1].mean() / STREAM[1] - 1.0
    return error, amplitude, worst([float(m) for m in means])


def _carried(n: int, h: float, nu: float, t: float) -> tuple[Array, Array]:
    """Exact velocities at the x- and y-faces."""
    face, centre = np.arange(n + 1) * h, (np.arange(n) + 0.5) * h
    decay = np.exp(-2.0 * nu * t)
    u = STREAM[0] + decay * np.outer(np.sin(face - STREAM[0] * t), np.cos(centre - STREAM[1] * t))
    v = STREAM[1] - decay * np.outer(np.cos(centre - STREAM[0] * t), np.sin(face - STREAM[1] * t))
    return u[..., None], v[..., None]


class _Wave:
    """What became of a wave on a stream."""

    def __init__(self, speed: float, height: float, volume: float, momentum: float):
        self.speed, self.height, self.volume, self.momentum = speed, height, volume, momentum


@cache
def _wave(along: float, order: int = 1) -> _Wave:
    h, k = LENGTH / CELLS, 2.0 * np.pi / LENGTH
    depth = (round(0.75 * CELLS) + 0.2) * h
    omega = np.sqrt(G * k * np.tanh(k * depth))
    tank = Tank((CELLS, 4, int(depth / h) + 6), h, periodic="xy", order=order)
    x, _, z = np.meshgrid(*tank.centres(), indexing="ij")
    height = HEIGHT * LENGTH
    state = fill(tank, z - depth - height * np.cos(k * x))
    face, up = np.arange(CELLS + 1) * h, np.arange(tank.shape[2] + 1) * h
    scale = height * omega / np.sinh(k * depth)
    state.u[:] = along + scale * np.cos(k * face)[:, None, None] * np.cosh(k * z[:1])
    state.w[:] = scale * np.sin(k * x[:, :, :1]) * np.sinh(k * up)
    before = _mean_speed(tank, state)
    dt = 2.0 * np.pi / omega / STEPS
    phases, heights = [], []
    for _ in range(PERIODS * STEPS):
        step(tank, state, dt)
        level = water_parts(tank, state.phi).sum(axis=2).mean(axis=1) * h
        part = 2.0 * np.mean((level - level.mean()) * np.exp(-1j * k * x[:, 0, 0]))
        phases.append(np.angle(part))
        heights.append(abs(part) / height)
    speed = -np.polyfit(dt * np.arange(len(phases)), np.unwrap(phases), 1)[0] / k - along
    change = (_mean_speed(tank, state) - before) / (omega / k)
    return _Wave(float(speed * k / omega), float(heights[-1]), state.shifted_net / state.volume, change)


def _mean_speed(tank: Tank, state: WaterState) -> float:
    """Mean velocity [m/s] of the water along x."""
    parts = water_parts(tank, state.phi)
    return float((0.5 * (parts + np.roll(parts, 1, 0)) * state.u[:-1]).sum() / parts.sum())


@cache
def _channel(speed: float, fraction: float, hump: float = 0.0) -> tuple[float, float, float]:
    """Change of level over depth, of velocity over the stream's, and of the book over what passed, after 2 s."""
    h = 0.05
    level = (8.0 + fraction) * h
    tank = Tank((40, 4, 16), h, inflow={"x-": speed}, boundaries={"x+": "open"}, rest_level=level)
    x, _, z = np.meshgrid(*tank.centres(), indexing="ij")
    state = fill(tank, z - level - hump * np.exp(-(((x - 1.0) / 0.2) ** 2)))
    first = state.volume
    seconds = 2.0
    for _ in range(100):
        step(tank, state, seconds / 100)
    held = water_volume(tank, state.phi, np.ones(tank.shape))
    heights = water_parts(tank, state.phi).sum(axis=2) * h
    wet = state.phi < 0.0
    off = max(float(np.abs(state.u[:-1][wet] - speed).max()), float(np.abs(state.w[:, :, :-1][wet]).max()))
    passed = speed * level * tank.size[1] * seconds
    book = (held - first - state.exchanged_volume) / passed
    return float(np.abs(heights - level).max()) / level, off / speed, float(book)
