"""Contact of the embedded skin with the ground and simple shapes, by penalty.

Each skin vertex that is a depth d inside a shape is pushed out along the shape's normal with k A d, A the vertex's area
and k a stiffness per area and depth. Friction in dynamics is Coulomb's, regularised: a tangential dashpot whose
strength comes from the normal force at the start of the step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numba import njit

from vitruvian.errors import InputError
from vitruvian.flesh.elements import Elements
from vitruvian.flesh.embedding import Embedding, embed

STIFFNESS = 2e7  # [Pa/m]: 5 mm deep under 0.1 MPa


class Shape(Protocol):
    def distance(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Signed distance [m] (n,), positive outside, and its gradient (n, 3)."""
        ...


@dataclass(frozen=True)
class Plane:
    """Everything below the plane is solid."""

    point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)

    def distance(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n = np.asarray(self.normal) / np.linalg.norm(self.normal)
        return (points - np.asarray(self.point)) @ n, np.broadcast_to(n, points.shape)


@dataclass(frozen=True)
class Capsule:
    """A rod with round ends; a sphere when both ends coincide."""

    start: tuple[float, float, float]
    end: tuple[float, float, float]
    radius: float

    def distance(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        a, b = np.asarray(self.start, float), np.asarray(self.end, float)
        axis = b - a
        along = np.clip((points - a) @ axis / max(float(axis @ axis), 1e-300), 0.0, 1.0)
        out = points - a - along[:, None] * axis
        length = np.linalg.norm(out, axis=1)
        return length - self.radius, out / np.maximum(length, 1e-12)[:, None]


@dataclass(frozen=True)
class Box:
    """An axis-aligned block given by centre and half sizes [m]."""

    centre: tuple[float, float, float]
    half: tuple[float, float, float]

    def distance(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        local = points - np.asarray(self.centre)
        q = np.abs(local) - np.asarray(self.half)
        sign = np.where(local >= 0.0, 1.0, -1.0)
        outside = np.maximum(q, 0.0)
        far = np.linalg.norm(outside, axis=1)
        nearest = np.argmax(q, axis=1)
        inner = np.eye(3)[nearest]
        normal = np.where(far[:, None] > 0.0, outside / np.maximum(far, 1e-12)[:, None], inner) * sign
        return far + np.minimum(q.max(axis=1), 0.0), normal


@dataclass(frozen=True)
class ContactSurface:
    """The skin that may touch: embedded vertices with their areas."""

    embedding: Embedding
    areas: np.ndarray  # [m²], shape (n,)


@dataclass(frozen=True)
class Contact:
    """A skin and the shapes it may touch in this step; shapes may be new objects at each step."""

    surface: ContactSurface
    shapes: Sequence[Shape]
    stiffness: float = STIFFNESS  # [Pa/m]
    friction: float = 0.0  # Coulomb coefficient, used in dynamics
    slip: float = 0.01  # [m/s], below which friction sticks viscously


def contact_surface(elements: Elements, vertices: np.ndarray, faces: np.ndarray) -> ContactSurface:
    """Embed a skin [m] for contact."""
    corners = vertices[faces]
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    share = np.bincount(faces.ravel(), np.repeat(area / 3.0, 3), len(vertices))
    if not share.sum() > 0.0:
        raise InputError("flesh contact: the surface has no area")
    return ContactSurface(embed(elements, vertices), share)


@dataclass
class ContactForces:
    """What contact does at one configuration."""

    energy: float  # [J]
    force: np.ndarray  # on the skin vertices [N], shape (n, 3)
    active: np.ndarray  # vertices in touch, shape (m,)
    normal: np.ndarray  # shape (m, 3)
    stiffness: np.ndarray  # [N/m], shape (m,)


def contact_forces(contact: Contact, skin: np.ndarray) -> ContactForces:
    """Push of all shapes on skin vertices at `skin` [m], shape (n, 3). Each vertex feels the shape it is deepest in."""
    depth = np.zeros(len(skin))
    normal = np.zeros((len(skin), 3))
    for shape in contact.shapes:
        distance, gradient = shape.distance(skin)
        deeper = -distance > depth
        depth[deeper] = -distance[deeper]
        normal[deeper] = gradient[deeper]
    active = np.flatnonzero(depth > 0.0)
    k = contact.stiffness * contact.surface.areas[active]
    force = np.zeros_like(skin)
    force[active] = (k * depth[active])[:, None] * normal[active]
    energy = float(0.5 * np.sum(k * depth[active] ** 2))
    return ContactForces(energy, force, active, normal[active], k)


@njit(cache=True)
def add_point_stiffness(data, slots, element, weights, matrix):
    """Add Σ W_a W_b M to the block matrix for embedded points; matrix: M of each point [N/m], shape (n, 3, 3)."""
    for p in range(len(element)):
        for a in range(weights.shape[1]):
            for b in range(weights.shape[1]):
                w = weights[p, a] * weights[p, b]
                d = data[slots[element[p], a, b]]
                for i in range(3):
                    for j in range(3):
                        d[3 * i + j] += w * matrix[p, i, j]
