"""The flesh scenes run and pass their own checks, shortened."""

import numpy as np
import pytest

from vitruvian.mesh import volume
from vitruvian.scenes import find
from vitruvian.scenes._flesh import block_skin
from vitruvian.world.parameters import scene_parameters
from vitruvian.world.recording import Recording
from vitruvian.world.run import run_world


def played(tmp_path, name, seconds, **settings):
    scene = find(name)
    parameters = scene_parameters(scene, "draft", settings)
    run_world(scene.build(parameters), tmp_path / name, seconds=seconds)
    recording = Recording.open(tmp_path / name)
    return scene.check(recording, parameters), recording


@pytest.mark.parametrize("case", ["press", "twist", "muscle", "tangle"])
def test_block_passes_its_own_checks(tmp_path, case):
    report, recording = played(tmp_path, "block", 1.6, case=case, cells=2)
    assert report.checks
    assert all(report.checks.values()), report
    assert np.isfinite(recording.surface("skin", -1 % recording.n_frames).values).all()


def test_beam_rings_as_beam_theory_says(tmp_path):
    report, _ = played(tmp_path, "beam", 0.4)
    assert report.checks["rings at the first bending frequency within 3 %"], report


def test_block_skin_is_closed_and_outward():
    assert volume(block_skin((1.0, 2.0, 3.0), (2, 3, 4))) == pytest.approx(6.0)


def test_section_area_of_a_ball():
    from vitruvian.mesh import sphere
    from vitruvian.scenes._fleshed import section_area

    vertices, faces = sphere(0.1, subdivisions=4)
    area = section_area(vertices, faces, np.array([0.0, 0.0, 0.03]), np.array([0.0, 0.0, 2.0]))
    assert area == pytest.approx(np.pi * (0.1**2 - 0.03**2), rel=0.01)


def test_biceps_bulges_with_activation(tmp_path):
    report, _ = played(tmp_path, "biceps", 0.4)
    assert report.checks["cross-section grows with activation, elbow held"], report
    assert all(report.checks.values()), report
    assert report.metrics["growth_held"] > 0.015


def test_poke_reaches_the_spine_and_moves_it(tmp_path):
    report, recording = played(tmp_path, "poke", 0.3)
    assert all(report.checks.values()), report
    assert report.metrics["strongest_push_n"] > 1.0
    assert report.metrics["moved_l3_mm"] > 0.01
    assert np.abs(recording.signals["moved_l3"][0]) < 1e-9


def test_the_fall_of_jiggle_is_twice_integrated_from_its_acceleration():
    from vitruvian.scenes.jiggle import acceleration, height

    h = 1e-4
    for time in (0.05, 0.15, 0.21, 0.25, 0.5):
        bend = (height(time + h, 0.2) - 2.0 * height(time, 0.2) + height(time - h, 0.2)) / h**2
        assert bend == pytest.approx(acceleration(time, 0.2), rel=1e-4, abs=1e-4)


def test_jiggle_starts_weightless_and_at_rest(tmp_path):
    report, recording = played(tmp_path, "jiggle", 0.1, build="muscular")
    assert report.checks["volume stays within 1 %"]
    assert np.abs(recording.signals["belly"]).max() < 1e-3  # in free fall nothing swings
    assert np.abs(recording.signals["head"]).max() < 2e-3
