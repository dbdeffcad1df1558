"""Water: drag that only the numbers make. An ideal fluid does not hold back a body in steady motion (d'Alembert)."""

from __future__ import annotations

import numpy as np

from vitruvian.mesh import sphere
from vitruvian.verify._water_common import RHO, Array, as_arrays
from vitruvian.verify.book import Finding, claim, worst
from vitruvian.water import RigidBodies, RigidBody, RigidState, Tank, WaterState, drag, fill, follow, rasterise, step
from vitruvian.water.viscosity import diffuse_velocity

SPEED, RAMP, SECONDS, DT = 1.5, 0.6, 1.8, 0.0125  # [m/s], [s]
DIAMETER, SLENDERNESS, CELLS = 0.4, 4.0, 6  # [m], length over diameter, cells across


@claim
def drag_of_a_slender_body_in_ideal_flow() -> Finding:
    """Drag coefficient of an ellipsoid 4 : 1 towed deep, which an ideal fluid would not have; on the frontal area."""
    detail = f"{CELLS} cells across, sub-steps of {1e3 * DT:g} ms; it is of first order in the sub-step"
    return Finding.error(_hull_drag(1), 0.08, detail=detail)


@claim
def drag_of_a_slender_body_to_second_order() -> Finding:
    """The same with `Tank(order=2)`."""
    return Finding.error(_hull_drag(2), 0.045, detail=f"{CELLS} cells across, sub-steps of {1e3 * DT:g} ms")


def _hull_drag(order: int) -> float:
    length = SLENDERNESS * DIAMETER
    size = (length + 3.0 * DIAMETER, 4.0 * DIAMETER, 4.0 * DIAMETER)
    tank = Tank.of_size(
        size, DIAMETER / CELLS, origin=(-0.5 * size[0], -0.5 * size[1], -0.5 * size[2]), free_surface=False,
        gravity=(0.0, 0.0, 0.0), boundaries={"x-": "open", "x+": "open"}, order=order,
    )  # fmt: skip
    vertices, faces = as_arrays(sphere(0.5 * DIAMETER, subdivisions=4))
    body = RigidBody.solid("hull", vertices * (SLENDERNESS, 1.0, 1.0), faces, RHO, course=_course)
    bodies = RigidBodies([body], tank.gravity)
    state = bodies.start()
    water = fill(tank, mechanism=bodies, body=state)
    pulls = []
    while water.time < SECONDS - 0.5 * DT:
        done = step(tank, water, DT, mechanism=bodies, body=state)
        pulls.append(done.impulses[0, 3] / DT)
        follow(tank, water, state.position[0], axes=(0,))
    late = float(np.mean(pulls[len(pulls) // 2 :]))
    return late / (0.5 * RHO * SPEED**2 * 0.25 * np.pi * DIAMETER**2)


def _course(time: float) -> tuple[Array, Array]:
    """Head first along -x, speeding up evenly; off the grid's planes of symmetry."""
    t = min(time, RAMP)
    way = SPEED * (0.5 * t * t / RAMP + max(0.0, time - RAMP))
    return np.array([-way, 0.013, 0.007]), np.array([-SPEED * t / RAMP, 0.0, 0.0])


@claim
def drag_does_not_jump_where_viscosity_begins() -> Finding:
    """Drag coefficient of a towed ball at nu = 1e-12 and 1e-6 m^2/s less that at 0, first and second order in time."""
    found = {(nu, r): _ball_drag(nu, order=r) for r in (1, 2) for nu in (0.0, 1e-12, 1e-6)}
    jumps = [found[nu, r] - found[0.0, r] for r in (1, 2) for nu in (1e-12, 1e-6)]
    detail = "at 0, 1e-12, 1e-6: " + "; second order ".join(
        ", ".join(f"{found[nu, r]:.4f}" for nu in (0.0, 1e-12, 1e-6)) for r in (1, 2)
    )
    return Finding.error(worst(jumps), 0.01, detail=detail)


@claim
def friction_on_a_body_is_what_its_water_loses() -> Finding:
    """Viscous impulse on a ball held in a stream over the momentum that the water lost to it."""
    tank, bodies, body, water = _ball(1e-2, order=1)
    water.u[:] = 1.0
    boundary = rasterise(tank, water, bodies.skins(body), bodies.links(body).origins)
    mass = np.where(_inside(np.asarray(boundary.psi)), boundary.open_x, 1.0)
    before = (mass * water.u).sum()
    given = diffuse_velocity(tank, water, boundary, 0.01)[0, 3]
    lost = tank.density * tank.cell**3 * float(before - (mass * water.u).sum())
    return Finding(given / lost, 1.0, 1e-9, detail=f"{given:.4f} N s in 10 ms at nu = 0.01 m^2/s")


def _inside(psi: Array) -> Array:
    """Whether the centre of each x-face lies in the body."""
    mean = 0.25 * (psi[:, :-1, :-1] + psi[:, 1:, :-1] + psi[:, :-1, 1:] + psi[:, 1:, 1:])
    return mean <= 0.0


def _ball(nu: float, *, order: int) -> tuple[Tank, RigidBodies, RigidState, WaterState]:
    """A ball of 0.2 m, six cells across, that speeds up to 1 m/s along -x within 0.2 s."""
    size, d = 0.2, 0.2 / 6
    low = (-2.0 * size, -1.5 * size, -1.5 * size)
    tank = Tank.of_size(
        (6.0 * size, 3.0 * size, 3.0 * size), d, origin=low, free_surface=False, gravity=(0.0, 0.0, 0.0),
        viscosity=nu, boundaries={"x-": "open", "x+": "open"}, courant=0.5, tolerance=1e-4, order=order,
    )  # fmt: skip

    def course(t: float) -> tuple[Array, Array]:
        s = min(t, size)
        way = 0.5 * s * s / size + max(0.0, t - size)
        return np.array([-way, 0.2 * d, 0.3 * d]), np.array([-s / size, 0.0, 0.0])

    bodies = RigidBodies(
        [RigidBody.solid("ball", *as_arrays(sphere(0.5 * size, subdivisions=3)), RHO, course=course)], tank.gravity
    )
    body = bodies.start()
    return tank, bodies, body, fill(tank, mechanism=bodies, body=body)


def _ball_drag(nu: float, *, order: int) -> float:
    """Mean drag coefficient of the ball in the second half of 0.8 s."""
    tank, bodies, body, water = _ball(nu, order=order)
    found = []
    while water.time < 0.8 - 1e-9:
        done = step(tank, water, 0.01, mechanism=bodies, body=body)
        found.append(drag(done, np.array([-1.0, 0.0, 0.0])))
        follow(tank, water, body.position[0] + np.array([0.2, 0.0, 0.0]), axes=(0,))
    return float(np.mean(found[len(found) // 2 :])) / (0.5 * RHO * 0.25 * np.pi * 0.2**2)
