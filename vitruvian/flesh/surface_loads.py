"""Loads by their physical names: weight, traction on a skin, and pressure that follows it.

    gravity    f = m g                                     on the nodes
    traction   f = ∫ W t dA over the rest skin             keeps its direction (dead load)
    pressure   f = −Σ triangles p a ∫ W                    a: area vector of the deformed triangle, so p stays normal

A skin is triangles over points that ride in the elements (`embed`): the elements' own surface, or any surface in cut
cells. Each triangle acts at three points of its inside, which integrate the shape functions W on the face of a cell
exactly (Strang and Fix 1973): an even load then gives even stress. A solve holds the forces of pressure while it takes
a Newton step and then takes them anew at the new shape, as it does with contact; it ends when both agree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from vitruvian.errors import InputError
from vitruvian.flesh.checks import number, triangles, vector
from vitruvian.flesh.elements import Elements
from vitruvian.flesh.embedding import Embedding, embed
from vitruvian.flesh.model import FleshModel

Array = np.ndarray
INSIDE = (np.ones((3, 3)) + 3.0 * np.eye(3)) / 6.0  # weights of the corners at the three points: exact to degree two


def gravity(model: FleshModel, acceleration: ArrayLike = (0.0, 0.0, -9.81)) -> Array:
    """Weight of the nodes [N], shape (n_nodes, 3); acceleration: [m/s²]."""
    return model.node_mass[:, None] * vector("flesh gravity", "acceleration", acceleration)


def traction(elements: Elements, vertices: ArrayLike, faces: ArrayLike, pull: ArrayLike) -> Array:
    """Forces on the nodes [N], shape (n_nodes, 3), of an even pull [Pa] (3,) on a skin of the rest body.

    vertices: [m], shape (n, 3); faces: shape (m, 3).
    """
    skin = _skin("flesh traction", elements, vertices, faces)
    size = np.linalg.norm(skin.area_vectors(elements.nodes), axis=1)
    return skin.points.nodal_forces(np.repeat(size / 3.0, 3)[:, None] * vector("flesh traction", "pull", pull))


@dataclass(frozen=True)
class Pressure:
    """Pressure on a skin, which stays normal to it. Built by `pressure_on`."""

    embedding: Embedding  # of the vertices
    points: Embedding  # at which it acts, three in each triangle
    faces: Array  # outward, shape (m, 3)
    pressure: float  # [Pa], positive pushes inward

    def area_vectors(self, x: Array) -> Array:
        """Outward, as long as the triangles are large [m²], shape (m, 3)."""
        a, b, c = (self.embedding.positions(x)[self.faces[:, k]] for k in range(3))
        return 0.5 * np.cross(b - a, c - a)

    def forces(self, x: Array) -> Array:
        """On the nodes [N], shape (n_nodes, 3), with these at x [m]."""
        return self.points.nodal_forces(np.repeat(-self.pressure / 3.0 * self.area_vectors(x), 3, axis=0))


def pressure_on(elements: Elements, vertices: ArrayLike, faces: ArrayLike, pressure: float) -> Pressure:
    """Pressure [Pa] on a skin of the rest body: vertices [m] (n, 3), faces (m, 3) with normals outward."""
    number("flesh pressure", "pressure", pressure)
    return _skin("flesh pressure", elements, vertices, faces, pressure)


def _skin(what: str, elements: Elements, vertices: ArrayLike, faces: ArrayLike, pressure: float = 0.0) -> Pressure:
    at = np.asarray(vertices, float)
    if at.ndim != 2 or at.shape[1] != 3:
        raise InputError(f"{what}: vertices must have shape (n, 3), not {at.shape}")
    corners = triangles(what, faces, len(at))
    inside = np.einsum("qc,mci->mqi", INSIDE, at[corners]).reshape(-1, 3)
    return Pressure(embed(elements, at), embed(elements, inside), corners, pressure)
