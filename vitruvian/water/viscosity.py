"""Viscous stress: velocity components diffuse between faces, and stick to bodies.

    du/dt = nu laplacian(u),         force on a body = - momentum that its water loses to it

Between a face in water and its neighbour inside a body the velocity falls to the body's over the part theta of the
way to its surface, so drag on the body is the exact reaction of what the water loses. Tank walls and the surface are
free of shear. Heun's method in sub-steps within the limit nu dt / h^2 <= 1/8.

A face whose centre lies in a body but which is open in a part w holds a sliver of water, w h thick at most and half
that from the body on average: it nears the body's velocity at the rate nu / (w h * w h / 2), backward Euler. So
friction vanishes with nu, as it should.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange

from vitruvian.errors import InputError
from vitruvian.water.model import Tank
from vitruvian.water.periodic import narrow, widen
from vitruvian.water.pressure import Boundary
from vitruvian.water.state import WaterState

LIMIT = 0.125
THETA_MIN = 0.2  # nearest that the surface of a body may come to a face, in cells; bounds the stiffness
MOST_SUBSTEPS = 200
Array = np.ndarray


def diffuse_velocity(tank: Tank, state: WaterState, boundary: Boundary, dt: float) -> Array:
    """Apply viscosity for dt; returns the impulses on the links about their origins, shape (links, 6)."""
    h, nu = tank.cell, tank.viscosity
    impulses = np.zeros((boundary.links, 6))
    if nu == 0.0:
        return impulses
    number = nu * dt / h**2
    steps = max(1, math.ceil(number / LIMIT))
    if steps > MOST_SUBSTEPS:
        raise InputError(
            f"water: viscosity {nu} m^2/s needs {steps} viscous sub-steps of one step of {dt:.2e} s; "
            "take a larger cell or a smaller step"
        )
    bodies = (boundary.body_x, boundary.body_y, boundary.body_z)
    links = (boundary.link_x, boundary.link_y, boundary.link_z)
    opened = (boundary.open_x, boundary.open_y, boundary.open_z)
    mass = tank.density * h**3
    phi = widen(tank, state.phi, 2)  # one cell for each half of Heun's method
    for axis, name in enumerate("uvw"):
        f = getattr(state, name)
        distance = _face_distance(boundary.psi, axis, f.shape)
        far, body = widen(tank, distance, 2), widen(tank, bodies[axis], 2)
        for _ in range(steps):
            f = widen(tank, f, 2)
            drag1, drag2 = np.zeros_like(f), np.zeros_like(f)
            rate1, rate2 = np.zeros_like(f), np.zeros_like(f)
            _rate(f, axis, phi, far, body, rate1, drag1)
            middle = f + number / steps * rate1
            _rate(middle, axis, phi, far, body, rate2, drag2)
            f = narrow(tank, f + 0.5 * number / steps * (rate1 + rate2), 2)
            if boundary.links:
                drag = narrow(tank, 0.5 * number / steps * mass * (drag1 + drag2), 2)
                _collect(drag, axis, links[axis], boundary.origins, state.origin, h, impulses)
        if boundary.psi is not None:
            held = (distance <= 0.0) & (opened[axis] > 0.0)
            rate = 2.0 * number / np.maximum(opened[axis], THETA_MIN) ** 2
            change = np.where(held, rate / (1.0 + rate) * (bodies[axis] - f), 0.0)
            if boundary.links:
                _collect(-mass * opened[axis] * change, axis, links[axis], boundary.origins, state.origin, h, impulses)
            f = f + change
        setattr(state, name, f)
    return impulses


def _face_distance(psi: Array | None, axis: int, shape: tuple) -> Array:
    """Distance to bodies at the centres of the faces, in cells; large without bodies."""
    if psi is None:
        return np.full(shape, 1e3)
    a, b = [n for n in range(3) if n != axis]
    mean = 0.5 * (np.take(psi, range(psi.shape[a] - 1), a) + np.take(psi, range(1, psi.shape[a]), a))
    return 0.5 * (np.take(mean, range(psi.shape[b] - 1), b) + np.take(mean, range(1, psi.shape[b]), b))


@njit(cache=True, parallel=True)
def _rate(f, axis, phi, distance, body, rate, drag):
    """Laplacian in units of 1/h^2, and the part of it that comes from bodies."""
    nx, ny, nz = f.shape
    mx, my, mz = phi.shape
    for ii in prange(nx):
        i = np.int64(ii)
        for j in range(ny):
            for k in range(nz):
                here = distance[i, j, k]
                if here <= 0.0:
                    continue
                if axis == 0 and (i == 0 or i == nx - 1):
                    continue
                if axis == 1 and (j == 0 or j == ny - 1):
                    continue
                if axis == 2 and (k == 0 or k == nz - 1):
                    continue
                if phi[min(i, mx - 1), min(j, my - 1), min(k, mz - 1)] >= 0.0:
                    continue
                total = 0.0
                pulled = 0.0
                for n in range(6):
                    a, b, c = i, j, k
                    if n == 0:
                        a -= 1
                    elif n == 1:
                        a += 1
                    elif n == 2:
                        b -= 1
                    elif n == 3:
                        b += 1
                    elif n == 4:
                        c -= 1
                    else:
                        c += 1
                    if a < 0 or b < 0 or c < 0 or a >= nx or b >= ny or c >= nz:
                        continue
                    there = distance[a, b, c]
                    if there <= 0.0:
                        theta = max(THETA_MIN, here / (here - there))
                        # the body's velocity where the line meets its surface, linear between the two faces
                        speed = body[i, j, k] + theta * (body[a, b, c] - body[i, j, k])
                        pull = (speed - f[i, j, k]) / theta
                        pulled -= pull
                        total += pull
                    elif phi[min(a, mx - 1), min(b, my - 1), min(c, mz - 1)] < 0.0:
                        total += f[a, b, c] - f[i, j, k]
                rate[i, j, k] = total
                drag[i, j, k] = pulled


@njit(cache=True)
def _collect(drag, axis, link, origins, corner, h, impulses):
    """Sum impulses [N s] at faces into moments and forces about the links' origins."""
    b, c = (axis + 1) % 3, (axis + 2) % 3
    arm = np.empty(3)
    for i in range(drag.shape[0]):
        for j in range(drag.shape[1]):
            for k in range(drag.shape[2]):
                p = drag[i, j, k]
                n = link[i, j, k]
                if p == 0.0 or n < 0:
                    continue
                arm[0] = corner[0] + (i + (0.0 if axis == 0 else 0.5)) * h - origins[n, 0]
                arm[1] = corner[1] + (j + (0.0 if axis == 1 else 0.5)) * h - origins[n, 1]
                arm[2] = corner[2] + (k + (0.0 if axis == 2 else 0.5)) * h - origins[n, 2]
                impulses[n, 3 + axis] += p
                # moment r x f with f along `axis`
                impulses[n, b] += arm[c] * p
                impulses[n, c] -= arm[b] * p
