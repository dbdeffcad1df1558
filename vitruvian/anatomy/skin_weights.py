"""How much each bone moves each point of the skin: smooth weights between 0 and 1 that sum to 1.

Inside the skin the weight of a bone is harmonic, 1 on that bone and 0 on all others (the heat that the bone would send
there). No heat crosses the air between two parts, or skin would span from one to the other when they move apart. The
weight is then smoothed along the surface and the largest few are kept. Vertebrae are taken in groups, ribs go with
their vertebra, finger bones with the hand.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_matrix, diags, identity
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu
from scipy.spatial import cKDTree

from vitruvian.anatomy.body import Body
from vitruvian.mesh import mesh_level_set, vertex_normals
from vitruvian.mesh.remesh import neighbour_average
from vitruvian.skin import few

Array = np.ndarray
Shape = tuple[Array, Array]
GRID = 0.014  # [m] spacing of the grid on which heat spreads
SPREAD = 0.05  # [m] over which weights are smoothed along the skin
NEAR = 16  # grid points nearest to a point of the skin, of which those beneath it give its weights

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
    # twice as fine as the heat's grid: a narrow gap, as between the thighs, has a point in it that cuts the link across
    fine = mesh_level_set(vertices, faces, 0.5 * GRID, band=1.5 * GRID, name="skin")
    shape = tuple((n + 1) // 2 for n in fine.values.shape)
    owner = np.full(shape, -1, dtype=np.int64)
    for name, (points, triangles) in bones.items():
        for at in _cells(fine.origin, shape, np.concatenate([points, points[triangles].mean(axis=1)])):
            owner[at] = number[groups[name]]
    heat = _harmonic(fine.values < 0.0, owner, len(names))
    weights = _sample(heat, fine.origin, vertices, vertex_normals(vertices, faces))
    weights = np.maximum(_smoother(vertices, faces)(weights), 0.0)
    return names, few(weights)


def _smoother(vertices: Array, faces: Array) -> Callable[[Array], Array]:
    """One implicit step of diffusion along the skin over the distance SPREAD, however fine the triangles."""
    length = np.zeros(len(vertices))
    for a, b in ((0, 1), (1, 2), (2, 0)):
        size = np.linalg.norm(vertices[faces[:, a]] - vertices[faces[:, b]], axis=1)
        np.add.at(length, faces[:, a], size)
    length /= np.bincount(faces.ravel(), minlength=len(vertices))
    amount = (SPREAD / length) ** 2
    matrix = identity(len(vertices)) + diags(amount) - diags(amount) @ neighbour_average(len(vertices), faces)
    return splu(matrix.tocsc()).solve


def _cells(origin: Array, shape: tuple[int, ...], points: Array) -> list[tuple[int, int, int]]:
    at = np.rint((points - origin) / GRID).astype(np.int64)
    at = np.unique(np.clip(at, 0, np.array(shape) - 1), axis=0)
    return [(int(i), int(j), int(k)) for i, j, k in at]


def _harmonic(fine: Array, owner: Array, count: int) -> tuple[Array, Array]:
    """Solve the Laplace equation on the grid points inside, bones given; heat flows between neighbours if the point
    half way, of the `fine` grid, is inside too. Returns the grid points (n, 3) that bones reach, and their weights."""
    inside = fine[::2, ::2, ::2] | (owner >= 0)
    number = np.full(inside.shape, -1, dtype=np.int64)
    number[inside] = np.arange(int(inside.sum()))
    rows, columns = [], []
    for axis in range(3):
        low, high = [slice(None)] * 3, [slice(None)] * 3
        low[axis], high[axis] = slice(None, -1), slice(1, None)
        a, b = number[tuple(low)], number[tuple(high)]
        half = [slice(None, None, 2)] * 3
        half[axis] = slice(1, 2 * a.shape[axis], 2)
        both = (a >= 0) & (b >= 0) & fine[tuple(half)]
        rows += [a[both], b[both]]
        columns += [b[both], a[both]]
    n = int(inside.sum())
    row, column = np.concatenate(rows), np.concatenate(columns)
    links = csr_matrix((np.ones(len(row)), (row, column)), shape=(n, n))
    given = owner[inside]
    fixed = given >= 0
    _, piece = connected_components(links, directed=False)
    reached = np.isin(piece, piece[fixed])
    degree = np.asarray(links.sum(axis=1)).ravel()
    out = np.zeros((n, count))
    out[fixed, given[fixed]] = 1.0
    free = np.flatnonzero(~fixed & reached)
    matrix = diags(degree[free]) - links[free][:, free]
    out[free] = splu(matrix.tocsc()).solve(links[free][:, np.flatnonzero(fixed)] @ out[fixed])
    return np.argwhere(inside)[reached], out[reached]


def _sample(heat: tuple[Array, Array], origin: Array, points: Array, normals: Array) -> Array:
    """Values at points of the surface, from the grid points beneath: those across a gap lie above its tangent plane."""
    places, values = heat
    away, near = cKDTree(origin + GRID * places).query(points, k=NEAR)
    way = origin + GRID * places[near] - points[:, None]
    beneath = np.einsum("nki,ni->nk", way, normals) < 0.1 * GRID
    beneath[:, 0] |= ~beneath.any(axis=1)
    weight = beneath / np.maximum(away, 0.1 * GRID) ** 2
    weight /= weight.sum(axis=1, keepdims=True)
    return np.einsum("nk,nkb->nb", weight, values[near])
