"""A spline joint that loses a degree of freedom anywhere is refused, however narrow the place; a regular one is not."""

import re

import numpy as np
import pytest
from scipy.interpolate import BSpline

from vitruvian.errors import InputError
from vitruvian.skeleton import joints
from vitruvian.spatial import rotation_about, transform

DOMAIN = [(-1.0, 1.0), (-1.0, 1.0)]


def place(error):
    return np.array([float(x) for x in re.search(r"q = \(?([^);]*)", str(error.value)).group(1).split(",")])


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("pitch", [0.0, 0.02])
def test_a_curve_that_turns_back_at_a_random_place_is_refused(seed, pitch):
    rng = np.random.default_rng(seed)
    rising, falling = rng.uniform(0.1, 0.3, rng.integers(3, 6)), -rng.uniform(0.1, 0.3, rng.integers(3, 6))
    angles = np.cumsum(np.concatenate([rising, falling]))
    axis = np.array([0.48, 0.6, 0.64])
    joint = joints.CurveSpline([transform(rotation_about(axis, a), pitch * a * axis) for a in angles])
    with pytest.raises(InputError, match="bone 'arm': the Jacobian of the curve spline joint vanishes") as error:
        joint.check("arm")
    angle = BSpline(joint.spline.knots, angles, 3)
    low, high = joint.spline.domain
    at = np.linspace(low, high, 200_001)
    assert place(error)[0] == pytest.approx(at[np.argmax(angle(at))], abs=1e-4)


def test_a_closed_curve_that_swings_to_and_fro_is_refused():
    angles = 0.5 * np.sin(2.0 * np.pi * (np.arange(9) + 0.137) / 9)
    joint = joints.CurveSpline([transform(rotation_about((1, 0, 0), a)) for a in angles], periodic=True)
    with pytest.raises(InputError, match="vanishes"):
        joint.check("arm")


def test_a_curve_that_turns_back_about_one_axis_but_goes_on_about_another_is_accepted():
    angles = (0.0, 0.3, 0.6, 0.9, 0.7, 0.4, 0.1)
    frames = [
        transform(rotation_about((1, 0, 0), a) @ rotation_about((0, 0, 1), 0.05 * k)) for k, a in enumerate(angles)
    ]
    joints.CurveSpline(frames).check("arm")


def surface(maps, m=7):
    """A spline joint that translates by three quadratic functions of (q_1, q_2), which a cubic spline holds exactly."""
    knots = joints.SurfaceSpline(np.zeros((6, m, m)), DOMAIN).knots[0]
    at = np.linspace(-1.0, 1.0, 3 * m)
    inverse = np.linalg.pinv(BSpline.design_matrix(at, knots, 3).toarray())
    controls = np.zeros((6, m, m))
    for axis, values in enumerate(maps(*np.meshgrid(at, at, indexing="ij"))):
        controls[axis] = inverse @ values @ inverse.T
    return joints.SurfaceSpline(controls, DOMAIN)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("scale", [1.0, 1e-3])
def test_a_surface_that_loses_rank_in_a_single_point_is_refused(seed, scale):
    c = np.random.default_rng(seed).uniform(-0.95, 0.95, 2)
    # a Whitney umbrella: of rank one in c alone, of rank two everywhere else
    joint = surface(lambda x, y: (scale * (x - c[0]), scale * (y - c[1]) ** 2, scale * (x - c[0]) * (y - c[1])))
    with pytest.raises(InputError, match="bone 'arm': the Jacobian of the spline joint loses rank") as error:
        joint.check("arm")
    np.testing.assert_allclose(place(error), c, atol=1e-5)


@pytest.mark.parametrize("seed", range(10))
def test_a_surface_that_stands_still_in_a_single_point_is_refused(seed):
    c = np.random.default_rng(seed).uniform(-0.95, 0.95, 2)
    # z² in the complex plane
    joint = surface(lambda x, y: ((x - c[0]) ** 2 - (y - c[1]) ** 2, 2.0 * (x - c[0]) * (y - c[1]), 0.0 * x))
    with pytest.raises(InputError, match="loses rank") as error:
        joint.check("arm")
    np.testing.assert_allclose(place(error), c, atol=1e-5)


def test_a_surface_whose_coordinates_do_the_same_is_refused():
    with pytest.raises(InputError, match="loses rank"):
        surface(lambda x, y: (x + y, 0.3 * (x + y), 0.0 * x)).check("arm")


def test_a_regular_surface_is_accepted_whatever_the_units_of_its_coordinates():
    surface(lambda x, y: (1e-4 * x, y + 0.2 * x**2, x * y)).check("arm")
    surface(lambda x, y: (x, 1e-7 * y, 0.0 * x)).check("arm")
