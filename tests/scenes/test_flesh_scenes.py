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
