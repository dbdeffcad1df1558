"""The search and the errors of activations from markers, without a trunk; whole subjects are in `verify breath`."""

import numpy as np
import pytest

from vitruvian.control.behaviour import read_behaviour, write_behaviour
from vitruvian.systems.torso_capture import GROUPS, _dud, best_shift, breath_of, marker_errors


def test_a_shifted_cycle_is_shifted_back():
    t = np.arange(64) / 64
    wave = np.stack([np.sin(2 * np.pi * t) + 0.2 * np.cos(6 * np.pi * t)] * 3, axis=1)[:, None]
    late = np.roll(wave, 10, axis=0)
    back, shift = best_shift(late, wave)
    np.testing.assert_allclose(back, wave, atol=1e-12)
    assert shift == pytest.approx(10 / 64)


def test_errors_are_mean_distances():
    wanted = np.zeros((64, 2, 3))
    found = wanted + np.array([3e-3, 4e-3, 0.0])
    assert marker_errors(found, wanted, 4.0) == pytest.approx((5e-3, 0.0))
    t = 2 * np.pi * np.arange(64) / 64
    found[:, :, 0] = np.sin(t)[:, None]
    assert marker_errors(found, wanted, 2.0)[1] == pytest.approx(2.0, rel=0.01)  # mean |cos| of a speed of pi


def test_the_search_finds_a_curved_minimum_within_bounds():
    rng = np.random.default_rng(0)
    a = rng.normal(size=(60, 4))

    def model(p):
        return a @ p + 0.3 * (a**2) @ (p * p)

    known = np.array([0.3, 0.0, 0.12, 0.4])
    wanted = model(known)
    found = _dud(lambda p: model(p) - wanted, np.full(4, 0.2), np.full(4, 0.1), np.ones(4), 25, None)
    assert found == pytest.approx(known, abs=5e-3)


def test_a_found_breath_is_a_behaviour_file():
    behaviour = breath_of(np.array([0.3, 0.1, 0.0, 0.02, 0.2]), 3.5)
    assert {c.group for c in behaviour.curves} == set(GROUPS) - {"internal intercostals"}
    again = read_behaviour(write_behaviour(behaviour), "x.toml", "captured")
    assert again.curves == behaviour.curves
