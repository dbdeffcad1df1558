"""A piece of flesh that never changes: elements, tissue, muscle fibres, attachments to bone, what is held fixed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from vitruvian.errors import InputError
from vitruvian.flesh.attachments import Attachments, no_attachments
from vitruvian.flesh.elasticity import MaterialElasticity
from vitruvian.flesh.elements import Elasticity, Elements
from vitruvian.flesh.lattice import Lattice
from vitruvian.flesh.materials import Material
from vitruvian.flesh.muscles import MuscleFibres, no_muscles
from vitruvian.flesh.pattern import Pattern, build_pattern, spring_blocks


@dataclass(frozen=True)
class FleshModel:
    """Built by `build_flesh`."""

    elements: Elements
    elasticity: Elasticity
    node_mass: np.ndarray  # [kg], shape (n_nodes,)
    muscles: MuscleFibres
    attachments: Attachments
    fixed: np.ndarray  # components held where the state has them, shape (n_nodes, 3)
    pattern: Pattern
    springs: np.ndarray  # stiffness of the attachments on the pattern [N/m], shape (n_blocks,)

    @property
    def lattice(self) -> Lattice:
        """The elements, where they are a lattice."""
        if not isinstance(self.elements, Lattice):
            raise InputError(f"flesh: this asks for a lattice, and the flesh is made of {type(self.elements).__name__}")
        return self.elements

    @property
    def moduli(self) -> np.ndarray:
        """μ10, μ01, μc, κ, p0, γ, ζ, μs, λs [Pa] of each element, shape (n, 9), where it is made of `Material`."""
        if not isinstance(self.elasticity, MaterialElasticity):
            raise InputError(f"flesh: {type(self.elasticity).__name__} has no moduli of a material")
        return self.elasticity.moduli

    @property
    def mass(self) -> float:
        """[kg]"""
        return float(self.node_mass.sum())

    @property
    def volume(self) -> float:
        """Rest volume [m³]."""
        return float(self.elements.volume.sum())

    @cached_property
    def node_stiffness(self) -> np.ndarray:
        """μ h of the tissue around each node [N/m], shape (n_nodes,)."""
        corners = self.elements.element_nodes
        k = corners.shape[1]
        share = self.elasticity.shear * self.elements.volume / self.elements.size**2 / k
        return np.bincount(corners.ravel(), np.repeat(share, k), len(self.elements.nodes))


def build_flesh(
    elements: Elements,
    material: Material | Sequence[Material],
    *,
    of_cell: np.ndarray | None = None,
    muscles: MuscleFibres | None = None,
    attachments: Attachments | None = None,
    fixed: np.ndarray | None = None,
) -> FleshModel:
    """Put tissue into elements: a lattice, tetrahedra.

    material: one, or several with `of_cell` (n,) naming the one of each element by number. fixed: nodes (n_nodes,)
    or components (n_nodes, 3) that are held.
    """
    materials = [material] if isinstance(material, Material) else list(material)
    n, n_nodes = len(elements.element_nodes), len(elements.nodes)
    which = np.zeros(n, int) if of_cell is None else np.asarray(of_cell, int)
    if which.shape != (n,) or which.min() < 0 or which.max() >= len(materials):
        raise InputError(f"flesh: of_cell must name one of {len(materials)} materials for each of {n} cells")
    pattern = build_pattern(elements)
    fibres = muscles if muscles is not None else no_muscles(n)
    tied = attachments if attachments is not None else no_attachments(elements)
    points = tied.embedding
    return FleshModel(
        elements=elements,
        elasticity=elements.elasticity(materials, which, fibres, pattern),
        node_mass=_node_mass(elements, np.array([m.density for m in materials])[which]),
        muscles=fibres,
        attachments=tied,
        fixed=_held(fixed, n_nodes),
        pattern=pattern,
        springs=spring_blocks(pattern, points.element, points.weights, tied.stiffness),
    )


def _node_mass(elements: Elements, density: np.ndarray) -> np.ndarray:
    """Mass goes to the corners as the tissue's volume does; elements of different density share their corners' volume
    evenly."""
    corners, n = elements.element_nodes, len(elements.nodes)
    k, mass = corners.shape[1], density * elements.volume
    share, heavy = (np.bincount(corners.ravel(), np.repeat(a, k), n) for a in (elements.volume, mass))
    return elements.node_volume * heavy / share


def _held(fixed: np.ndarray | None, n_nodes: int) -> np.ndarray:
    held = np.zeros((n_nodes, 3), bool)
    if fixed is not None:
        mask = np.asarray(fixed, bool)
        if mask.shape not in ((n_nodes,), (n_nodes, 3)):
            raise InputError(
                f"flesh: fixed must have shape ({n_nodes},) or ({n_nodes}, 3), one entry for each node or each of its "
                f"components, not {mask.shape}"
            )
        held |= mask[:, None] if mask.ndim == 1 else mask
    return held
