"""Where the entries of the stiffness matrix are, and in which order threads may add to it.

Two nodes meet in the matrix when they share an element: on a lattice, at most 27 blocks of 3×3 in a row. The boxes that
elements lie in (`Elements.blocks`) are coloured by the parity of their position, so that boxes of one colour have no
node in common.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from vitruvian.flesh.elements import Elements


@dataclass(frozen=True)
class Pattern:
    start: np.ndarray  # first block of each row, shape (n_nodes + 1,)
    column: np.ndarray  # node of each block, shape (n_blocks,)
    diagonal: np.ndarray  # place of each row's diagonal block, shape (n_nodes,)
    slots: np.ndarray  # place of corner pair (a, b) of each element, shape (n, k, k)
    order: np.ndarray  # elements by colour and block, shape (n,)
    blocks: np.ndarray  # first place of each block of elements in `order`
    colours: np.ndarray  # first block of each colour in `blocks`


def build_pattern(elements: Elements) -> Pattern:
    n, corners = len(elements.nodes), elements.element_nodes
    keys = (corners[:, :, None] * n + corners[:, None, :]).reshape(-1)
    pairs, slots = np.unique(keys, return_inverse=True)
    row = pairs // n
    start = np.searchsorted(row, np.arange(n + 1)).astype(np.int64)
    diagonal = np.searchsorted(pairs, np.arange(n) * n + np.arange(n)).astype(np.int64)
    order, blocks, colours = _colour(elements.blocks())
    return Pattern(
        start,
        (pairs % n).astype(np.int32),
        diagonal,
        slots.reshape(*corners.shape, -1).astype(np.int32),
        order,
        blocks,
        colours,
    )


def spring_blocks(pattern: Pattern, element: np.ndarray, weights: np.ndarray, stiffness: np.ndarray) -> np.ndarray:
    """Wᵀ k W on the pattern [N/m], shape (n_blocks,): one number per block, for springs that pull alike in x, y and z.

    element, weights, stiffness: of the embedded points, shapes (n,), (n, k), (n,).
    """
    products = stiffness[:, None, None] * weights[:, :, None] * weights[:, None, :]
    return np.bincount(pattern.slots[element].ravel(), products.ravel(), len(pattern.column)).astype(float)


def block_matrix(pattern: Pattern, blocks: np.ndarray) -> csr_matrix:
    """Numbers on the pattern as a sparse matrix that acts on x, y and z alike, shape (n_nodes, n_nodes)."""
    n = len(pattern.diagonal)
    matrix = csr_matrix((blocks, pattern.column, pattern.start), shape=(n, n), copy=True)
    matrix.eliminate_zeros()
    return matrix


def _colour(block: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    colour = (block[:, 0] & 1) + 2 * (block[:, 1] & 1) + 4 * (block[:, 2] & 1)
    size = block.max(axis=0) + 1
    key = ((colour * size[0] + block[:, 0]) * size[1] + block[:, 1]) * size[2] + block[:, 2]
    order = np.argsort(key, kind="stable")
    sorted_key = key[order]
    first = np.flatnonzero(np.r_[True, sorted_key[1:] != sorted_key[:-1]])
    blocks = np.r_[first, len(block)].astype(np.int64)
    colours = np.searchsorted(colour[order][first], np.arange(9)).astype(np.int64)
    return order.astype(np.int64), blocks, colours
