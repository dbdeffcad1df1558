"""Bodies that breathe while they do something else: skin, ribs, flesh, flotation against the trunk's own breath."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from vitruvian.anatomy import bound_skin, human
from vitruvian.anatomy.density import enclosed
from vitruvian.scenes import find
from vitruvian.systems import Breathing
from vitruvian.verify._breath_runs import play
from vitruvian.verify.book import Finding, claim
from vitruvian.world import World, scene_parameters

Array = np.ndarray
STEP = 5e-3  # [s]


@lru_cache(maxsize=1)
def calm() -> Breathing:
    return Breathing(human(), "calm")


def built(name: str, **changes: Any) -> World:
    """A scene's world at draft quality, started."""
    scene = find(name)
    world: World = scene.build({**scene_parameters(scene, "draft", {}), **changes})
    world.start()
    return world


def signals(world: World, seconds: float, *names: str) -> Array:
    """Signals after every step, (steps, names)."""
    out = []
    for _ in range(round(seconds / world.dt)):
        world.step()
        frame = world.simulation.observe(world.state, None, world.time)
        out.append([float(np.ravel(frame.signals[n])[-1]) for n in names])
    return np.array(out)


@claim
def a_recorded_breath_is_the_trunks() -> Finding:
    """The breath that other bodies carry has the volume of the trunk's second breath at every instant."""
    run, breathing = play("calm", 8.0, STEP), calm()
    late = run.time > 4.0
    own = np.array([1e3 * breathing.volume(t) for t in run.time[late]])
    off = own - (run.volume[late] - run.volume[late][0]) - own[0]
    modes = len(breathing.record.modes)
    return Finding.error(np.abs(off).max() / np.ptp(run.volume[late]), 0.02, "of the breath", f"{modes} modes")


@claim
def a_breathing_skin_gains_what_the_lungs_gain() -> Finding:
    """In a calm breath the skin of any body encloses more by what the lungs hold more."""
    breathing = calm()
    field = breathing.field(bound_skin(breathing.body, triangles=8000))
    off, reach = [], []
    for t in np.linspace(4.0, 8.0, 33):
        gained = enclosed(field.skin.rest + field.offset(t), field.skin.faces)[0] - field.rest_volume
        off.append(1e3 * (gained - breathing.volume(t)))
        reach.append(1e3 * abs(field.reach(t)))
    detail = f"the lining's own motion is off by {max(reach):.2f} mm of skin at most"
    return Finding.error(np.abs(off).max(), 0.005, "l", detail)


@claim
def a_standing_body_breathes() -> Finding:
    """A body that stands by its muscles breathes calmly: its ribs turn as recorded, within half a degree."""
    world = built("balance", push=0.0, breathing="calm")
    body = world.simulation.body  # type: ignore[attr-defined]
    breathing = world.simulation.breathing  # type: ignore[attr-defined]
    _, angle, rows = breathing.hinges
    first, off = world.state.q[angle].copy(), []
    for _ in range(round(1.5 / world.dt)):
        world.step()
        wanted = rows @ breathing.record.at(world.time)[breathing.record.ribs]
        off.append(np.degrees(np.abs(world.state.q[angle] - first - wanted)).max())
    frame = world.simulation.observe(world.state, None, world.time)
    low = frame.surfaces["skin"].vertices
    detail = f"{len(angle)} ribs of {body.name}; {len(low)} vertices of skin go along"
    return Finding.error(max(off[10:]), 0.5, "degrees", detail)


@claim
def flesh_grows_by_what_its_lungs_hold() -> Finding:
    """A trunk of flesh with lungs in it grows by the recorded breath, within 15 % of it."""
    world = built("poke", depth=0.0, breathing="calm")
    found = signals(world, 1.2, "volume", "breath_volume", "lung_pressure")
    gained = 1e3 * (found[-1, 0] - found[0, 0])
    breath = found[-1, 1] - found[0, 1]
    detail = f"{gained:.3f} of {breath:.3f} l, at {found[-1, 2]:.0f} Pa in the lungs"
    return Finding.error(abs(gained / breath - 1.0), 0.15, "of the breath", detail)


@claim
def flotation_changes_with_breath() -> Finding:
    """A human under water displaces more by what he has breathed in, within 2 %, however he is bent; let go at the
    surface, he rides higher than without breath."""
    rides = []
    for breathing in ("none", "deep"):
        world = built("float", shape="human", water="still", breathing=breathing)
        rides.append(signals(world, 2.0, "height")[-1, 0])
    swimmer, state = world.simulation, world.state
    state.q[2] -= 2.0
    displaced, breath = [], []
    for clock in (0.0, 1.5):
        state.breath = np.array([clock, 1.0])
        frame = swimmer.observe(state, None, 0.0)
        displaced.append(1e3 * frame.signals["displaced"])
        breath.append(frame.signals["breath_volume"])
    gained, wanted = displaced[1] - displaced[0], breath[1] - breath[0]
    higher = 1e3 * (rides[1] - rides[0])
    detail = f"{gained:.3f} of {wanted:.3f} l; after 2 s {higher:.1f} mm higher than without breath"
    return Finding.error(abs(gained / wanted - 1.0) if higher > 0.0 else np.nan, 0.02, "of the breath", detail)
