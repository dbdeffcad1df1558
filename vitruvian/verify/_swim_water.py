"""The swimmer in water: floating and sinking, and the account of his momentum.

Figures are measured on the whole human with his skin; still water settles quickly, simulated water shows the coupling.
"""

from __future__ import annotations

import numpy as np

from vitruvian.anatomy import LUNGS, buoyancy
from vitruvian.control.rhythm import StrokeMotion, load_stroke
from vitruvian.control.swim import CourseActuation
from vitruvian.couple import StillWater
from vitruvian.scenes import find
from vitruvian.scenes.tow import TowingSpeeds, drag_curve, frontal_area, shape
from vitruvian.systems import SwimmerSystem, pool
from vitruvian.systems.swimmer_signals import momentum_gaps
from vitruvian.verify._swim_bodies import displaced, let_go, lying_human
from vitruvian.verify.book import Finding
from vitruvian.world import World, scene_parameters

Array = np.ndarray
SECONDS = 10.0  # until a body that lets go floats quietly in still water
COARSE = 0.1  # [m] cells of simulated water in which he floats and sinks
SUNK = 5.0  # [s]
WINDOW, DEEP = (2.4, 2.8, 2.3), 2.0  # [m]: whole bodies upright
AFLOAT, LATE = 9.0, 3.0  # [s] in simulated water until he floats quietly, and of that to look at


def displaced_mass() -> Finding:
    """Mass of the water that a relaxed human displaces in the end, over his own; normal and full lungs."""
    found = {}
    for lungs in ("normal", "full"):
        body, skin = lying_human(lungs)
        world = let_go(lungs)
        shares = []
        while world.time < SECONDS:
            world.step()
            if world.time > 0.7 * SECONDS:
                shares.append(displaced(skin, body, world.state.q))
        found[lungs] = float(np.mean(shares)) * 1000.0 / body.skeleton.mass
    worst = max(found.values(), key=lambda x: abs(x - 1.0))
    return Finding(worst, 1.0, 0.01, "", ", ".join(f"{k} lungs {v:.4f}" for k, v in found.items()))


def sinking() -> Finding:
    """Height of the centre of mass after ten seconds, empty less full lungs."""
    depth = {}
    for lungs in ("full", "empty"):
        world = let_go(lungs)
        world.advance(SECONDS)
        depth[lungs] = float(world.observe().signals["height"])
    body, _ = lying_human("normal")
    density = {k: buoyancy(body, lying_human(k)[1]).density for k in LUNGS}
    detail = ", ".join(f"{k} {v:.0f} kg/m^3" for k, v in density.items())
    detail += f"; full {depth['full']:.2f}, empty {depth['empty']:.2f} m"
    return Finding.within(depth["empty"] - depth["full"], -10.0, -1.0, "m", detail)


def afloat_in_flow() -> Finding:
    """Mass of the water displaced over his own, full lungs in simulated water; mean over the last three seconds."""
    body, skin = lying_human("full")
    world = let_go("full", pool(COARSE, size=WINDOW, deep=DEEP))
    shares: list[float] = []
    lift = 0.0
    while world.time < AFLOAT - 1e-9:
        if world.time >= AFLOAT - LATE - 1e-9:
            shares.append(displaced(skin, body, world.state.q) * 1000.0 / body.skeleton.mass)
            lift += float(world.state.link_force[:, 5].sum())
        world.step()
    weight = 9.81 * body.skeleton.mass * len(shares)
    detail = f"{COARSE:g} m cells, {AFLOAT:g} s; {min(shares):.3f} to {max(shares):.3f}"
    return Finding(float(np.mean(shares)), 1.0, 0.01, "", f"{detail}; the flow lifts {lift / weight:.3f} of his weight")


def sinking_in_flow() -> Finding:
    """Height [m] of the highest point of a human with empty lungs in simulated water after five seconds."""
    world = let_go("empty", pool(COARSE, size=WINDOW, deep=DEEP))
    world.advance(SUNK)
    seen = world.observe()
    highest = float(seen.surfaces["skin"].vertices[:, 2].max())
    speed = float(seen.signals["velocity"][2])  # type: ignore[index]
    detail = f"{COARSE:g} m cells; centre of mass at {seen.signals['height']:.2f} m and going {speed:+.2f} m/s"
    return Finding.within(highest if speed < 0.0 else np.nan, -DEEP, 0.0, "m", detail)


def booked_momentum() -> Finding:
    """Momentum that a swimmer gained less impulses of water and weight, over a whole stroke in still water."""
    body, skin = lying_human("full")
    motion = StrokeMotion(body, load_stroke("butterfly"), 0.9)
    q, v, _ = motion.sample(0.0)
    q[2] -= 0.1 + buoyancy(body, skin, q).centre_of_mass[2]
    simulation = SwimmerSystem(body, skin, water=StillWater(), q=q, v=v, muscles=False, drawn=False)
    world = World(simulation, CourseActuation(motion), frame_rate=96.0)
    world.start()
    momentum, given, received = [np.asarray(world.observe().signals["momentum"])], [np.zeros(3)], [np.zeros(3)]
    for _ in range(round(96 / 0.9)):
        world.step()
        book = world.state.book
        momentum.append(np.asarray(world.observe().signals["momentum"]))
        given.append(book.impulse["water"].copy())
        received.append(book.impulse["water"] + book.impulse["weight"])
    level, upright = momentum_gaps(np.array(momentum), np.array(given), np.array(received))
    return Finding.error(
        float(np.max([level, upright])), 0.01, "of what the water passed to and fro",
        f"still water, joints led; level {level:.2g}, upright {upright:.2g}",
    )  # fmt: skip


def streamlined_drag() -> Finding:
    """Towing force over the square of the speed, streamline, 0.35 m deep, 50 mm cells, second half of 2.4 m from
    rest."""
    scene = find("tow")
    chosen = {"shape": "swimmer", "height": -0.35, "breadth": 2.0, "depth": 1.2, "speeds": "1.0"}
    parameters = {**scene_parameters(scene, "draft", {}), **chosen}
    world, plan = scene.build(parameters), TowingSpeeds.of(parameters)
    time, drag = [], []
    while world.time < plan.holds[0][1]:
        world.step()
        time.append(world.time)
        drag.append(float(np.asarray(world.observe().signals["drag"])[0]))
    speeds, means = drag_curve(np.array(time), np.array(drag), plan)
    area = frontal_area(*shape(parameters))
    detail = f"at {speeds[0]:g} m/s; frontal area {area:.3f} m2; people 23.5 v^2; at the surface it makes waves: 43"
    return Finding.within(means[0] / speeds[0] ** 2, 0.0, 30.0, "N s2/m2", detail)
