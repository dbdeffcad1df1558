"""A tank as a system: a ball falls into it, water is kept, and what is measured of the ball is so."""

from types import SimpleNamespace

import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.mesh import sphere
from vitruvian.systems import TankSystem
from vitruvian.systems.tank import body_measures, volume_metrics
from vitruvian.water import RigidBody, Tank
from vitruvian.world import World

RADIUS, DENSITY = 0.12, 500.0


def tank(**options):
    return Tank((10, 10, 10), 0.08, rest_level=0.4, particles=4, **options)


def ball(height):
    return RigidBody.solid("ball", *sphere(RADIUS, subdivisions=2), DENSITY, position=(0.4, 0.4, height))


@pytest.fixture(scope="module")
def fallen():
    system = TankSystem(tank(), bodies=[ball(0.6)], measures=body_measures("ball"))
    world = World(system, frame_rate=50.0)
    world.start()
    frames = [world.observe()]
    for _ in range(20):
        world.advance(0.02)
        frames.append(world.observe())
    return system, world, frames


def test_a_ball_falls_freely_then_water_carries_it(fallen):
    _, world, frames = fallen
    height = [f.signals["height"] for f in frames]
    rise = [f.signals["rise"] for f in frames]
    force = np.array([f.signals["force"] for f in frames])
    assert force.shape == (21, 3)
    assert not force[0].any()
    assert rise[4] == pytest.approx(-9.81 * 0.08, rel=0.05)  # 12 cm of air at most
    assert height[4] == pytest.approx(0.6 - 0.5 * 9.81 * 0.08**2, abs=0.01)
    assert min(rise) < -1.0
    assert rise[-1] > min(rise) + 0.3  # the water slows it down
    weight = 9.81 * DENSITY * 4.0 / 3.0 * np.pi * RADIUS**3
    assert force[:, 2].max() > weight
    assert frames[-1].poses[0, 2] == pytest.approx(height[-1])
    assert world.state.bodies.position[0, 2] == height[-1]


def test_force_times_time_is_what_the_ball_gains_beside_its_weight(fallen):
    system, _, frames = fallen
    mass = system.bodies[0].mass
    force = np.array([f.signals["force"][2] for f in frames[1:]])
    gained = mass * (frames[-1].signals["rise"] - frames[0].signals["rise"])
    assert 0.02 * force.sum() - mass * 9.81 * 0.4 == pytest.approx(gained, rel=1e-3, abs=1e-3)


def test_water_is_kept_while_the_ball_falls_in(fallen):
    system, _, frames = fallen
    assert frames[0].signals["volume"] == pytest.approx(0.8 * 0.8 * 0.4, rel=1e-3)
    assert max(abs(f.signals["volume_error"]) for f in frames) < 5e-3
    names = [s.name for s in system.stage().signals]
    assert names == list(frames[0].signals)
    assert frames[0].signals["put_right"] == 0.0
    assert frames[-1].signals["speed"] > 0.1


def test_what_is_seen_of_a_tank(fallen):
    system, _, frames = fallen
    stage = system.stage()
    assert stage.bodies == ("ball",)
    assert set(frames[0].surfaces) == {s.name for s in stage.surfaces} == {"water", "spray surface"}
    corners = frames[0].lines["tank"].points
    assert corners.min(axis=0) == pytest.approx(np.zeros(3))
    assert corners.max(axis=0) == pytest.approx(np.full(3, 0.8))
    assert len(corners) == 2 * 12
    assert [c.name for c in stage.cameras] == ["corner", "front", "above"]
    assert frames[0].surfaces["water"].vertices[:, 2].max() == pytest.approx(0.4, abs=0.01)


def test_a_recording_tells_its_worst_error_of_volume():
    signals = {
        "volume_error": np.array([0.0, -3e-3, 1e-3]),
        "shifted": np.array([0.0, 2.0]),
        "put_right": np.array([0.0, 3.0]),
    }
    assert list(volume_metrics(SimpleNamespace(signals=signals)).values()) == [3e-3, 2.0, 3.0]


def test_a_ball_that_starts_outside_is_refused():
    beyond = RigidBody.solid("ball", *sphere(RADIUS, subdivisions=2), DENSITY, position=(2.0, 0.4, 0.6))
    with pytest.raises(InputError, match="ball"):
        TankSystem(tank(), bodies=[beyond]).start(np.random.default_rng(0))


def test_a_tank_without_bodies_stays_calm_where_it_stands():
    system = TankSystem(tank(origin=(1.0, -2.0, -0.2)))
    state = system.start(np.random.default_rng(0))
    system.step(state, None, 0.0, 0.02)
    frame = system.observe(state, None, 0.02)
    assert frame.poses.shape == (0, 7)
    assert frame.signals["volume_error"] == pytest.approx(0.0, abs=1e-6)
    assert frame.signals["speed"] < 1e-3
    corners = frame.lines["tank"].points
    assert corners.min(axis=0) == pytest.approx([1.0, -2.0, -0.2])
    assert corners.max(axis=0) == pytest.approx([1.8, -1.2, 0.6])
