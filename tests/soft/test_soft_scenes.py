"""Scenes of soft characters, shortened."""

from types import SimpleNamespace

import numpy as np
import pytest

from vitruvian.anatomy.characters import character, soft_body
from vitruvian.scenes import find
from vitruvian.scenes._soft import running_checks, running_report
from vitruvian.world import scene_parameters


def run(name, seconds, **settings):
    scene = find(name)
    world = scene.build(scene_parameters(scene, "draft", settings))
    world.advance(seconds)
    return world


def test_an_elbow_bends_more_with_plasticity():
    frame = run("elbow-bend", 0.5).observe()
    assert frame.signals["with elbow"] > frame.signals["without elbow"] + 10.0
    assert np.isfinite(frame.surfaces["with skin white"].vertices).all()


def test_the_three_dampings_differ_at_once():
    world = run("kick-momentum", 0.0)
    first = [np.linalg.norm(world.observe().signals[f"{k} spin"]) for k in ("pose", "rayleigh", "node")]
    world.advance(0.2)
    last = [np.linalg.norm(world.observe().signals[f"{k} spin"]) for k in ("pose", "rayleigh", "node")]
    assert abs(last[0] / first[0] - 1.0) < 0.003
    assert last[1] / first[1] < 0.97
    assert last[2] / first[2] < 0.8


def test_the_mascot_begins_to_run():
    world = run("michelin-run", 0.12, control="open")
    signals = world.observe().signals
    assert signals["ground_force"][2] > 100.0  # it has landed
    assert signals["centre"][1] < -0.65  # and goes on ahead
    assert signals["window"] == 1.0


def test_a_policy_acts_at_every_step():
    found, alone = (run("michelin-run", 0.2, control=control) for control in ("found", "off"))
    assert found.observe().signals["window"] == 2.0
    assert np.abs(found.state.q - alone.state.q).max() > 0.05
    assert found.observe().signals["centre"][2] > 0.5


@pytest.mark.parametrize("scene", ["michelin-run", "panda-run"])
def test_runners_bend_their_arms(scene):
    world = run(scene, 0.2)
    s = world.simulation.skeleton
    elbow = world.state.q[s.q_start[s.index("forearm_l")]]
    assert elbow > 0.6
    assert world.observe().signals["centre"][2] > 0.5


@pytest.mark.parametrize(("scene", "who"), [("michelin-run", "mascot"), ("panda-run", "panda")])
def test_runners_run_on_their_own_flesh(scene, who):
    body, own = run(scene, 0.02).simulation.body, soft_body(character(who))
    np.testing.assert_allclose(body.flesh.shear, own.flesh.shear)


def test_shoves_push_where_they_should():
    world = run("soft-push", 2.0, first=40.0)
    before = world.observe().signals["push"][1]
    world.advance(0.1)
    assert world.observe().signals["push"][1] < before - 5.0  # from behind: -y is ahead


def test_a_watcher_can_shove():
    def momentum(shoved):
        world = run("michelin-run", 0.02)
        if shoved:
            world.act("shove left")
        world.advance(0.06)
        return world.simulation.body.momentum(world.state)[3:]

    gained = momentum(True) - momentum(False)
    np.testing.assert_allclose(
        gained, [0.06 / 0.2 * 15.0, 0.0, 0.0], atol=0.6
    )  # 15 N s in 0.2 s; the ground holds some


def test_a_mascot_leaps_and_kicks():
    world = run("jump-kick", 0.5)
    signals = world.observe().signals
    assert signals["ground_force"][2] == 0.0
    assert signals["window"] >= 4.0


def test_strides_and_slip_of_a_run_are_counted_by_its_own_steps():
    n = 151  # frames of 20 ms: a stride takes 50, ten windows
    loads = np.zeros((n, 3))
    loads[:, 2] = np.where(np.arange(n) % 25 < 10, 0.0, 500.0)  # in the air for two fifths of each step
    signals = {
        "centre": np.column_stack([np.zeros(n), -0.014 * np.arange(n), np.full(n, 0.7)]),
        "window": (np.arange(n) // 5 % 10).astype(float),
        "slip": 0.001 * np.arange(n),
        "ground_force": loads,
        "inverted": np.zeros(n),
    }
    recording = SimpleNamespace(time=0.02 * np.arange(n), signals=signals)
    report = running_report(recording)
    assert report.metrics["strides"] == 3.0
    assert report.metrics["speed"] == pytest.approx(0.7)
    assert report.metrics["slip_a_step"] == pytest.approx(0.015)  # a millimetre in each of 15 frames on the ground
    assert report.metrics["in_the_air"] == pytest.approx(0.4)
    running_checks(report, recording)
    assert all(report.checks.values())
    signals["slip"] *= 2.0
    report = running_report(recording)
    running_checks(report, recording)
    assert not report.checks["feet hardly slide"]
