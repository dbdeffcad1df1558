"""How much each bone moves each point of the skin: smooth weights between 0 and 1 that sum to 1.

Inside the skin the weight of a bone is harmonic, 1 on that bone and 0 on all others (the heat that the bone would send
there), so that it follows the body and not the air between its parts. It is then smoothed along the surface and the
largest few are kept. Vertebrae are taken in groups, ribs go with their vertebra, finger bones with the hand.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix, identity
from scipy.sparse.linalg import splu

from vitruvian.anatomy.body import Body
from vitruvian.mesh import mesh_level_set
from vitruvian.mesh.remesh import neighbour_average
from vitruvian.skin import few

Array = np.ndarray
Shape = tuple[Array, Array]
GRID = 0.014  # [m] spacing of the grid on which heat spreads
SPREAD = 3.0  # rounds of neighbours over which weights are smoothed along the skin

# One bone speaks for its neighbours: a spinal level moves by a few degrees against the next.
SPEAKERS = {
    "L5": "L4", "L4": "L4", "L3": "L4", "L2": "L2", "L1": "L2",
    "T12": "T12", "T11": "T12", "T10": "T9", "T9": "T9", "T8": "T9", "T7": "T6", "T6": "T6", "T5": "T6",
    "T4": "T3", "T3": "T3", "T2": "T3", "T1": "T3",
    "C7": "C6", "C6": "C6", "C5": "C6", "C4": "C3", "C3": "C3", "C2": "C3", "C1": "Sku",
    "Man": "Sku", "Hyo": "C3", "Thy": "C6", "Rb1": "T3", "Ste": "T6",
}  # fmt: skip


def speaker(bone: str) -> str:
    """The bone that moves the skin over `bone`."""
    if bone in SPEAKERS:
        return SPEAKERS[bone]
    if bone.startswith("Rb"):
        return SPEAKERS["T" + bone[2:].split("_")[0]]
    if bone.startswith("Cc"):
        return SPEAKERS["T" + bone[2:].split("_")[0]]
    if "_proximal" in bone or "_middle_" in bone or "_distal" in bone:
        return "Ha_" + bone[-1]
    return bone


def skin_weights(body: Body, bones: dict[str, Shape], vertices: Array, faces: Array) -> tuple[tuple[str, ...], Array]:
    """Names of the bones that move the skin, and weights, shape (n_vertices, n_names); `bones` in the default pose."""
    groups = {name: speaker(name) for name in bones}
    names = tuple(n for n in body.skeleton.names if n in set(groups.values()))
    number = {n: i for i, n in enumerate(names)}
    level = mesh_level_set(vertices, faces, GRID, band=3.0 * GRID, name="skin")
    shape = level.values.shape
    owner = np.full(shape, -1, dtype=np.int64)
    for name, (points, triangles) in bones.items():
        for at in _cells(level.origin, shape, np.concatenate([points, points[triangles].mean(axis=1)])):
            owner[at] = number[groups[name]]
    # the shell just outside belongs to the domain too, so that every vertex lies between solved points
    inside = (level.values < 1.2 * GRID) | (owner >= 0)
    heat = _harmonic(inside, owner, len(names))
    weights = _sample(heat, inside, level.origin, vertices)
    matrix = neighbour_average(len(vertices), faces)
    smoother = splu((identity(len(vertices)) * (1.0 + SPREAD) - SPREAD * matrix).tocsc())
    weights = np.maximum(smoother.solve(weights), 0.0)
    return names, few(weights)


def _cells(origin: Array, shape: tuple[int, ...], points: Array) -> list[tuple[int, int, int]]:
    at = np.rint((points - origin) / GRID).astype(np.int64)
    at = np.unique(np.clip(at, 0, np.array(shape) - 1), axis=0)
    return [(int(i), int(j), int(k)) for i, j, k in at]


def _harmonic(inside: Array, owner: Array, count: int) -> Array:
    """Solve the Laplace equation on the grid points inside, bones given; shape (inside points, count)."""
    number = np.full(inside.shape, -1, dtype=np.int64)
    number[inside] = np.arange(int(inside.sum()))
    rows, columns = [], []
    for axis in range(3):
        low, high = [slice(None)] * 3, [slice(None)] * 3
        low[axis], high[axis] = slice(None, -1), slice(1, None)
        a, b = number[tuple(low)], number[tuple(high)]
        both = (a >= 0) & (b >= 0)
        rows += [a[both], b[both]]
        columns += [b[both], a[both]]
    n = int(inside.sum())
    row, column = np.concatenate(rows), np.concatenate(columns)
    links = csr_matrix((np.ones(len(row)), (row, column)), shape=(n, n))
    degree = np.asarray(links.sum(axis=1)).ravel()
    given = owner[inside]
    fixed = given >= 0
    out = np.zeros((n, count))
    out[fixed, given[fixed]] = 1.0
    free = np.flatnonzero(~fixed)
    # a trace of leakage keeps points without any path to a bone from making the system singular
    matrix = (
        csr_matrix((degree[free] + 1e-9, (np.arange(len(free)),) * 2), shape=(len(free),) * 2) - links[free][:, free]
    )
    out[free] = splu(matrix.tocsc()).solve(links[free][:, np.flatnonzero(fixed)] @ out[fixed])
    return out


def _sample(heat: Array, inside: Array, origin: Array, points: Array) -> Array:
    """Values at points between grid points: trilinear over those that lie inside."""
    number = np.full(inside.shape, -1, dtype=np.int64)
    number[inside] = np.arange(len(heat))
    at = (points - origin) / GRID
    base = np.floor(at).astype(np.int64)
    part = at - base
    total = np.zeros((len(points), heat.shape[1]))
    share = np.zeros(len(points))
    for corner in np.ndindex(2, 2, 2):
        where = np.minimum(base + corner, np.array(inside.shape) - 1)
        n = number[where[:, 0], where[:, 1], where[:, 2]]
        w = np.prod(np.where(np.array(corner) == 1, part, 1.0 - part), axis=1) * (n >= 0)
        total += w[:, None] * heat[np.maximum(n, 0)]
        share += w
    return total / np.maximum(share, 1e-12)[:, None]
