"""The scenes of the body: each runs for a moment, passes its own checks, can be resumed, and is ready to be shown."""

import numpy as np
import pytest

from vitruvian.scenes import find
from vitruvian.world import Recording, run_world, scene_parameters

RUNS = {
    "curl": (3.4, {"step_at": 1.4}),
    "collapse": (4.0, {}),
    "flex": (0.4, {}),
    "ribs": (1.9, {}),
    "jump": (1.35, {}),
    "balance": (0.4, {}),
    "squat": (0.4, {}),
    "walk": (0.1, {}),
    "tone": (0.8, {}),
    "twitch": (8.0, {}),
    "quick-release": (3.0, {}),
}


def run(name, folder, seconds, settings, **options):
    scene = find(name)
    parameters = scene_parameters(scene, "draft", settings)
    result = run_world(
        scene.build(parameters), folder / f"{name}.zarr", seconds=seconds, scene=name, parameters=parameters, **options
    )
    return scene, parameters, Recording.open(result.recording)


@pytest.mark.parametrize("name", RUNS)
def test_scene_passes_its_own_checks(name, tmp_path):
    seconds, settings = RUNS[name]
    scene, parameters, recording = run(name, tmp_path, seconds, settings)
    report = scene.check(recording, parameters)
    assert report.checks
    assert all(report.checks.values()), (report.checks, report.metrics)
    assert all(np.isfinite(v) for v in report.metrics.values())
    assert set(scene.qualities) == {"draft", "standard", "fine"}
    assert all(parameter.help for parameter in scene.parameters.values())


def test_curl_with_perfect_senses_holds_perfectly(tmp_path):
    scene, parameters, recording = run("curl", tmp_path, 2.6, {"step_at": 1.4, "sensor_lag": 0.0})
    report = scene.check(recording, parameters)
    assert report.metrics["dip_deg"] < 0.5
    assert all(report.checks.values()), report.checks


def test_a_resumed_run_gives_the_same_bits(tmp_path):
    settings = {"coactivation": 0.2}
    (tmp_path / "whole").mkdir()
    _, _, whole = run("curl", tmp_path / "whole", 0.2, settings)
    run("curl", tmp_path, 0.1, settings)
    _, _, resumed = run("curl", tmp_path, 0.2, settings, resume=True)
    assert (whole.poses == resumed.poses).all()
    assert (whole.signals["activation"] == resumed.signals["activation"]).all()
