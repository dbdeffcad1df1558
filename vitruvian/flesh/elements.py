"""What flesh is cut into: the two interfaces between elements and everything that stands on them.

`Elements` is a rest body in pieces: nodes, which of them belong to which element, how points ride in an element.
Embedded points, springs to bone, contact, muscles and measures know no more than that. `Elasticity` is what the
pieces do when they are made of tissue: energy, forces and stiffness. Potential, Newton's method and the solver know
no more than that. `build_flesh` puts the two together.

    elements            corners  made by                                elasticity
    `lattice.Lattice`   8        level sets, cut cells, separate parts  its own, many cells at a time
    `Tetrahedra`        4        any mesh                               `PointElasticity`

A new kind of element is a class with the members of `Elements`. Where its strain is a plain sum over points,
x = Σ N_a x_a and F = Σ x_a ⊗ ∇N_a, it gives the gradients (`quadrature`) and `PointElasticity` does the rest; a law
of its own (plastic reference shapes, shells) is a class with the members of `Elasticity`.

Soft characters: tetrahedra as they are; a reference shape F_p that follows the bones is an `Elasticity` whose energy
has F_p in it and whose gaps are zero, so that the pressures never move. Explicit steps call `Elasticity.forces` alone.

A thin layered face (skin, fat, muscle over bone): prisms of six corners or bricks of eight, stacked from the skin
inwards, several through the thickness, are one more `Elements` with gradients at six or eight points. Layers are
materials by number (`build_flesh(..., of_cell=)`). Nodes on bone are held (`fixed`) where tissue is tied, and where
it slides they have soft springs (`Attachments.stiffness` is one number for each) and bone as a `Contact`; springs that
are stiff across bone and soft along it need a 3×3 matrix for each in `spring_blocks`. Skin near the mouth must ride
in its own lip: `locate` decides, so elements that know their parts can.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.sparse import csr_matrix

if TYPE_CHECKING:
    from vitruvian.flesh.materials import Material
    from vitruvian.flesh.muscles import MuscleFibres
    from vitruvian.flesh.pattern import Pattern

Array = np.ndarray


class Elements(Protocol):
    """A rest body in n elements of k corners each."""

    @property
    def nodes(self) -> Array:
        """Rest positions [m], shape (n_nodes, 3)."""
        ...

    @property
    def element_nodes(self) -> Array:
        """Corners, shape (n, k)."""
        ...

    @property
    def volume(self) -> Array:
        """Tissue in each element [m³], shape (n,)."""
        ...

    @property
    def node_volume(self) -> Array:
        """Tissue that belongs to each node [m³], shape (n_nodes,)."""
        ...

    @property
    def size(self) -> Array:
        """Length of an edge [m], shape (n,): what is small against it is small for the element."""
        ...

    def locate(self, points: Array) -> Array:
        """The element of each rest point [m] (m, 3), the nearest one for points outside all; shape (m,)."""
        ...

    def weights(self, element: Array, points: Array) -> Array:
        """How rest points [m] (m, 3) ride on the corners of these elements, shape (m, k); rows sum to one."""
        ...

    def spread_points(self, count: int) -> Array:
        """Points [m] that stand for equal shares of each element's tissue, count³ of them: shape (n, count³, 3)."""
        ...

    def quadrature(self) -> tuple[Array, Array]:
        """Gradients of the shape functions [1/m] at q points of the tissue, shape (n, q, k, 3), and the share of the
        element's volume that each stands for, shape (n, q), each row with the sum one."""
        ...

    def gradient_products(self, weight: Array) -> Array:
        """weight · mean ∇N_a·∇N_b over each element, shape (n, k, k); weight: shape (n,)."""
        ...

    def blocks(self) -> Array:
        """Boxes of a grid that the elements lie in, whole numbers from 0 on, shape (n, 3), so large that elements of
        two boxes with a third one between them share no node."""
        ...

    def surface(self) -> Array:
        """Triangles over the outside, normals outward, corners are nodes, shape (m, 3)."""
        ...

    def folded(self, x: Array) -> int:
        """How many elements are turned inside out somewhere with the nodes at x [m], shape (n_nodes, 3)."""
        ...

    def coarser(self) -> Sequence[Coarser]:
        """The same body in ever fewer elements, for multigrid; nothing where there is no such thing."""
        ...

    def elasticity(
        self, materials: Sequence[Material], which: Array, muscles: MuscleFibres, pattern: Pattern
    ) -> Elasticity:
        """Put tissue in; which: the material of each element by number, shape (n,)."""
        ...


@dataclass(frozen=True)
class Coarser:
    """One level of multigrid."""

    ride: csr_matrix  # weights of the finer nodes on the coarser, shape (n_fine, n_coarse)
    element_nodes: Array  # of the coarser level: nodes that meet in its matrix, shape (n, k)


@dataclass(frozen=True)
class Strained:
    """What elements find of themselves at one configuration."""

    parts: list[float]  # energies [J]: their sum is what counts, their size what round-off is judged by
    jbar: Array  # J̄: mean of det F over each element, shape (n,)
    gap: Array  # c: how far each element's volume is from what its pressure asks for, shape (n,)


class Elasticity(Protocol):
    """Elements made of tissue, one pressure p [Pa] for each (see `potential`). Never changes.

    Elements that need no pressure return gaps of zero: their pressures then stay as they are.
    """

    @property
    def shear(self) -> Array:
        """Small-strain μ [Pa], shape (n,)."""
        ...

    @property
    def bulk(self) -> Array:
        """κ, the stiffness against c [Pa], shape (n,)."""
        ...

    @property
    def rest_pressure(self) -> Array:
        """p0: p = −p0 in the rest body [Pa], shape (n,)."""
        ...

    @property
    def penalty(self) -> Array:
        """γ of the augmented Lagrangian [Pa], shape (n,)."""
        ...

    @property
    def steady(self) -> Array:
        """Stiffness that never changes and is alike in x, y and z [N/m], shape (n_blocks,)."""
        ...

    def propped(self, factor: float) -> Elasticity:
        """The same with `factor` times the springs that hold modes which tissue does not."""
        ...

    def hardened(self, factor: float) -> Elasticity:
        """The same with γ `factor` times as large, at most κ."""
        ...

    def forces(self, x: Array, pressure: Array, activation: Array, force: Array) -> Strained:
        """Add forces on the nodes [N] to `force`, shape (n_nodes, 3)."""
        ...

    def secant_forces(self, start: Array, x: Array, pressure: Array, activation: Array, force: Array) -> Strained:
        """The same over a step from `start` to x: forces that do the work by which the energy falls (see `secant`).

        J̄ and c are then those of the mean volume, and there are no energies.
        """
        ...

    def stiffness(
        self, x: Array, pressure: Array, activation: Array, scalar: Array, projected: bool, data: Array
    ) -> None:
        """Fill data (n_blocks, 9) with scalar ⊗ 1 plus the stiffness of the elements [N/m], `steady` apart.

        scalar: one number for each block, shape (n_blocks,). projected: without negative curvature, for bad starts.
        """
        ...

    def volume_rates(self, x: Array, moved: Array) -> Array:
        """Change of J̄ of each element, shape (n,), under small displacements of the nodes [m], shape (n_nodes, 3)."""
        ...

    def pressure_forces(self, x: Array, change: Array, force: Array) -> None:
        """Add to `force` the V ∂J̄/∂x s [N] of a change s [Pa] of each element's pressure, shape (n,)."""
        ...
