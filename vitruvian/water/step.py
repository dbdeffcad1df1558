"""One step of water and bodies: the story, in sub-steps that the flow can follow.

surface and markers move -> velocity moves -> gravity -> bodies move -> surface mended -> viscosity and explicit
forces -> pressure, together with the bodies' velocities -> velocity beyond the water.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vitruvian.errors import Diverged, InputError
from vitruvian.water.bodies import Mechanism
from vitruvian.water.filling import check_filled, check_given
from vitruvian.water.forces import FORCES
from vitruvian.water.model import Tank
from vitruvian.water.narrow import warn_of_narrow
from vitruvian.water.patches import Patches
from vitruvian.water.pressure import Boundary
from vitruvian.water.solids import check_apart, fastest_point, remembered, set_body_velocity
from vitruvian.water.state import WaterState
from vitruvian.water.substep import StepResult, substep
from vitruvian.water.window import check_reached, check_seam, check_sides

Array = np.ndarray
MOST_SUBSTEPS = 5000  # in one step; more means that the flow has run away


def step(
    tank: Tank,
    state: WaterState,
    dt: float,
    *,
    mechanism: Mechanism | None = None,
    body: Any = None,
    forces: str = "pressure",
    beyond_walls: bool = False,
    patches: Patches | None = None,
) -> StepResult:
    """Advance water and bodies (`body` is the mechanism's state) by dt [s], in place.

    A body that passes a side or the floor is an error that names it, unless beyond_walls (one wholly outside always
    is); so are two rigid bodies that overlap by more than a cell, since their contact is not modelled. patches: refined
    grids that ride with some of the mechanism's links, see `patches.cover`. The first step warns of bodies that are too
    narrow for the cells.
    """
    if forces not in FORCES:
        raise InputError(f"water: unknown force model '{forces}'; known: {', '.join(FORCES)}")
    if not 0.0 < dt < np.inf:
        raise InputError(f"water: a step must be a positive time, not {dt} s")
    if state.phi.shape != tuple(tank.shape):
        raise InputError(f"water: the state has {state.phi.shape} cells and the tank {tuple(tank.shape)}")
    check_given(mechanism, body)
    own = getattr(mechanism, "gravity", None)
    if own is not None and not np.allclose(own, tank.gravity):
        raise InputError(f"water: gravity is {tank.gravity} in the tank and {tuple(map(float, own))} for its bodies")
    if patches is not None and (mechanism is None or forces != "pressure"):
        raise InputError("water: patches are for a mechanism with pressure forces")
    if patches is not None and tank.wrapped:
        raise InputError("water: patches are for tanks without periodic sides")
    if mechanism is not None and state.substeps == 0:
        warn_of_narrow(tank, mechanism.skins(body), () if patches is None else patches.links)
        check_filled(tank, state, mechanism, body)
    result = StepResult()
    end = state.time + dt
    while end - state.time > 1e-12 * max(1.0, abs(end)):
        remaining = end - state.time
        small = min(remaining, largest_substep(tank, state, mechanism, body))
        count = int(np.ceil(remaining / small - 1e-9))
        if result.substeps + count > MOST_SUBSTEPS:
            raise Diverged("water", f"more than {MOST_SUBSTEPS} sub-steps in one step of {dt:g} s; take a smaller step")
        before = _beside_thin(tank, state, mechanism, body, result.boundary)
        substep(tank, state, remaining / count, mechanism, body, forces, result, patches, before)
        if result.boundary is not None:
            if getattr(mechanism, "apart", False):
                check_apart(tank, result.boundary.skins)
            check = check_reached if beyond_walls else check_sides
            for skin in mechanism.skins(body) if mechanism is not None else ():
                check(tank, state.origin, skin.shape.name, skin.vertices)
                check_seam(tank, state.origin, skin.shape.name, skin.vertices)
    state.time = end
    return result


def _beside_thin(
    tank: Tank, state: WaterState, mechanism: Mechanism | None, body: Any, last: Boundary | None
) -> Boundary | None:
    """Bodies on the grid as they are now, if the surface may lie on two sides of a thin one; last: of the sub-step
    before.
    """
    if mechanism is None or not tank.free_surface:
        return None
    if last is None:
        skins, links = mechanism.skins(body), mechanism.links(body)
        last = remembered(tank, state, skins, links.origins)
        if last.sides is not None:
            set_body_velocity(tank, state, last, skins, links.twists)
    return last if last.sides is not None else None


def largest_substep(tank: Tank, state: WaterState, mechanism: Mechanism | None = None, body: Any = None) -> float:
    """The longest sub-step [s] that flow, falling water and bodies allow."""
    h = tank.cell
    speed = max(float(np.abs(f).max()) for f in (state.u, state.v, state.w))
    if mechanism is not None:
        speed = max(speed, fastest_point(mechanism.skins(body), mechanism.links(body)))
    if not np.isfinite(speed):
        raise Diverged("water", "a velocity is not a number")
    if not np.isfinite(state.phi).all():
        cell = tuple(int(n) for n in np.argwhere(~np.isfinite(state.phi))[0])
        raise Diverged("water", f"the level set phi is not a number in cell {cell}")
    if not np.isfinite(state.markers.sum()):
        raise Diverged("water", "the place of a marker is not a number")
    g = float(np.linalg.norm(tank.gravity)) if tank.free_surface else 0.0
    # a drop at rest gains sqrt(g h) over a cell, which the next velocity must not outrun
    return min(tank.largest_substep, tank.courant * h / (speed + np.sqrt(g * h) + 1e-12))
