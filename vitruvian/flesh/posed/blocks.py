"""A block of elements: `CHUNK` of them side by side in rows of a flat scratch.

A block's numbers lie at distances that the compiler knows, so that it sees that no loop writes what a later turn of it
reads, and turns the loops into vector instructions.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from vitruvian.flesh.posed.model import CHUNK

F, P, A = 0, 9, 18  # rows of a block's scratch: F (later V P), F_p (later G), F F_pᵀ (later Q)
EDGES, SLOPES, SCALARS, ROWS = 27, 45, 54, 59  # edges of shape and reference (later forces); inverse rest edges
NORM, DET, REST, ROOT, CHANGE = (SCALARS + k for k in range(5))  # |A|², det A, the quartic's last term, I1
FAST = {"contract"}  # a product and a sum in one instruction


def scratch() -> np.ndarray:
    """Room for a block, (ROWS, CHUNK)."""
    return np.zeros((ROWS, CHUNK))


@njit(cache=True, fastmath=FAST)
def nine(f, row, k):
    """A 3×3 matrix of element k, row by row, from nine rows of a block's flat scratch."""
    p = row * CHUNK + k
    return (
        f[p], f[p + CHUNK], f[p + 2 * CHUNK], f[p + 3 * CHUNK], f[p + 4 * CHUNK], f[p + 5 * CHUNK],
        f[p + 6 * CHUNK], f[p + 7 * CHUNK], f[p + 8 * CHUNK],
    )  # fmt: skip


@njit(cache=True, fastmath=FAST)
def row_by(u, v, w, s0, s1, s2, s3, s4, s5, s6, s7, s8):
    """(u, v, w) S."""
    return u * s0 + v * s3 + w * s6, u * s1 + v * s4 + w * s7, u * s2 + v * s5 + w * s8
