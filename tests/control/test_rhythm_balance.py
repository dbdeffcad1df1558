"""All muscles chosen together for what is asked of limbs, spine and head."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from vitruvian.anatomy import human
from vitruvian.control.rhythm import StrokeMotion, load_stroke
from vitruvian.control.rhythm.balance import BalanceGains, BodyBalance, _descend
from vitruvian.couple import BodyStepper

DT = 1.0 / 96.0


@pytest.fixture(scope="module")
def body():
    return human(gravity=(0.0, 0.0, 0.0))


def test_the_descent_finds_the_bounded_least_squares():
    rng = np.random.default_rng(3)
    R, t = rng.normal(size=(40, 12)), 6.0 * rng.normal(size=12)
    a, left = np.full(40, 0.5), np.empty(12)
    _descend(R, t, 0.5, 5000, 1e-12, a, left)
    rows = np.vstack([R.T, np.sqrt(0.5) * np.eye(40)])
    best = lsq_linear(rows, np.concatenate([t, np.zeros(40)]), (0.0, 1.0), tol=1e-14).x
    assert ((best > 1e-6) & (best < 1 - 1e-6)).any()
    assert (best < 1e-6).any()
    assert (best > 1 - 1e-6).any()
    assert np.abs(a - best).max() < 1e-5
    assert np.abs(left - (R.T @ a - t)).max() < 1e-9


def test_what_is_asked_within_strength_is_what_the_step_does(body):
    """A body at rest is asked to bend its elbows and its back; nothing holds the pelvis."""
    balance = BodyBalance(body, BalanceGains(softness=1e-2))
    s = body.skeleton
    q, v = body.default_q, np.zeros(s.n_v)
    wanted = np.zeros(s.n_v)
    for bone, turn in (("Ul_l", 3.0), ("Ul_r", 3.0), ("L3", 0.5), ("T8", 0.5), ("Tfp_l", 2.0)):
        wanted[s.v_slice(bone).start] = turn
    wanted = wanted[balance.rows]
    activation = np.full(body.muscles.n_muscles, 0.02)
    for _ in range(40):
        activation, lack = balance.activations(q, v, activation, wanted, DT)
    after = BodyStepper(s, body.muscles).step(q, v, activation, DT)[1]
    assert np.abs(lack).max() < 0.1  # N m
    assert np.abs(after[balance.rows] / DT - wanted).max() < 0.1
    assert activation.min() >= 0.0
    assert activation.max() <= 1.0


def test_the_first_rib_is_held_against_the_girdle(body):
    """It carries the clavicle: muscles that hold an arm throw it about unless it is asked to stay."""
    s = body.skeleton
    q = StrokeMotion(body, load_stroke("crawl"), 0.5).at(0.3)[0]
    v, wrench = np.zeros(s.n_v), np.zeros((s.n_bones, 6))
    wrench[s.index("Ha_l"), 3:] = [0.0, -15.0, 0.0]
    thrown = []
    for asked in (True, False):
        balance, activation = BodyBalance(body), np.zeros(body.muscles.n_muscles)
        if not asked:
            balance.rows = np.array([r for r, name in zip(balance.rows, balance.names) if not name.startswith("Rb")])
        for _ in range(10):
            activation, _ = balance.activations(q, v, activation, np.zeros(len(balance.rows)), DT, wrench=wrench)
        after = BodyStepper(s, body.muscles).step(q, v, activation, DT, wrench=wrench)[1] / DT
        thrown.append(abs(after[s.v_slice("Rb1")][0]))  # [rad/s^2]
    assert thrown[0] < 0.5 * thrown[1], thrown


def test_a_push_of_the_water_is_met(body):
    """With a push on the hand felt, the hand stays; unfelt, it gives way."""
    balance = BodyBalance(body, BalanceGains(softness=1e-3))
    s = body.skeleton
    q = StrokeMotion(body, load_stroke("crawl"), 0.5).at(0.3)[0]
    v, asked = np.zeros(s.n_v), np.zeros(len(balance.rows))
    wrench = np.zeros((s.n_bones, 6))
    wrench[s.index("Ha_l"), 3:] = [0.0, -15.0, 0.0]
    elbow = s.v_slice("Ul_l").start
    turned = []
    for felt in (wrench, None):
        activation = np.zeros(body.muscles.n_muscles)
        for _ in range(10):
            activation, _ = balance.activations(q, v, activation, asked, DT, wrench=felt)
        after = BodyStepper(s, body.muscles).step(q, v, activation, DT, wrench=wrench)[1]
        turned.append(abs(after[elbow]) / DT)
    assert turned[0] < 0.1 * turned[1]
