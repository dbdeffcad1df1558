"""The explicit step that the torso's timings are set beside: the same forces as ours."""

import numpy as np
import pytest

from vitruvian.anatomy.trunk import breathing_human
from vitruvian.benchmarks import breath
from vitruvian.control import BreathDrive, Controls
from vitruvian.systems import TorsoSystem


@pytest.fixture(scope="module")
def torso():
    return TorsoSystem(breathing_human(columns=24), skin=False, drawn=False, layers=())


def test_small_explicit_steps_go_where_the_implicit_ones_go(torso):
    pull = 0.5 * torso.trunk.cavities.in_group("diaphragm")
    ours, theirs = (torso.start(np.random.default_rng(0)) for _ in range(2))
    theirs.breath.activation = pull
    drive = Controls(breath=BreathDrive(pull, 1.0, np.zeros(3)))
    start = ours.breath.x.copy()
    for n in range(40):
        torso.step(ours, drive, n * 1e-4, 1e-4)
    for _ in range(200):
        breath.explicit(torso, theirs, 2e-5)
    moved = np.linalg.norm(ours.breath.x - start, axis=1)
    assert moved.max() > 1e-4
    assert np.linalg.norm(theirs.breath.x - ours.breath.x, axis=1).max() < 0.1 * moved.max()
    assert theirs.breath.flow == pytest.approx(ours.breath.flow, rel=0.05)


def test_explicit_steps_of_the_thesis_diverge_and_small_ones_hold(torso, monkeypatch):
    assert breath.lasts(torso, breath.THESIS) < breath.WHILE
    monkeypatch.setattr(breath, "WHILE", 3e-3)
    assert breath.lasts(torso, breath.TRIED[-1]) == pytest.approx(3e-3)
