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
    assert report.checks["rings at the first bending frequency within 5 %"], report


def test_block_skin_is_closed_and_outward():
    assert volume(block_skin((1.0, 2.0, 3.0), (2, 3, 4))) == pytest.approx(6.0)


def test_section_area_of_a_ball():
    from vitruvian.mesh import sphere
    from vitruvian.scenes._fleshed import section_area

    vertices, faces = sphere(0.1, subdivisions=4)
    area = section_area(vertices, faces, np.array([0.0, 0.0, 0.03]), np.array([0.0, 0.0, 2.0]))
    assert area == pytest.approx(np.pi * (0.1**2 - 0.03**2), rel=0.01)


def test_biceps_bulges_with_activation(tmp_path):
    report, _ = played(tmp_path, "biceps", 0.5)
    assert report.checks["cross-section grows with activation, elbow held"], report
    assert all(report.checks.values()), report


def test_poke_reaches_the_spine(tmp_path):
    report, _ = played(tmp_path, "poke", 0.4)
    assert all(report.checks.values()), report
    assert report.metrics["strongest_push_n"] > 1.0
