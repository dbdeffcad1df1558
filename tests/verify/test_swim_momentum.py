"""The account of momentum between swimmer and water sees a force that only one of them feels."""

from vitruvian.couple import Wading
from vitruvian.verify._swim_momentum import gaps, swim_a_stroke


def test_forces_are_equal_and_opposite_over_a_run_and_one_that_is_too_strong_is_seen(monkeypatch):
    run = swim_a_stroke.__wrapped__
    assert gaps(run(steps=2, cell=0.16)).max() < 1e-9
    receive = Wading.receive
    monkeypatch.setattr(Wading, "receive", lambda self, state, impulses: receive(self, state, 1.05 * impulses))
    assert gaps(run(steps=2, cell=0.16)).min() > 0.01
