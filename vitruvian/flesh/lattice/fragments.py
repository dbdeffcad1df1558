"""Which pieces of tissue belong together: separate parts that share a cell or a face do not share nodes.

Fingers that lie in one cell, or an arm beside the trunk, must not be glued together by the lattice. Each cell is split
into the connected pieces of its filled fine cubes (fragments), and every fragment gets its own copy of the cell. Two
fragments of neighbouring cells share the four nodes of the face between them only if tissue passes through that face
(the virtual-node rule; Lee 2008, section 5.2.2, uses the cutting of Sifakis et al. 2007 to the same end).
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def label_fragments(filled: np.ndarray, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Fragment of every fine cube, and lattice cell of every fragment.

    filled: whether a fine cube holds tissue, shape (nx * samples, ...). Returns owner (same shape, -1 where empty)
    and cells (n_fragments, 3). Fragments are numbered in the order of cells.
    """
    nx, ny, nz = filled.shape[0] // samples, filled.shape[1] // samples, filled.shape[2] // samples
    owner = np.full(filled.shape, -1, np.int32)
    cells = np.empty((nx * ny * nz, 3), np.int32)
    stack = np.empty((samples * samples * samples, 3), np.int32)
    count = 0
    for ci in range(nx):
        for cj in range(ny):
            for ck in range(nz):
                for i in range(ci * samples, ci * samples + samples):
                    for j in range(cj * samples, cj * samples + samples):
                        for k in range(ck * samples, ck * samples + samples):
                            if not filled[i, j, k] or owner[i, j, k] >= 0:
                                continue
                            if count == cells.shape[0]:
                                more = np.empty((2 * count, 3), np.int32)
                                more[:count] = cells
                                cells = more
                            cells[count, 0], cells[count, 1], cells[count, 2] = ci, cj, ck
                            flood(filled, owner, samples, i, j, k, count, stack)
                            count += 1
    return owner, cells[:count].copy()


@njit(cache=True)
def flood(filled, owner, samples, i, j, k, label, stack):
    """Give `label` to all filled fine cubes of this cell that can be reached from (i, j, k) through faces."""
    low = (i // samples * samples, j // samples * samples, k // samples * samples)
    owner[i, j, k] = label
    stack[0, 0], stack[0, 1], stack[0, 2] = i, j, k
    top = 1
    while top > 0:
        top -= 1
        i, j, k = stack[top, 0], stack[top, 1], stack[top, 2]
        for axis in range(3):
            for side in (-1, 1):
                a = i + side if axis == 0 else i
                b = j + side if axis == 1 else j
                c = k + side if axis == 2 else k
                if a < low[0] or b < low[1] or c < low[2]:
                    continue
                if a >= low[0] + samples or b >= low[1] + samples or c >= low[2] + samples:
                    continue
                if filled[a, b, c] and owner[a, b, c] < 0:
                    owner[a, b, c] = label
                    stack[top, 0], stack[top, 1], stack[top, 2] = a, b, c
                    top += 1


@njit(cache=True)
def share_nodes(owner: np.ndarray, samples: int, count: int) -> np.ndarray:
    """Node number of each fragment's corners, shape (count, 8); numbered in order of first use."""
    parent = np.arange(count * 8)
    for i in range(owner.shape[0]):
        for j in range(owner.shape[1]):
            for k in range(owner.shape[2]):
                f = owner[i, j, k]
                if f < 0:
                    continue
                for axis in range(3):
                    position = i if axis == 0 else (j if axis == 1 else k)
                    if (position + 1) % samples != 0 or position + 1 >= owner.shape[axis]:
                        continue
                    g = owner[i + (axis == 0), j + (axis == 1), k + (axis == 2)]
                    if g < 0:
                        continue
                    for corner in range(8):
                        if (corner >> axis) & 1:
                            union(parent, f * 8 + corner, g * 8 + corner - (1 << axis))
    nodes = np.empty((count, 8), np.int64)
    number = np.full(count * 8, -1, np.int64)
    n = 0
    for slot in range(count * 8):
        root = find(parent, slot)
        if number[root] < 0:
            number[root] = n
            n += 1
        nodes[slot // 8, slot % 8] = number[root]
    return nodes


@njit(cache=True)
def find(parent, a):
    while parent[a] != a:
        parent[a] = parent[parent[a]]
        a = parent[a]
    return a


@njit(cache=True)
def union(parent, a, b):
    a, b = find(parent, a), find(parent, b)
    if a < b:
        parent[b] = a
    elif b < a:
        parent[a] = b
