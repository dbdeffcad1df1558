"""Where the surface is rough, each spot of it keeps its own volume: what transport lost there is put back there.

The flow tells what a cell is due, whatever the level set makes of it,

    due_c = F_c + sum_f q_f,        q_f = u_f dt / h * (part of the water in the box that passes face f)

with F_c the part of cell c that is water before the sub-step and q_f what comes in by its face f. What leaves one cell
enters the next, so the sum of all that is due is kept. Where the surface is smooth for some cells around, the level set
holds what is due to a few thousandths of the tank in ten seconds; nearly all that it loses or makes, it does in sheets,
cavities and folds of one or two cells. Such cells and their neighbours that touch each other are a spot E, and

    rise = w sum_E (due - held) / sum_E (w a)

shifts the surface there, with a its area in a cell and w from 1 at rough cells to 1/3 two cells off. This is the idea
of coupled level sets and volumes of fluid (Sussman and Puckett 2000) with sums over spots instead of cells: phi is not
bent to hold in every cell what only their sum knows well.

A cell of air that its fluxes fill is water. In the last cell of a closing cavity the flows of both sides meet, its
middle stands still, and the level set alone would let it swallow water without end.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numba import njit, prange

from vitruvian.water.distance import beside, smoothness
from vitruvian.water.interpolate import linear_beyond
from vitruvian.water.model import Tank
from vitruvian.water.particles import shift_markers
from vitruvian.water.periodic import narrow, passed, widen
from vitruvian.water.sides import ALL
from vitruvian.water.state import WaterState
from vitruvian.water.volume import cell_water

Array = np.ndarray
ROUGH = 0.9  # smoothness of phi up to which a cell beside the surface is rough
AROUND = 2  # cells about a rough one that belong to its spot
WIDTH = 0.5  # cells over which a sample of phi blends from water to air: those of a face are as far apart
NEAR = 0.9  # cells from the surface beyond which all samples in a cell are of one kind: sqrt(3) / 4, WIDTH / 2 and room
FILLED = 0.01  # cells below the surface at which the middle of a cell is put that its fluxes have filled
STEP = 0.05  # cells by which the surface is shifted to measure its area
LEAST = 2.0  # cells of area below which a spot is given nothing
MOST = 0.1  # cells by which one sub-step may shift a spot; the rest is left to the tank's even shift


@dataclass
class Before:
    """Level set and flow before the surface is carried."""

    phi: Array
    flow: tuple[Array, Array, Array]
    dt: float
    margin: int  # cells by which periodic axes are widened


@dataclass
class Spots:
    """Rough cells, those around them, and what they should hold."""

    cells: Array  # (n, 3)
    weight: Array  # w, (n,)
    spot: Array  # number of each cell's spot, (n,)
    due: Array  # part of each cell that should be water, (n,)
    place: Array  # number of each cell of the tank in `cells`, -1 for none, shape of the tank
    lack: Array = field(default_factory=lambda: np.zeros(0))  # `due` less what it holds, (n,); after `weigh`
    area: Array = field(default_factory=lambda: np.zeros(0))  # of the surface in it [cells^2], (n,); after `weigh`


def note(tank: Tank, state: WaterState, dt: float) -> Before:
    """What `find_spots` needs of the state before the surface is carried for dt [s]."""
    return Before(state.phi, (state.u, state.v, state.w), dt, passed(tank, state, dt) + 3)


def over_the_rim(tank: Tank, before: Before) -> float:
    """Water [m^3] that leaves by the open top in the sub-step."""
    if tank.boundary("z+") != "open":
        return 0.0
    phi, w = (widen(tank, f, before.margin) for f in (before.phi, before.flow[2]))
    out = np.zeros(w.shape[:2])
    _leaves(phi, w, before.dt / tank.cell, tank.cell, out)
    return float(narrow(tank, out[:, :, None], before.margin).sum()) * tank.cell**3


def find_spots(tank: Tank, before: Before, state: WaterState, opened: Array | None = None) -> Spots:
    """The rough spots of the surface before and after it was carried. Cells of air that have filled become water.

    opened: open part of each cell where bodies are; cells within two of them belong to no spot.
    """
    h, m = tank.cell, before.margin
    ring = (0 in tank.wrapped, 1 in tank.wrapped)
    level = np.zeros(tank.shape, np.uint8)
    for phi in (before.phi, state.phi):
        wide = widen(tank, phi, 1)
        rough = np.zeros(wide.shape, np.uint8)
        _mark(wide, h, rough)
        level |= narrow(tank, rough, 1)
    place = np.full(tank.shape, -1, np.int32)
    cells = _grown(level, *ring) if level.any() else np.zeros((0, 3), np.int64)
    if opened is not None and len(cells):
        cells = cells[_clear(opened, cells, AROUND, *ring)]
    at = tuple(cells.T)
    place[at] = np.arange(len(cells))
    due = np.empty(len(cells))
    if len(cells):
        old, u, v, w = (widen(tank, f, m) for f in (before.phi, *before.flow))
        shift = np.array([m if a in tank.wrapped else 0 for a in range(3)])
        inward = np.empty((len(cells), 3))
        _come_in(old, u, v, w, before.dt / h, h, cells, shift, inward)
        _due(old, u, v, w, before.dt / h, h, tank.boundary("z+") == "open", cells, shift, place, inward, due)
        _fill(state.phi, cells, due, -FILLED * h)
    return Spots(cells, level[at] / (AROUND + 1.0), _numbered(cells, place, *ring), due, place)


def weigh(tank: Tank, state: WaterState, spots: Spots) -> None:
    """Find what each cell of the spots lacks and its surface, now that phi is a distance again."""
    if not len(spots.cells):
        return
    held = np.empty((2, len(spots.cells)))
    wide = widen(tank, state.phi, 1)
    _parts(wide, tank.cell, spots.cells + [1 if a in tank.wrapped else 0 for a in range(3)], held)
    spots.lack = spots.due - held[0]
    spots.area = (held[1] - held[0]) / STEP


def take_off(tank: Tank, state: WaterState, spots: Spots, first: int) -> None:
    """Water that flies since as the drops from number `first` on is not missing in the spots that they left."""
    if not len(spots.cells) or first >= len(state.spray):
        return
    cells = ((state.spray[first:] - state.origin) / tank.cell).astype(np.int64)
    cells = np.clip(cells, 0, np.asarray(tank.shape) - 1)
    found = spots.place[tuple(cells.T)]
    np.subtract.at(spots.lack, found[found >= 0], state.spray_volume[first:][found >= 0] / tank.cell**3)


def put_back(tank: Tank, state: WaterState, spots: Spots) -> None:
    """Shift the surface of each spot, markers with it, by what is missing there."""
    if not len(spots.cells):
        return
    area_of = np.bincount(spots.spot, spots.weight * spots.area)
    lack_of = np.bincount(spots.spot, spots.lack)
    wide = area_of > LEAST
    height = np.clip(np.where(wide, lack_of / np.where(wide, area_of, 1.0), 0.0), -MOST, MOST)
    rise = np.zeros(tank.shape)
    rise[tuple(spots.cells.T)] = spots.weight * height[spots.spot] * tank.cell
    state.phi = state.phi - rise
    shift_markers(tank, state, -rise)
    given = height * area_of * tank.cell**3
    state.returned_net += float(given.sum())
    state.returned_volume += float(np.abs(given).sum())


# --- kernels -------------------------------------------------------------------------------------------------------


@njit(cache=True, parallel=True)
def _mark(phi, h, level):
    """Rough cells beside the surface get the highest level, AROUND + 1."""
    nx, ny, nz = phi.shape
    for ii in prange(nx):
        i = np.int64(ii)
        for j in range(ny):
            for k in range(nz):
                if abs(phi[i, j, k]) < 1.5 * h and beside(phi, i, j, k, ALL) and smoothness(phi, i, j, k) <= ROUGH:
                    level[i, j, k] = AROUND + 1


@njit(cache=True)
def _around(place, n, ring):
    """Places before, at and after one of n along an axis; -1 for none."""
    here = np.int64(place)
    low = here - 1 if here > 0 else np.int64(n - 1 if ring else -1)
    high = here + 1 if here < n - 1 else np.int64(0 if ring else -1)
    return low, here, high


@njit(cache=True)
def _grown(level, ring_x, ring_y):
    """Cells of all levels, layer by layer: neighbours of those of one level that have none get the next lower one."""
    nx, ny, nz = level.shape
    cells = np.empty((level.size, 3), np.int32)
    n = 0
    for i in range(nx):
        for j in range(ny):
            for k in range(nz):
                if level[i, j, k]:
                    cells[n, 0], cells[n, 1], cells[n, 2] = i, j, k
                    n += 1
    first = 0
    for turn in range(AROUND):
        last = n
        for m in range(first, last):
            for i in _around(cells[m, 0], nx, ring_x):
                for j in _around(cells[m, 1], ny, ring_y):
                    for k in _around(cells[m, 2], nz, False):
                        if i >= 0 and j >= 0 and k >= 0 and level[i, j, k] == 0:
                            level[i, j, k] = AROUND - turn
                            cells[n, 0], cells[n, 1], cells[n, 2] = i, j, k
                            n += 1
        first = last
    return cells[:n].astype(np.int64)


@njit(cache=True)
def _numbered(cells, place, ring_x, ring_y):
    """Number of the spot of each cell: cells that touch, at a corner too, are one."""
    nx, ny, nz = place.shape
    out = np.full(len(cells), -1, np.int64)
    stack = np.empty(len(cells), np.int64)
    count = 0
    for start in range(len(cells)):
        if out[start] >= 0:
            continue
        out[start] = count
        stack[0] = start
        size = 1
        while size > 0:
            size -= 1
            c = stack[size]
            for i in _around(cells[c, 0], nx, ring_x):
                for j in _around(cells[c, 1], ny, ring_y):
                    for k in _around(cells[c, 2], nz, False):
                        if i >= 0 and j >= 0 and k >= 0 and place[i, j, k] >= 0 and out[place[i, j, k]] < 0:
                            out[place[i, j, k]] = count
                            stack[size] = place[i, j, k]
                            size += 1
        count += 1
    return out


@njit(cache=True)
def _clear(opened, cells, reach, ring_x, ring_y):
    """Whether no body is within `reach` cells of each cell."""
    nx, ny, nz = opened.shape
    out = np.ones(len(cells), np.bool_)
    for n in range(len(cells)):
        for a in range(-reach, reach + 1):
            i = (cells[n, 0] + a) % nx if ring_x else cells[n, 0] + a
            for b in range(-reach, reach + 1):
                j = (cells[n, 1] + b) % ny if ring_y else cells[n, 1] + b
                for k in range(max(cells[n, 2] - reach, 0), min(cells[n, 2] + reach + 1, nz)):
                    if 0 <= i < nx and 0 <= j < ny and opened[i, j, k] < 1.0:
                        out[n] = False
    return out


@njit(cache=True)
def _through(phi, speed, courant, h, axis, i, j, k):
    """Water [cells] that passes a face along the positive axis: the mean of eight samples in the box that passes."""
    way = speed * courant
    nx, ny, nz = phi.shape
    behind = 1 if way > 0.0 else 0
    a = min(max(i - (behind if axis == 0 else 0), 0), nx - 1)
    b = min(max(j - (behind if axis == 1 else 0), 0), ny - 1)
    c = min(max(k - (behind if axis == 2 else 0), 0), nz - 1)
    far = (NEAR + max(abs(way) - 1.0, 0.0)) * h
    if way == 0.0 or phi[a, b, c] > far:
        return 0.0
    if phi[a, b, c] < -far:
        return way
    total = 0.0
    for s in (0.25, 0.75):
        for p in (-0.25, 0.25):
            for q in (-0.25, 0.25):
                if axis == 0:
                    value = linear_beyond(phi, i - 0.5 - s * way, j + p, k + q)
                elif axis == 1:
                    value = linear_beyond(phi, i + p, j - 0.5 - s * way, k + q)
                else:
                    value = linear_beyond(phi, i + p, j + q, k - 0.5 - s * way)
                total += min(max(0.5 - value / (WIDTH * h), 0.0), 1.0)
    return way * total / 8.0


@njit(cache=True, parallel=True)
def _come_in(phi, u, v, w, courant, h, cells, shift, out):
    """Water that comes in by the lower faces of each cell, (n, 3). shift: cells by which the fields are widened."""
    for n in prange(len(cells)):
        i, j, k = cells[n, 0] + shift[0], cells[n, 1] + shift[1], cells[n, 2]
        out[n, 0] = _through(phi, u[i, j, k], courant, h, 0, i, j, k)
        out[n, 1] = _through(phi, v[i, j, k], courant, h, 1, i, j, k)
        out[n, 2] = _through(phi, w[i, j, k], courant, h, 2, i, j, k)


@njit(cache=True, parallel=True)
def _due(phi, u, v, w, courant, h, rim, cells, shift, place, inward, out):
    nx, ny, nz = place.shape
    for n in prange(len(cells)):
        a, b, k = cells[n, 0], cells[n, 1], cells[n, 2]
        i, j = a + shift[0], b + shift[1]
        total = cell_water(phi, h, i, j, k, 0.0) + inward[n, 0] + inward[n, 1] + inward[n, 2]
        # what goes out by the upper faces comes in by the lower ones of the next cells
        m = place[a + 1, b, k] if a < nx - 1 else -1
        total -= inward[m, 0] if m >= 0 else _through(phi, u[i + 1, j, k], courant, h, 0, i + 1, j, k)
        m = place[a, b + 1, k] if b < ny - 1 else -1
        total -= inward[m, 1] if m >= 0 else _through(phi, v[i, j + 1, k], courant, h, 1, i, j + 1, k)
        m = place[a, b, k + 1] if k < nz - 1 else -1
        speed = max(w[i, j, nz], 0.0) if rim and k == nz - 1 else w[i, j, k + 1]  # what comes in over the rim is air
        total -= inward[m, 2] if m >= 0 else _through(phi, speed, courant, h, 2, i, j, k + 1)
        out[n] = total


@njit(cache=True)
def _leaves(phi, w, courant, h, out):
    nz = phi.shape[2]
    for i in range(phi.shape[0]):
        for j in range(phi.shape[1]):
            if w[i, j, nz] > 0.0:
                out[i, j] = _through(phi, w[i, j, nz], courant, h, 2, i, j, nz)


@njit(cache=True)
def _fill(phi, cells, due, value):
    for n in range(len(cells)):
        i, j, k = cells[n, 0], cells[n, 1], cells[n, 2]
        if phi[i, j, k] >= 0.0 and due[n] >= 1.0:
            phi[i, j, k] = value


@njit(cache=True, parallel=True)
def _parts(phi, h, cells, out):
    """Part of each cell that is water, as it is and with the surface shifted outwards by STEP."""
    for n in prange(cells.shape[0]):
        i, j, k = cells[n, 0], cells[n, 1], cells[n, 2]
        out[0, n] = cell_water(phi, h, i, j, k, 0.0)
        out[1, n] = cell_water(phi, h, i, j, k, -STEP * h)
