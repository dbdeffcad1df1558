"""What the water does to bodies, per triangle, in two models behind one shape: a row (moment, force) [N m, N] per
triangle, about its centroid, so that a box of twelve triangles is righted as one of twelve thousand.

`pressure` (default): the pressure of the solver on each boundary cell, the adjoint of the divergence, given to the
nearest triangle, and the correction below. The documents' model (Si 2013, eq. 3.12 and 3.13): with v the velocity of a
triangle relative to the mean flow of the neighbouring cells, n its normal, A its wet area and d its depth below the
pseudo water surface,

    f = min(0, -rho A (n . v)) (n . v) n  -  integral over the wet part of rho g d n

The buoyancy is integrated with its moment (a large triangle is deeper at one end, which is what rights a box), over
parts of triangles of at most two cells: the grid feels every wave along a side, and its lift is taken off the mesh's.

`buoyancy_correction` makes the discrete pressure force obey Archimedes exactly: the grid's body displaces a little
less water than the mesh (2 % for a limb four cells thick), enough to sink a limb of density 0.98. The grid's water
weighs that much more at the same time, so the sum of weights stays that of the real tank.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit

from vitruvian.water.depths import heights, row_depths, short_parts, skin_depths
from vitruvian.water.model import Tank
from vitruvian.water.pressure import Boundary
from vitruvian.water.solids import WetSurface, _gathered, gathered
from vitruvian.water.state import WaterState

Array = np.ndarray
LONG = 2.0  # cells, of the parts of triangles on which the depth is linear
FORCES = ("pressure", "velocity")  # the solver's pressure, the documents' formula


def pressure_forces(tank: Tank, state: WaterState, boundary: Boundary, skins: Sequence[WetSurface]) -> Array:
    """Pressure on each triangle of all skins, (moment about its centroid, force), shape (triangles, 6).

    Summed by `link_wrenches` this is the wrench of the projection and of `buoyancy_correction` together.
    """
    links, corners, _ = gathered(boundary, skins)
    out = np.zeros((len(corners), 6))
    if boundary.psi is None or not boundary.box.any():
        return out
    centre = corners.mean(axis=1)
    height = heights(tank, state, boundary)
    whole = _whole(tank, state, skins, boundary.links)[links]
    parts, of = short_parts(corners, LONG * tank.cell, whole > 0.0)
    depth = skin_depths(tank, state, boundary, parts, height)
    weight = tank.density * float(np.linalg.norm(tank.gravity))
    _hydrostatic(parts, of, depth, centre, weight, out)
    out *= whole[:, None]
    pressure = state.pressure[tuple(boundary.cells.T)] if boundary.row_pressure is None else boundary.row_pressure
    loads = pressure * tank.cell**2 - _grid_loads(tank, state, boundary, skins, height)
    _cell_loads(
        loads, boundary.cells, boundary.cell_link, boundary.rows, boundary.psi, boundary.triangle, links,
        centre, boundary.origins, out,
    )  # fmt: skip
    return out


def velocity_forces(
    tank: Tank, state: WaterState, boundary: Boundary, skins: Sequence[WetSurface], twists: Array, *, reach: int = 1
) -> Array:
    """The documents' force on each triangle, (moment about its centroid, force), shape (triangles, 6).

    reach: cells around its centroid that are averaged.
    """
    links, corners, drift = _gathered(skins)
    out = np.zeros((len(corners), 6))
    if boundary.psi is None:
        return out
    centre = corners.mean(axis=1)
    twist = twists[links]
    speed = twist[:, 3:] + np.cross(twist[:, :3], centre - boundary.origins[links]) + drift.mean(axis=1)
    flow = np.zeros_like(centre)
    _mean_flow(state.u, state.v, state.w, state.phi, boundary.volume, centre, state.origin, tank.cell, reach, flow)
    area = 0.5 * np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    size = np.linalg.norm(area, axis=1)
    normal = area / np.maximum(size, 1e-300)[:, None]
    height = heights(tank, state, boundary)
    depth = skin_depths(tank, state, boundary, corners, height)
    wet = np.empty(len(depth))
    _wet(depth, wet)
    along = np.einsum("ij,ij->i", normal, speed - flow)
    # against the motion of surfaces that advance into the water; none on those that retreat
    push = np.minimum(0.0, -tank.density * size * wet * along) * along
    out[:, 3:] += push[:, None] * normal
    weight = tank.density * float(np.linalg.norm(tank.gravity))
    _hydrostatic(corners, np.arange(len(corners)), depth, centre, weight, out)
    return out


def link_wrenches(loads: Array, skins: Sequence[WetSurface], origins: Array) -> Array:
    """Sum loads of triangles (triangles, 6) into (moment, force) about each link's origin, world axes, (links, 6)."""
    links, corners, _ = _gathered(skins)
    arm = corners.mean(axis=1) - origins[links]
    out = np.zeros((len(origins), 6))
    np.add.at(out, links, np.hstack([loads[:, :3] + np.cross(arm, loads[:, 3:]), loads[:, 3:]]))
    return out


def buoyancy_correction(tank: Tank, state: WaterState, boundary: Boundary, skins: Sequence[WetSurface]) -> Array:
    """Archimedes' wrench of the mesh minus that of the grid, about each link's origin, shape (links, 6)."""
    out = np.zeros((boundary.links, 6))
    if boundary.psi is None or not boundary.box.any():
        return out
    weight = tank.density * float(np.linalg.norm(tank.gravity))
    links, corners, _ = gathered(boundary, skins)
    height = heights(tank, state, boundary)
    whole = _whole(tank, state, skins, boundary.links)
    parts, of = short_parts(corners, LONG * tank.cell, whole[links] > 0.0)
    depth = skin_depths(tank, state, boundary, parts, height)
    _hydrostatic(parts, links[of], depth, boundary.origins, weight, out)
    # a skin that leaves the grid is not felt there by either side
    out *= whole[:, None]
    np.add.at(out, boundary.cell_link, -_grid_loads(tank, state, boundary, skins, height)[:, None] * boundary.rows)
    return out


def _grid_loads(
    tank: Tank, state: WaterState, boundary: Boundary, skins: Sequence[WetSurface], height: Array | None
) -> Array:
    """Hydrostatic pressure times the area of a face [N] in each boundary cell; 0 for links that leave the grid."""
    weight = tank.density * float(np.linalg.norm(tank.gravity))
    pressure = weight * row_depths(tank, state, boundary, height) * tank.cell**2
    return np.asarray(pressure * _whole(tank, state, skins, boundary.links)[boundary.cell_link])


def _whole(tank: Tank, state: WaterState, skins: Sequence[WetSurface], links: int) -> Array:
    """1 for links whose wet skin lies inside the grid, 0 for those that cross its sides or floor."""
    inside = np.ones(links)
    low = state.origin
    high = state.origin + np.asarray(tank.size)
    for skin in skins:
        faces = skin.shape.mesh.faces
        beyond = np.any((skin.vertices < low) | (skin.vertices[:] > np.append(high[:2], np.inf)), axis=1)
        if beyond.any():
            inside[np.unique(skin.shape.links[beyond[faces].any(axis=1)])] = 0.0
    return inside


# --- kernels -------------------------------------------------------------------------------------------------------


@njit(cache=True)
def _wet(depth, wet):
    """Wet part of each triangle, depth linear between its corners."""
    for n in range(depth.shape[0]):
        a, b, c = depth[n, 0], depth[n, 1], depth[n, 2]
        count = (a > 0.0) + (b > 0.0) + (c > 0.0)
        if count == 3:
            wet[n] = 1.0
        elif count == 0:
            wet[n] = 0.0
        elif count == 1:
            if b > 0.0:
                a, b = b, a
            elif c > 0.0:
                a, c = c, a
            wet[n] = a * a / ((a - b) * (a - c))
        else:
            if b <= 0.0:
                a, b = b, a
            elif c <= 0.0:
                a, c = c, a
            wet[n] = 1.0 - a * a / ((a - b) * (a - c))


@njit(cache=True)
def _hydrostatic(corners, links, depth, origins, weight, out):
    """Force and moment of the pressure weight * depth on the wet part of each triangle, exact for linear depth."""
    x = np.empty((4, 3))
    d = np.empty(4)
    for n in range(corners.shape[0]):
        count = 0
        for s in range(3):
            t = (s + 1) % 3
            if depth[n, s] > 0.0:
                for a in range(3):
                    x[count, a] = corners[n, s, a]
                d[count] = depth[n, s]
                count += 1
            if (depth[n, s] > 0.0) != (depth[n, t] > 0.0):
                r = depth[n, s] / (depth[n, s] - depth[n, t])
                for a in range(3):
                    x[count, a] = corners[n, s, a] + r * (corners[n, t, a] - corners[n, s, a])
                d[count] = 0.0
                count += 1
        link = links[n]
        for m in range(1, count - 1):
            px, py, pz = x[m, 0] - x[0, 0], x[m, 1] - x[0, 1], x[m, 2] - x[0, 2]
            qx, qy, qz = x[m + 1, 0] - x[0, 0], x[m + 1, 1] - x[0, 1], x[m + 1, 2] - x[0, 2]
            ax, ay, az = 0.5 * (py * qz - pz * qy), 0.5 * (pz * qx - px * qz), 0.5 * (px * qy - py * qx)
            for e in range(3):
                p = 0 if e != 1 else m
                q = m if e == 0 else m + 1
                load = -weight * 0.5 * (d[p] + d[q]) / 3.0
                fx, fy, fz = load * ax, load * ay, load * az
                rx = 0.5 * (x[p, 0] + x[q, 0]) - origins[link, 0]
                ry = 0.5 * (x[p, 1] + x[q, 1]) - origins[link, 1]
                rz = 0.5 * (x[p, 2] + x[q, 2]) - origins[link, 2]
                out[link, 0] += ry * fz - rz * fy
                out[link, 1] += rz * fx - rx * fz
                out[link, 2] += rx * fy - ry * fx
                out[link, 3] += fx
                out[link, 4] += fy
                out[link, 5] += fz


@njit(cache=True)
def _cell_loads(loads, cells, cell_link, rows, psi, triangle, links, centre, origins, out):
    """Give the load of each boundary cell to the nearest triangle of its link, where it acts, about the centroid."""
    f = np.empty(3)
    for n in range(cells.shape[0]):
        i, j, k = cells[n, 0], cells[n, 1], cells[n, 2]
        link = cell_link[n]
        best = 1e30
        t = -1
        for a in range(2):
            for b in range(2):
                for c in range(2):
                    s = triangle[i + a, j + b, k + c]
                    if s >= 0 and links[s] == link and abs(psi[i + a, j + b, k + c]) < best:
                        best = abs(psi[i + a, j + b, k + c])
                        t = s
        if t >= 0:
            for a in range(3):
                f[a] = loads[n] * rows[n, 3 + a]
            for a in range(3):
                b, c = (a + 1) % 3, (a + 2) % 3
                arm_b, arm_c = centre[t, b] - origins[link, b], centre[t, c] - origins[link, c]
                out[t, a] += loads[n] * rows[n, a] - (arm_b * f[c] - arm_c * f[b])
                out[t, 3 + a] += f[a]


@njit(cache=True)
def _mean_flow(u, v, w, phi, opened, points, origin, h, reach, out):
    """Mean velocity of the wet, open cells around each point; zero where there are none."""
    nx, ny, nz = phi.shape
    for n in range(points.shape[0]):
        i0 = int(np.floor((points[n, 0] - origin[0]) / h))
        j0 = int(np.floor((points[n, 1] - origin[1]) / h))
        k0 = int(np.floor((points[n, 2] - origin[2]) / h))
        count = 0
        a = b = c = 0.0
        for i in range(max(i0 - reach, 0), min(i0 + reach + 1, nx)):
            for j in range(max(j0 - reach, 0), min(j0 + reach + 1, ny)):
                for k in range(max(k0 - reach, 0), min(k0 + reach + 1, nz)):
                    if phi[i, j, k] < 0.0 and opened[i, j, k] > 0.0:
                        a += 0.5 * (u[i, j, k] + u[i + 1, j, k])
                        b += 0.5 * (v[i, j, k] + v[i, j + 1, k])
                        c += 0.5 * (w[i, j, k] + w[i, j, k + 1])
                        count += 1
        if count:
            out[n, 0], out[n, 1], out[n, 2] = a / count, b / count, c / count
