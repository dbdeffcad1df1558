"""Tubes along many polylines against their definition: radius, closure, taper."""

import numpy as np
import pytest
import trimesh

from vitruvian.mesh import Tubes
from vitruvian.mesh.tubes import TENDON, spindle_profile


def test_tube_around_a_bent_line_keeps_its_radius_and_closes():
    points = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.5], [1.0, 1.0, 2.0]])
    rings, sides = 40, 16
    tubes = Tubes(np.array([0, 4]), np.array([0.05]), rings=rings, sides=sides, tapered=False)
    vertices, normals = tubes.at(points)
    wall = vertices[: rings * sides].reshape(rings, sides, 3)
    centre = wall.mean(axis=1, keepdims=True)
    assert np.allclose(np.linalg.norm(wall - centre, axis=2), 0.05)
    assert np.allclose(centre[0, 0], points[0])
    assert np.allclose(centre[-1, 0], points[-1])
    assert np.allclose(normals[: rings * sides].reshape(wall.shape), (wall - centre) / 0.05)
    mesh = trimesh.Trimesh(vertices, tubes.faces, process=False)
    assert mesh.is_watertight
    assert mesh.volume > 0.0


def test_each_of_several_lines_has_its_own_radius_and_faces():
    points = np.array([[0, 0, 0], [0, 0, 1], [0, 0, 3], [5, 0, 0], [6, 1, 1]], dtype=float)
    tubes = Tubes(np.array([0, 3, 5]), np.array([0.1, 0.2]), rings=4, sides=64, tapered=False)
    vertices = tubes.at(points)[0].reshape(2, tubes.per_line, 3)
    for line, (radius, length) in enumerate(((0.1, 3.0), (0.2, np.sqrt(3.0)))):
        faces = tubes.faces[len(tubes.faces) // 2 * line :][: len(tubes.faces) // 2] - line * tubes.per_line
        mesh = trimesh.Trimesh(vertices[line], faces, process=False)
        assert mesh.is_watertight
        # A cylinder and the cones that close it.
        assert mesh.volume == pytest.approx(np.pi * radius**2 * (length + 2.0 * 0.4 * radius / 3.0), rel=2e-3)


def test_line_of_equal_points_makes_a_finite_tube():
    vertices, normals = Tubes(np.array([0, 3]), np.array([0.1]), rings=10, sides=6, tapered=False).at(np.zeros((3, 3)))
    assert np.isfinite(vertices).all()
    assert np.isfinite(normals).all()


def test_muscle_is_full_in_the_middle_and_thin_at_its_tendons():
    profile = spindle_profile(41)
    assert profile[20] == pytest.approx(1.0)
    assert profile[0] == profile[-1] == TENDON
    assert np.allclose(profile, profile[::-1])
