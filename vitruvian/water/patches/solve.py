"""Pressure in a patch: the projection of `water.pressure` between the window's pressure on its sides and the body.

With the ring of cells about the patch at the pressure that the window has there, and every solid but the covered link
on its prescribed way,

    sum_f w_f^2 / m_f (P_c - P_n) = - sum_f s_f (w_f u*_f + (1 - w_f) u_body,f),        u = u* - w_f / m_f (P_n - P_c)

with P_n known in the ring, w_f the open part of a face and m_f the mass of water that moves with it, in cells: water
that stands between a face and a wall moves with that face alone, water between two open faces with half of it each.
(With m_f = 1 the added mass of a hand's breadth of six cells jumps by a quarter as its wall passes a face.) P is the
pressure beyond the weight of the water from one height to the other, p + rho g (z - z0), so that calm water rests
exactly whatever m_f; on the surface it is rho g (z_s - z0). The link yields in the same solve by its mobility.

Known pressure, not known velocity, on the sides: the wake leaves as it likes, and a window that is a little off puts
the added mass off by less than half as much (a ball of half the patch's breadth with nothing but rest beyond: 18 % too
little instead of 43 % too much).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from vitruvian.errors import Diverged
from vitruvian.water.boundary import Boundary
from vitruvian.water.model import Tank
from vitruvian.water.multigrid import Coupling, System, solve
from vitruvian.water.pockets import find_pockets
from vitruvian.water.state import WaterState

Array = np.ndarray
THETA_MIN = 1e-3  # as in `water.pressure`
LEAST_MASS = 0.25  # of a face, in parts of its open part: bounds the stiffness of slivers


def project_patch(
    tank: Tank, state: WaterState, phi: Array, ring: Array, boundary: Boundary, masses: tuple[Array, Array, Array],
    height: Array, dt: float, link: int, mobility: Array,
) -> tuple[Array, Array, System]:  # fmt: skip
    """Project the patch's velocity in place, `state.pressure` its warm start.

    phi: level set [m] and ring: pressure [Pa] of the cells and of one ring about them, shape (nx + 2, ...); masses: of
    the water at the faces, `face_masses`; height: g (z - z0) [m^2/s^2] of the same cells; mobility: of the link, shape
    (6, 6), in the patch's axes. Returns the rows of `boundary` that belong to the link, the impulse rho h^3 P_c [N s]
    of each, to be multiplied with its row, and the system that was solved.
    """
    b, h = boundary, tank.cell
    shape = phi.shape
    cx, cy, cz, diagonal, right = (np.zeros(shape) for _ in range(5))
    system = System(cx, cy, cz, diagonal, np.ones(shape[:2], np.int64))
    scale = dt / (tank.density * h)
    weight = height * (dt / h)
    x = ring * scale
    x[1:-1, 1:-1, 1:-1] = state.pressure * scale
    x += weight
    known = x.copy()
    x[phi >= 0.0] = 0.0
    flow = (state.u, state.v, state.w)
    bodies = (b.body_x, b.body_y, b.body_z)
    opened = (b.open_x, b.open_y, b.open_z)
    _build(phi, *opened, *masses, *bodies, *flow, known, weight, cx, cy, cz, diagonal, system.top, right)
    mine = b.cell_link == link
    cells = b.cells[mine] + 1
    felt = diagonal[cells[:, 0], cells[:, 1], cells[:, 2]] > 0.0
    pockets = find_pockets(system)
    if pockets is not None:
        felt &= pockets[cells[:, 0], cells[:, 1], cells[:, 2]] == 0
    chosen = np.flatnonzero(mine)[felt]
    cells = cells[felt]
    coupling = None
    mass = tank.density * h**3
    if len(chosen) and mobility.any():
        # the link yields to the weight's part of the pressure as well, which is known
        yields = mobility @ (-mass * (weight[cells[:, 0], cells[:, 1], cells[:, 2]] @ b.rows[chosen]))
        _sweep_out(b.cells[mine] + 1, b.rows[mine] @ yields, diagonal, right)
        zero = np.zeros(len(chosen), np.int64)
        coupling = Coupling(cells, zero, b.rows[chosen], mass * mobility)
    inner = x.copy()
    inner[0] = inner[-1] = 0.0
    inner[:, 0] = inner[:, -1] = 0.0
    inner[:, :, 0] = inner[:, :, -1] = 0.0
    iterations, residual = solve(system, right, inner, tolerance=tank.tolerance, coupling=coupling, pockets=pockets)
    if not np.isfinite(residual) or residual > 1e-2:
        raise Diverged("water", f"the pressure solve of a patch stopped at a relative residual of {residual:.1e}")
    x[1:-1, 1:-1, 1:-1] = inner[1:-1, 1:-1, 1:-1]
    for axis in range(3):
        _update(axis, phi, opened[axis], masses[axis], diagonal, x, weight, flow[axis])
    wet = phi < 0.0
    x = np.where(wet, x - weight, 0.0)
    state.pressure = x[1:-1, 1:-1, 1:-1] / scale
    state.iterations, state.residual = iterations, residual
    return chosen, mass * x[cells[:, 0], cells[:, 1], cells[:, 2]], system


def face_masses(tank: Tank, boundary: Boundary) -> tuple[Array, Array, Array]:
    """Mass of the water that moves with each face, in cells, from the open parts of faces and cells."""
    made = []
    for axis, opened in enumerate((boundary.open_x, boundary.open_y, boundary.open_z)):
        mass = np.zeros_like(opened)
        _face_masses(axis, opened, boundary.volume, mass)
        for side in (0, -1):  # half of the water beside the sides of the patch lies beyond them
            edge = [slice(None)] * 3
            edge[axis] = slice(0, 1) if side == 0 else slice(-1, None)
            mass[tuple(edge)] += 0.5 * opened[tuple(edge)]
        made.append(np.maximum(mass, LEAST_MASS * np.maximum(opened, 1e-9)))
    return made[0], made[1], made[2]


# --- kernels -------------------------------------------------------------------------------------------------------


@njit(cache=True, inline="always")
def _theta(inner, outer):
    return max(THETA_MIN, inner / (inner - outer))


@njit(cache=True)
def _build(
    phi, ox, oy, oz, mass_x, mass_y, mass_z, bx, by, bz, u, v, w, known, weight, cx, cy, cz, diagonal, top, right
):
    mx, my, mz = phi.shape
    for i in range(1, mx - 1):
        for j in range(1, my - 1):
            for k in range(1, mz - 1):
                p = phi[i, j, k]
                if p >= 0.0:
                    continue
                d = 0.0
                given = 0.0
                out = 0.0
                for n in range(6):
                    axis, high = n // 2, n % 2
                    a, b, c = i - 1, j - 1, k - 1  # the face
                    e, f, g = i, j, k  # the cell beyond it
                    step = 2 * high - 1
                    if axis == 0:
                        a, e = a + high, e + step
                        part, mass, flow, body = ox[a, b, c], mass_x[a, b, c], u[a, b, c], bx[a, b, c]
                    elif axis == 1:
                        b, f = b + high, f + step
                        part, mass, flow, body = oy[a, b, c], mass_y[a, b, c], v[a, b, c], by[a, b, c]
                    else:
                        c, g = c + high, g + step
                        part, mass, flow, body = oz[a, b, c], mass_z[a, b, c], w[a, b, c], bz[a, b, c]
                    out += step * (part * flow + (1.0 - part) * body)
                    if part == 0.0:
                        continue
                    part *= part / mass
                    beyond = phi[e, f, g]
                    if beyond >= 0.0:
                        theta = _theta(p, beyond)
                        d += part / theta
                        given += part / theta * (weight[i, j, k] + theta * (weight[e, f, g] - weight[i, j, k]))
                        continue
                    d += part
                    if e == 0 or f == 0 or g == 0 or e == mx - 1 or f == my - 1 or g == mz - 1:
                        given += part * known[e, f, g]
                    elif not high:
                        if axis == 0:
                            cx[i, j, k] = part
                        elif axis == 1:
                            cy[i, j, k] = part
                        else:
                            cz[i, j, k] = part
                diagonal[i, j, k] = d
                right[i, j, k] = given - out if d > 0.0 else 0.0
                if d > 0.0:
                    top[i, j] = k + 1


@njit(cache=True)
def _update(axis, phi, opened, masses, diagonal, x, weight, f):
    """u -= P_high - P_low on open faces beside wet cells."""
    a, b, c = (1 if axis == 0 else 0), (1 if axis == 1 else 0), (1 if axis == 2 else 0)
    for i in range(f.shape[0]):
        for j in range(f.shape[1]):
            for k in range(f.shape[2]):
                if opened[i, j, k] == 0.0:
                    continue
                # the cells behind and beyond the face, padded
                e, g, h = i + 1 - a, j + 1 - b, k + 1 - c
                p, q, r = i + 1, j + 1, k + 1
                if diagonal[e, g, h] == 0.0 and diagonal[p, q, r] == 0.0:
                    continue
                low, high = phi[e, g, h], phi[p, q, r]
                ease = opened[i, j, k] / masses[i, j, k]
                if low < 0.0 and high < 0.0:
                    f[i, j, k] -= ease * (x[p, q, r] - x[e, g, h])
                elif low < 0.0:
                    theta = _theta(low, high)
                    top = weight[e, g, h] + theta * (weight[p, q, r] - weight[e, g, h])
                    f[i, j, k] -= ease * (top - x[e, g, h]) / theta
                else:
                    theta = _theta(high, low)
                    top = weight[p, q, r] + theta * (weight[e, g, h] - weight[p, q, r])
                    f[i, j, k] -= ease * (x[p, q, r] - top) / theta


@njit(cache=True)
def _sweep_out(cells, flux, diagonal, right):
    """Take what the link sweeps out of each cell (n,) [m/s] off the right-hand side."""
    for n in range(cells.shape[0]):
        i, j, k = cells[n, 0], cells[n, 1], cells[n, 2]
        if diagonal[i, j, k] > 0.0:
            right[i, j, k] -= flux[n]


@njit(cache=True)
def _face_masses(axis, opened, volume, out):
    """Water between two open faces goes half to each; the rest of a cell's to the face that is more open."""
    a, b, c = (1 if axis == 0 else 0), (1 if axis == 1 else 0), (1 if axis == 2 else 0)
    for i in range(volume.shape[0]):
        for j in range(volume.shape[1]):
            for k in range(volume.shape[2]):
                low, high = opened[i, j, k], opened[i + a, j + b, k + c]
                through = min(low, high, volume[i, j, k])
                rest = volume[i, j, k] - through
                share = 0.5 if low == high else (1.0 if low > high else 0.0)
                out[i, j, k] += 0.5 * through + share * rest
                out[i + a, j + b, k + c] += 0.5 * through + (1.0 - share) * rest
