"""Water: bodies thinner than a cell, each of whose sides has a pressure of its own (`water.pieces`).

Added mass along the thin side in a full tank 24 cells wide, in random places and orientations. Discs: 8/3 rho a^3 of an
endlessly thin one, times a factor of its thickness from an axisymmetric solution. Plates: a quarter of the same tank
with the plate along cells of 1/4 to 1/16, the plain seven-point Laplacian, extrapolated (to 0.5 %). The box like a hand
is that of `_water_patches`, without a patch.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from vitruvian.mesh import box, cylinder
from vitruvian.spatial import exp_so3
from vitruvian.verify._water_common import DT, RHO, solid
from vitruvian.verify._water_patches import TEN_MM, TEN_MM_START, TURNS, hand, held
from vitruvian.verify.book import Finding, claim, worst
from vitruvian.water import (
    Boundary,
    RigidBodies,
    RigidState,
    Tank,
    WaterState,
    fill,
    project,
    rasterise,
    set_body_velocity,
)
from vitruvian.water.boundary import face_masses

Array = np.ndarray
PLACES = 10  # of each body
DISC = {1.0: 1.191, 0.5: 1.132, 0.25: 1.087}  # thickness [cells]: added mass over that of a thin disc, radius 3 cells
PLATE = {  # size [cells]: added mass over rho
    (6.0, 4.0, 1.0): 64.3, (6.0, 4.0, 0.5): 60.6, (6.0, 4.0, 0.25): 57.7,
    (6.0, 6.0, 1.0): 119.1, (6.0, 6.0, 0.5): 112.6, (6.0, 6.0, 0.25): 107.7,
}  # fmt: skip
_DISCS = {f"{t:g}": (cylinder(3.0, t), 8.0 / 3.0 * 27.0 * factor) for t, factor in DISC.items()}
_PLATES = {"x".join(f"{s:g}" for s in size): (box(size), exact) for size, exact in PLATE.items()}


@claim
def added_mass_of_discs_thinner_than_a_cell() -> Finding:
    """Added mass of discs 1, 1/2 and 1/4 of a cell thick and six broad over the exact one, mean of ten random places
    and orientations: the farthest from 1.
    """
    return _spread(_DISCS)


@claim
def added_mass_of_plates_thinner_than_a_cell() -> Finding:
    """The same of plates of 6 by 4 and 6 by 6 cells."""
    return _spread(_PLATES)


@claim
def single_discs_and_plates_have_their_added_mass_too() -> Finding:
    """Part of those ninety placings that is off by more than a tenth."""
    found = np.array([_placings(name) for name in (*_DISCS, *_PLATES)])
    off = np.abs(found - 1.0) > 0.1
    return Finding.within(
        float(off.mean()), 0.0, 0.05, detail=f"{off.sum()} of {off.size}, {found.min():.2f} to {found.max():.2f}"
    )


@claim
def a_hand_is_pushed_alike_in_long_and_short_sub_steps() -> Finding:
    """Mean force on that hand, along the grid on cells of 20 mm, in sub-steps of up to 1.5 cells over that of half a
    cell.
    """
    long, short = (held(hand(np.eye(3), cell=0.02, patched=None, courant=c)).mean() for c in (1.5, 0.5))
    return Finding(long / short, 1.0, 0.1, detail=f"{long:.1f} and {short:.1f} N; the aim is 0.05")


@claim
def momentum_of_a_thin_plate_and_its_water() -> Finding:
    """Momentum that a free plate of 0.3 cells' thickness gains when it starts, plus that of its water, less the walls'
    impulse, over what it receives: worst axis of three orientations.
    """
    gaps = []
    for seed in range(3):
        tank, bodies, body, state, b, turn = _placed(box((6.0, 4.0, 0.3)), seed, 16, tolerance=1e-12)
        set_body_velocity(tank, state, b, bodies.skins(body), np.array([[0, 0, 0, *turn[:, 2]]]))
        done = project(tank, state, b, DT, mobility=bodies.links(body).mobility)
        p = done.scaled_pressure[1:-1, 1:-1, 1:-1]
        for axis, (mass, speed) in enumerate(zip(face_masses(b, state.phi), (state.u, state.v, state.w))):
            walls = float((np.take(p, 0, axis) - np.take(p, -1, axis)).sum())
            gained = RHO * (float((mass * speed).sum()) - walls)
            gaps.append((gained + done.impulses[0, 3 + axis]) / np.abs(done.impulses[0, 3:]).max())
    return Finding.error(worst(gaps), 1e-9)


@claim
def a_hand_on_cells_of_its_thickness_holds_the_force_of_a_fine_grid() -> Finding:
    """Mean force on a hand-sized box (25 mm thick) at 2 m/s on cells of 30 mm over that on 10 mm: the farthest from 1
    of one aligned and ten random orientations.
    """
    means = np.array([held(f).mean() for f in _hands()]) / TEN_MM
    return Finding(worst(means, 1.0), 1.0, 0.25, detail=_told(means) + "; the aim is 0.15, which a patch has")


@claim
def a_hand_on_cells_of_its_thickness_starts_as_on_a_fine_grid() -> Finding:
    """Mean force on that hand in its first 50 ms over that on cells of 10 mm, turned alike: the farthest from 1 of the
    eleven.
    """
    starts = np.array([f[:5].mean() for f in _hands()]) / TEN_MM_START
    return Finding(worst(starts, 1.0), 1.0, 0.15, detail=_told(starts))


@claim
def a_turned_hand_on_cells_of_its_thickness_is_pushed_steadily() -> Finding:
    """Spread of the force's 10 ms means on that hand, in parts of their mean: the largest of the ten random ones."""
    spread = np.array([held(f).std() / held(f).mean() for f in _hands()])
    return Finding.within(float(spread[1:].max()), 0.0, 0.15, detail=_told(spread) + "; the aim is 0.15 for all")


def _told(found: Array) -> str:
    return f"aligned {found[0]:.3f}, turned {found[1:].min():.3f} to {found[1:].max():.3f}"


@cache
def _hands() -> tuple[Array, ...]:
    """Force [N] in each 10 ms, aligned and in random places and orientations."""
    made = [hand(np.eye(3), cell=0.03, patched=None)]
    for seed in range(TURNS):
        rng = np.random.default_rng(seed)
        turn = exp_so3(2.0 * rng.normal(size=3))
        made.append(hand(turn, place=0.03 * rng.uniform(-0.5, 0.5, 3), cell=0.03, patched=None))
    return tuple(made)


def _spread(bodies: dict[str, tuple[tuple, float]]) -> Finding:
    found = {name: _placings(name) for name in bodies}
    detail = ", ".join(f"{name} {np.mean(f):.3f} [{min(f):.2f} {max(f):.2f}]" for name, f in found.items())
    return Finding(worst([float(np.mean(f)) for f in found.values()], 1.0), 1.0, 0.1, detail=detail)


@cache
def _placings(name: str) -> tuple[float, ...]:
    """Added mass over the exact one in each placing."""
    shape, exact = (_DISCS | _PLATES)[name]
    return tuple(added_mass(shape, n) / exact for n in range(PLACES))


def added_mass(shape: tuple, seed: int, n: int = 24) -> float:
    """Added mass over rho [cells^3] along the third axis of a body in a tank of n cells a side, anywhere and turned
    anyhow.
    """
    tank, bodies, body, state, b, turn = _placed(shape, seed, n)
    set_body_velocity(tank, state, b, bodies.skins(body), np.array([[0, 0, 0, *turn[:, 2]]]))
    return float(-project(tank, state, b, DT).impulses[0, 3:] @ turn[:, 2]) / RHO


def _placed(
    shape: tuple, seed: int, n: int, **options: Any
) -> tuple[Tank, RigidBodies, RigidState, WaterState, Boundary, Array]:
    """A free body of water's density on cells of 1 m, and how it is turned."""
    rng = np.random.default_rng(seed)
    turn, aside = exp_so3(2.0 * rng.normal(size=3)), rng.uniform(-0.5, 0.5, 3)
    tank = Tank((n, n, n), 1.0, free_surface=False, gravity=(0.0, 0.0, 0.0), **options)
    bodies = RigidBodies([solid("sheet", shape, RHO, tuple(0.5 * n + aside), turn)], (0.0, 0.0, 0.0))
    body = bodies.start()
    state = fill(tank, mechanism=bodies, body=body)
    return tank, bodies, body, state, rasterise(tank, state, bodies.skins(body), bodies.links(body).origins), turn
