"""The one function that both equilibrium and dynamics minimise, with its force and its stiffness.

    L(x) = Σ elements [V Ψ + V p (J̄ − 1) + V γ/2 c²] + springs + contact + viscosity − f·x
           + ½/dt² ‖x − y‖²_M + ½/dt ‖x − x₀‖²_D

with c = J̄ − 1 − (p + p0)/κ, the inertial target y = x₀ + dt v₀ and Rayleigh damping D = α M + β K(x₀); the last two
terms exist in dynamics only (backward Euler as a minimisation).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from vitruvian.flesh.contact import Contact, ContactForces, Touch, add_point_stiffness
from vitruvian.flesh.embedding import times_vectors
from vitruvian.flesh.krylov import multiply
from vitruvian.flesh.model import FleshModel
from vitruvian.flesh.pairs import Near, Pairs, Touching, movers, no_pairs, strays
from vitruvian.flesh.viscosity import Drag

STRAY = 1e-3  # edges that skin must jump to be ignored
FOLLOWED = 1e-6  # by how much forces that follow the shape may be off, in the largest of the forces that meet


class Pressing(Protocol):
    """A force that follows the shape (`surface_loads.Pressure`)."""

    def forces(self, x: np.ndarray) -> np.ndarray:
        """On the nodes [N], shape (n_nodes, 3), with these at x [m]."""
        ...


@dataclass
class Loads:
    """What acts on the flesh during one solve; everything may be left out."""

    targets: np.ndarray | None = None  # where bones hold the attachments [m], shape (n_attachments, 3)
    activation: np.ndarray | None = None  # 0 to 1, shape (n_muscles,)
    force: np.ndarray | None = None  # on the nodes [N], shape (n_nodes, 3)
    contacts: Sequence[Contact] = ()
    self_contact: Touching | None = None  # skin that may touch skin
    drag: Drag | None = None  # the tissue's viscosity
    pressures: Sequence[Pressing] = ()  # on the skin, normal to it as it moves


@dataclass
class StepMotion:
    """The dynamic terms of one backward-Euler step."""

    dt: float  # [s]
    start: np.ndarray  # x₀ [m]
    goal: np.ndarray  # y [m]
    mass_damping: float  # α [1/s]
    damping: np.ndarray | None  # β K(x₀) as block matrix [N s/m], or None
    conserving: bool = False  # elastic forces are those of the whole step, from x₀ to 2 x − x₀


@dataclass
class Evaluation:
    value: float  # L [J]
    scale: float  # sum of absolute parts [J], for judging round-off
    force: np.ndarray  # −∂L/∂x [N], zero where fixed, shape (n_nodes, 3)
    size: float  # largest of the forces that meet: elastic, springs, load, contact, inertia, each as a norm [N]
    jbar: np.ndarray  # mean J of each element
    gap: np.ndarray  # c of each element
    contacts: list[ContactForces]
    touching: Pairs  # skin in skin
    following: np.ndarray | None = None  # what pressures do at this shape [N], shape (n_nodes, 3)


class Potential:
    """L for one model, one set of loads and, in dynamics, one step."""

    def __init__(self, model: FleshModel, loads: Loads, motion: StepMotion | None = None) -> None:
        self.model, self.loads, self.motion = model, loads, motion
        n_muscles = max(1, len(model.muscles.names))
        self.activation = np.zeros(n_muscles) if loads.activation is None else np.asarray(loads.activation, float)
        self.elasticity = model.elasticity  # as in the model, but for γ where it has been raised
        self.raised = 1.0
        self.near: Near | None = None  # elements near each vertex of the skin that may touch itself
        self.left_out: np.ndarray | None = None  # vertices whose touch this solve ignores, shape (n,)
        self.eased: np.ndarray | None = None  # forces that hold back part of the load [N], shape (n_nodes, 3)
        self.followed: np.ndarray | None = None  # what pressures are held to do for now [N], shape (n_nodes, 3)
        self.touches = [Touch(contact, model, motion) for contact in loads.contacts]
        self.volumes: np.ndarray | None = None  # mean J of each element where a conserving step begins

    @property
    def conserving(self) -> bool:
        return self.motion is not None and self.motion.conserving

    def fed(self, x: np.ndarray, now: Evaluation) -> float:
        """What pressures that are not quite those of the volumes feed a conserving step, in parts of its kinetic energy
        at most: Σ V |(κ − γ) c (J̄₁ − J̄₀)|; 0 in others.
        """
        if self.motion is None or not self.conserving:
            return 0.0
        start, elastic = self.motion.start, self.elasticity
        if self.volumes is None:
            nothing = np.zeros_like(x)
            self.volumes = elastic.forces(start, np.zeros_like(now.jbar), self.activation, nothing).jbar
        wrong = (elastic.bulk - elastic.penalty) * now.gap * 2.0 * (now.jbar - self.volumes)
        speed = (x - start) / self.motion.dt
        moving = 0.5 * float(self.model.node_mass @ np.sum(speed * speed, axis=1))
        return float(np.sum(self.model.elements.volume * np.abs(wrong))) / max(moving, 1e-300)

    def depth(self, now: Evaluation) -> float:
        """By how much contact is missed [m]."""
        return max((found.miss for found in now.contacts), default=0.0)

    def pressed(self, now: Evaluation) -> bool:
        """Whether contact is as near as its gap asks, and friction that of the force with which it presses."""
        if now.following is not None and norm(now.following - self.followed) > FOLLOWED * now.size:
            return False
        return all(touch.settled(found) for touch, found in zip(self.touches, now.contacts, strict=True))

    def press(self, now: Evaluation) -> None:
        """Move the multipliers of the contacts, friction with them, and the forces of pressures."""
        self.followed = now.following
        for touch, found in zip(self.touches, now.contacts, strict=True):
            touch.press(found)

    def recall(self, push: np.ndarray, x: np.ndarray) -> None:
        """Let contact start from what it did to the nodes in the last solve [N], which now are at x [m]."""
        if push.any():
            for touch in self.touches:
                touch.recall(push, x)

    def unbalanced(self, x: np.ndarray, pressure: np.ndarray) -> float:
        """[N]."""
        return norm(self.evaluate(x, pressure).force)

    def harden(self, factor: float) -> None:
        """Raise γ to `factor` times the model's, at most to the bulk modulus; L then has the same minima."""
        self.raised, self.elasticity = factor, self.model.elasticity.hardened(factor)

    def _touching(self, x: np.ndarray) -> Pairs:
        """Skin in skin with the nodes at x."""
        contact = self.loads.self_contact
        if contact is None:
            return no_pairs()
        if self.near is None or not self.near.holds(x, contact.spacing):
            self.near = contact.find_near(x)
        return contact.find_pairs(x, self.near, self.left_out)

    def leave_out(self, before: Evaluation, after: Evaluation, move: np.ndarray, wedged: bool = False) -> bool:
        """Ignore from now on the skin that a move (n_nodes, 3) [m] puts into tissue by a jump; whether there is any.

        wedged: ignore what the move, a tiny one, takes from one element into another too.
        """
        contact = self.loads.self_contact
        if contact is None:
            return False
        found = strays(before.touching, after.touching, move, contact.n_vertices, STRAY * contact.spacing)
        if wedged:
            found |= movers(before.touching, after.touching, contact.n_vertices)
        self.left_out = found if self.left_out is None else self.left_out | found
        return bool(found.any())

    def evaluate(self, x: np.ndarray, pressure: np.ndarray) -> Evaluation:
        model, loads = self.model, self.loads
        force = np.zeros(model.elements.nodes.shape)
        if self.motion is not None and self.motion.conserving:
            start = self.motion.start  # x is halfway
            strained = self.elasticity.secant_forces(start, 2.0 * x - start, pressure, self.activation, force)
        else:
            strained = self.elasticity.forces(x, pressure, self.activation, force)
        parts, sizes = list(strained.parts), [norm(force)]
        tied = model.attachments
        if len(tied.bone) and loads.targets is not None:
            stretch = tied.embedding.positions(x) - loads.targets
            pull = tied.stiffness[:, None] * stretch
            pulled = tied.embedding.nodal_forces(pull)
            force -= pulled
            sizes.append(norm(pulled))
            parts.append(0.5 * float(np.sum(pull * stretch)))
        if loads.drag is not None:
            moved = x - loads.drag.start
            resisted = loads.drag.share * times_vectors(loads.drag.viscosity.matrix, moved)
            force -= resisted
            sizes.append(norm(resisted))
            parts.append(0.5 * float(np.sum(resisted * moved)))
        if loads.force is not None:
            force += loads.force
            sizes.append(norm(loads.force))
            parts.append(-float(np.sum(loads.force * (x - model.elements.nodes))))
        following = None
        if loads.pressures:
            following = sum((p.forces(x) for p in loads.pressures), start=np.zeros_like(x))
            if self.followed is None:
                self.followed = following
            force += self.followed
            sizes.append(norm(self.followed))
            parts.append(-float(np.sum(self.followed * (x - model.elements.nodes))))
        if self.eased is not None:
            force += self.eased
            parts.append(-float(np.sum(self.eased * (x - model.elements.nodes))))
        touching = []
        for touch in self.touches:
            embedding = touch.contact.surface.embedding
            found = touch.forces(embedding.positions(x))
            if len(found.active) or len(touch.rubbing):
                pushed = embedding.nodal_forces(found.force + found.rub)
                force += pushed
                sizes.append(norm(pushed))
                parts.append(found.energy)
            touching.append(found)
        pairs = self._touching(x)
        parts.append(pairs.forces(force))
        if self.motion is not None:
            energies, inertia = self._add_motion(x, force)
            parts.extend(energies)
            sizes.append(inertia)
        force[model.fixed] = 0.0
        return Evaluation(
            sum(parts),
            sum(abs(p) for p in parts),
            force,
            max(sizes),
            strained.jbar,
            strained.gap,
            touching,
            pairs,
            following,
        )

    def stiffness(
        self, x: np.ndarray, pressure: np.ndarray, now: Evaluation, projected: bool, data: np.ndarray
    ) -> Pairs:
        """∂²L/∂x² into data (n_blocks, 9), but for what lies between the two sides of the pairs it returns."""
        model, pattern = self.model, self.model.pattern
        tied = self.loads.targets is not None
        steady = self.elasticity.steady
        scalar = steady + model.springs if tied else steady.copy()
        if self.loads.drag is not None:
            scalar = scalar + self.loads.drag.share * self.loads.drag.viscosity.blocks
        if self.motion is not None:
            dt = self.motion.dt
            scalar[pattern.diagonal] += model.node_mass * (1.0 / dt**2 + self.motion.mass_damping / dt)
        self.elasticity.stiffness(x, pressure, self.activation, scalar, projected, data)
        for touch, found in zip(self.touches, now.contacts, strict=True):
            points = touch.contact.surface.embedding
            if len(found.active):
                push = found.stiffness[:, None, None] * found.normal[:, :, None] * found.normal[:, None, :]
                add_point_stiffness(
                    data, pattern.slots, points.element[found.active], points.weights[found.active], push
                )
            rubs = touch.rubbing
            if len(rubs):
                add_point_stiffness(data, pattern.slots, points.element[rubs], points.weights[rubs], touch.spring)
        pairs = now.touching
        push = pairs.stiffness[:, None, None] * pairs.direction[:, :, None] * pairs.direction[:, None, :]
        for side in (0, 1):
            add_point_stiffness(data, pattern.slots, pairs.element[:, side], pairs.weights[:, side], push)
        if self.motion is not None and self.motion.damping is not None:
            data += self.motion.damping * (1.0 / self.motion.dt)
        return pairs

    def _add_motion(self, x: np.ndarray, force: np.ndarray) -> tuple[list[float], float]:
        """Energies [J] of inertia and damping, and the norm of the force of inertia [N]."""
        motion, model = self.motion, self.model
        assert motion is not None
        dt, mass = motion.dt, model.node_mass[:, None]
        away, moved = x - motion.goal, x - motion.start
        inertia = mass * away / dt**2
        drag = mass * moved * (motion.mass_damping / dt)
        if motion.damping is not None:
            resisted = np.empty_like(x)
            multiply(model.pattern.start, model.pattern.column, motion.damping, moved, resisted)
            drag += resisted / dt
        force -= inertia + drag
        return [0.5 * float(np.sum(inertia * away)), 0.5 * float(np.sum(drag * moved))], norm(inertia)


def norm(a: np.ndarray) -> float:
    """Euclidean norm. Not numpy's: that wakes the threads of a linear-algebra library, which then get in ours' way."""
    return float(np.sqrt(np.sum(a * a)))
