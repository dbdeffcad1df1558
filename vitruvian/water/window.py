"""A window of water that follows a body: the grid moves by whole cells, so nothing is interpolated.

Cells that come into view hold calm water at the rest level; those that fall behind are forgotten. Open sides with a
sponge make the edges quiet. A body that outgrows the window is an error that names it.
"""

from __future__ import annotations

import numpy as np

from vitruvian.errors import InputError
from vitruvian.water.distance import BAND
from vitruvian.water.model import SIDES, Tank
from vitruvian.water.particles import reseed
from vitruvian.water.state import WaterState

Array = np.ndarray


def follow(tank: Tank, state: WaterState, point: Array, *, axes: tuple[int, ...] = (0, 1), slack: int = 1) -> Array:
    """Move the window so that `point` [m] stays within `slack` cells of its middle along `axes`; returns cells
    moved (3,).
    """
    moved = np.zeros(3, np.int64)
    middle = state.origin + 0.5 * np.asarray(tank.size)
    for axis in axes:
        offset = (np.asarray(point)[axis] - middle[axis]) / tank.cell
        if abs(offset) >= slack + 1:
            moved[axis] = int(np.trunc(offset))
    if moved.any():
        move_window(tank, state, moved)
    return moved


def move_window(tank: Tank, state: WaterState, cells: Array) -> None:
    """Move the grid by whole cells (3,), in place."""
    cells = np.asarray(cells, np.int64)
    if np.any(np.abs(cells) >= np.asarray(tank.shape)):
        raise InputError(f"water: the window was asked to jump by {cells.tolist()} cells, farther than its own size")
    if any(cells[axis] for axis in tank.wrapped):
        raise InputError(f"water: a window does not move along a periodic axis ({tank.periodic})")
    h = tank.cell
    state.origin = state.origin + cells * h
    z = state.origin[2] + (np.arange(tank.shape[2]) + 0.5) * h
    calm = np.clip(z - tank.rest_level, -BAND * h, BAND * h) if tank.free_surface else np.full(len(z), -BAND * h)
    hydrostatic = np.maximum(0.0, -tank.density * tank.gravity[2] * (tank.rest_level - z))
    state.phi = _moved(state.phi, cells, calm)
    state.pressure = _moved(state.pressure, cells, hydrostatic)
    state.u, state.v, state.w = (_moved(f, cells, np.zeros(f.shape[2])) for f in (state.u, state.v, state.w))
    state.acceleration = [_moved(a, cells, np.zeros(a.shape[2])) for a in state.acceleration]
    inside = _within(state.markers, state, tank)
    state.markers, state.marker_side = state.markers[inside], state.marker_side[inside]
    state.marker_radius = state.marker_radius[inside]
    inside = _within(state.spray, state, tank, top=np.inf)
    state.exchanged_volume -= float(state.spray_volume[~inside].sum())
    state.spray, state.spray_velocity = state.spray[inside], state.spray_velocity[inside]
    state.spray_volume = state.spray_volume[inside]
    reseed(tank, state)


def check_inside(tank: Tank, origin: Array, name: str, vertices: Array, margin: float = 1.0) -> None:
    """Raise an error that names the body if its vertices [m] come within `margin` cells of the sides or floor.

    origin: lowest corner of the grid now [m], shape (3,).
    """
    low = np.asarray(origin) + margin * tank.cell
    high = np.asarray(origin) + np.asarray(tank.size) - margin * tank.cell
    for axis, letter in enumerate("xyz"):
        if not vertices[:, axis].min() >= low[axis]:
            raise InputError(f"{name}: reaches the {letter}- side of the water's window; make the window larger")
        if axis < 2 and not vertices[:, axis].max() <= high[axis]:
            raise InputError(f"{name}: reaches the {letter}+ side of the water's window; make the window larger")


def check_sides(tank: Tank, origin: Array, name: str, vertices: Array) -> None:
    """Raise an error that names the body if its vertices [m] (n, 3) lie beyond a side, the floor or a lid.

    Beyond an open side there is no water that could carry it; over the open top it may rise.

    origin: lowest corner of the grid now [m], shape (3,).
    """
    low, high = np.asarray(origin), np.asarray(origin) + np.asarray(tank.size)
    for n, side in enumerate(SIDES):
        axis, far = divmod(n, 2)
        depth = (vertices[:, axis] - high[axis]).max() if far else (low[axis] - vertices[:, axis]).max()
        kind = tank.boundary(side)
        if depth > 0.0 and kind == "open" and side != "z+":
            raise InputError(
                f"{name}: leaves the water by the open {side} side; move the window after it (follow), make the tank "
                "larger, or allow beyond_walls"
            )
        if depth > 0.0 and kind == "wall":
            wall = {"z-": "floor", "z+": "lid"}.get(side, f"{side} wall")
            raise InputError(
                f"{name}: lies {depth:.3g} m beyond the {wall} of the tank; give RigidBodies walls that hold it, "
                "a larger tank, or allow beyond_walls"
            )


def check_reached(tank: Tank, origin: Array, name: str, vertices: Array) -> None:
    """Raise an error that names the body if its vertices [m] (n, 3) lie wholly beyond a side or below the floor, where
    there is no water that could touch it; above the tank it may be.

    origin: lowest corner of the grid now [m], shape (3,).
    """
    low, high = np.asarray(origin), np.asarray(origin) + np.asarray(tank.size)
    for n, side in enumerate(SIDES[:5]):
        axis, far = divmod(n, 2)
        gap = (vertices[:, axis] - high[axis]).min() if far else (low[axis] - vertices[:, axis]).min()
        if gap > 0.0:
            raise InputError(
                f"{name}: lies wholly outside the water, {gap:.3g} m beyond its {side} side; move the window after it "
                "(follow), make the tank larger, or leave the body out"
            )


def check_seam(tank: Tank, origin: Array, name: str, vertices: Array) -> None:
    """Raise an error that names the body if its vertices [m] (n, 3) come within a cell of a periodic side: bodies are
    not carried over to the other one.

    origin: lowest corner of the grid now [m], shape (3,).
    """
    low, high = np.asarray(origin) + tank.cell, np.asarray(origin) + np.asarray(tank.size) - tank.cell
    for axis in tank.wrapped:
        if vertices[:, axis].min() < low[axis] or vertices[:, axis].max() > high[axis]:
            raise InputError(
                f"{name}: comes within a cell of the tank's periodic {'xyz'[axis]} sides, which no body may cross; "
                "make the tank longer there"
            )


def _moved(field: Array, cells: Array, column: Array) -> Array:
    """`field` seen from the moved grid; what was not seen before is filled with a value per height."""
    out = np.broadcast_to(column, field.shape).copy()
    source, target = [], []
    for n, size in zip(cells, field.shape):
        source.append(slice(max(n, 0), min(size + n, size)))
        target.append(slice(max(-n, 0), min(size - n, size)))
    out[tuple(target)] = field[tuple(source)]
    return out


def _within(points: Array, state: WaterState, tank: Tank, top: float = 0.0) -> Array:
    """Whether points [m] (n, 3) lie on the grid, or up to `top` [m] above it; (n,)."""
    high = state.origin + np.asarray(tank.size) + np.array([0.0, 0.0, top])
    return np.all((points > state.origin) & (points < high), axis=1)
