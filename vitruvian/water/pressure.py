"""Pressure projection: makes the flow divergence-free between walls, moving bodies and air, and moves the bodies with
it.

With h the cell, w_f the open part of face f, s_f = +-1 its outward sign and P = dt p / (rho h), for each wet cell c

    sum_f w_f (P_c - P_n) = - sum_f s_f (w_f u*_f + (1 - w_f) u_body,f),        u = u* - (P_n - P_c)

A neighbour in air has pressure 0 at the surface, a part theta of the way to its centre (ghost fluid, second order;
Gibou et al. 2002): w_f P_c / theta. The force on a body is the adjoint of its part in the divergence, so it does
exactly the work that the flow receives: with g_c = sum_f s_f (1 - w_f) N_f, where N_f maps the twist of the link to
the face's velocity, dt F = rho h^3 sum_c g_c P_c. Links move with the pressure in the same solve (monolithic):

    (A + rho h^3 G S G^T) P = -D(u*) - G V*,       V = V* + rho h^3 S G^T P,       S = J M^-1 J^T

S, the mobility of the links, is all that the water needs to know about the mechanism behind them (Batty, Bertails and
Bridson 2007 for one rigid body).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit, prange

from vitruvian.errors import Diverged
from vitruvian.water.boundary import Boundary, open_boundary
from vitruvian.water.ghost import share, theta
from vitruvian.water.model import Tank
from vitruvian.water.multigrid import Coupling, System, join_ends, solve
from vitruvian.water.pockets import find_pockets
from vitruvian.water.sides import piece_levels
from vitruvian.water.split import add_pieces, finish_velocity
from vitruvian.water.state import WaterState

__all__ = ["Boundary", "Projection", "divergence", "open_boundary", "project"]

Array = np.ndarray


@dataclass
class Projection:
    """What a projection gives apart from the velocity: P [m/s] padded, and the impulses of the water on the links."""

    scaled_pressure: Array  # P = dt p / (rho h) [m/s], shape (nx + 2, ny + 2, nz + 2)
    impulses: Array  # on each link about its origin, (moment [N m s], force [N s]), world axes, shape (links, 6)
    twist_change: Array  # S times the impulses, (angular [rad/s], linear [m/s]), shape (links, 6)
    iterations: int
    residual: float
    system: System
    weight: float  # impulse [N s] along z that faces beside bodies take from gravity more than their mass alone


def project(
    tank: Tank,
    state: WaterState,
    boundary: Boundary,
    dt: float,
    *,
    mobility: Array | None = None,
    tolerance: float | None = None,
) -> Projection:
    """Project `state`'s velocity in place; `state.pressure` is the warm start and receives the new pressure.

    mobility: S [1/kg, 1/(kg m), 1/(kg m^2)], shape (6 links, 6 links); None keeps every body on its prescribed course.
    """
    h, rho = tank.cell, tank.density
    shape = tuple(n + 2 for n in tank.shape)
    cx, cy, cz, diagonal, right, x = (np.zeros(shape) for _ in range(6))
    system = System(cx, cy, cz, diagonal, np.ones(shape[:2], np.int64), tank.wrapped)
    scale = dt / (rho * h)
    x[1:-1, 1:-1, 1:-1] = state.pressure * scale
    outside = _outside_pressure(tank, state, dt)
    b = boundary
    _build(
        state.phi, b.open_x, b.open_y, b.open_z, b.body_x, b.body_y, b.body_z, state.u, state.v, state.w,
        tank.open_sides(), outside, system.cx, system.cy, system.cz, system.diagonal, system.top, right, x,
    )  # fmt: skip
    join_ends(system)
    split = add_pieces(
        b, state.phi, (state.u, state.v, state.w), (cx, cy, cz), diagonal, system.top, right, x, tank.gravity[2] * dt,
        None if b.sides is None else piece_levels(state.phi, h, b)[0],
    )  # fmt: skip
    impulses = np.zeros((b.links, 6))
    coupling = None
    pockets = find_pockets(system) if b.psi is not None or not tank.free_surface else None
    if split is not None and (b.psi is not None or not tank.free_surface):
        pockets = split.pockets(pockets, system.diagonal)
    cells = b.cells + 1
    place = cells if split is None else split.places(b, cells, shape)
    # a pocket between bodies is let leak, its pressure known up to a constant alone: it cannot push links that yield;
    # a full tank is one pocket around its bodies, and a constant pushes none of them
    felt = np.ones(len(cells), bool)
    if pockets is not None and tank.free_surface:
        felt = pockets[cells[:, 0], cells[:, 1], cells[:, 2]] == 0
    if mobility is not None and b.links and np.any(mobility):
        alive = system.diagonal[tuple(cells.T)] > 0.0 if split is None else split.alive(system.diagonal, place)
        active = felt & alive
        coupling = Coupling(place[active], b.cell_link[active], b.rows[active], rho * h**3 * mobility)
    else:
        felt[:] = True
    iterations, residual = solve(
        system, right, x,
        tolerance=tank.tolerance if tolerance is None else tolerance,
        coupling=coupling,
        pockets=pockets,
        split=split,
    )  # fmt: skip
    if not np.isfinite(residual):
        raise Diverged("water", "the pressure solve met a value that is not a number")
    if residual > 1e-2:
        raise Diverged("water", f"the pressure solve stopped at a relative residual of {residual:.1e}")
    twist_change = np.zeros((b.links, 6))
    if b.links:
        _gather(x, place[felt], b.cell_link[felt], b.rows[felt], rho * h**3, impulses)
        if mobility is not None:
            twist_change = (mobility @ impulses.ravel()).reshape(-1, 6)
    _update(
        state.phi, b.open_x, b.open_y, b.open_z, system.diagonal, x, tank.open_sides(), outside,
        state.u, state.v, state.w,
    )  # fmt: skip
    more = 0.0
    if len(b.long_faces):
        more, b.long_wet = finish_velocity(b, split, state.phi, x, tank.gravity[2] * dt, (state.u, state.v, state.w))
    b.row_pressure = x[tuple(place.T)] / scale
    state.pressure = x[1:-1, 1:-1, 1:-1] / scale
    state.iterations, state.residual = iterations, residual
    return Projection(x, impulses, twist_change, iterations, residual, system, rho * h**3 * more)


def divergence(tank: Tank, state: WaterState, boundary: Boundary, body: tuple[Array, Array, Array]) -> Array:
    """Outflow of each cell's open part plus what the body sweeps out, per face area [m/s], shape (nx, ny, nz)."""
    out = np.zeros(tank.shape)
    b = boundary
    for axis, (speed, opened, solid) in enumerate(
        zip((state.u, state.v, state.w), (b.open_x, b.open_y, b.open_z), body)
    ):
        flux = opened * speed + (1.0 - opened) * solid
        out += np.diff(flux, axis=axis)
    return out


def _outside_pressure(tank: Tank, state: WaterState, dt: float) -> Array:
    """P beyond open sides at the height of each layer of cells: calm water at the rest level; shape (nz,)."""
    z = state.origin[2] + (np.arange(tank.shape[2]) + 0.5) * tank.cell
    return dt / tank.cell * np.maximum(0.0, -tank.gravity[2] * (tank.rest_level - z))


# --- kernels -------------------------------------------------------------------------------------------------------


@njit(cache=True, inline="always")
def _beside(i, n, side):
    """Places of the cells before and after cell i of n; -1 beyond a side that is not periodic (3)."""
    low = i - 1 if i > 0 else (n - 1 if side == 3 else -1)
    high = i + 1 if i < n - 1 else (0 if side == 3 else -1)
    return low, high


@njit(cache=True, inline="always")
def _flux(opened, flow, body, wall):
    """Through a face; the swept part of a closed one belongs to the body on both sides, so it counts for every cell."""
    return 0.0 if wall else opened * flow + (1.0 - opened) * body


@njit(cache=True, parallel=True)
def _build(phi, ox, oy, oz, bx, by, bz, u, v, w, sides, outside, cx, cy, cz, diagonal, top, right, x):
    nx, ny, nz = phi.shape
    for ii in prange(nx):
        i = np.int64(ii)
        for j in range(ny):
            highest = 1
            for k in range(nz):
                p = phi[i, j, k]
                if p >= 0.0:
                    x[i + 1, j + 1, k + 1] = 0.0
                    continue
                # faces towards lower cells also hold the coupling of the two; beyond an open side the pressure is known
                d = 0.0
                known = 0.0
                a = ox[i, j, k]
                low, high = _beside(i, nx, sides[0])
                if low >= 0:
                    d += share(a, p, phi[low, j, k])
                    if phi[low, j, k] < 0.0:
                        cx[i + 1, j + 1, k + 1] = a
                elif sides[0] == 1:
                    d += a
                    known += a * outside[k]
                a = ox[i + 1, j, k]
                if high >= 0:
                    d += share(a, p, phi[high, j, k])
                elif sides[1] == 1:
                    d += a
                    known += a * outside[k]
                a = oy[i, j, k]
                low, high = _beside(j, ny, sides[2])
                if low >= 0:
                    d += share(a, p, phi[i, low, k])
                    if phi[i, low, k] < 0.0:
                        cy[i + 1, j + 1, k + 1] = a
                elif sides[2] == 1:
                    d += a
                    known += a * outside[k]
                a = oy[i, j + 1, k]
                if high >= 0:
                    d += share(a, p, phi[i, high, k])
                elif sides[3] == 1:
                    d += a
                    known += a * outside[k]
                a = oz[i, j, k]
                if k > 0:
                    d += share(a, p, phi[i, j, k - 1])
                    if phi[i, j, k - 1] < 0.0:
                        cz[i + 1, j + 1, k + 1] = a
                elif sides[4] == 1:
                    d += a
                    known += a * outside[k]
                a = oz[i, j, k + 1]
                if k < nz - 1:
                    d += share(a, p, phi[i, j, k + 1])
                elif sides[5] == 1:
                    d += a
                if d <= 0.0:
                    x[i + 1, j + 1, k + 1] = 0.0
                    continue
                diagonal[i + 1, j + 1, k + 1] = d
                highest = k + 2
                out = 0.0
                lo = _flux(ox[i, j, k], u[i, j, k], bx[i, j, k], i == 0 and not sides[0])
                out += _flux(ox[i + 1, j, k], u[i + 1, j, k], bx[i + 1, j, k], i == nx - 1 and not sides[1]) - lo
                lo = _flux(oy[i, j, k], v[i, j, k], by[i, j, k], j == 0 and not sides[2])
                out += _flux(oy[i, j + 1, k], v[i, j + 1, k], by[i, j + 1, k], j == ny - 1 and not sides[3]) - lo
                lo = _flux(oz[i, j, k], w[i, j, k], bz[i, j, k], k == 0 and not sides[4])
                out += _flux(oz[i, j, k + 1], w[i, j, k + 1], bz[i, j, k + 1], k == nz - 1 and not sides[5]) - lo
                right[i + 1, j + 1, k + 1] = known - out
            top[i + 1, j + 1] = highest


@njit(cache=True, parallel=True)
def _update(phi, ox, oy, oz, diagonal, x, sides, outside, u, v, w):
    """u -= P_n - P_c on open faces of wet cells; walls stay closed."""
    nx, ny, nz = phi.shape
    for ii in prange(nx + 1):
        i = np.int64(ii)
        for j in range(ny):
            for k in range(nz):
                if ox[i, j, k] > 0.0:
                    low, here = i - 1, i
                    if sides[0] == 3:
                        low, here = (i - 1) % nx, i % nx
                    if (i == 0 or i == nx) and sides[0] != 3:
                        c = 0 if i == 0 else nx - 1
                        side = 0 if i == 0 else 1
                        if sides[side] == 0:
                            u[i, j, k] = 0.0
                        elif sides[side] == 1 and diagonal[c + 1, j + 1, k + 1] > 0.0:
                            jump = outside[k] - x[c + 1, j + 1, k + 1]
                            u[i, j, k] -= -jump if i == 0 else jump
                    elif diagonal[low + 1, j + 1, k + 1] > 0.0 or diagonal[here + 1, j + 1, k + 1] > 0.0:
                        u[i, j, k] -= _jump(
                            phi[low, j, k], phi[here, j, k], x[low + 1, j + 1, k + 1], x[here + 1, j + 1, k + 1]
                        )
        if i == nx:
            continue
        for j in range(ny + 1):
            for k in range(nz):
                if oy[i, j, k] > 0.0:
                    south, north = j - 1, j
                    if sides[2] == 3:
                        south, north = (j - 1) % ny, j % ny
                    if (j == 0 or j == ny) and sides[2] != 3:
                        c = 0 if j == 0 else ny - 1
                        side = 2 if j == 0 else 3
                        if sides[side] == 0:
                            v[i, j, k] = 0.0
                        elif sides[side] == 1 and diagonal[i + 1, c + 1, k + 1] > 0.0:
                            jump = outside[k] - x[i + 1, c + 1, k + 1]
                            v[i, j, k] -= -jump if j == 0 else jump
                    elif diagonal[i + 1, south + 1, k + 1] > 0.0 or diagonal[i + 1, north + 1, k + 1] > 0.0:
                        v[i, j, k] -= _jump(
                            phi[i, south, k], phi[i, north, k], x[i + 1, south + 1, k + 1], x[i + 1, north + 1, k + 1]
                        )
        for j in range(ny):
            for k in range(nz + 1):
                if oz[i, j, k] > 0.0:
                    if k == 0 or k == nz:
                        c = 0 if k == 0 else nz - 1
                        side = 4 if k == 0 else 5
                        if sides[side] == 0:
                            w[i, j, k] = 0.0
                        elif sides[side] == 1 and diagonal[i + 1, j + 1, c + 1] > 0.0:
                            jump = (outside[c] if k == 0 else 0.0) - x[i + 1, j + 1, c + 1]
                            w[i, j, k] -= -jump if k == 0 else jump
                    elif diagonal[i + 1, j + 1, k] > 0.0 or diagonal[i + 1, j + 1, k + 1] > 0.0:
                        w[i, j, k] -= _jump(phi[i, j, k - 1], phi[i, j, k], x[i + 1, j + 1, k], x[i + 1, j + 1, k + 1])


@njit(cache=True, inline="always")
def _jump(phi_low, phi_high, p_low, p_high):
    """Pressure difference over a face, with the ghost value where one side is air."""
    if phi_low < 0.0 and phi_high < 0.0:
        return p_high - p_low
    if phi_low < 0.0:
        return -p_low / theta(phi_low, phi_high)
    return p_high / theta(phi_high, phi_low)


@njit(cache=True)
def _gather(p, cells, link, rows, weight, impulses):
    for n in range(cells.shape[0]):
        value = weight * p[cells[n, 0], cells[n, 1], cells[n, 2]]
        for a in range(6):
            impulses[link[n], a] += rows[n, a] * value
