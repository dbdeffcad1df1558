"""One sub-step of the water: bodies move, the surface is carried, forces and pressure change the velocities.

The order of the stages, and why, is told in `step`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vitruvian.errors import Diverged, InputError
from vitruvian.water import particles as pls
from vitruvian.water import spray
from vitruvian.water.advect import advect_velocity
from vitruvian.water.bodies import Mechanism
from vitruvian.water.extrapolate import extrapolate_velocity
from vitruvian.water.forces import buoyancy_correction, link_wrenches, velocity_forces
from vitruvian.water.inertia import remember, take_back
from vitruvian.water.inflow import let_in
from vitruvian.water.inside import follow_bodies
from vitruvian.water.keep import shift_surface
from vitruvian.water.levelset import advect_surface, make_distance
from vitruvian.water.model import Tank
from vitruvian.water.patches import Patches, Ride
from vitruvian.water.pressure import Boundary, open_boundary, project
from vitruvian.water.pseudo import extend_under_bodies
from vitruvian.water.rough import Before, find_spots, note, over_the_rim, put_back, take_off, weigh
from vitruvian.water.sides import uncover
from vitruvian.water.solids import rasterise, set_body_velocity
from vitruvian.water.sponge import absorb
from vitruvian.water.state import WaterState
from vitruvian.water.viscosity import diffuse_velocity
from vitruvian.water.volume import side_water

Array = np.ndarray
RESEED_EVERY = 10  # sub-steps


@dataclass
class StepResult:
    """What one step did."""

    substeps: int = 0
    seconds: float = 0.0  # that the step took [s]
    impulses: Array = field(default_factory=lambda: np.zeros((0, 6)))  # of the water on each link, summed, (links, 6)
    friction: Array = field(default_factory=lambda: np.zeros((0, 6)))  # viscosity's part of them, (links, 6)
    boundary: Boundary | None = None  # bodies on the grid at the end
    iterations: int = 0  # pressure iterations, summed

    @property
    def forces(self) -> Array:
        """Mean (moment [N m], force [N]) of the water on each link about its origin, world axes, (links, 6)."""
        return self.impulses / self.seconds


def substep(
    tank: Tank, state: WaterState, dt: float, mechanism: Mechanism | None, body: Any, forces: str, result: StepResult,
    patches: Patches | None = None, before: Boundary | None = None,
) -> None:  # fmt: skip
    """before: bodies on the grid where they are now, if any is thin."""
    ride = None if patches is None or mechanism is None else Ride(patches, tank, state, mechanism, body)
    before_surface = None
    if tank.free_surface:
        before_surface = note(tank, state, dt)
        _exchange(state, -over_the_rim(tank, before_surface))
        old_phi = state.phi
        advect_surface(tank, state, dt, before)
        pls.move_particles(tank, state, dt, None)
        spray.fly(tank, state, dt)
        new_phi, state.phi = state.phi, old_phi
        advect_velocity(tank, state, dt)
        state.phi = new_phi
    else:
        advect_velocity(tank, state, dt)
    let_in(tank, state, dt)
    _accelerate(tank, state, dt)
    boundary = _bodies_and_surface(tank, state, dt, mechanism, body, patches, before_surface, before)
    carried = None
    if tank.order == 2:
        carried = (state.u.copy(), state.v.copy(), state.w - tank.gravity[2] * dt)
    _dynamics(tank, state, dt, boundary, mechanism, body, forces, result, ride=ride)
    if carried is not None:
        remember(state, carried, dt)
    absorb(tank, state, dt)
    state.time += dt
    state.substeps += 1
    result.substeps += 1
    result.seconds += dt
    result.boundary = boundary


def _accelerate(tank: Tank, state: WaterState, dt: float) -> None:
    for f, g in zip((state.u, state.v, state.w), tank.gravity):
        if g != 0.0:
            f += g * dt


def _bodies_and_surface(
    tank: Tank, state: WaterState, dt: float, mechanism: Mechanism | None, body: Any, patches: Patches | None,
    before_surface: Before | None, start: Boundary | None,
) -> Boundary:  # fmt: skip
    """Move bodies to the end of the sub-step and mend the surface around them."""
    if mechanism is not None:
        before, twists = mechanism.skins(body), mechanism.links(body).twists
        corners = np.concatenate([s.vertices[s.shape.mesh.faces] for s in before])
        mechanism.advance(body, state.time, dt)
        skins, origins = mechanism.skins(body), mechanism.links(body).origins
        boundary = rasterise(tank, state, skins if patches is None else patches.uncovered(skins), origins)
        thin = patches is None and len(boundary.pieces.thin) > 0
        if thin or state.acceleration:
            # with the speeds before this sub-step's forces, which reach water and bodies by the pressure
            set_body_velocity(tank, state, boundary, boundary.skins, twists)
        take_back(tank, state, boundary, dt)
        if 0 in tank.wrapped and len(boundary.pieces.cells):  # whose unknowns lie in the padding along x
            raise InputError("water: bodies thinner than a cell need sides along x that are not periodic; y may be")
        if patches is not None:
            boundary.origins = origins
            if tank.keep_volume and tank.closed and tank.free_surface:  # links in patches displace water all the same
                boundary.volume = rasterise(tank, state, skins, origins).volume
        if thin:
            follow_bodies(tank, state, boundary, corners, tank.gravity[2] * dt)
    else:
        boundary = open_boundary(tank)
        take_back(tank, state, boundary, dt)
    if before_surface is None:
        return boundary
    if tank.particles:
        pls.correct_surface(tank, state)
    spots = None
    uncover(state.phi, tank.cell, boundary, start, state.origin)
    if tank.keep_volume and tank.closed:
        spots = find_spots(tank, before_surface, state, None if mechanism is None else boundary.volume)
    state.phi = make_distance(tank, state.phi, boundary.sides)
    if spots is not None:
        weigh(tank, state, spots)
    drops = len(state.spray)
    if tank.particles:
        # against the distance alone: balls of escaped markers would hide from each other that they have escaped
        spray.release(tank, state, boundary.volume)
        if spots is not None:
            take_off(tank, state, spots, drops)
        spray.rejoin(tank, state, boundary.psi)
        pls.adjust_radii(tank, state)
    if spots is not None:
        put_back(tank, state, spots)
    extend_under_bodies(tank, state, boundary)
    if tank.keep_volume and tank.closed:
        shift_surface(tank, state, boundary)
    if tank.particles and (state.substeps + 1) % RESEED_EVERY == 0:
        pls.reseed(tank, state, boundary.volume)
    if not (state.phi < 0.0).any():
        raise Diverged("water", "no water is left on the grid; the cells are too coarse for it")
    return boundary


def _dynamics(
    tank: Tank, state: WaterState, dt: float, boundary: Boundary, mechanism: Mechanism | None, body: Any, forces: str,
    result: StepResult, *, ride: Ride | None = None,
) -> None:  # fmt: skip
    """Patches, viscosity, forces and pressure; velocities of water and bodies at the end of the sub-step."""
    mobility = None
    if mechanism is not None:
        links, skins = mechanism.links(body), boundary.skins
        if len(result.impulses) != len(links.origins):
            result.impulses = np.zeros((len(links.origins), 6))
        if ride is not None:
            result.impulses += ride.act(boundary, dt)
            links = mechanism.links(body)
        set_body_velocity(tank, state, boundary, skins, links.twists)
        mobility = links.mobility if forces == "pressure" else None
    impulses = friction = diffuse_velocity(tank, state, boundary, dt)
    if mechanism is not None and boundary.psi is not None:
        if forces == "pressure":
            impulses = impulses + dt * buoyancy_correction(tank, state, boundary, skins)
        else:
            loads = velocity_forces(tank, state, boundary, skins, links.twists)
            impulses = impulses + dt * link_wrenches(loads, skins, boundary.origins)
        mechanism.receive(body, impulses)
        result.impulses += impulses
        result.friction = friction + (result.friction if len(result.friction) else 0.0)
        set_body_velocity(tank, state, boundary, skins, mechanism.links(body).twists)
    projection = project(tank, state, boundary, dt, mobility=mobility)
    if mechanism is not None and forces == "pressure":
        mechanism.receive(body, projection.impulses)
        result.impulses += projection.impulses
    result.iterations += projection.iterations
    _account(tank, state, boundary, dt)
    extrapolate_velocity(tank, state, boundary, projection.system.diagonal)
    if mechanism is not None and len(boundary.pieces.thin):
        if projection.twist_change.any():
            set_body_velocity(tank, state, boundary, skins, mechanism.links(body).twists)
        follow_bodies(tank, state, boundary)


def _account(tank: Tank, state: WaterState, boundary: Boundary, dt: float) -> None:
    """Water that passes the open sides joins or leaves the tank's volume; over the rim it left with the surface."""
    if not tank.free_surface:
        return
    gained = 0.0
    opened = (boundary.open_x, boundary.open_y, boundary.open_z)
    for side in np.flatnonzero(np.isin(tank.open_sides()[:5], (1, 2))):
        axis, far = divmod(int(side), 2)
        speed = np.take((state.u, state.v, state.w)[axis], -1 if far else 0, axis)
        area = np.take(opened[axis], -1 if far else 0, axis) * side_water(tank, state.phi, int(side))
        gained += float((speed * area).sum()) * (-1.0 if far else 1.0)
    _exchange(state, gained * dt * tank.cell**2)


def _exchange(state: WaterState, gained: float) -> None:
    """Water [m^3] that comes in from outside, or leaves if it is negative."""
    state.exchanged_volume += gained
    state.volume += gained
