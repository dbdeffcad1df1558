"""The kinematic preview of a stroke as a scene: its checks, its wrong start, and resuming it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from vitruvian.control.rhythm import GROUPS
from vitruvian.errors import InputError
from vitruvian.scenes.stroke import scene
from vitruvian.world import Recording, run_world, scene_parameters

QUICK = {"rate": 3.0, "stroke": "breaststroke"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("stroke")


@pytest.fixture(scope="module")
def recording(folder):
    parameters = scene_parameters(scene, "draft", QUICK)
    run_world(scene.build(parameters), folder / "whole.zarr", seconds=0.75)
    return Recording.open(folder / "whole.zarr")


def test_the_generator_starts_wrong_and_falls_in_with_the_stroke(recording):
    report = scene.check(recording, scene_parameters(scene, "draft", QUICK))
    assert report.metrics["cycles"] == pytest.approx(2.25)
    assert all(report.checks.values())
    assert len(report.checks) == 2
    assert recording.signals["error"][0, 1] > 1.0
    for group in GROUPS:
        taught, generated = np.asarray(recording.signals[group.replace(" ", "_")]).T
        assert abs(generated[-1] - taught[-1]) < 0.02 * np.ptp(taught)


def test_the_check_fails_on_a_run_whose_generator_is_off(recording):
    signals = {name: np.asarray(recording.signals[name]) for name in recording.signals}
    signals["error"] = signals["error"] + 0.05
    off = SimpleNamespace(poses=recording.poses, signals=signals)
    assert not all(scene.check(off, scene_parameters(scene, "draft", QUICK)).checks.values())


def test_a_run_in_two_parts_gives_the_same_bits(folder, recording):
    parameters = scene_parameters(scene, "draft", QUICK)
    run_world(scene.build(parameters), folder / "broken.zarr", seconds=0.2)
    run_world(scene.build(parameters), folder / "broken.zarr", seconds=0.75, resume=True)
    broken = Recording.open(folder / "broken.zarr")
    assert broken.poses.tobytes() == recording.poses.tobytes()
    assert broken.signals["error"].tobytes() == recording.signals["error"].tobytes()


def test_an_unknown_stroke_gets_a_line_that_names_it():
    with pytest.raises(InputError, match="unknown stroke 'dogpaddle'"):
        scene.build(scene_parameters(scene, "draft", {"stroke": "dogpaddle"}))
