import numpy as np
import pytest
from scipy.interpolate import BSpline

from vitruvian.errors import InputError
from vitruvian.spatial import basis, open_knots, periodic_knots, uniform_knots
from vitruvian.spatial.bspline import check_knots, wrap_controls


@pytest.mark.parametrize("order", [4, 5, 7])
def test_basis_and_derivatives_equal_scipy(order):
    rng = np.random.default_rng(order)
    knots = open_knots([0.0, 1.0, 2.5, 3.0, 5.0], order)
    controls = rng.normal(size=len(knots) - order)
    curve = BSpline(knots, controls, order - 1)
    for x in (0.0, 0.3, 1.0, 2.7, 4.9, 5.0):
        first, values = basis(knots, order, x)
        for d in range(3):
            assert values[d] @ controls[first : first + order] == pytest.approx(curve(x, nu=d), abs=1e-12)


def test_periodic_spline_joins_itself_with_two_derivatives():
    knots = periodic_knots([0.0, 0.7, 1.5, 3.0, 3.5, 4.0], 4)
    controls = wrap_controls(np.random.default_rng(0).normal(size=5), 4)
    ends = []
    for x in (0.0, 4.0 - 1e-13):
        first, values = basis(knots, 4, x)
        ends.append(values @ controls[first : first + 4])
    assert np.allclose(ends[0], ends[1], atol=1e-10)


def test_uniform_knots_have_the_domain_asked_for():
    knots = uniform_knots(9, 4, -1.0, 2.0)
    assert knots[3] == pytest.approx(-1.0)
    assert knots[9] == pytest.approx(2.0)


def test_bad_knots_are_refused():
    for knots, message in (
        ([0, 1, 2, 3, 3, 4, 5, 6], "ascend"),
        ([0, 1, 2, np.nan, 4, 5, 6, 7], "finite"),
        ([0, 1], "8 knots"),
    ):
        with pytest.raises(InputError, match=message):
            check_knots(np.array(knots, dtype=float), 4, 4, "spline")
    with pytest.raises(InputError, match="order 3"):
        check_knots(np.arange(9.0), 6, 3, "spline")
