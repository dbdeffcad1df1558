"""The swimmer in water: equal and opposite forces, floating and sinking.

Figures are measured on the whole human with his skin; still water settles quickly, simulated water shows the coupling.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from vitruvian.anatomy import Body, human
from vitruvian.anatomy.density import LUNGS, balanced, breathing_skin, buoyancy
from vitruvian.anatomy.skinning import BoundSkin, bound_skin
from vitruvian.control.rhythm import StrokeMotion, load_stroke
from vitruvian.couple.actuation import JointCourse
from vitruvian.couple.still_water import StillWater
from vitruvian.scenes._swim_drive import Course
from vitruvian.skeleton import bone_poses
from vitruvian.verify.book import Finding
from vitruvian.water import Tank
from vitruvian.water.pressure import THETA_MIN, project
from vitruvian.water.solids import rasterise, set_body_velocity
from vitruvian.world.state import copy_state
from vitruvian.world.swim import SwimSimulation, SwimState, pool
from vitruvian.world.world import World

Array = np.ndarray
SECONDS = 10.0  # until a body that lets go floats quietly in still water
COARSE = 0.08  # [m] cells of the tank in which momentum is weighed


def displaced_mass() -> Finding:
    """Mass of the water that a relaxed human displaces in the end, over his own; normal and full lungs."""
    found = {}
    for lungs in ("normal", "full"):
        body, skin = _human(lungs)
        world = _let_go(lungs)
        shares = []
        while world.time < SECONDS:
            world.step()
            if world.time > 0.7 * SECONDS:
                shares.append(_displaced(skin, body, world.state))
        found[lungs] = float(np.mean(shares)) * 1000.0 / body.skeleton.mass
    worst = max(found.values(), key=lambda x: abs(x - 1.0))
    return Finding(worst, 1.0, 0.01, "", ", ".join(f"{k} lungs {v:.4f}" for k, v in found.items()))


def sinking() -> Finding:
    """Height of the centre of mass after ten seconds, empty less full lungs."""
    depth = {}
    for lungs in ("full", "empty"):
        world = _let_go(lungs)
        world.advance(SECONDS)
        depth[lungs] = float(world.observe().signals["height"])
    body, _ = _human("normal")
    density = {k: buoyancy(body, _human(k)[1]).density for k in LUNGS}
    detail = ", ".join(f"{k} {v:.0f} kg/m^3" for k, v in density.items())
    detail += f"; full {depth['full']:.2f}, empty {depth['empty']:.2f} m"
    return Finding.within(depth["empty"] - depth["full"], -10.0, -1.0, "m", detail)


def shared_momentum() -> Finding:
    """What the pressure gives to the water, walls taken off, against what it gives to the swimmer, at every step of a
    part of the crawl in a closed tank; largest difference in parts of the largest impulse."""
    body, skin = _human("full")
    motion = StrokeMotion(body, load_stroke("crawl"), 0.9)
    q, v, _ = motion.sample(0.0)
    q[2] -= 0.15 + buoyancy(body, skin, q).centre_of_mass[2]
    v[:6] = 0.0
    tank = pool(COARSE, size=(2.4, 3.6, 1.4), boundaries={}, sponge=0.0)
    simulation = SwimSimulation(body, skin, water=tank, q=q, v=v, muscles=False, drawn=False)
    world = World(simulation, Course(motion), frame_rate=96.0)
    world.start()
    aparts, impulses = [], []
    for _ in range(12):
        world.step()
        given, taken = _exchanged(tank, simulation, copy_state(world.state), world.dt)
        aparts.append(float(np.abs(given + taken).max()))
        impulses.append(float(np.abs(taken).max()))
    apart, largest = float(np.max(aparts)), float(np.max(impulses))
    return Finding.error(apart / largest, 1e-9, "of the impulse", f"{largest:.3f} N s a step, horizontally")


def _exchanged(tank: Tank, simulation: SwimSimulation, state: SwimState, dt: float) -> tuple[Array, Array]:
    """Horizontal impulses [N s] (2,) of one more projection: on the water without those of walls, and on the body."""
    water, m = state.water, simulation.mechanism
    assert water is not None
    m.forget()
    m.begin(state, JointCourse(lambda t: state.q))
    m.advance(state, 0.0, dt)
    links, skins = m.links(state), m.skins(state)
    b = rasterise(tank, water, skins, links.origins)
    set_body_velocity(tank, water, b, skins, links.twists)
    before = water.u.copy(), water.v.copy()
    done = project(tank, water, b, dt, mobility=links.mobility)
    weight = tank.density * tank.cell**3
    P = done.scaled_pressure[1:-1, 1:-1, 1:-1]
    given = np.zeros(2)
    for axis, (old, new, opened) in enumerate(zip(before, (water.u, water.v), (b.open_x, b.open_y))):
        inner = _between(axis, tank.shape[axis])
        # a face at the surface moves only the water below it: a part theta of a cell
        mass = opened[inner] * _share(water.phi, axis)
        given[axis] = weight * float((mass * (new - old)[inner]).sum())
        first, last = np.take(P, 0, axis), np.take(P, -1, axis)
        given[axis] -= weight * float((first * np.take(opened, 0, axis)).sum())
        given[axis] += weight * float((last * np.take(opened, -1, axis)).sum())
    return given, done.impulses[:, 3:5].sum(axis=0)


def _between(axis: int, count: int) -> tuple[slice, ...]:
    """Faces of a grid between two cells."""
    return tuple(slice(1, count) if a == axis else slice(None) for a in range(3))


def _share(phi: Array, axis: int) -> Array:
    """Part of the way between two cells that is water, at the faces between them; 0 where both are air."""
    count = phi.shape[axis]
    low, high = phi.take(range(count - 1), axis), phi.take(range(1, count), axis)
    wet, other = np.minimum(low, high), np.maximum(low, high)
    theta = np.maximum(THETA_MIN, wet / np.where(wet < other, wet - other, -1.0))
    return np.where(wet >= 0.0, 0.0, np.where(other < 0.0, 1.0, theta))


def booked_momentum() -> Finding:
    """Momentum that a swimmer gained less impulses of water and weight, over a whole stroke in still water."""
    body, skin = _human("full")
    motion = StrokeMotion(body, load_stroke("butterfly"), 0.9)
    q, v, _ = motion.sample(0.0)
    q[2] -= 0.1 + buoyancy(body, skin, q).centre_of_mass[2]
    simulation = SwimSimulation(body, skin, water=StillWater(), q=q, v=v, muscles=False, drawn=False)
    world = World(simulation, Course(motion), frame_rate=96.0)
    world.start()
    first = np.asarray(world.observe().signals["momentum"])
    errors, impulses = [], []
    for _ in range(round(96 / 0.9)):
        world.step()
        book = world.state.book
        gained = np.asarray(world.observe().signals["momentum"]) - first
        errors.append(float(np.linalg.norm(gained - book.impulse_water - book.impulse_weight)))
        impulses.append(float(np.abs(book.impulse_water).max()))
    worst, passed = float(np.max(errors)), float(np.max(impulses))
    return Finding.error(worst / passed, 0.005, "of the water's impulse", f"{worst:.2f} of {passed:.0f} N s")


@cache
def _human(lungs: str) -> tuple[Body, BoundSkin]:
    body = human()
    skin = bound_skin(body)
    body = balanced(body, skin)
    return body, breathing_skin(body, skin, lungs)


def _let_go(lungs: str) -> World:
    """A human face down in still water, all muscles off."""
    body, skin = _human(lungs)
    q, _, _ = StrokeMotion(body, load_stroke("crawl"), 0.0).sample(0.0)
    q[7:] = body.skeleton.neutral_q()[7:]
    q[2] -= 0.15 + buoyancy(body, skin, q).centre_of_mass[2]
    world = World(SwimSimulation(body, skin, water=StillWater(), q=q, drawn=False), None, frame_rate=96.0)
    world.start()
    return world


def _displaced(skin: BoundSkin, body: Body, state: SwimState) -> float:
    """Volume [m^3] of the body below the surface."""
    place = skin.place(bone_poses(body.skeleton, state.q))
    still, links = StillWater(), np.zeros(len(skin.faces), np.int64)
    lift = still.forces(place.vertices, np.zeros_like(place.vertices), skin.faces, links, 1).lift
    return float(lift[0, 5]) / (still.density * still.gravity)
