"""Fewer triangles, the same closed shape."""

import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.mesh import decimated, mesh_volume, sphere, topology


def test_a_decimated_sphere_stays_closed_and_keeps_its_volume():
    vertices, faces = sphere(0.2, subdivisions=4)
    fewer, triangles = decimated(vertices, faces, 400)
    topology(triangles, len(fewer), "sphere")  # raises if an edge were open
    assert len(triangles) <= 400
    assert mesh_volume(fewer, triangles) == pytest.approx(4.0 / 3.0 * np.pi * 0.2**3, rel=0.04)
    assert np.abs(np.linalg.norm(fewer, axis=1) - 0.2).max() < 0.012


def test_too_few_triangles_are_refused():
    vertices, faces = sphere(0.2, subdivisions=1)
    with pytest.raises(InputError, match="at least 4"):
        decimated(vertices, faces, 3)
