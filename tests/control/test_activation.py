import numpy as np
import pytest
from scipy.optimize import lsq_linear, minimize

from vitruvian.control import ActivationSolver
from vitruvian.control.activation import TorqueMap
from vitruvian.control.coactivation import Warm, activate, by_region, muscle_parts
from vitruvian.errors import InputError


def problem(seed, n=6, m=24):
    rng = np.random.default_rng(seed)
    R = rng.normal(size=(n, m)) * (rng.random((n, m)) < 0.7) * 20
    truth = rng.uniform(0, 0.8, m) * (rng.random(m) < 0.6)
    return R, R @ truth, truth, rng.uniform(0.5, 2.0, m)


@pytest.mark.parametrize("upper", [None, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_activations_are_the_optimum_that_scipy_finds(seed, upper):
    R, torque, truth, w = problem(seed)
    found = ActivationSolver(upper=upper).solve(TorqueMap.from_dense(R), torque, w)
    peer = minimize(
        lambda a: 0.5 * (w * a) @ (w * a),
        truth,
        jac=lambda a: w**2 * a,
        bounds=[(0, upper)] * len(w),
        constraints={"type": "eq", "fun": lambda a: R @ a - torque, "jac": lambda a: R},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )
    assert found.exact
    assert np.abs(found.residual).max() < 1e-8
    assert 0.5 * np.sum((w * found.activation) ** 2) == pytest.approx(peer.fun, rel=1e-6)
    assert found.activation == pytest.approx(peer.x, abs=1e-5)


def test_optimality_conditions_hold_to_round_off():
    R, torque, _, w = problem(9, 12, 60)
    s = ActivationSolver(upper=1.0).solve(TorqueMap.from_dense(R), torque, w)
    slope = w**2 * s.activation - R.T @ s.multiplier  # gradient of the Lagrangian
    inside = (s.activation > 0) & (s.activation < 1)
    assert np.abs(slope[inside]).max() < 1e-8
    assert slope[s.activation == 0].min() > -1e-8
    assert np.all(slope[s.activation == 1] < 1e-8)


def test_torque_out_of_reach_gives_least_squares_and_names_the_joint():
    R, _, _, _w = problem(3)
    names = [f"joint {i}" for i in range(6)]
    torque = R.clip(0).sum(axis=1) * 3
    s = ActivationSolver(upper=1.0).solve(TorqueMap.from_dense(R), torque)
    best = lsq_linear(R, torque, (0, 1), tol=1e-14)
    assert not s.exact
    assert np.linalg.norm(s.residual) == pytest.approx(np.linalg.norm(R @ best.x - torque), rel=1e-6)
    name, missing = s.short(names)[0]
    assert name == names[np.argmax(np.abs(s.residual))]
    assert abs(missing) == pytest.approx(np.abs(s.residual).max())


def test_warm_start_needs_fewer_steps():
    R, torque, _, w = problem(5, 40, 200)
    map_, solver = TorqueMap.from_dense(R), ActivationSolver()
    cold = solver.solve(map_, torque, w)
    warm = solver.solve(map_, torque * 1.001, w, cold.multiplier)
    assert warm.iterations < cold.iterations


@pytest.mark.parametrize("parts", [False, True])
def test_coactivation_adds_no_torque(parts):
    R, torque, _, w = problem(7, 8, 60)
    map_ = TorqueMap.from_dense(R)
    gamma = np.linspace(0, 1, 60) if parts else 0.7
    tone = activate(ActivationSolver(upper=None), map_, torque, gamma, w, Warm())
    assert np.abs(map_.torques(tone.added)).max() < 1e-8 * np.abs(torque).max()
    assert np.abs(map_.torques(tone.activation) - torque).max() < 1e-8 * np.abs(torque).max()
    assert tone.added.min() >= 0.0
    assert tone.added.sum() > 0.0


@pytest.mark.parametrize("gamma", [0.2, 5.0])
def test_coactivation_fills_the_room_below_full_activation_and_no_more(gamma):
    R, torque, _, w = problem(7, 8, 60)
    map_, solver = TorqueMap.from_dense(R), ActivationSolver(upper=1.0)
    alone = solver.solve(map_, torque, w).activation
    tone = activate(solver, map_, torque, gamma, w, Warm())
    assert tone.agonist.exact
    assert map_.torques(tone.activation) == pytest.approx(torque, abs=1e-7 * np.abs(torque).max())
    free = activate(ActivationSolver(upper=None), map_, map_.torques(alone), gamma, w, Warm())
    if gamma == 0.2 and (alone + free.added).max() <= 1.0:
        assert tone.share == 1.0
    else:
        assert 0.0 < tone.share < 1.0
        assert tone.activation.max() == pytest.approx(1.0, abs=1e-12)  # the fullest muscle is just full
    assert tone.activation.max() <= 1.0 + 1e-12


def test_a_muscle_that_gives_all_it_has_leaves_no_room_for_coactivation():
    R = np.array([[1.0, -1.0]])
    tone = activate(ActivationSolver(upper=1.0), TorqueMap.from_dense(R), np.array([1.0]), 1.0, np.ones(2), Warm())
    assert tone.share == pytest.approx(0.0, abs=1e-6)
    assert tone.activation == pytest.approx([1.0, 0.0], abs=1e-6)
    half = activate(ActivationSolver(upper=1.0), TorqueMap.from_dense(R), np.array([0.8]), 1.0, np.ones(2), Warm())
    assert half.share == pytest.approx(0.25)  # 0.8 + c (0.8 + 0) <= 1
    assert half.activation == pytest.approx([1.0, 0.2])


def test_by_region_gives_the_same_torque():
    rng = np.random.default_rng(11)
    R = rng.normal(size=(9, 70))
    R[3:6, 20:] = 0.0  # limb 1: rows 3-5, muscles 0-19, which also pull on the trunk
    R[6:9, :20] = 0.0
    R[6:9, 40:] = 0.0  # limb 2: rows 6-8, muscles 20-39
    row_part = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])
    map_, torque = TorqueMap.from_dense(R), rng.normal(size=9)
    assert set(muscle_parts(map_, row_part)) == {0, 1, 2}
    a = by_region(ActivationSolver(upper=None), map_, torque, row_part, np.array([0.0, 0.5, 1.0]), np.ones(70), {})
    assert R @ a == pytest.approx(torque, abs=1e-7)
    assert a.min() >= 0.0


def test_by_region_stays_below_full_activation_too():
    rng = np.random.default_rng(11)
    R = rng.normal(size=(4, 40))
    R[2:, 20:] = 0.0
    map_, warm = TorqueMap.from_dense(R), {}
    torque = R @ rng.uniform(0.0, 0.3, 40)
    a = by_region(ActivationSolver(), map_, torque, np.array([0, 0, 1, 1]), np.array([9.0, 9.0]), np.ones(40), warm)
    assert R @ a == pytest.approx(torque, abs=1e-7)
    assert 0.9 < a.max() <= 1.0 + 1e-12
    assert min(w.share for w in warm.values()) < 1.0


def test_negative_coactivation_is_refused():
    R, torque, _, w = problem(1)
    with pytest.raises(InputError, match="coactivation must not be negative"):
        activate(ActivationSolver(), TorqueMap.from_dense(R), torque, -0.1, w, Warm())
