import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.muscle import CurvedHill, LinearHill, SpringMuscle, force_laws, tension

ELEMENTS = [
    LinearHill(500.0, 0.2),
    LinearHill(500.0, 0.2, passive=False),
    CurvedHill(50.0, 1.0, k_pe=50.0, b_pe=10.0, v_max=10.0),
    SpringMuscle(1.0, k_active=50.0, k_passive=50.0, damping=5.0),
]


def evaluate(element, a, l, rate):
    n = np.broadcast(a, l, rate).size
    full = [np.broadcast_to(np.asarray(x, dtype=float), n).copy() for x in (a, l, rate)]
    return tension(force_laws(["m"] * n, [element] * n), *full)


@pytest.mark.parametrize("element", ELEMENTS, ids=lambda e: type(e).__name__)
def test_slopes_of_every_force_law_equal_finite_differences(element):
    rng = np.random.default_rng(1)
    l0 = element.rest_length
    a, l, v = rng.uniform(0, 1, 400), rng.uniform(0.4, 1.6, 400) * l0, rng.uniform(-4, 4, 400) * l0
    at, h = evaluate(element, a, l, v), 1e-6
    for k, slope in enumerate((at.capacity, at.stiffness, at.damping)):
        step = [h * (k == i) * (1.0 if i == 0 else l0) for i in range(3)]
        up = evaluate(element, a + step[0], l + step[1], v + step[2]).force
        down = evaluate(element, a - step[0], l - step[1], v - step[2]).force
        numeric = (up - down) / (2 * step[k])
        error = np.abs(slope - numeric) / (1.0 + np.abs(numeric))
        assert np.median(error) < 1e-6
        assert np.mean(error > 1e-4) < 0.02, "only kinks may differ"


@pytest.mark.parametrize("element", ELEMENTS, ids=lambda e: type(e).__name__)
def test_a_muscle_never_pushes(element):
    rng = np.random.default_rng(2)
    l0 = element.rest_length
    out = evaluate(element, rng.uniform(0, 1, 2000), rng.uniform(0, 2, 2000) * l0, rng.uniform(-20, 20, 2000) * l0)
    assert out.force.min() >= 0.0
    assert out.passive.min() >= 0.0


def test_linear_hill_passes_through_its_anchor_points():
    m = LinearHill(500.0, 0.2)
    assert evaluate(m, 1.0, 0.2, 0.0).force[0] == pytest.approx(500.0)  # rest length, isometric
    assert evaluate(m, 1.0, 0.06, 0.0).force[0] == pytest.approx(0.0)  # shortest length, 0.3 l0
    assert evaluate(m, 1.0, 0.2, -1.6).capacity[0] == pytest.approx(0.0)  # fastest shortening, 8 l0/s
    assert evaluate(m, 0.0, 0.2, 0.0).force[0] == 0.0
    assert evaluate(m, 0.0, 0.3, 0.0).force[0] == pytest.approx(0.005 * 500 * (np.exp(3.0) - 1))
    assert evaluate(m, 0.0, 10.0, 0.0).force[0] == pytest.approx(500.0)  # passive force at most F_max


def test_curved_hill_has_the_published_force_length_and_force_velocity_curves():
    m = CurvedHill(50.0, 1.0, k_pe=50.0, b_pe=10.0, v_max=10.0)
    assert evaluate(m, 1.0, np.array([0.5, 0.75, 1.0, 1.25, 1.5]), 0.0).capacity == pytest.approx(
        [0, 37.5, 50, 37.5, 0]
    )
    v = np.array([0.0, -2.5, -10.0, -20.0])  # of v_max: 0, 1/4, 1, 2
    assert evaluate(m, 1.0, 1.0, v).capacity / 50 == pytest.approx([1.0, (0.25 - 0.0625) / 0.5, 0.0, 0.0])


def test_negative_cross_section_is_refused():
    with pytest.raises(InputError, match=r"PCSA must be positive, got -0\.0003"):
        LinearHill.from_pcsa(-3e-4, 0.1)
