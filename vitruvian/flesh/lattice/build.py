"""Building lattices: from a level set, from its values on a grid, as a block.

Cells filled less than 2 % are dropped, separate parts do not share nodes, cells that lie wholly in bone are left out.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from vitruvian.errors import InputError
from vitruvian.flesh.checks import number, vector, whole
from vitruvian.flesh.lattice.cells import Lattice, open_faces
from vitruvian.flesh.lattice.fill import CORNERS, cell_moments, fine_volumes, quadrature
from vitruvian.flesh.lattice.fragments import label_fragments, share_nodes

LevelSet = Callable[[np.ndarray], np.ndarray]  # points [m] (n, 3) -> signed distance [m] (n,), negative inside
LEAST_FILL = 0.02  # a cell with less tissue than this is dropped: it carries nothing and spoils the conditioning
MOST_SINGLE = 0.5  # part of the tissue that may be one cell thick
NOTED_THIN = 0.002  # part of the tissue in thin parts that asks for a warning
THICK = 0.6  # of a cell's volume that the tissue at an inner node has in a part more than a cell thick
SOLID_PITCH = 0.005  # [m], greatest distance of the points at which a cell is asked whether it lies in bone
MOST_POINTS = 200_000_000  # fine grid points; beyond this the lattice is surely a mistake


def lattice_from_level_set(
    level_set: LevelSet,
    lower: ArrayLike,
    upper: ArrayLike,
    spacing: float,
    *,
    samples: int = 2,
    solid: LevelSet | None = None,
    thin: bool = False,
    warn: bool = True,
) -> Lattice:
    """A lattice over the box from `lower` to `upper` [m], aligned with `lower`; `level_set` is negative inside.

    solid: negative inside bone; cells that lie wholly in it are left out. thin: take tissue most of which is one cell
    thick, which bends too easily by 15 to 40 %; otherwise that is an error, and a warning where it is a smaller part,
    unless `warn` is False.
    """
    lower, upper = np.array(lower, float), np.array(upper, float)
    number("flesh lattice", "spacing [m]", spacing, above=0.0)
    if samples < 1:
        raise InputError(f"flesh lattice: needs at least one sample per cell edge, not {samples}")
    if not np.all(np.isfinite([lower, upper])) or np.any(upper <= lower):
        raise InputError(f"flesh lattice: the box from {lower} to {upper} m is empty")
    counts = np.maximum(1, np.ceil((upper - lower) / spacing - 1e-9).astype(int))
    if np.prod(counts * samples + 1.0) > MOST_POINTS:
        raise InputError(f"flesh lattice: {counts} cells of {spacing} m are too many; take a larger spacing")
    step = spacing / samples
    axes = [lower[a] + step * np.arange(counts[a] * samples + 1) for a in range(3)]
    phi = np.empty([len(a) for a in axes])
    for i, x in enumerate(axes[0]):  # plane by plane, so that the points of a fine body need no gigabytes
        plane = np.stack(np.meshgrid([x], axes[1], axes[2], indexing="ij"), axis=-1).reshape(-1, 3)
        values = np.asarray(level_set(plane), float)
        if values.size != len(plane):
            raise InputError(
                f"flesh lattice: level_set gave values of shape {values.shape} for {len(plane)} points; one for each"
            )
        phi[i] = values.reshape(phi.shape[1:])
    lattice = lattice_from_values(phi, lower, spacing, samples=samples, solid=solid)
    single = single_share(lattice)
    if single > MOST_SINGLE and not thin:
        raise InputError(
            f"flesh lattice: {100.0 * single:.0f} % of the tissue is one cell thick: cells of {1e3 * spacing:g} mm are "
            f"coarser than its parts; take {500.0 * spacing:g} mm or less, or thin=True if it may bend too easily"
        )
    if warn and not thin and (share := thin_share(lattice)) > NOTED_THIN:
        warnings.warn(
            f"flesh lattice: {100.0 * share:.2g} % of the tissue ({1e6 * share * lattice.volume.sum():.3g} cm³) lies "
            f"in parts one cell of {1e3 * spacing:g} mm thick, which bend too easily by 15 to 40 %; take a smaller "
            "spacing, or thin=True if they may",
            stacklevel=2,
        )
    return lattice


def single_share(lattice: Lattice) -> float:
    """Part of the tissue's volume that lies in cells with no other on either side along x, y or z."""
    sides = open_faces(lattice.cell_nodes)
    single = (sides[:, 0::2] & sides[:, 1::2]).max(axis=1)
    return float(lattice.volume[single].sum() / lattice.volume.sum())


def thin_share(lattice: Lattice) -> float:
    """Part of the tissue's volume in parts about a cell thick that stand out from the rest by more than a cell.

    A node within tissue has a cell's volume around it; one within a part of a cell's thickness about half of that.
    """
    cells, n = lattice.cell_nodes, lattice.n_nodes
    thick = lattice.node_volume >= THICK * lattice.spacing**3
    if len(lattice.carved):  # beside bone that was cut out
        grid = np.round((lattice.nodes - lattice.origin) / lattice.spacing).astype(np.int64)
        bony = np.floor((lattice.carved[:, :3] - lattice.origin) / lattice.spacing).astype(np.int64)
        size = grid.max(axis=0) + 2
        corners = np.ravel_multi_index((bony[:, None] + CORNERS).reshape(-1, 3).T, size, mode="clip")
        thick |= np.isin(np.ravel_multi_index(grid.T, size), corners)
    near = np.zeros(n, bool)
    near[cells[thick[cells].any(axis=1)]] = True
    return float(lattice.volume[~near[cells].any(axis=1)].sum() / lattice.volume.sum())


def lattice_from_values(
    phi: np.ndarray, origin: np.ndarray, spacing: float, *, samples: int = 2, solid: LevelSet | None = None
) -> Lattice:
    """A lattice from a level set [m] on the nodes of the fine grid, shape (counts * samples + 1)."""
    number("flesh lattice", "spacing [m]", spacing, above=0.0)
    origin = vector("flesh lattice", "origin", origin)
    phi = np.ascontiguousarray(phi, float)
    if not np.all(np.isfinite(phi)):
        raise InputError("flesh lattice: the level set has values that are not finite")
    if any((n - 1) % samples or n < 2 for n in phi.shape):
        raise InputError(f"flesh lattice: a grid of {phi.shape} values does not fit {samples} samples per cell")
    owner, cells = label_fragments(fine_volumes(phi) > 0.0, samples)
    if len(cells) == 0:
        raise InputError("flesh lattice: no cell holds tissue; is the level set negative inside?")
    nodes_of = share_nodes(owner, samples, len(cells))
    moments = cell_moments(phi, samples, cells, owner, len(cells))
    kept = moments[:, 0] >= LEAST_FILL
    if not kept.any():
        raise InputError(f"flesh lattice: no cell is filled by 2 %; {spacing} m is far coarser than the tissue")
    carved = np.zeros((0, 4))
    if solid is not None:
        bony = kept & wholly_inside(solid, np.asarray(origin, float) + spacing * cells, spacing)
        middle = origin + spacing * (cells[bony] + moments[bony, 1:4] / moments[bony, :1])
        carved = np.concatenate([middle, moments[bony, :1] * spacing**3], axis=1)
        kept &= ~bony
        if not kept.any():
            raise InputError("flesh lattice: bone leaves no room for tissue")
    renumber = np.full(len(cells) + 1, -1, np.int32)
    renumber[:-1][kept] = np.arange(kept.sum(), dtype=np.int32)
    cells, nodes_of, moments = cells[kept], nodes_of[kept], moments[kept]
    used, cell_nodes = np.unique(nodes_of, return_inverse=True)
    cell_nodes = cell_nodes.reshape(-1, 8)
    grid = np.empty((len(used), 3))
    grid[cell_nodes.ravel()] = (cells[:, None, :] + CORNERS[None]).reshape(-1, 3)
    second = moments[:, [4, 5, 6, 5, 7, 8, 6, 8, 9]].reshape(-1, 3, 3)
    node_volume = np.bincount(cell_nodes.ravel(), moments[:, 10:].ravel(), len(used)) * spacing**3
    return Lattice(
        origin=np.asarray(origin, float),
        spacing=float(spacing),
        samples=samples,
        nodes=origin + spacing * grid,
        cells=cells.astype(np.int64),
        cell_nodes=cell_nodes.astype(np.int64),
        volume=moments[:, 0] * spacing**3,
        points=quadrature(moments[:, 0], moments[:, 1:4], second, cells.sum(axis=1) % 2 == 1),
        node_volume=node_volume,
        owner=renumber[owner],
        carved=carved,
    )


def wholly_inside(solid: LevelSet, corner: np.ndarray, spacing: float) -> np.ndarray:
    """Which cells lie in a solid with every point that they are asked at, shape (n,); corner: their lowest [m] (n, 3).

    The points are no farther apart than `SOLID_PITCH`, faces, edges and corners included.
    """
    inside = np.ones(len(corner), bool)
    count = max(2, int(np.ceil(spacing / SOLID_PITCH - 1e-9)))
    axis = np.arange(count + 1) / count
    points = spacing * np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    centre = np.argsort(np.linalg.norm(points - 0.5 * spacing, axis=1), kind="stable")
    for p in points[centre[::-1]]:  # corners first: most cells are known to be out by then
        left = np.flatnonzero(inside)
        inside[left] = solid(corner[left] + p) < 0.0
    return inside


def box_lattice(
    counts: tuple[int, int, int], spacing: float, origin: tuple[float, float, float] = (0.0, 0.0, 0.0)
) -> Lattice:
    """A block of full cells."""
    counts = whole("flesh lattice", "counts", counts, 1)
    corner = vector("flesh lattice", "origin", origin)
    return lattice_from_values(-np.ones(np.array(counts) + 1), corner, spacing, samples=1)
