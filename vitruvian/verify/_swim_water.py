"""The swimmer in water: equal and opposite forces, floating and sinking.

Figures are measured on the whole human with his skin; still water settles quickly, simulated water shows the coupling.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from vitruvian.anatomy import Body, human
from vitruvian.anatomy.density import LUNGS, balanced, breathing_skin, buoyancy
from vitruvian.anatomy.skinning import BoundSkin, bound_skin
from vitruvian.control.rhythm import StrokeMotion, load_stroke
from vitruvian.couple.actuation import JointCourse
from vitruvian.couple.still_water import StillWater
from vitruvian.skeleton import bone_poses
from vitruvian.verify.book import Finding
from vitruvian.water import Tank
from vitruvian.water.solids import rasterise
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
    """Horizontal momentum of water and swimmer in a closed, smooth tank over a crawl's half stroke; only walls and the
    splitting of the step can change it: what is missing, in parts of what passed between them."""
    body, skin = _human("full")
    motion = StrokeMotion(body, load_stroke("crawl"), 0.9)
    q, v, _ = motion.sample(0.0)
    q[2] -= 0.15 + buoyancy(body, skin, q).centre_of_mass[2]
    v[:6] = 0.0
    tank = pool(COARSE, size=(2.4, 3.6, 1.4), boundaries={}, sponge=0.0)
    simulation = SwimSimulation(body, skin, water=tank, q=q, v=v, muscles=False, drawn=False)
    world = World(simulation, _Course(motion), frame_rate=96.0)
    world.start()
    before = _momentum(simulation, world.state)
    passed, walls = 0.0, np.zeros(3)
    for _ in range(24):
        world.step()
        passed = max(passed, float(np.linalg.norm(world.state.book.impulse_water[:2])))
        walls += _wall_impulse(tank, world.state, world.dt)
    gap = _momentum(simulation, world.state) - before - walls
    lost = float(np.linalg.norm(gap[:2]))
    return Finding.error(lost / passed, 0.25, "of what passed", f"{lost:.2f} of {passed:.2f} N s in a quarter second")


def booked_momentum() -> Finding:
    """Momentum that a swimmer gained less impulses of water and weight, over a whole stroke in still water."""
    body, skin = _human("full")
    motion = StrokeMotion(body, load_stroke("butterfly"), 0.9)
    q, v, _ = motion.sample(0.0)
    q[2] -= 0.1 + buoyancy(body, skin, q).centre_of_mass[2]
    simulation = SwimSimulation(body, skin, water=StillWater(), q=q, v=v, muscles=False, drawn=False)
    world = World(simulation, _Course(motion), frame_rate=96.0)
    world.start()
    first = np.asarray(world.observe().signals["momentum"])
    worst, passed = 0.0, 0.0
    for _ in range(round(96 / 0.9)):
        world.step()
        book = world.state.book
        gained = np.asarray(world.observe().signals["momentum"]) - first
        worst = max(worst, float(np.linalg.norm(gained - book.impulse_water - book.impulse_weight)))
        passed = max(passed, float(np.abs(book.impulse_water).max()))
    return Finding.error(worst / passed, 0.005, "of the water's impulse", f"{worst:.2f} of {passed:.0f} N s")


class _Course:
    def __init__(self, motion: StrokeMotion):
        self.motion = motion

    def start(self, rng: np.random.Generator) -> None:
        return None

    def act(self, own: Any, state: Any, time: float, dt: float) -> JointCourse:
        return JointCourse(lambda t: self.motion.sample(t)[0])


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


def _momentum(simulation: SwimSimulation, state: SwimState) -> Array:
    """Of water and body together [N s], shape (3,)."""
    tank, water = simulation.water, state.water
    assert isinstance(tank, Tank)
    assert water is not None
    m = simulation.mechanism
    m.forget()
    b = rasterise(tank, water, m.skins(state), m.links(state).origins)
    wet = (water.phi < 0.0).astype(float)
    out = np.asarray(simulation.observe(state, None, 0.0).signals["momentum"], float).copy()
    for axis, (u, opened) in enumerate(((water.u, b.open_x), (water.v, b.open_y), (water.w, b.open_z))):
        low, high = [slice(None)] * 3, [slice(None)] * 3
        low[axis], high[axis] = slice(None, -1), slice(1, None)
        flow = 0.5 * (u * opened)[tuple(low)] + 0.5 * (u * opened)[tuple(high)]
        out[axis] += tank.density * tank.cell**3 * float((flow * wet).sum())
    return out


def _wall_impulse(tank: Tank, state: SwimState, dt: float) -> Array:
    """Of the side walls on the water in a step [N s], from the pressure beside them."""
    assert state.water is not None
    p = state.water.pressure
    area = tank.cell**2
    x = float(p[0].sum() - p[-1].sum())
    y = float(p[:, 0].sum() - p[:, -1].sum())
    return np.array([x, y, 0.0]) * area * dt
