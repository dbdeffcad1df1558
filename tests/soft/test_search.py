"""Searches: the same result wherever and however often it is begun."""

import numpy as np
import pytest

from vitruvian.anatomy.characters import character
from vitruvian.control.search import Reference
from vitruvian.control.search.actors import RigidActor
from vitruvian.control.search.policy import COUNT, Policy, feedback, strides
from vitruvian.control.search.samples import Control, Trying, search, wanted_stand
from vitruvian.errors import InputError
from vitruvian.exchange import read_trial
from vitruvian.measured.retarget import retargeted
from vitruvian.skeleton import integrate

TINY = Trying(samples=12, kept=4, seed=3)


@pytest.fixture(scope="module")
def actor():
    return RigidActor(character("mascot"))


@pytest.fixture(scope="module")
def run(actor):
    return retargeted(read_trial("run"), actor.who, loop=True).smoothed(0.015)


def same(a, b):
    np.testing.assert_array_equal(a.offsets, b.offsets)
    np.testing.assert_array_equal(a.costs, b.costs)


def test_a_run_loops_smoothly(run):
    np.testing.assert_allclose(run.sample(run.seconds)[0][3:], run.q[0, 3:], atol=1e-9)
    np.testing.assert_allclose(run.sample(2.0 * run.seconds + 0.1)[0][:3], run.sample(0.1)[0][:3] + 2.0 * run.way)
    jumps = np.abs(np.diff(np.concatenate([run.steps, run.steps[:1]]), axis=0)).max()
    assert jumps < 0.06  # [rad] in a hundredth of a second


def test_a_rigid_mascot_stands(actor):
    q = actor.who.bind_q
    still = Reference(actor.who.skeleton, 1.0, np.stack([q] * 3))
    state = actor.begin(q, np.zeros(actor.who.skeleton.n_v))
    before = actor.stand(state).centre
    state = actor.go(state, still, 0.0, 0.6, 0.6, np.zeros(actor.who.skeleton.n_v))
    assert np.linalg.norm(actor.stand(state).centre - before) < 0.02


def test_a_stopped_search_goes_on_to_the_same_end(actor, run, tmp_path):
    whole = search(actor, run, 0.3, TINY, start=0.3)
    kept = search(actor, run, 0.3, TINY, start=0.3, keep=tmp_path / "s")
    same(whole, kept)
    (tmp_path / "s" / "window-2.npz").unlink()  # as if it had been killed in the last window
    (tmp_path / "s" / "draft.npz").write_bytes(b"half a file")
    same(whole, search(actor, run, 0.3, TINY, start=0.3, keep=tmp_path / "s"))
    with pytest.raises(InputError, match="another search"):
        search(actor, run, 0.3, Trying(samples=12, kept=4, seed=4), start=0.3, keep=tmp_path / "s")


def test_samples_find_better_than_none(actor, run):
    none = search(actor, run, 0.3, Trying(samples=4, kept=4), start=0.3)
    some = search(actor, run, 0.3, Trying(samples=60, kept=10), start=0.3)
    assert some.costs[-1] < 0.8 * none.costs[-1]
    assert not none.offsets.any()


def test_time_is_sampled_where_asked(actor, run):
    found = search(actor, run, 0.2, Trying(samples=40, kept=4, time_scaling=0.2), start=0.3)
    assert (np.abs(found.factors - 1.0) <= 0.2).all()
    assert found.seconds == pytest.approx(0.1 * found.factors.sum())


def test_files_read_as_they_were_written(actor, run, tmp_path):
    found = search(actor, run, 0.2, TINY, start=0.3)
    found.write(tmp_path / "c.json")
    back = Control.read(tmp_path / "c.json")
    np.testing.assert_allclose(back.offsets, found.offsets, atol=1e-5)
    policy = Policy(found, np.arange(COUNT) / 7.0, 0.3)
    policy.write(tmp_path / "p.json")
    np.testing.assert_allclose(Policy.read(tmp_path / "p.json").gains, policy.gains, atol=1e-6)
    (tmp_path / "x.json").write_text("{}")
    for kind in (Control, Policy):
        with pytest.raises(InputError, match="is not a"):
            kind.read(tmp_path / "x.json")


def test_feedback_vanishes_on_the_reference_and_leans_against_a_lean(actor, run):
    s, gains = run.skeleton, np.ones(COUNT)
    wanted = wanted_stand(actor, run, 0.4)
    assert np.abs(feedback(s, gains, wanted, wanted, False)).max() < 1e-9
    q = integrate(s, wanted.q, np.eye(s.n_v)[0] * 0.1)
    now = actor.stand(actor.begin(q, wanted.v))
    found = feedback(s, gains, now, wanted, False)
    assert np.abs(found[s.v_start[s.index("thigh_l")]]) > 0.05
    up, _ = strides(actor, run, Policy(search(actor, run, 0.2, TINY, start=0.3), np.zeros(COUNT), 0.3), 0.3)
    assert 0.0 < up <= 0.31
