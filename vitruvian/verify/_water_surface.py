"""Water: its surface. Enright's deformation field; volume of slosh and dam break; Martin and Moyce's front."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from vitruvian.scenes.dam_break import WIDTH, compare_front, front
from vitruvian.systems import TankState
from vitruvian.verify._water_common import RHO, Array, G
from vitruvian.verify.book import Finding, claim, worst
from vitruvian.water import (
    RigidState,
    Tank,
    fill,
    redistance,
    spray_total,
    step,
    water_energy,
    water_volume,
)
from vitruvian.water import particles as markers
from vitruvian.water.levelset import advect_surface


@claim
def enright_deformation_keeps_volume() -> Finding:
    """Volume of a ball after Enright's deformation and back, 64^3, 16 markers a cell, relative change."""
    n = 64
    tank = Tank((n, n, n), 1.0 / n, particles=16)
    x, y, z = np.meshgrid(*tank.centres(), indexing="ij")
    phi = np.sqrt((x - 0.35) ** 2 + (y - 0.35) ** 2 + (z - 0.35) ** 2) - 0.15
    state = fill(tank, phi)
    opened = np.ones(tank.shape)
    first = water_volume(tank, state.phi, opened)
    flow = _enright(n)
    steps, period = 384, 3.0
    for k in range(steps):
        a = np.cos(np.pi * (k + 0.5) / steps)
        state.u, state.v, state.w = (a * f for f in flow)
        advect_surface(tank, state, period / steps)
        markers.move_particles(tank, state, period / steps, None)
        markers.correct_surface(tank, state)
        state.phi = redistance(state.phi, tank.cell)
        markers.adjust_radii(tank, state)
        if (k + 1) % 10 == 0:
            markers.reseed(tank, state)
    wrong = float(np.mean((state.phi < 0.0) != (phi < 0.0)) / np.mean(phi < 0.0))
    change = water_volume(tank, state.phi, opened) / first - 1.0
    return Finding.error(change, 0.02, detail=f"cells on the wrong side: {100 * wrong:.1f} % of the ball; no shift")


@claim
def slosh_keeps_volume() -> Finding:
    """Volume of a sloshing tank over 10 s, relative error in the worst instant."""
    kept = _slosh()
    return Finding.error(kept.worst, 0.01, detail=kept.detail)


@claim
def slosh_drifts_little_before_it_is_put_right() -> Finding:
    """Volume that transport lost (+) or made (-) in those 10 s and that was put back, relative."""
    kept = _slosh()
    return Finding.error(kept.put_back, 0.01, detail=kept.detail)


@claim
def dam_break_keeps_volume() -> Finding:
    """Volume of a dam break and the slosh after it over 10 s, spray included, relative error in the worst instant."""
    kept = _dam_break(30)
    return Finding.error(kept.worst, 0.01, detail=kept.detail)


@claim
def dam_break_drift_before_it_is_put_right() -> Finding:
    """Volume that was put back evenly in those 10 s, relative: what its rough spots do not get back at their place."""
    kept = _dam_break(30)
    return Finding.error(kept.put_back, 0.03, detail=kept.detail)


@claim
def dam_breaks_in_other_steps_need_little_put_back() -> Finding:
    """The same in steps of 1/25, 1/27, 1/30, 1/33 and 1/40 s, whose splashes differ; worst."""
    found = [_dam_break(rate) for rate in (25, 27, 30, 33, 40)]
    even = ", ".join(f"{100 * k.put_back:+.2f}" for k in found)
    spots = ", ".join(f"{100 * k.returned:+.1f}" for k in found)
    return Finding.error(worst([k.put_back for k in found]), 0.03, detail=f"{even} %; to rough spots {spots} %")


@claim
def no_step_of_a_dam_break_raises_its_energy() -> Finding:
    """Largest rise of the energy above rest in any step of 50 ms of a dam break, 8 s, over that of the start."""
    rise, _, detail = _dam_energy()
    return Finding.error(rise, 0.01, detail=detail)


@claim
def that_dam_break_needs_little_put_back() -> Finding:
    """Volume put back evenly in those 8 s, net, relative."""
    _, put_back, detail = _dam_energy()
    return Finding.error(put_back, 0.03, detail=detail)


@cache
def _dam_energy() -> tuple[float, float, str]:
    """Largest rise of energy in a step, and volume put back, of a column 0.6 m broad and 0.8 m high, cells of 50 mm."""
    tank = Tank.of_size((2.0, 0.5, 1.2), 0.05)
    x, _, z = np.meshgrid(*tank.centres(), indexing="ij")
    state = fill(tank, np.maximum(x - 0.6, z - 0.8))
    first = state.volume
    rest = 0.5 * RHO * G * first**2 / (tank.size[0] * tank.size[1])
    found = [water_energy(tank, state).total - rest]
    for _ in range(160):
        step(tank, state, 0.05)
        found.append(water_energy(tank, state).total - rest)
    part = np.diff(found) / found[0]
    detail = (
        f"{int((part > 1e-4).sum())} of {len(part)} steps rise, by {100 * part[part > 0.0].sum():.1f} % in all; "
        f"put back {100 * state.shifted_net / first:+.2f} %, sum of sizes {100 * state.shifted_volume / first:.0f} %; "
        f"to rough spots {100 * state.returned_net / first:+.1f} %, {100 * state.returned_volume / first:.0f} %; "
        f"{100 * state.exchanged_volume / first:+.1f} % over the rim"
    )
    return float(part.max()), state.shifted_net / first, detail


@claim
def dam_break_volume_with_nothing_put_right() -> Finding:
    """Volume of the same dam break with 16 markers a cell over 3 s, nothing put back; relative error, worst instant."""
    n, a = 10, 0.3
    tank = Tank((6 * n, 6, 4 * n), a / n, keep_volume=False, particles=16)
    x, _, z = np.meshgrid(*tank.centres(), indexing="ij")
    kept = _volume_kept(tank, np.maximum(x - a, z - 2.0 * a), seconds=3.0)
    return Finding.error(kept.worst, 0.05, detail=kept.detail)


@claim
def dam_break_front() -> Finding:
    """Front of the dam break against Martin and Moyce, worst relative deviation; the gate's delay is fitted."""
    n = 14
    tank = Tank((8 * n, 4, 4 * n), WIDTH / n)
    x, _, z = np.meshgrid(*tank.centres(), indexing="ij")
    state = fill(tank, np.maximum(x - WIDTH, z - 2.0 * WIDTH))
    none = RigidState(np.zeros((0, 3)), np.zeros((0, 4)), np.zeros((0, 3)), np.zeros((0, 3)))
    holder = TankState(state, none, np.zeros((0, 6)))
    times, fronts = [0.0], [WIDTH]
    while times[-1] < 0.29:
        step(tank, state, 0.004)
        times.append(times[-1] + 0.004)
        fronts.append(front(tank, holder))
    found = compare_front(np.array(times), np.array(fronts), WIDTH)
    if found is None:
        raise RuntimeError("the front did not come as far as the table's first point")
    detail = (
        f"{n} cells across the column; delay T = {found.delay:.2f} fitted; without it {np.abs(found.raw).max():.3f}, "
        f"clock set at the first point {np.abs(found.first).max():.3f}; front's speed {found.speed:.3f} of theirs"
    )
    return Finding.error(float(np.abs(found.fitted).max()), 0.10, detail=detail)


@dataclass(frozen=True)
class _Kept:
    worst: float  # relative error of the volume, spray included, in the worst instant
    put_back: float  # sum of what was put back evenly, with its sign, relative
    returned: float  # sum of what rough spots got back, with its sign, relative
    detail: str


@cache
def _slosh() -> _Kept:
    tank = Tank((32, 8, 28), 1.0 / 32)
    x, _, z = np.meshgrid(*tank.centres(), indexing="ij")
    return _volume_kept(tank, z - 0.4 - 0.08 * np.cos(np.pi * x))


@cache
def _dam_break(rate: int) -> _Kept:
    """Ten cells across the column; it folds and splashes within layers of three cells."""
    n, a = 10, 0.3
    tank = Tank((6 * n, 6, 4 * n), a / n)
    x, _, z = np.meshgrid(*tank.centres(), indexing="ij")
    return _volume_kept(tank, np.maximum(x - a, z - 2.0 * a), dt=1.0 / rate)


def _volume_kept(tank: Tank, phi: Array, seconds: float = 10.0, dt: float = 1.0 / 30) -> _Kept:
    state = fill(tank, phi)
    errors: list[float] = []
    drops: list[float] = []
    opened = np.ones(tank.shape)
    for _ in range(round(seconds / dt)):
        step(tank, state, dt)
        held = water_volume(tank, state.phi, opened) + spray_total(state)
        errors.append(abs(held / state.volume - 1.0))
        drops.append(spray_total(state) / state.volume)
    v = state.volume
    detail = (
        f"{'x'.join(map(str, tank.shape))}; put back {100 * state.shifted_net / v:+.2f} %, sum of sizes "
        f"{100 * state.shifted_volume / v:.1f} %; to rough spots {100 * state.returned_net / v:+.1f} %, "
        f"{100 * state.returned_volume / v:.0f} %; most spray {100 * worst(drops):.1f} %; "
        f"{100 * state.exchanged_volume / v:+.2f} % over the rim"
    )
    return _Kept(worst(errors), state.shifted_net / v, state.returned_net / v, detail)


def _enright(n: int) -> tuple[Array, Array, Array]:
    """Enright's solenoidal field at the faces of the unit cube."""
    g, c = np.arange(n + 1) / n, (np.arange(n) + 0.5) / n

    def field(axis: int, *axes: Array) -> Array:
        x, y, z = np.meshgrid(*axes, indexing="ij")
        s, t = np.sin, np.pi
        if axis == 0:
            return 2.0 * s(t * x) ** 2 * s(2 * t * y) * s(2 * t * z)
        if axis == 1:
            return -s(2 * t * x) * s(t * y) ** 2 * s(2 * t * z)
        return -s(2 * t * x) * s(2 * t * y) * s(t * z) ** 2

    return field(0, g, c, c), field(1, c, g, c), field(2, c, c, g)
