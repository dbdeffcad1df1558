"""Heads with minds, in a crash, and on a whole body: short runs on the small neck of the thesis."""

from types import SimpleNamespace

import numpy as np
import pytest

from vitruvian.control import Controls
from vitruvian.control.head import Carried, GazeControl, HeadControl, HeadSettings, HeadStatics, Limp, shipped
from vitruvian.control.head.gaze import head_towards, upright_towards
from vitruvian.control.mind import EMOTIONS
from vitruvian.errors import InputError
from vitruvian.scenes import find
from vitruvian.scenes._carried import looked_at
from vitruvian.scenes.conversation import YAWS, places
from vitruvian.spatial import exp_so3
from vitruvian.world import scene_parameters


def made(name, **settings):
    scene = find(name)
    if "face" in scene.parameters:
        settings = {"face": False, **settings}
    return scene.build(scene_parameters(scene, "draft", {"neck": "thesis", **settings}))


def test_three_heads_turn_to_the_doll_and_show_what_they_feel():
    world = made("conversation")
    world.advance(2.0)
    frame = world.observe()
    assert frame.signals["attends_middle"] == 0
    assert np.degrees(frame.signals["gaze_error_middle"]) < 1.0
    assert {f"mood_{name}" for name in YAWS} <= frame.signals.keys()
    assert frame.signals["mood_middle"][EMOTIONS.index("joy")] > 0.6


def test_heads_in_a_company_see_each_other_where_they_are():
    world = made("conversation")
    world.start()
    at = world.own.places
    assert np.linalg.norm(at[0] - at[2]) == pytest.approx(2.0 * np.sin(np.radians(62.0)) * 0.46, abs=0.05)
    for place in places().values():  # all face the middle of the circle
        assert place.into((0.0, 0.0, 1.8))[1] == pytest.approx(-0.55)


def test_a_crash_reports_newtons_forces():
    """At rest the neck bears the head's weight; a pulse of a g on a stiff neck adds a head's mass times that."""
    world = made("crash", peak=0.0)
    world.advance(0.1)
    frame = world.observe()
    skull = next(iter(world.simulation.systems.values())).skeleton
    weight = 9.81 * skull.masses[skull.index("Sku")]
    assert frame.signals["axial_relaxed"] == pytest.approx(-weight, rel=0.1)
    assert abs(frame.signals["head_g_relaxed"]) < 0.1
    world = made("crash", peak=4.0, lasting=0.1)
    tops = {"relaxed": 0.0, "braced": 0.0}
    for _ in range(170):
        world.step()
        for name in tops:
            tops[name] = max(tops[name], float(world.observe().signals[f"head_g_{name}"]))
    assert 2.0 < tops["braced"] < 12.0


@pytest.mark.parametrize("text", ["", "1,2", "1,2,x", "1,2,nan"])
def test_a_bad_point_to_look_at_is_one_line(text):
    with pytest.raises(InputError, match="look must be three numbers"):
        looked_at(text)


def test_a_head_on_a_tilted_chest_is_asked_to_stay_upright():
    ahead = np.array([0.0, -1.0, 0.0])
    tilted = exp_so3(np.array([0.2, 0.0, 0.0]))
    np.testing.assert_allclose(upright_towards(tilted, ahead), np.eye(3), atol=1e-12)
    turned = exp_so3(np.array([0.0, 0.0, 1.5]))  # a body that faces left and looks ahead of itself
    np.testing.assert_allclose(upright_towards(turned, turned @ ahead), turned, atol=1e-12)
    left = np.array([1.0, -1.0, 0.0])
    np.testing.assert_allclose(upright_towards(np.eye(3), left), head_towards(left), atol=1e-12)


class _Body:
    """A body's own controller that wants all muscles half on."""

    def __init__(self, n):
        self.n = n

    def leave(self, coordinates, muscles):
        self.left = coordinates, muscles

    def start(self, rng):
        return None

    def act(self, own, state, time, dt):
        return Controls(excitation=np.full(self.n, 0.5), told={"mine": 1})


def test_a_carried_head_has_the_necks_muscles_and_the_body_the_rest():
    world = made("gaze")
    system, body = world.simulation, world.simulation.body
    statics = HeadStatics(body)
    nets = shipped("thesis", tuple(body.muscles.names[i] for i in statics.muscles))
    gaze = GazeControl(HeadControl(body, None, HeadSettings(), networks=nets, statics=statics))
    own_plan = _Body(body.muscles.n_muscles)
    carried, rng = Carried(own_plan, gaze), np.random.default_rng(0)
    assert own_plan.left[0] is statics.rows
    assert own_plan.left[1] is statics.muscles
    state, own = system.start(rng), carried.start(rng)
    controls = carried.act(own, state, 0.0, 0.01)
    assert controls.told.keys() >= {"mine", "head", "eyes"}
    system.step(state, controls, 0.0, 0.01)
    assert np.abs(state.activation[statics.muscles] - 0.5).min() > 0.0
    limp = Limp(_Body(body.muscles.n_muscles), statics.muscles)
    assert (limp.act(limp.start(rng), state, 0.0, 0.01).excitation[statics.muscles] == 0.0).all()


def test_a_motion_whose_head_does_not_move_is_one_line(monkeypatch):
    from vitruvian.scenes import head_track

    class Still:
        def sample(self, time):
            return (self.q,)

    def still(trial, body):
        found = Still()
        found.q = body.default_q
        return found

    monkeypatch.setattr(head_track, "read_trial", lambda source: SimpleNamespace(segments=None))
    monkeypatch.setattr(head_track, "trial_motion", still)
    with pytest.raises(InputError, match=r"'legs.bvh': the head does not move against the chest"):
        head_track.measured_head("legs.bvh", 0.1, 1.0)


def test_a_motion_without_a_head_joint_is_one_line(tmp_path):
    from vitruvian.scenes import head_track

    def joint(name, *below):
        inner = " ".join(below) or "End Site { OFFSET 0 -40 0 }"
        return f"JOINT {name} {{ OFFSET 0 -40 0 CHANNELS 3 Zrotation Xrotation Yrotation {inner} }}"

    legs = [joint(f"{x}UpLeg", joint(f"{x}Leg", joint(f"{x}Foot"))) for x in ("Left", "Right")]
    root = "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation"
    text = f"HIERARCHY ROOT Hips {{ OFFSET 0 0 0 {root} {joint('Spine')} {' '.join(legs)} }}"
    for mark in ("{", "}", "OFFSET", "CHANNELS", "JOINT", "End", "ROOT"):
        text = text.replace(f" {mark}", f"\n{mark}")
    file = tmp_path / "legs.bvh"
    frame = " ".join(["0"] * 27)
    file.write_text(f"{text}\nMOTION\nFrames: 3\nFrame Time: 0.03\n{3 * (frame + chr(10))}")
    with pytest.raises(InputError, match=r"legs.bvh': the motion has no joint for the head"):
        head_track.measured_head(str(file), 0.1, 1.0)
