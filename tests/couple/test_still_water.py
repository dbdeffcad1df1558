"""Still water against closed forms."""

import numpy as np
import pytest

from vitruvian.couple import StillWater
from vitruvian.mesh import box, sphere


def _on(shape, velocity=(0.0, 0.0, 0.0), lift=0.0, water=None):
    vertices, faces = shape
    x = np.asarray(vertices, float) + np.array([0.3, -0.2, lift])
    v = np.broadcast_to(np.asarray(velocity, float), x.shape).copy()
    links = np.zeros(len(faces), np.int64)
    return x, (water or StillWater()).forces(x, v, np.asarray(faces), links, 1)


@pytest.mark.parametrize("lift", [-1.0, 0.0, 0.1])
def test_lift_is_the_weight_of_displaced_water(lift):
    radius = 0.2
    _, found = _on(sphere(radius, subdivisions=5), lift=lift)
    depth = min(max(radius - lift, 0.0), 2 * radius)
    volume = np.pi * depth**2 * (3 * radius - depth) / 3
    np.testing.assert_allclose(found.lift[0, 3:], [0, 0, 1000 * 9.81 * volume], rtol=2e-3, atol=1e-6)
    centre = np.array([0.3, -0.2, 0.0])
    moment = np.cross(centre, found.lift[0, 3:])
    np.testing.assert_allclose(found.lift[0, :2], moment[:2], atol=1e-6 * abs(found.lift[0, 5]))
    assert found.drag.max() == found.drag.min() == 0.0


def test_a_box_that_cuts_the_surface_displaces_its_wet_part_exactly():
    _, found = _on(box((0.4, 0.3, 0.2)), lift=0.03)
    assert found.lift[0, 5] == pytest.approx(1000 * 9.81 * 0.4 * 0.3 * 0.07, rel=1e-12)


def test_drag_is_that_of_the_advancing_face():
    """f = -rho A v^2 on the front of a box, nothing on its back and sides."""
    _, found = _on(box((0.4, 0.3, 0.2)), velocity=(0.0, -1.5, 0.0), lift=-1.0)
    np.testing.assert_allclose(found.drag.sum(axis=0), [0, 1000 * 0.4 * 0.2 * 1.5**2, 0], atol=1e-9)


def test_damping_is_the_derivative_of_the_drag():
    shape, v, h = sphere(0.2, subdivisions=2), np.array([0.4, -1.0, 0.3]), 1e-6
    x, found = _on(shape, v, lift=-1.0)
    for axis in range(3):
        step = np.zeros(3)
        step[axis] = h
        change = (_on(shape, v + step, -1.0)[1].drag - _on(shape, v - step, -1.0)[1].drag) / (2 * h)
        np.testing.assert_allclose(-found.damping[0, 3:, 3 + axis], change.sum(axis=0), atol=1e-4)
        moment = np.cross(x, change).sum(axis=0)
        np.testing.assert_allclose(-found.damping[0, :3, 3 + axis], moment, atol=1e-4)
