"""Contact of the embedded skin with the ground and simple shapes, by an augmented Lagrangian.

A skin vertex that is a depth d inside a shape (d < 0 outside) is pushed out along the shape's normal with

    f = max(0, λ + k d),      E = Σ (f² − λ²)/(2k),      λ ← f while d is more than the gap that is allowed

λ is a force that each vertex keeps through a solve, and at its start what the last solve left it to be (`recall`): a
load that is carried already need not be found again. k, a stiffness of contact, decides how fast λ is found and not how
deep the skin lies: when a solve ends no vertex is deeper than `Contact.gap`, and none is pushed by a shape that is
farther than that. λ moves between Newton steps, as the pressures do, and so does friction: Coulomb's, regularised, in
dynamics only. While λ stays, a vertex that is dragged the way u along its shape in a step meets a spring of
μ f/max(u, ε) against it, ε = `slip` dt; a solve ends when that is the force μ f of the f and u that it has found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numba import njit

from vitruvian.errors import InputError
from vitruvian.flesh.checks import number, part, triangles, vector
from vitruvian.flesh.elements import Elements
from vitruvian.flesh.embedding import Embedding, embed

if TYPE_CHECKING:
    from vitruvian.flesh.model import FleshModel
    from vitruvian.flesh.potential import StepMotion

STIFFNESS = 20.0  # of contact, in shear moduli of the tissue over its elements' edge
GAP = 0.01  # allowed, in edges
HARDER, HARDEST = 4.0, 64.0  # by how much k is raised at a time, and in all, where λ is found slowly
SLOW = 0.5  # a depth that falls by less than this from one λ to the next asks for a larger k
RUBBED = 0.05  # by how much friction may be off


class Shape(Protocol):
    def distance(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Signed distance [m] (n,), positive outside, and its gradient (n, 3)."""
        ...


@dataclass(frozen=True)
class Plane:
    """Everything below the plane is solid."""

    point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        vector("flesh contact", "the point of a plane", self.point)
        if not np.linalg.norm(vector("flesh contact", "the normal of a plane", self.normal)) > 0.0:
            raise InputError("flesh contact: the normal of a plane must have a length")

    def distance(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n = np.asarray(self.normal) / np.linalg.norm(self.normal)
        return (points - np.asarray(self.point)) @ n, np.broadcast_to(n, points.shape)


@dataclass(frozen=True)
class Capsule:
    """A rod with round ends; a sphere when both ends coincide."""

    start: tuple[float, float, float]
    end: tuple[float, float, float]
    radius: float

    def __post_init__(self) -> None:
        vector("flesh contact", "the start of a capsule", self.start)
        vector("flesh contact", "the end of a capsule", self.end)
        number("flesh contact", "the radius of a capsule", self.radius, above=0.0)

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

    def __post_init__(self) -> None:
        vector("flesh contact", "the centre of a box", self.centre)
        if not np.all(vector("flesh contact", "half of a box", self.half) > 0.0):
            raise InputError(f"flesh contact: half of a box must be positive, got {self.half!r}")

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
    gap: float | None = None  # depth that is left when a solve ends [m]; a hundredth of an element's edge if left out
    stiffness: float | None = None  # k per area [Pa/m]; from the tissue's own if left out
    friction: float = 0.0  # Coulomb coefficient, used in dynamics
    slip: float = 0.01  # [m/s], below which friction sticks viscously

    def __post_init__(self) -> None:
        if not isinstance(self.surface, ContactSurface):
            raise InputError(f"flesh contact: surface must be a ContactSurface, not {type(self.surface).__name__}")
        if not isinstance(self.shapes, (list, tuple)):
            raise InputError(f"flesh contact: shapes must be a list or tuple, not {type(self.shapes).__name__}")
        for shape in self.shapes:
            part("flesh contact", "each of shapes", shape, "Plane, Capsule, Box or the like", "distance")
        for name in ("gap", "stiffness"):
            if getattr(self, name) is not None:
                number("flesh contact", name, getattr(self, name), above=0.0)
        number("flesh contact", "friction", self.friction, least=0.0)
        number("flesh contact", "slip", self.slip, above=0.0)


def contact_surface(elements: Elements, vertices: np.ndarray, faces: np.ndarray) -> ContactSurface:
    """Embed a skin [m] for contact."""
    vertices = np.asarray(vertices, float)
    if vertices.ndim != 2 or vertices.shape[1] != 3:
        raise InputError(f"flesh contact: vertices must have shape (n, 3), not {vertices.shape}")
    faces = triangles("flesh contact", faces, len(vertices))
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
    force: np.ndarray  # on the skin vertices along the normals [N], shape (n, 3)
    rub: np.ndarray  # friction on them [N], shape (n, 3)
    press: np.ndarray  # size of the force [N], shape (n,)
    active: np.ndarray  # vertices in touch, shape (m,)
    normal: np.ndarray  # shape (m, 3)
    stiffness: np.ndarray  # [N/m], shape (m,)
    miss: float  # how far a vertex in touch lies from its shape's surface at most [m]
    skin: np.ndarray  # where the vertices are [m], shape (n, 3)


class Touch:
    """One contact through one solve: its multipliers, and the friction that belongs to them."""

    def __init__(self, contact: Contact, model: FleshModel, motion: StepMotion | None = None) -> None:
        """motion: the step, if there is one; in balance, without time, there is no friction."""
        self.contact = contact
        points = contact.surface.embedding
        edge, shear = model.elements.size[points.element], model.elasticity.shear[points.element]
        per_area = STIFFNESS * shear / edge if contact.stiffness is None else contact.stiffness
        self.stiffness = per_area * contact.surface.areas  # k of each vertex [N/m], shape (n,)
        self.gap = float(GAP * edge.min()) if contact.gap is None else contact.gap
        self.multiplier = np.zeros(len(edge))  # λ [N]
        self.raised, self.last = 1.0, np.inf  # k over what it was, and the depth missed before
        self.begin = None if motion is None or contact.friction == 0.0 else points.positions(motion.start)
        self.slip = 0.0 if motion is None else contact.slip * motion.dt  # ε [m]
        self.rubbing, self.spring = np.zeros(0, int), np.zeros((0, 3, 3))  # vertices, and their springs [N/m]

    def recall(self, push: np.ndarray, x: np.ndarray) -> None:
        """λ, and the friction that belongs to it, from what contact did to the nodes before [N], which now are at x.

        A vertex in touch takes the traction of its nodes, each node's push being spread over the skin in touch there.
        """
        points, areas = self.contact.surface.embedding, self.contact.surface.areas
        skin = points.positions(x)
        depth, normal = self._depths(skin)
        areas = np.where(depth > -self.gap, areas, 0.0)
        around = points.transpose @ areas
        traction = points.positions(np.where(around > 0.0, push.T / np.where(around > 0.0, around, 1.0), 0.0).T)
        self.multiplier = areas * np.maximum(np.sum(traction * normal, axis=1), 0.0)
        if self.begin is not None:
            found = self.forces(skin)
            self.rubbing, self.spring = found.active, self._springs(found)

    def _depths(self, skin: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How deep each vertex is in the shape it is deepest in [m], shape (n,), and the way out, shape (n, 3)."""
        depth, normal = np.full(len(skin), -np.inf), np.zeros((len(skin), 3))
        for shape in self.contact.shapes:
            distance, gradient = shape.distance(skin)
            deeper = -distance > depth
            depth[deeper] = -distance[deeper]
            normal[deeper] = gradient[deeper]
        return depth, normal

    def forces(self, skin: np.ndarray) -> ContactForces:
        """Push of all shapes on vertices at `skin` [m], shape (n, 3). Each vertex feels the shape it is deepest in."""
        depth, normal = self._depths(skin)
        k, held = self.stiffness, self.multiplier
        press = np.maximum(held + k * np.maximum(depth, -1e30), 0.0)
        active = np.flatnonzero(press > 0.0)
        some = k > 0.0  # of a vertex that no triangle uses there is no area
        miss = float(np.abs(np.maximum(depth[some], -held[some] / k[some])).max(initial=0.0))
        energy = float(np.sum((press**2 - held**2)[some] / (2.0 * k[some])))
        force, rub = press[:, None] * normal, np.zeros_like(skin)
        if self.begin is not None and len(self.rubbing):
            way = (skin - self.begin)[self.rubbing]
            rub[self.rubbing] = -np.einsum("nij,nj->ni", self.spring, way)
            energy -= 0.5 * float(np.sum(rub[self.rubbing] * way))
        return ContactForces(energy, force, rub, press, active, normal[active], k[active], miss, skin)

    def settled(self, found: ContactForces) -> bool:
        """Whether skin is as near to its shapes as asked, and friction is Coulomb's."""
        if found.miss > self.gap:
            return False
        if self.begin is None:
            return True
        wanted = -np.einsum("nij,nj->ni", self._springs(found), (found.skin - self.begin)[found.active])
        off = found.rub.copy()
        off[found.active] -= wanted
        limit = self.contact.friction * found.press
        return float(np.sum(off * off)) <= RUBBED**2 * float(np.sum(limit * limit))

    def press(self, found: ContactForces) -> None:
        """λ ← f, and friction for it; k is raised where that brought the skin out too slowly."""
        if found.miss > self.gap:
            self.multiplier = found.press.copy()
            if found.miss > SLOW * self.last and self.raised < HARDEST:
                self.stiffness, self.raised = HARDER * self.stiffness, HARDER * self.raised
            self.last = found.miss
        if self.begin is not None:
            self.rubbing, self.spring = found.active, self._springs(found)

    def _springs(self, found: ContactForces) -> np.ndarray:
        """μ f/max(u, ε) along the shape [N/m], shape (m, 3, 3)."""
        assert self.begin is not None
        across = np.eye(3) - found.normal[:, :, None] * found.normal[:, None, :]
        way = np.einsum("nij,nj->ni", across, (found.skin - self.begin)[found.active])
        far = np.sqrt(np.sum(way * way, axis=1))
        limit = self.contact.friction * found.press[found.active]
        return (limit / np.maximum(far, self.slip))[:, None, None] * across


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
