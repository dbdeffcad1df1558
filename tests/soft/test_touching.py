"""Skin that meets itself."""

import numpy as np
import pytest

from vitruvian.anatomy.characters import character, soft_body
from vitruvian.couple.soft_body import SoftBody
from vitruvian.flesh.posed.touching import DAMPER, SPRING, add_touching, touching_product
from vitruvian.scenes.kick_momentum import kick

FREE = {"ground": None, "gravity": (0.0, 0.0, 0.0)}


@pytest.fixture(scope="module")
def mascot():
    return character("mascot")


@pytest.fixture(scope="module")
def folded(mascot):
    """A pose of the kick in which arm and trunk overlap."""
    return kick(mascot, 0.0)[0].sample(0.84)[0]


def pushed(body: SoftBody, x: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, int]:
    force = np.zeros_like(x)
    return force, add_touching(body.flesh, body.touch, x, u, 0.004, body.room.pair, body.room.grip, force)


def test_what_is_apart_does_not_meet(mascot):
    body = soft_body(mascot, self_contact=True, **FREE)
    assert body.overlap(body.start(mascot.standing_q)) == (0, 0.0)


def test_both_sides_get_the_same_force(mascot, folded):
    body = soft_body(mascot, self_contact=True, **FREE)
    state = body.start(folded)
    u = 0.3 * np.random.default_rng(0).normal(size=state.x.shape)
    force, count = pushed(body, state.x, u)
    assert count > 10
    assert np.abs(force).max() > 1.0
    np.testing.assert_allclose(force.sum(axis=0), 0.0, atol=1e-10)
    np.testing.assert_allclose(np.cross(state.x, force).sum(axis=0), 0.0, atol=1e-10)


def test_the_slopes_are_those_of_the_forces(mascot, folded):
    """The damper's part of them, as a velocity changes the force; springs have the same pattern."""
    body, h = soft_body(mascot, self_contact=True, **FREE), 0.004
    x, p = body.start(folded).x, np.random.default_rng(1).normal(size=(len(body.flesh.mass), 3))
    _, count = pushed(body, x, 0.0 * x)
    found = np.zeros_like(x)
    touching_product(body.flesh, body.touch, body.room.pair[:count], body.room.grip[:count], p, found)
    small = 1e-6
    ahead, behind = (pushed(body, x, s * p)[0] for s in (small, -small))
    damper = DAMPER / (SPRING * h + DAMPER) * found
    np.testing.assert_allclose(-h * (ahead - behind) / (2.0 * small), damper, atol=1e-5 * np.abs(damper).max())
    assert (p * found).sum() > 0.0


@pytest.mark.parametrize(("implicit", "dt"), [(True, 0.004), (False, 0.0005)])
def test_limbs_are_pushed_apart_and_no_momentum_is_made(mascot, folded, implicit, dt):
    ends = {}
    looking = soft_body(mascot, self_contact=True, **FREE)
    for contact in (False, True):
        body = soft_body(mascot, self_contact=contact, **FREE)
        state = body.start(folded)
        for _ in range(round(0.06 / dt)):
            body.step(state, folded, np.zeros(mascot.skeleton.n_v), dt, implicit=implicit)
        ends[contact] = looking.overlap(state)[0]
        np.testing.assert_allclose(body.momentum(state)[3:], 0.0, atol=1e-6)
    assert ends[True] < 0.7 * ends[False]
