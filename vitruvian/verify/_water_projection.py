"""Water: projection, viscosity and determinism. p = rho g d; Taylor-Green decay exp(-2 nu k^2 t)."""

from __future__ import annotations

import os
import subprocess
import sys
from hashlib import blake2b

import numba
import numpy as np

from vitruvian.mesh import sphere
from vitruvian.verify._water_common import DT, RHO, SIZES, G, solid, still
from vitruvian.verify.book import Finding, claim, worst
from vitruvian.water import (
    RigidBodies,
    Tank,
    divergence,
    fill,
    open_boundary,
    project,
    set_body_velocity,
    step,
)


@claim
def hydrostatic_pressure() -> Finding:
    """Pressure in still water is rho g times depth, relative error in the worst cell."""
    errors: list[float] = []
    for n in SIZES:
        tank = Tank((n, n, n), 1.0 / n, particles=0)
        state = fill(tank, level=0.613)
        state.w -= G * DT
        project(tank, state, open_boundary(tank), DT)
        z = tank.centres()[2]
        wet = z < 0.613
        errors.append(float(np.abs(state.pressure[:, :, wet] / (RHO * G * (0.613 - z[wet])) - 1.0).max()))
    return Finding.error(worst(errors), 0.002, detail=f"grids {SIZES}, surface 0.613 m between cell centres")


@claim
def divergence_in_cut_cells() -> Finding:
    """Divergence after projection relative to before, cells cut by a moving ball included."""
    tank, bodies, body, state, b = still(48, sphere(0.2, subdivisions=4), (0.51, 0.49, 0.6), 500.0)
    rng = np.random.default_rng(0)
    for f in (state.u, state.v, state.w):
        f[:] = rng.normal(size=f.shape)
    set_body_velocity(tank, state, b, bodies.skins(body), np.array([[0.5, 0.2, -0.3, 1.0, 0.5, -0.8]]))
    speeds = (b.body_x, b.body_y, b.body_z)
    before = np.abs(divergence(tank, state, b, speeds)).max()
    found = project(tank, state, b, DT)
    wet = found.system.diagonal[1:-1, 1:-1, 1:-1] > 0.0
    after = np.abs(divergence(tank, state, b, speeds)[wet]).max()
    cut = int((wet & (b.volume > 0.0) & (b.volume < 1.0)).sum())
    return Finding.error(after / before, 1e-6, detail=f"48^3, {cut} cut cells, {found.iterations} iterations")


@claim
def thin_tanks_take_few_iterations() -> Finding:
    """Pressure iterations to a residual of 1e-6 in a tank of 320 x 4 x 192 cells; noise and a smooth flow, the most."""
    tank = Tank((320, 4, 192), 0.05, particles=0)
    counts = []
    for smooth in (False, True):
        state = fill(tank, level=6.2)
        rng = np.random.default_rng(0)
        for f in (state.u, state.v, state.w):
            f[:] = -0.1 if smooth else rng.normal(size=f.shape)
        if smooth:
            state.u += np.sin(np.linspace(0.0, 3.0, 321))[:, None, None]
        counts.append(project(tank, state, open_boundary(tank), DT).iterations)
    return Finding.within(float(max(counts)), 1.0, 15.0, detail=f"noise {counts[0]}, smooth {counts[1]}")


@claim
def taylor_green_order() -> Finding:
    """Order of convergence of the decaying Taylor-Green vortex, time step and cell refined together."""
    errors = [_taylor_green(n) for n in (16, 32, 64)]
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    detail = f"errors {', '.join(f'{e:.2e}' for e in errors)}, orders {', '.join(f'{o:.2f}' for o in orders)}"
    return Finding.within(float(orders[-1]), 1.8, 4.0, detail=detail + "; Tank(order=2)")


@claim
def taylor_green_order_of_the_default_scheme() -> Finding:
    """The same as tanks run unless told otherwise (`order=1`): first order in time."""
    errors = [_taylor_green(n, order=1) for n in (16, 32, 64)]
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    detail = f"errors {', '.join(f'{e:.2e}' for e in errors)}, orders {', '.join(f'{o:.2f}' for o in orders)}"
    return Finding.within(float(orders[-1]), 0.9, 4.0, detail=detail)


@claim
def taylor_green_decay() -> Finding:
    """Amplitude of the Taylor-Green vortex after t = 1 against exp(-2 nu t), nu = 0.05, 64 cells."""
    return Finding.error(_taylor_green(64, amplitude=True), 0.002)


@claim
def same_bits_for_one_and_two_threads() -> Finding:
    """Threads (of 1 and 2, each in a process of its own) whose splash differs from that of one thread."""
    program = "from vitruvian.verify._water_projection import splash; print(splash())"
    found = []
    for threads in (1, 2):
        environment = {**os.environ, "NUMBA_NUM_THREADS": str(threads)}
        run = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
        )
        found.append(run.stdout.split())
    (one, count_one), (two, count_two) = found
    if (count_one, count_two) != ("1", "2"):
        raise RuntimeError(f"the splashes ran with {count_one} and {count_two} threads")
    return Finding.error(float(one != two), 0.0, detail=f"five steps of a ball that falls in, 24^3; digest {one[:16]}")


def splash() -> str:
    """Digest of all fields after five steps of a splashing ball, and the threads that it was computed with."""
    tank = Tank((24, 24, 24), 1.0 / 24)
    bodies = RigidBodies([solid("ball", sphere(0.15, subdivisions=3), 700.0, (0.5, 0.5, 0.7))])
    body = bodies.start()
    body.velocity[0, 2] = -2.0
    state = fill(tank, level=0.5, mechanism=bodies, body=body)
    for _ in range(5):
        step(tank, state, 0.02, mechanism=bodies, body=body)
    digest = blake2b(digest_size=16)
    for f in (state.u, state.v, state.w, state.phi, state.markers, body.position, body.velocity):
        digest.update(np.ascontiguousarray(f).tobytes())
    return f"{digest.hexdigest()} {numba.get_num_threads()}"


def _taylor_green(n: int, *, amplitude: bool = False, order: int = 2) -> float:
    """Worst velocity error (or amplitude error) at t = 1 in a box with free-slip walls, nu = 0.05, Courant number
    0.5.
    """
    nu, h = 0.05, np.pi / n
    tank = Tank(
        (n, n, 4), h, free_surface=False, gravity=(0.0, 0.0, 0.0), viscosity=nu, order=order, courant=1.0,
        largest_substep=0.5 * h, tolerance=1e-8,
    )  # fmt: skip
    state = fill(tank)
    x, y = np.arange(n + 1) * h, (np.arange(n) + 0.5) * h
    state.u[:] = (np.sin(x)[:, None] * np.cos(y)[None])[..., None]
    state.v[:] = -(np.cos(y)[:, None] * np.sin(x)[None])[..., None]
    first = state.u.copy()
    step(tank, state, 1.0)
    if amplitude:
        return float((state.u * first).sum() / (first * first).sum() / np.exp(-2.0 * nu) - 1.0)
    return float(np.abs(state.u - first * np.exp(-2.0 * nu)).max())
