"""Velocity beyond the water: smooth, and free of divergence near the surface.

A face is known where the projection has set it: open, and beside a wet cell. Known faces pass their mean on to their
unknown neighbours, layer by layer (Enright, Marschner and Fedkiw 2002), which slides freely along walls and bodies. A
second, small projection in the first layers of air then removes the divergence of that extension, known faces held:
the surface lies up to half a cell beyond the last known face, and a thin layer that is stretched would otherwise thin
too slowly and gain volume (Rasmussen et al. 2004). Where the surface is smooth above thick water the first layers
continue the profile below it, f1 + d1^2 / d2, exact for a wave's exp(k z): a constant there makes waves slow by an
amount that depends on where the level lies in its cell.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from vitruvian.water.air import remove_divergence
from vitruvian.water.model import Tank
from vitruvian.water.periodic import narrow, widen
from vitruvian.water.pressure import Boundary
from vitruvian.water.state import WaterState

LAYERS = 7
AIR = 1.0  # cells of air in which the extension is made divergence-free: those that may hold some water
SMOOTH = 2  # layers that continue the profile of the water; further ones are constant
LEAST, MOST = 0.45, 1.2  # ratio of two differences behind the surface: a wave of eight cells, even shear and a little
STEEPEST = 0.3  # change of velocity over a cell in sqrt(g h): a k sqrt(k h) of the steepest waves
SQUARE = 0.92  # cosine of the angle between the surface's normal and a line along which the profile is continued
WAITING = 255  # mark of a face that the next layer will reach
Array = np.ndarray


def extrapolate_velocity(
    tank: Tank, state: WaterState, boundary: Boundary, diagonal: np.ndarray, layers: int = LAYERS
) -> None:
    """Extend the projected velocity in place; `diagonal` is that of the pressure system (positive in wet cells)."""
    sides = tank.open_sides()
    margin = layers + 1
    phi = widen(tank, state.phi, margin)
    if tank.wrapped:
        diagonal = np.pad(widen(tank, diagonal[1:-1, 1:-1, 1:-1], margin), 1)
    masks, flow = [], []
    most = STEEPEST * float(np.sqrt(-tank.gravity[2] * tank.cell))
    opens = (boundary.open_x, boundary.open_y, boundary.open_z)
    for axis, (given, opened) in enumerate(zip((state.u, state.v, state.w), opens)):
        f = widen(tank, given, margin)
        known = np.empty(f.shape, np.uint8)
        _known(axis, widen(tank, opened, margin), diagonal, known, f, sides[2 * axis], sides[2 * axis + 1])
        if boundary.sides is not None:
            _pieces_known(tank, boundary, axis, given, margin, known, f)
        count = np.zeros(f.shape[0], np.int64)
        edge = np.empty((f.shape[0], f.shape[1] * f.shape[2]), np.int32)
        _edge(known, count, edge)
        _extend(f, phi, tank.cell, most, known, count, edge, layers)
        masks.append(narrow(tank, known, margin))
        flow.append(narrow(tank, f, margin))
    if tank.free_surface:
        marks, extended = (masks[0], masks[1], masks[2]), (flow[0], flow[1], flow[2])
        remove_divergence(state.phi, AIR * tank.cell, marks, extended, tank.wrapped)
    state.u, state.v, state.w = flow


def _pieces_known(
    tank: Tank, b: Boundary, axis: int, given: np.ndarray, margin: int, known: np.ndarray, f: np.ndarray
) -> None:
    """Faces between pieces are known where one of these is wet, whatever the cells' own are, in place."""
    faces = b.long_faces[(b.long_faces[:, 0] == axis), 1:]
    wet = b.long_wet[b.long_faces[:, 0] == axis]
    side = np.any((faces == 0) | (faces == given.shape), axis=1) | (faces[:, axis] == given.shape[axis] - 1)
    faces, wet = faces[~side], wet[~side]
    at = tuple((faces + [margin if d in tank.wrapped else 0 for d in range(3)]).T)
    known[at] = wet
    f[at] = np.where(wet, given[tuple(faces.T)], 0.0)


@njit(cache=True, parallel=True)
def _known(axis, opened, diagonal, known, f, low_open, high_open):
    """Mark known faces with 1 and clear the others."""
    a, b, c = (1 if axis == 0 else 0), (1 if axis == 1 else 0), (1 if axis == 2 else 0)
    for ii in prange(f.shape[0]):
        i = np.int64(ii)
        for j in range(f.shape[1]):
            for k in range(f.shape[2]):
                wet = diagonal[i + 1, j + 1, k + 1] > 0.0 or diagonal[i + 1 - a, j + 1 - b, k + 1 - c] > 0.0
                at = i if axis == 0 else (j if axis == 1 else k)
                wall = (at == 0 and low_open == 0) or (at == f.shape[axis] - 1 and high_open == 0)
                inlet = (at == 0 and low_open == 2) or (at == f.shape[axis] - 1 and high_open == 2)
                if inlet:
                    known[i, j, k] = 1
                elif wall:
                    # nothing passes a wall, in air neither
                    known[i, j, k] = 1
                    f[i, j, k] = 0.0
                elif wet and opened[i, j, k] > 0.0:
                    known[i, j, k] = 1
                else:
                    known[i, j, k] = 0
                    f[i, j, k] = 0.0


@njit(cache=True, parallel=True)
def _edge(known, count, edge):
    """Unknown faces beside a known one, per slab; they are marked as waiting."""
    nx, ny, nz = known.shape
    for ii in prange(nx):
        i = np.int64(ii)
        n = 0
        for j in range(ny):
            for k in range(nz):
                if known[i, j, k] == 0 and (
                    (i > 0 and known[i - 1, j, k] == 1)
                    or (i < nx - 1 and known[i + 1, j, k] == 1)
                    or (j > 0 and known[i, j - 1, k] == 1)
                    or (j < ny - 1 and known[i, j + 1, k] == 1)
                    or (k > 0 and known[i, j, k - 1] == 1)
                    or (k < nz - 1 and known[i, j, k + 1] == 1)
                ):
                    known[i, j, k] = WAITING
                    edge[i, n] = j * nz + k
                    n += 1
        count[i] = n


@njit(cache=True)
def _extend(f, phi, h, most, known, count, edge, layers):
    """Hand values on, layer by layer, from the waiting faces in `edge`; layer n is marked n + 2."""
    nx, ny, nz = f.shape
    front = np.empty(count.sum(), np.int64)
    n = 0
    for i in range(nx):
        for m in range(count[i]):
            front[n] = i * ny * nz + edge[i, m]
            n += 1
    flat, marks = f.ravel(), known.ravel()
    steps = np.array([ny * nz, nz, 1])
    for layer in range(layers):
        mark = np.uint8(layer + 2)
        values = np.empty(len(front))
        following = np.empty(4 * len(front) + 16, np.int64)
        n = 0
        for m in range(len(front)):
            at = front[m]
            total = 0.0
            known_count = 0
            for s in range(3):
                place = at // steps[s] % f.shape[s]
                if place > 0 and 0 < marks[at - steps[s]] < mark:
                    total += _continued(flat, marks, phi, h, most, at, s, -1, steps, place, mark)
                    known_count += 1
                if place < f.shape[s] - 1 and 0 < marks[at + steps[s]] < mark:
                    total += _continued(flat, marks, phi, h, most, at, s, 1, steps, f.shape[s] - 1 - place, mark)
                    known_count += 1
            values[m] = total / known_count
        for m in range(len(front)):
            flat[front[m]] = values[m]
            marks[front[m]] = mark
        if layer == layers - 1:
            break
        for m in range(len(front)):
            at = front[m]
            if n + 6 > len(following):
                longer = np.empty(2 * len(following), np.int64)
                longer[:n] = following[:n]
                following = longer
            for s in range(3):
                place = at // steps[s] % f.shape[s]
                if place > 0 and marks[at - steps[s]] == 0:
                    marks[at - steps[s]] = WAITING
                    following[n] = at - steps[s]
                    n += 1
                if place < f.shape[s] - 1 and marks[at + steps[s]] == 0:
                    marks[at + steps[s]] = WAITING
                    following[n] = at + steps[s]
                    n += 1
        front = following[:n]


@njit(cache=True)
def _continued(flat, marks, phi, h, most, at, axis, sign, steps, room, mark):
    """Value that a line of known faces along `axis` continues to: geometric, f1 + d1^2 / d2 with the differences d of
    the faces behind it, which is exact for the exponential profile below a wave, current or none.

    Constant, f1, where the line is short, where the surface does not lie square to it above thick water (phi must fall
    along it by nearly its length), and where the profile is none that a wave of eight cells or more has.

    room: faces that the line has before it leaves the grid.
    """
    step = sign * steps[axis]
    f1 = flat[at + step]
    if mark > SMOOTH + 1 or room < 3 or not (0 < marks[at + 2 * step] < mark and 0 < marks[at + 3 * step] < mark):
        return f1
    d1 = f1 - flat[at + 2 * step]
    d2 = flat[at + 2 * step] - flat[at + 3 * step]
    if d1 == 0.0 or not (LEAST <= d2 / d1 <= MOST) or d1 * d1 > most * abs(d2):
        return f1
    i, j, k = (
        min(at // steps[0], phi.shape[0] - 1),
        min(at // steps[1] % (steps[0] // steps[1]), phi.shape[1] - 1),
        at % steps[1],
    )
    k = min(k, phi.shape[2] - 1)
    a = min(max(i + (3 * sign if axis == 0 else 0), 0), phi.shape[0] - 1)
    b = min(max(j + (3 * sign if axis == 1 else 0), 0), phi.shape[1] - 1)
    c = min(max(k + (3 * sign if axis == 2 else 0), 0), phi.shape[2] - 1)
    if phi[i, j, k] - phi[a, b, c] < SQUARE * h * (abs(a - i) + abs(b - j) + abs(c - k)):
        return f1
    return f1 + d1 * d1 / d2
