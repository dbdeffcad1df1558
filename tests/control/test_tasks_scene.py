"""Scenes of control by tasks, for a few steps; and controllers that hand over."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from vitruvian.anatomy import human
from vitruvian.control import Controls
from vitruvian.control.rhythm import StrokeMotion, load_stroke
from vitruvian.control.tasks import InTurn, Stage
from vitruvian.errors import InputError
from vitruvian.scenes import find
from vitruvian.scenes._medley import astray, lies
from vitruvian.skeleton import bone_poses
from vitruvian.spatial import exp_so3, quaternion_from_rotation
from vitruvian.world.state import flatten_state, unflatten_state


def settings(name, **change):
    scene = find(name)
    return scene, {key: p.default for key, p in scene.parameters.items()} | {
        "water": "still",
        "triangles": 4000,
    } | change


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("supine", {"w_nat": 0.01}),
        ("prone", {"beside": False, "actuation": "torques"}),
        ("tread", {}),
        ("dive", {"exhaled": 2.0}),
    ],
)
def test_it_steps(name, change):
    scene, given = settings(name, **change)
    world = scene.build(given)
    world.advance(2.0 / 48.0)
    signals = world.observe().signals
    found = [value for key, value in signals.items() if key.startswith(("off", "mouth_height"))]
    assert found
    assert np.isfinite(np.concatenate([np.ravel(f) for f in found])).all()


def test_torques_calm_down_in_simulated_water():
    """Chosen for where forces are met they do not throw light hands, which they did."""
    scene, given = settings("prone", water="simulated", actuation="torques", beside=False, first=2)
    world = scene.build(given)
    speeds = []
    for _ in range(24):
        world.advance(1.0 / 48.0)
        rates = next(v for k, v in world.observe().signals.items() if k.startswith("limb_rates"))
        speeds.append(float(np.abs(rates).max()))
    assert max(speeds) < 12.0
    assert speeds[-1] < 0.7 * max(speeds)


@pytest.mark.parametrize("name", ["medley", "swim-to", "dive"])
def test_the_window_is_longer_than_a_swimmer_who_stretches(name):
    scene, given = settings(name, water="simulated")
    simulation = scene.build(given).simulation
    q = StrokeMotion(simulation.body, load_stroke("crawl")).at(0.0)[0]
    vertices = simulation.skin.place(bone_poses(simulation.skeleton, q)).vertices
    long = float(np.ptp(vertices, axis=0).max())
    assert simulation.water.shape[1] * simulation.water.cell > long + 0.2


def test_breathing_out_takes_its_volume():
    scene, given = settings("dive")
    volume = [scene.build(given | {"exhaled": out}).simulation.skin.volume for out in (0.0, 2.1)]
    assert volume[0] - volume[1] == pytest.approx(2.1e-3)
    with pytest.raises(InputError, match="more than these lungs hold"):
        scene.build(given | {"lungs": "empty", "exhaled": 1.0})


class Constant:
    def __init__(self, level, torque=None):
        self.level, self.torque = level, torque

    def start(self, rng):
        return None

    def act(self, own, state, time, dt):
        return Controls(excitation=np.full(3, self.level), torque=self.torque)


def test_stages_hand_over_without_a_jump():
    turn = InTurn([Stage("a", Constant(0.0), 0.1), Stage("b", Constant(1.0), 1.0)])
    own, dt = turn.start(np.random.default_rng(0)), 0.01
    given = [turn.act(own, None, k * dt, dt).excitation[0] for k in range(60)]
    assert given[0] == 0.0
    assert given[-1] == 1.0
    assert np.abs(np.diff(given)).max() < 0.05
    assert own.stage == 1


def test_a_lurch_is_told_apart_at_changes_and_elsewhere():
    class Moving:
        v = np.zeros(8)

    turn, state = InTurn([Stage("a", Constant(0.0), 0.1), Stage("b", Constant(0.0), 9.0)]), Moving()
    own = turn.start(np.random.default_rng(0))
    for k, change in enumerate([0.0, 0.3, *[0.0] * 9, 0.7, *[0.0] * 40, 0.5]):
        state.v = state.v + change * (np.arange(8) == 7)
        told = turn.act(own, state, 0.01 * k, 0.01).told
    assert told["lurch"] == pytest.approx([0.7, 0.5])


def test_a_stage_may_be_done_before_its_time():
    turn = InTurn([Stage("a", Constant(0.0), 9.0, lambda state: True, 0.05), Stage("b", Constant(1.0), 1.0)])
    own = turn.start(np.random.default_rng(0))
    for k in range(10):
        turn.act(own, None, 0.01 * k, 0.01)
    assert own.begun == pytest.approx(0.05)


def test_a_needless_stage_is_left_out_but_the_last():
    none = {"needless": lambda state: True}
    stages = [Stage("a", Constant(0.0), 0.1), *(Stage(n, Constant(0.5), 0.1, **none) for n in "bc")]
    for last in ("needless", "needed"):
        turn = InTurn([*stages, Stage("d", Constant(1.0), 1.0, **(none if last == "needless" else {}))])
        own = turn.start(np.random.default_rng(0))
        for k in range(12):
            turn.act(own, None, 0.01 * k, 0.01)
        assert own.stage == 3


def test_he_leaves_off_aiming_when_he_will_point_at_the_place():
    body = human()
    q, v = body.default_q.copy(), np.zeros(body.skeleton.n_v)
    q[3:7] = quaternion_from_rotation(exp_so3(np.array([np.pi / 2.0, 0.0, 0.0])))  # face down, head towards -y
    q[:3] = 0.0
    state = SimpleNamespace(q=q, v=v)

    def at(degrees, far=3.0):
        a = np.radians(degrees)
        return (far * np.sin(a), -far * np.cos(a))  # on his left

    assert astray(body, state, at(50.0)) == pytest.approx(np.radians(50.0), abs=0.02)
    assert lies(body, False, at(5.0))(state)
    assert not lies(body, False, at(12.0))(state)
    assert lies(body, False, at(12.0, 1.0))(state)  # he would pass it by 20 cm
    assert not lies(body, True)(state)
    upward = bone_poses(body.skeleton, q)[0, 2, :3]
    state.v[:3] = 0.5 * upward  # still turning to the left, by 14° more
    assert not lies(body, False, at(0.0))(state)
    assert lies(body, False, at(7.0))(state)
    state.v[:3] = 2.0 * bone_poses(body.skeleton, q)[0, :3, :3].T @ np.array([0.0, -1.0, 0.0])  # rolling on
    assert not lies(body, False)(state)


def test_a_stage_without_muscles_is_named():
    turn = InTurn([Stage("a", Constant(0.0, np.zeros(3)), 1.0)])
    with pytest.raises(InputError, match="stage 'a' does not drive muscles"):
        turn.act(turn.start(np.random.default_rng(0)), None, 0.0, 0.01)


def test_a_run_by_tasks_in_turn_goes_on_from_its_saved_state():
    """Every name of the state is there from the start; a run rebuilt from them goes on to the same bits."""

    def made():
        scene, given = settings("prone")
        world = scene.build(given | {"beside": False, "w_nat": 0.01})
        first, second = (scene.build(given | {"beside": False}).controller.controllers[0] for _ in range(2))
        world.controller.controllers[0] = InTurn([
            Stage("a", first, 2.0 / 48.0),
            Stage("b", world.controller.controllers[0], 1.0),
            Stage("c", second, 1.0),
        ])  # fmt: skip
        world.start()
        return world

    world, twin = made(), made()
    world.advance(4.0 / 48.0)  # in the second stage, which has remembered something
    twin.state = unflatten_state(twin.state, flatten_state(world.state))
    twin.own = unflatten_state(twin.own, flatten_state(world.own))
    twin.step_index = world.step_index
    for w in (world, twin):
        w.advance(2.0 / 48.0)
    assert world.own.lanes[0].stage == 1
    left, right = flatten_state(world.own), flatten_state(twin.own)
    assert all(np.array_equal(left[name], right[name], equal_nan=True) for name in left)
    assert np.array_equal(world.state.lanes[0].q, twin.state.lanes[0].q)


def test_he_who_aims_at_a_place_turns_towards_it():
    """With his limbs held in a pose to rest in he stayed where he was: 5 degrees in 3 s."""
    scene, given = settings("swim-to")
    world = scene.build(given)
    world.advance(1.75)
    assert abs(float(world.observe().signals["heading"])) > 30.0
