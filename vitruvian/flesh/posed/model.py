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
CHUNK = 32  # elements in a block


class PosedFlesh(NamedTuple):
    """Built by `posed_flesh`."""

    corners: (
        Array  # of the tetrahedra in blocks, uint32; the last block is filled up with dead ones, (n_blocks, 4, CHUNK)
    )
    slopes: Array  # inverse of the rest edges, entry (a, b) in row 3a + b [1/m], shape (n_blocks, 9, CHUNK)
    shear: Array  # 2 μ V [J], shape (n_blocks, CHUNK)
    bulk: Array  # 3 λ V [J], shape (n_blocks, CHUNK)
    mass: Array  # of the nodes [kg], those of fixed ones too, shape (n_nodes,)
    bone: Array  # in which a node is fixed, -1 for flesh, shape (n_nodes,)
    local: Array  # of fixed nodes in their bone's frame [m], shape (n_nodes, 3)
    carriers: Array  # how many bones carry each node, shape (n_nodes,)
    carrier: Array  # which they are, the strongest first, shape (n_nodes, INFLUENCES)
    bound: Array  # weight times the node in that bone's frame [m], then the weight, shape (n_nodes, INFLUENCES, 4)
    skin_nodes: Array  # corners that carry each point of the surface that touches, shape (n_skin, 4)
    skin_weights: Array  # shape (n_skin, 4)
    skin_area: Array  # of the surface that each of them stands for [m²], shape (n_skin,)
    row: Array  # sparsity of the node matrix: row i has places row[i]:row[i+1], shape (n_nodes + 1,)
    column: Array  # node of each place, ascending in a row
    diagonal: Array  # place of (i, i), shape (n_nodes,)
    place: Array  # places of an element's 16 pairs of corners, shape (n, 4, 4)
    skin_place: Array  # the same for the element in which a point of the skin rides, shape (n_skin, 4, 4)
    rider: Array  # points of the skin, one element's after the other's, shape (n_skin,)
    rider_row: Array  # where in `rider` those of each element with some begin, shape (m + 1,)
    rider_nodes: Array  # corners of these elements, shape (m, 4)
    rider_out: Array  # how far their points may be outside, in barycentric coordinates, shape (m,)


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
    alive = np.arange(-(-len(corners) // CHUNK) * CHUNK) < len(corners)
    filled = np.where(alive, np.arange(len(alive)), 0)
    rider, rider_row, riding = _riders(skin.element[:n_skin])
    outside = np.maximum(-skin.weights[:n_skin], 0.0).sum(axis=1)
    return PosedFlesh(
        corners=_blocked(corners[filled]).astype(np.uint32),
        slopes=_blocked(inverse.reshape(-1, 9)[filled]),
        shear=(2.0 * mu * tetrahedra.volume[filled] * alive).reshape(-1, CHUNK),
        bulk=(3.0 * lam * tetrahedra.volume[filled] * alive).reshape(-1, CHUNK),
        mass=np.ascontiguousarray(node_mass, float),
        bone=np.ascontiguousarray(fixed, np.int64),
        local=local,
        carriers=(weight > 0.0).sum(axis=1),
        carrier=np.ascontiguousarray(order),
        bound=np.ascontiguousarray(weight[..., None] * np.concatenate([own, np.ones_like(own[..., :1])], axis=2)),
        skin_nodes=np.ascontiguousarray(skin.nodes[:n_skin]),
        skin_weights=np.ascontiguousarray(skin.weights[:n_skin]),
        skin_area=np.ascontiguousarray(skin_area, float),
        row=row,
        column=column,
        diagonal=diagonal,
        place=place,
        skin_place=np.ascontiguousarray(place[skin.element[:n_skin]]),
        rider=rider,
        rider_row=rider_row,
        rider_nodes=np.ascontiguousarray(corners[riding]),
        rider_out=np.maximum.reduceat(outside[rider], rider_row[:-1]),
    )


def _blocked(rows: Array) -> Array:
    """(n_blocks * CHUNK, m) as (n_blocks, m, CHUNK)."""
    return np.ascontiguousarray(rows.reshape(-1, CHUNK, rows.shape[1]).transpose(0, 2, 1))


def _riders(element: Array) -> tuple[Array, Array, Array]:
    """Points of the skin by element, where each element's begin, and the elements."""
    order = np.argsort(element, kind="stable")
    found, first = np.unique(element[order], return_index=True)
    return order.astype(np.int64), np.append(first, len(order)).astype(np.int64), found


def _pattern(corners: Array, n: int) -> tuple[Array, Array, Array]:
    """Rows, columns and the places of each element's pairs of corners in the node matrix."""
    pairs = (np.repeat(corners, 4, axis=1) * n + np.tile(corners, (1, 4))).ravel()
    keys, place = np.unique(pairs, return_inverse=True)
    row = np.searchsorted(keys, n * np.arange(n + 1))
    return row.astype(np.int64), (keys % n).astype(np.int64), place.reshape(-1, 4, 4).astype(np.int64)
