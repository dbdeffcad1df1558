"""What the timings of soft characters are worth."""

import numpy as np
import pytest

from vitruvian.benchmarks import soft
from vitruvian.benchmarks.soft import KEPT, WINDOW, _spent
from vitruvian.control.search.samples import Trying, search


def test_gains_of_workers_are_those_of_batches_handed_out():
    even = np.full(5, 0.05)
    alone = _spent(even, 0.0, 1)
    assert alone == pytest.approx(0.05 * WINDOW)
    assert alone / _spent(even, 0.0, 2) == pytest.approx(2.0)
    assert alone / _spent(even, 0.0, 40) == pytest.approx(KEPT / 3.0)  # a hundred batches in three turns of forty
    assert _spent(even, 0.01, 40) == pytest.approx(_spent(even, 0.0, 40) + 0.01 * KEPT)


def test_a_slow_sample_holds_up_many_workers_more_than_two():
    uneven = np.r_[np.full(99, 0.05), 2.0]
    gains = [_spent(uneven, 0.0, 1) / _spent(uneven, 0.0, n) for n in (2, 40)]
    assert gains[0] > 1.9
    assert gains[1] < KEPT / 3.0


def test_samples_are_clocked_wherever_they_are_tried():
    motion = soft._run()
    soft._Clocked.times.clear()
    search(soft._Clocked(soft._mascot()), motion, 0.1, Trying(samples=3, kept=1))
    assert len(soft._Clocked.times) == 3
    assert min(soft._Clocked.times) > 0.0
