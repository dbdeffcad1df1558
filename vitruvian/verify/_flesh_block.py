"""Flesh against an independent finite-element library, scikit-fem, at large strain."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from vitruvian.errors import MissingExtra
from vitruvian.flesh import FleshSolver, Loads, Material, box_lattice, build_flesh, neo_hookean, rest_state
from vitruvian.verify._flesh_common import (
    TIGHT,
)
from vitruvian.verify.book import Finding, claim


@claim
def hyperelastic_block_agrees_with_scikit_fem() -> Finding:
    """Our limit of small cells against scikit-fem's, over scikit-fem's own discretisation error on its finer mesh.

    Both limits by Richardson's extrapolation from 4 and 8 trilinear cells along the edge, and so is the error.
    """
    try:
        from vitruvian.verify._flesh_peer import block_displacements
    except ImportError:
        raise MissingExtra("scikit-fem", "pip install scikit-fem") from None
    material, shift = neo_hookean(1e5, 0.3), np.array([0.02, 0.0, -0.015])
    nodes, coarse = _block(material, 4, shift)
    places, values = _block(material, 8, shift)
    fine = values[cKDTree(places).query(nodes)[1]]
    theirs = [block_displacements(material, n, shift)(nodes) for n in (4, 8)]
    limit, ours = (b + (b - a) / 3.0 for a, b in (theirs, (coarse, fine)))
    size, own = float(np.linalg.norm(limit)), float(np.linalg.norm(theirs[1] - limit))
    found = [float(np.linalg.norm(u - limit)) / size for u in (*theirs, coarse, fine, ours)]
    return Finding.within(
        float(np.linalg.norm(ours - limit)) / own,
        0.0,
        1.0,
        detail=f"off its limit: theirs {found[0]:.1e}, {found[1]:.1e}; ours {found[2]:.1e}, {found[3]:.1e}, "
        f"extrapolated {found[4]:.1e} of the displacements",
    )


def _block(material: Material, counts: int, shift: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and displacements [m] of a clamped cube of 0.1 m whose top is moved by `shift`."""
    lattice = box_lattice((counts, counts, counts), 0.1 / counts)
    nodes = lattice.nodes
    model = build_flesh(lattice, material, fixed=(nodes[:, 2] < 1e-9) | (nodes[:, 2] > 0.1 - 1e-9))
    state = rest_state(model)
    state.x += nodes[:, 2:] / 0.1 * shift
    FleshSolver(model, TIGHT).equilibrium(state, Loads())
    return nodes, state.x - nodes
