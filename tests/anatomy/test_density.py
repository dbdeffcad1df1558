"""Mass and volume of the whole body."""

import numpy as np
import pytest

from vitruvian.anatomy import LUNGS, balanced, bound_skin, breathing_skin, buoyancy, human
from vitruvian.errors import InputError


@pytest.fixture(scope="module")
def body():
    return human()


@pytest.fixture(scope="module")
def skin(body):
    return bound_skin(body)


def test_lungs_decide_the_density(body, skin):
    found = {lungs: buoyancy(body, breathing_skin(body, skin, lungs)) for lungs in LUNGS}
    assert found["normal"].density == pytest.approx(980.0, abs=0.1)
    assert 940.0 < found["full"].density < 970.0
    assert 1015.0 < found["empty"].density < 1030.0
    # air lies in the chest: it moves the centre of volume towards the head
    assert found["full"].centre_of_volume[2] > found["empty"].centre_of_volume[2] + 0.01


def test_a_balanced_trunk_keeps_the_mass_and_floats_level(body, skin):
    trimmed = balanced(body, skin)
    assert trimmed.skeleton.mass == pytest.approx(body.skeleton.mass)
    before, after = (buoyancy(b, breathing_skin(b, skin)) for b in (body, trimmed))
    lever = [b.centre_of_volume[2] - b.centre_of_mass[2] for b in (before, after)]
    assert 0.0 < lever[1] < 0.020 < lever[0]  # people have 10 to 20 mm


def test_weights_are_smooth_bounded_and_sum_to_one(skin):
    w = skin.dense_weights()
    assert w.min() >= 0.0
    np.testing.assert_allclose(w.sum(axis=1), 1.0, atol=1e-12)
    edge = skin.faces[:, :2]
    jump = np.abs(w[edge[:, 0]] - w[edge[:, 1]]).max(axis=1)
    assert np.percentile(jump, 99.0) < 0.35  # between neighbouring vertices, 20 mm apart


def test_unknown_lungs_are_told(body, skin):
    with pytest.raises(InputError, match="lungs"):
        breathing_skin(body, skin, "half")
