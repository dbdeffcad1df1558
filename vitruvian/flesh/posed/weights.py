"""Bounded biharmonic weights of bones on nodes (Jacobson & al. 2011).

    w_j = argmin ½ wᵀ Q w,  Q = L M⁻¹ L,  0 ≤ w ≤ 1,  w = 1 on nodes fixed in bone j, 0 on those of other bones

L is the stiffness of the Laplacian on linear tetrahedra, M the lumped volumes. One quadratic program a bone, solved by
active sets: nodes that leave the bounds are held there, held ones whose multiplier has the wrong sign are let go. The
weights are then cut below `LEAST` and divided by their sum.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_matrix, csr_matrix, diags
from scipy.sparse.linalg import splu

from vitruvian.errors import InputError, RunFailed
from vitruvian.flesh.tetrahedra import Tetrahedra

Array = np.ndarray
LEAST = 1e-4  # of a weight
TURNS = 200  # of the active set
SLACK = 1e-9  # by which a weight may leave its bounds, and a multiplier zero


def bounded_biharmonic(tetrahedra: Tetrahedra, fixed: Array, n_bones: int, *, scaled: bool = True) -> Array:
    """Weights (n_nodes, n_bones), rows of sum 1 unless not `scaled`. fixed: bone of each node, -1 for free ones."""
    energy = biharmonic_energy(tetrahedra)
    raw = np.stack([_bounded(energy, fixed, bone) for bone in range(n_bones)], axis=1)
    if not scaled:
        return raw
    raw[raw < LEAST] = 0.0
    total = raw.sum(axis=1)
    if not (total > 0.0).all():
        raise RunFailed(f"weights: {int((total <= 0.0).sum())} nodes belong to no bone")
    return np.asarray(raw / total[:, None])


def biharmonic_energy(tetrahedra: Tetrahedra) -> csc_matrix:
    """Q, scaled to a mean diagonal of one, (n_nodes, n_nodes)."""
    corners, n = tetrahedra.element_nodes, tetrahedra.n_nodes
    local = tetrahedra.gradient_products(tetrahedra.volume)
    rows, columns = np.repeat(corners, 4, axis=1).ravel(), np.tile(corners, (1, 4)).ravel()
    laplace = csr_matrix((local.ravel(), (rows, columns)), shape=(n, n))
    energy = laplace @ diags(1.0 / tetrahedra.node_volume) @ laplace
    return csc_matrix(energy / energy.diagonal().mean())


def _bounded(energy: csc_matrix, fixed: Array, bone: int) -> Array:
    """One bone's weights before they are made to sum to one."""
    w = (fixed == bone).astype(float)
    if not w.any():
        raise InputError(f"weights: bone number {bone} has no node fixed in it")
    given = fixed >= 0
    low, high = np.zeros(len(w), bool), np.zeros(len(w), bool)
    for _ in range(TURNS):
        free = np.flatnonzero(~given & ~low & ~high)
        w[low], w[high] = 0.0, 1.0
        w[free] = 0.0
        if len(free):
            w[free] = splu(energy[free][:, free].tocsc()).solve(-(energy[free] @ w))
        slope = energy @ w
        under, over = ~given & ~low & (w < -SLACK), ~given & ~high & (w > 1.0 + SLACK)
        loose_low, loose_high = low & (slope < -SLACK), high & (slope > SLACK)
        if not (under.any() or over.any() or loose_low.any() or loose_high.any()):
            return np.clip(w, 0.0, 1.0)
        low, high = (low | under) & ~loose_low, (high | over) & ~loose_high
    raise RunFailed(f"weights: the bounds of bone number {bone} did not settle in {TURNS} turns")
