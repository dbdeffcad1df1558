"""Posed flesh: tetrahedra whose rest shape follows a skeleton's pose. What never changes, as flat arrays for kernels.

Each node is carried by up to `INFLUENCES` bones (linear blend skinning): x̄_i = Σ_j w_ij T_j X_ij, with X_ij the node in
bone j's frame as bound. Some nodes are fixed in a bone, the others are flesh. A fine surface rides in the tetrahedra
and is what touches the ground.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vitruvian.errors import InputError
from vitruvian.flesh.embedding import Embedding
from vitruvian.flesh.tetrahedra import Tetrahedra

Array = np.ndarray
INFLUENCES = 6  # bones that carry a node, the strongest; the rest is shared out


class PosedFlesh(NamedTuple):
    """Built by `posed_flesh`."""

    corners: Array  # of the tetrahedra, shape (4, n)
    slopes: Array  # inverse of the rest edges, entry (a, b) in row 3a + b [1/m], shape (9, n)
    shear: Array  # 2 μ V [J], shape (n,)
    bulk: Array  # 3 λ V [J], shape (n,)
    mass: Array  # of the nodes [kg], those of fixed ones too, shape (n_nodes,)
    bone: Array  # in which a node is fixed, -1 for flesh, shape (n_nodes,)
    local: Array  # of fixed nodes in their bone's frame [m], shape (n_nodes, 3)
    carrier: Array  # bones that carry each node, shape (n_nodes, INFLUENCES)
    weight: Array  # of them, shape (n_nodes, INFLUENCES)
    bound: Array  # weight times the node in that bone's frame [m], shape (n_nodes, INFLUENCES, 3)
    skin_nodes: Array  # corners that carry each point of the surface that touches, shape (n_skin, 4)
    skin_weights: Array  # shape (n_skin, 4)
    skin_area: Array  # of the surface that each of them stands for [m²], shape (n_skin,)
    row: Array  # sparsity of the node matrix: row i has places row[i]:row[i+1], shape (n_nodes + 1,)
    column: Array  # node of each place, ascending in a row
    diagonal: Array  # place of (i, i), shape (n_nodes,)
    place: Array  # places of an element's 16 pairs of corners, shape (n, 4, 4)
    skin_place: Array  # the same for the element in which a point of the skin rides, shape (n_skin, 4, 4)


def posed_flesh(
    tetrahedra: Tetrahedra,
    node_mass: Array,
    fixed: Array,
    weights: Array,
    binding: Array,
    skin: Embedding,
    skin_area: Array,
    young: float,
    poisson: float,
) -> PosedFlesh:
    """fixed: bone of each node or -1; weights (n_nodes, n_bones); binding: the bones' poses at rest (n_bones, 4, 4)."""
    if not (young > 0.0 and 0.0 <= poisson < 0.5):
        raise InputError(
            f"posed flesh: Young's modulus {young} Pa must be positive, Poisson's ratio {poisson} below 0.5"
        )
    n_skin = len(skin_area)
    mu, lam = 0.5 * young / (1.0 + poisson), young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson))
    nodes, corners = tetrahedra.nodes, tetrahedra.element_nodes
    edges = (nodes[corners[:, 1:]] - nodes[corners[:, :1]]).transpose(0, 2, 1)
    inverse = np.linalg.inv(edges)
    order = np.argsort(-weights, axis=1, kind="stable")[:, :INFLUENCES]
    weight = np.take_along_axis(weights, order, axis=1)
    weight = weight / weight.sum(axis=1, keepdims=True)
    turn, at = binding[:, :3, :3], binding[:, :3, 3]
    own = np.einsum("nkji,nkj->nki", turn[order], nodes[:, None] - at[order])
    held = np.maximum(fixed, 0)
    local = np.einsum("nji,nj->ni", turn[held], nodes - at[held])
    row, column, place = _pattern(corners, len(nodes))
    diagonal = np.array([row[i] + np.searchsorted(column[row[i] : row[i + 1]], i) for i in range(len(nodes))])
    return PosedFlesh(
        corners=np.ascontiguousarray(corners.T),
        slopes=np.ascontiguousarray(inverse.reshape(-1, 9).T),
        shear=2.0 * mu * tetrahedra.volume,
        bulk=3.0 * lam * tetrahedra.volume,
        mass=np.ascontiguousarray(node_mass, float),
        bone=np.ascontiguousarray(fixed, np.int64),
        local=local,
        carrier=np.ascontiguousarray(order),
        weight=np.ascontiguousarray(weight),
        bound=np.ascontiguousarray(weight[..., None] * own),
        skin_nodes=np.ascontiguousarray(skin.nodes[:n_skin]),
        skin_weights=np.ascontiguousarray(skin.weights[:n_skin]),
        skin_area=np.ascontiguousarray(skin_area, float),
        row=row,
        column=column,
        diagonal=diagonal,
        place=place,
        skin_place=np.ascontiguousarray(place[skin.element[:n_skin]]),
    )


def _pattern(corners: Array, n: int) -> tuple[Array, Array, Array]:
    """Rows, columns and the places of each element's pairs of corners in the node matrix."""
    pairs = (np.repeat(corners, 4, axis=1) * n + np.tile(corners, (1, 4))).ravel()
    keys, place = np.unique(pairs, return_inverse=True)
    row = np.searchsorted(keys, n * np.arange(n + 1))
    return row.astype(np.int64), (keys % n).astype(np.int64), place.reshape(-1, 4, 4).astype(np.int64)
