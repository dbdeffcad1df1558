"""Skin against skin: an arm on the trunk, thigh on thigh, the fold of an elbow.

A vertex of the skin that has come to lie in tissue other than its own lies in some cell of the deformed lattice.
Carried back through that cell it is a point X′ of the rest body, where the signed distance φ of the rest skin says how
deep it is and which way is out (as in McAdams et al. 2011). The energy

    E = Σ k A/2 φ₋²(X′(x)),   ∂φ/∂x_vertex = F⁻ᵀ ∇φ = u,   ∂φ/∂x_corner = −N u

has forces that are opposite and, since vertex and X′ are at one place, make no torque; what they do to the nodes is in
`pairs`.

That is an energy of the nodes alone, so nothing is paired, kept or forgotten. Only walls that face each other touch:
the vertex's own outward normal must point against u. That tells a wall on the other side of a fold from the vertex's
own surroundings, whichever way the cells between them are folded.

φ(X′(x)) has kinks where X′ passes from cell to cell, and jumps where a cell folds within itself and covers a place
twice. Where Newton's method is held up by vertices that jump into tissue (`strays`) or change cells to and fro
(`movers`), that solve ignores them: `SolveReport.left_out` counts them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from vitruvian.errors import InputError
from vitruvian.flesh.embedding import Embedding, embed
from vitruvian.flesh.lattice.cells import Lattice, open_faces
from vitruvian.flesh.lattice.self_contact_search import near_cells, sunk_vertices
from vitruvian.flesh.pairs import MARGIN, Near, Pairs, no_pairs
from vitruvian.mesh import LevelSet, mesh_level_set

STIFFNESS = 3e8  # [Pa/m], shared by the two sides: a third of a millimetre deep under 100 kPa
DEEPEST = 2.0  # cells: how far below the skin its distance is known
FINE = 4  # grid cells of the distance in a cell of the lattice


@dataclass(frozen=True)
class SelfContact:
    """A surface that may touch itself. Built by `self_contact`. Its n vertices are those looked after and their
    neighbours."""

    lattice: Lattice
    rest: np.ndarray  # vertices of the rest body [m], shape (n, 3)
    faces: np.ndarray  # outward, shape (m, 3)
    areas: np.ndarray  # of the vertices [m²], shape (n,)
    embedding: Embedding
    level: LevelSet  # φ of the rest body
    open_faces: np.ndarray  # of the cells, shape (n_cells, 6)
    free: np.ndarray  # vertices that are looked after and lie in nothing else in the rest body, shape (n,)
    stiffness: float  # [Pa/m]

    @property
    def n_vertices(self) -> int:
        return len(self.rest)

    @property
    def spacing(self) -> float:
        return self.lattice.spacing

    def find_near(self, x: np.ndarray) -> Near:
        """Cells near each vertex with the lattice's nodes at x [m]."""
        lattice = self.lattice
        skin = self.embedding.positions(x)
        size = 1.5 * lattice.spacing
        low = skin.min(axis=0)
        bins = np.floor((skin - low) / size).astype(np.int64)
        counts = bins.max(axis=0) + 1
        key = (bins[:, 0] * counts[1] + bins[:, 1]) * counts[2] + bins[:, 2]
        order = np.argsort(key, kind="stable")
        vertex, cell = near_cells(
            x,
            lattice.cell_nodes,
            self.open_faces,
            skin,
            self.embedding.element,
            self.free,
            MARGIN * lattice.spacing,
            low,
            size,
            counts,
            key[order],
            order,
        )
        return Near(x.copy(), vertex, cell)

    def find_pairs(self, x: np.ndarray, near: Near | None = None, without: np.ndarray | None = None) -> Pairs:
        """Vertices that lie in tissue other than their own with the nodes at x [m], but for some, shape (n,)."""
        lattice, level, where = self.lattice, self.level, self.embedding
        listed = self.find_near(x) if near is None else near
        if len(listed.vertex) == 0:
            return no_pairs()
        skin = where.positions(x)
        normal = np.zeros_like(skin)
        add_normals(skin, self.faces, normal)
        depth, direction, weights = sunk_vertices(
            x,
            lattice.cell_nodes,
            lattice.cells,
            (lattice.origin, lattice.spacing, lattice.samples, lattice.owner, self.open_faces),
            (level.values, level.origin, level.spacing),
            self.rest,
            (skin, normal),
            listed.vertex,
            listed.element,
        )
        sunk = np.flatnonzero(depth > 0.0 if without is None else (depth > 0.0) & ~without[listed.vertex])
        vertex, cell = listed.vertex[sunk], listed.element[sunk]
        return Pairs(
            vertex=vertex,
            element=np.stack([where.element[vertex], cell], axis=1),
            nodes=np.stack([where.nodes[vertex], lattice.cell_nodes[cell]], axis=1),
            weights=np.stack([where.weights[vertex], weights[sunk]], axis=1),
            direction=direction[sunk],
            stiffness=self.stiffness * self.areas[vertex],
            depth=depth[sunk],
        )


def self_contact(
    lattice: Lattice,
    vertices: ArrayLike,
    faces: ArrayLike,
    *,
    stiffness: float = STIFFNESS,
    among: ArrayLike | None = None,
) -> SelfContact:
    """Let a closed surface of the rest body [m] touch itself; triangles of a quarter of a cell do well.

    among: vertices that are looked after, shape (n,), all if left out: a few thousand cost little, a whole body does.
    """
    if not isinstance(lattice, Lattice):
        raise InputError(f"flesh self-contact: it knows a lattice only, not {type(lattice).__name__}")
    rest, triangles = np.ascontiguousarray(vertices, float), np.ascontiguousarray(faces, np.int64)
    if among is not None and np.shape(among) != (len(rest),):
        raise InputError(f"flesh self-contact: among has shape {np.shape(among)}, not one entry for each vertex")
    if not stiffness > 0.0:
        raise InputError(f"flesh self-contact: the stiffness must be positive, got {stiffness} Pa/m")
    corners = rest[triangles]
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    if not area.sum() > 0.0:
        raise InputError("flesh self-contact: the surface has no area")
    h = lattice.spacing
    wanted = np.ones(len(rest), bool) if among is None else np.array(among, bool)
    shown = triangles[wanted[triangles].any(axis=1)]
    used, number = np.unique(shown, return_inverse=True)
    if len(used) == 0:
        raise InputError("flesh self-contact: among names no vertex of any triangle")
    found = SelfContact(
        lattice=lattice,
        rest=rest[used],
        faces=number.reshape(-1, 3),
        areas=np.bincount(triangles.ravel(), np.repeat(area / 3.0, 3), len(rest))[used],
        embedding=embed(lattice, rest[used]),
        level=mesh_level_set(rest, triangles, h / FINE, band=DEEPEST * h, name="self-contact"),
        open_faces=open_faces(lattice.cell_nodes),
        free=wanted[used],
        stiffness=0.5 * stiffness,  # each side's vertices push
    )
    # skin that lies in skin already at rest (where fingers melt together) would push for ever: it is left out
    found.free[found.find_pairs(lattice.nodes).vertex] = False
    return found


@njit(cache=True)
def add_normals(skin, faces, out):
    """Add to each vertex twice the area vectors of its triangles [m²]."""
    for f in range(len(faces)):
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        across = np.cross(skin[b] - skin[a], skin[c] - skin[a])
        for i in range(3):
            out[a, i] += across[i]
            out[b, i] += across[i]
            out[c, i] += across[i]
