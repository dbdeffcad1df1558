"""Swimming scenes, in still water and briefly in simulated water."""

from types import SimpleNamespace

import numpy as np
import pytest

from vitruvian import scenes
from vitruvian.control.rhythm import StrokeMotion, load_stroke
from vitruvian.errors import InputError
from vitruvian.scenes import swim_follow
from vitruvian.skeleton import bone_poses
from vitruvian.world import Recording, World, run_world
from vitruvian.world.state import copy_state

QUICK = {"water": "still", "actuation": "course", "triangles": 8000}


def settings(name, **options):
    scene = scenes.find(name)
    return {key: p.default for key, p in scene.parameters.items()} | QUICK | options


@pytest.mark.parametrize("actuation", ["muscles", "inverse-dynamics"])
def test_a_crawl_swims_straight_head_first_and_prone(tmp_path, actuation):
    """With the scene's pilot: without one no stroke swims straight, and torques turn by 69 degrees in this time."""
    scene = scenes.find("crawl")
    parameters = settings("crawl", actuation=actuation, rate=0.9, pilot=True)
    done = run_world(scene.build(parameters), tmp_path / "crawl.zarr", seconds=2.3)
    report = scene.check(Recording.open(done.recording), parameters)
    assert all(report.checks.values()), report.checks
    assert 0.6 < report.metrics["mean_speed"] < 1.6
    assert abs(report.metrics["heading_deg"]) < 25.0


def test_a_stroke_of_the_crawl_carries_far_for_little_work(tmp_path):
    """By muscles in still water: 1.31 m and 0.131. What was gained in simulated water is claimed in the book."""
    scene = scenes.find("crawl")
    parameters = settings("crawl", actuation="muscles")
    done = run_world(scene.build(parameters), tmp_path / "crawl.zarr", seconds=3.0)
    metrics = scene.check(Recording.open(done.recording), parameters).metrics
    assert metrics["stroke_length"] > 1.24
    assert metrics["froude"] > 0.127


@pytest.mark.parametrize(("name", "rolls"), [("crawl", True), ("backstroke", False), ("butterfly", False)])
def test_a_swimmer_starts_with_the_roll_of_his_stroke(name, rolls):
    """Left side going down as the right arm recovers; arms together do not roll, and on his back he starts without."""
    world = scenes.find(name).build(settings(name))
    world.start()
    _, v, _ = StrokeMotion(world.simulation.body, load_stroke(name), settings(name)["rate"]).sample(0.0)
    assert world.state.v[:3] == pytest.approx(v[:3] * rolls)
    assert (np.abs(world.state.v[:3]).max() > 0.5) == rolls  # [rad/s]


def test_a_kinematic_stroke_stays_in_place(tmp_path):
    world = scenes.find("butterfly").build(settings("butterfly", physics="kinematic"))
    first = world.observe()
    for _ in range(round(world.frame_rate / 0.9)):
        world.step()
    gone = np.asarray(world.observe().signals["position"]) - np.asarray(first.signals["position"])
    assert np.abs(gone).max() < 0.03


def test_simulated_water_carries_a_swimmer_and_a_resumed_swim_gives_the_same_bits():
    world = scenes.find("crawl").build(settings("crawl", water="simulated", cell=0.1))
    for _ in range(3):
        world.step()
    saved, own, index = copy_state(world.state), copy_state(world.own), world.step_index
    for _ in range(2):
        world.step()
    expected = world.state.q.copy(), world.state.water.pressure.copy()
    world.state, world.own, world.step_index = saved, own, index
    for _ in range(2):
        world.step()
    np.testing.assert_array_equal(world.state.q, expected[0])
    np.testing.assert_array_equal(world.state.water.pressure, expected[1])
    frame = world.observe()
    assert set(frame.signals) == {s.name for s in world.stage().signals}
    # the water carries most of the weight at once
    assert 400.0 < frame.signals["water_force"][2] < 1400.0


@pytest.mark.parametrize("name", ["breaststroke", "backstroke"])
def test_other_strokes_start_in_still_water(name):
    world = scenes.find(name).build(settings(name))
    for _ in range(4):
        world.step()
    back = world.observe().signals["back_up"]
    assert back < 0.0 if name == "backstroke" else back > 0.0


def test_lanes_decide_themselves_what_drives_them():
    assert not {"actuation", "control", "physics"} & set(scenes.find("swim-compare").parameters)


def test_six_lanes_swim_apart():
    world = scenes.find("swim-compare").build(settings("swim-compare", flesh="skinning"))
    for _ in range(2):
        world.step()
    frame = world.observe()
    assert {f"speed_{n}" for n in ("cpg", "spline", "inverse_dynamics", "pd", "skinning", "still_water")} <= set(
        frame.signals
    )
    middle = [frame.surfaces[f"skin {n}"].vertices[:, 0].mean() for n in ("cpg", "spline", "pd")]
    assert middle[1] - middle[0] == pytest.approx(2.6, abs=0.2)
    assert middle[2] - middle[0] == pytest.approx(7.8, abs=0.2)


def test_a_course_takes_no_commands():
    with pytest.raises(InputError, match="takes no commands"):
        scenes.find("swim-faster").build(settings("swim-faster"))


def test_a_shove_is_booked():
    world = scenes.find("perturb").build(settings("perturb", at=0.0, duration=0.05))
    for _ in range(8):
        world.step()
    assert world.state.book.impulse["push"][0] == pytest.approx(200.0 * 0.05, rel=0.3)


@pytest.mark.parametrize("angle", [90.0, -90.0])
def test_a_crawler_who_shall_turn_bends_to_that_side_and_is_still_on_course_before(angle):
    """The stroke itself bends him to and fro, so he is compared with one who swims straight on."""
    bends, banks = [], []
    for at in (0.5, 50.0):
        world = scenes.find("swim-turn").build(settings("swim-turn", actuation="inverse-dynamics", angle=angle, at=at))
        world.advance(0.5)
        assert abs(world.own.pilot.bank) < 0.2
        world.advance(0.7)
        s, q = world.simulation.body.skeleton, world.state.q
        poses = bone_poses(s, q)
        turn = poses[0, :3, :3].T @ poses[s.index("T1"), :3, :3]
        bends.append(0.5 * (turn[0, 2] - turn[2, 0]))  # about the pelvis's axis to the back, to the left
        banks.append(world.own.pilot.bank)
    assert (bends[0] - bends[1]) * np.sign(angle) > 0.06
    assert banks[0] * np.sign(angle) > 0.1


def test_a_straight_arm_is_held_aside_in_a_sharp_turn():
    parameters = settings("swim-turn", actuation="inverse-dynamics", at=0.0, arm="aside")
    world = scenes.find("swim-turn").build(parameters)
    world.advance(0.8)
    assert world.own.pilot.holding == "left arm"
    s, q = world.simulation.body.skeleton, world.state.q
    off = [2.0 * np.arccos(np.clip(abs(q[s.q_slice(b)] @ s.neutral_q()[s.q_slice(b)]), 0, 1)) for b in ("Hu_l", "Hu_r")]
    assert off[0] < 0.4 < off[1]


def test_a_ball_outside_the_pool_is_told():
    with pytest.raises(InputError, match=r"ball at \(40, -4\) m lies outside the pool"):
        scenes.find("swim-follow").build(settings("swim-follow", actuation="inverse-dynamics", ball_x=40.0))


@pytest.mark.parametrize(
    ("seconds", "settings_", "words"),
    [
        (12.0, {"ball_x": 24.5}, r"the ball after \d+\.\d of 12 s at \(25\.\d+, -\d\.\d+\) m lies outside the pool"),
        # out and back again between the start and the end of the run
        (12.0, {"ball_x": 24.5, "ball_speed": 2.0, "ball_turn": 30.0}, r"after 1 of 12 s at \(25"),
        (200.0, {"ball_speed": 0.3, "ball_turn": 0.0}, r"after 70 of 200 s at \(0\.6, -25"),
        (2.0, {"ball_x": 24.5}, None),
    ],
)
def test_a_ball_that_leaves_the_pool_within_the_run_is_told_before_its_first_step(
    tmp_path, monkeypatch, seconds, settings_, words
):
    begun = dict.fromkeys(("start", "step", "stage", "observe"), lambda *_: pytest.fail("the run begins"))
    world = World(SimpleNamespace(**begun))
    monkeypatch.setattr("vitruvian.scenes.swim_follow.stroke_world", lambda *_, **__: world)
    built = scenes.find("swim-follow").build(settings("swim-follow", **settings_))
    if words is None:
        built.foresee(seconds)
        return
    with pytest.raises(InputError, match=words):
        run_world(built, tmp_path / "follow.zarr", seconds=seconds)


@pytest.mark.parametrize("cycles", [1.5, 3.0])
def test_every_swimming_scene_tells_a_mean_speed_of_a_steady_glide(cycles):
    """A recording of a body that glides at 0.8 m/s: ahead, and for a swimmer who turned, to the left."""
    for name in ("crawl", "butterfly", "breaststroke", "backstroke", "perturb", "swim-faster", "swim-switch"):
        told = glide_report(name, (0.0, -0.8, 0.0), cycles)
        assert np.isnan(told) if cycles < 2 else told == pytest.approx(0.8)
    for name in ("swim-turn", "swim-follow"):
        told = glide_report(name, (0.8, 0.0, 0.0), cycles)
        assert np.isnan(told) if cycles < 2 else told == pytest.approx(0.8)


def glide_report(name, velocity, cycles):
    from vitruvian.systems.swimmer_signals import SIGNALS

    scene = scenes.find(name)
    parameters = settings(name)
    time = np.arange(0.0, cycles / parameters["rate"] + 1e-9, 1.0 / 48.0)
    signals = {
        s.name: np.ones((len(time), max(len(s.components), 1))).squeeze(-1 if not s.components else ()) for s in SIGNALS
    }
    signals["position"] = time[:, None] * np.array(velocity)
    signals["distance"] = np.linspace(6.0, 2.0, len(time))
    signals["stroke_phase"], signals["stroke_rate"] = parameters["rate"] * time, np.full(len(time), parameters["rate"])
    signals["wanted_jump"] = np.zeros((len(time), 2))
    bones = ("Pel", "Ha_l", "Ha_r")
    poses = np.random.default_rng(0).normal(size=(len(time), len(bones), 7))
    recording = SimpleNamespace(time=time, signals=signals, poses=poses, stage=SimpleNamespace(bodies=bones))
    return scene.check(recording, parameters).metrics["mean_speed"]


def test_the_followed_ball_keeps_its_speed_and_turns_steadily():
    p = {"ball_x": 0.6, "ball_ahead": 4.0, "ball_speed": 0.35, "ball_turn": 3.0}
    dt, times = 1e-3, (0.0, 4.0, 12.0)
    for t in times:
        step = np.subtract(swim_follow.ball(p, t + dt), swim_follow.ball(p, t)) / dt
        assert np.linalg.norm(step) == pytest.approx(0.35, rel=1e-6)
        assert np.degrees(np.arctan2(step[0], -step[1])) == pytest.approx(3.0 * (t + 0.5 * dt), abs=1e-6)
