"""What a tank holds at time 0, with bodies in it."""

from __future__ import annotations

from typing import Any

import numpy as np

from vitruvian.errors import InputError
from vitruvian.water import particles as pls
from vitruvian.water.bodies import Mechanism
from vitruvian.water.distance import BAND
from vitruvian.water.keep import missing_volume
from vitruvian.water.levelset import make_distance
from vitruvian.water.model import Tank
from vitruvian.water.pressure import open_boundary
from vitruvian.water.pseudo import extend_under_bodies
from vitruvian.water.sides import uncover
from vitruvian.water.solids import check_apart, rasterise
from vitruvian.water.state import WaterState
from vitruvian.water.stream import stream
from vitruvian.water.volume import water_volume

Array = np.ndarray


def fill(
    tank: Tank,
    phi: Array | None = None,
    *,
    level: float | None = None,
    seed: int = 0,
    mechanism: Mechanism | None = None,
    body: Any = None,
) -> WaterState:
    """Water below a `level` [m], inside a level set phi [m] at cell centres, or everywhere (full tank): at rest, or
    with the stream of an inflow.
    """
    check_given(mechanism, body)
    nx, ny, nz = tank.shape
    h = tank.cell
    if level is not None and tank.free_surface and not tank.closed and abs(level - tank.rest_level) > 1e-9 * h:
        raise InputError(
            f"water: filled to {level:g} m, but calm water beyond the open sides stands at rest_level = "
            f"{tank.rest_level:g} m: it would drain or flood; make them equal"
        )
    if phi is None:
        if tank.free_surface:
            z = tank.centres()[2]
            phi = np.broadcast_to(z - (tank.rest_level if level is None else level), tank.shape).copy()
        else:
            phi = np.full(tank.shape, -BAND * h)
    phi = np.asarray(phi, float)
    if phi.shape != tank.shape:
        raise InputError(f"water: phi has shape {phi.shape}, the tank {tank.shape}")
    if not np.isfinite(phi).all():
        cell = tuple(int(n) for n in np.argwhere(~np.isfinite(phi))[0])
        raise InputError(f"water: phi is not a number in cell {cell}")
    if tank.free_surface and not (phi < 0.0).any():
        raise InputError("water: the tank is empty; raise the level")
    state = WaterState(
        np.zeros((nx + 1, ny, nz)), np.zeros((nx, ny + 1, nz)), np.zeros((nx, ny, nz + 1)), phi,
        np.zeros(tank.shape), np.array(tank.origin, float), np.array([seed, 0], np.int64),
    )  # fmt: skip
    if tank.free_surface and mechanism is None:
        state.phi = make_distance(tank, phi)
    for f, speed in zip((state.u, state.v, state.w), stream(tank, state)):
        f[:] = speed
    boundary = open_boundary(tank)
    if mechanism is not None:
        boundary = rasterise(tank, state, mechanism.skins(body), mechanism.links(body).origins)
        if getattr(mechanism, "apart", False):
            check_apart(tank, boundary.skins)
        if tank.free_surface:
            state.phi = state.phi.copy()
            uncover(state.phi, tank.cell, boundary, None, state.origin)
            state.phi = make_distance(tank, state.phi, boundary.sides)
        extend_under_bodies(tank, state, boundary)
    state.volume = water_volume(tank, state.phi, boundary)
    if tank.free_surface:
        pls.reseed(tank, state, boundary.volume)
    return state


def check_given(mechanism: Mechanism | None, body: Any) -> None:
    """Raise an error if a mechanism comes without its state."""
    if mechanism is not None and body is None:
        raise InputError("water: a mechanism needs its state as well: body=mechanism.start()")


def check_filled(tank: Tank, state: WaterState, mechanism: Mechanism, body: Any) -> None:
    """Raise an error if a closed tank was filled without the bodies that now lie in it, or with them elsewhere: the
    surface would rise by all that they displace to keep the volume.
    """
    if not (tank.free_surface and tank.keep_volume and tank.closed):
        return
    opened = rasterise(tank, state, mechanism.skins(body), mechanism.links(body).origins)
    displaced = water_volume(tank, state.phi, np.ones(tank.shape)) - water_volume(tank, state.phi, opened)
    missing = missing_volume(tank, state, opened)
    if displaced > 0.0 and missing > 0.5 * displaced:
        raise InputError(
            f"water: the tank was filled without the bodies that lie in it, which displace {displaced:.3g} m³; give "
            "fill their mechanism and body where they start"
        )
