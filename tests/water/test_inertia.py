"""Second order in time: what a sub-step carries along of the acceleration before, and what it takes back."""

import numpy as np
import pytest

from vitruvian.mesh import sphere
from vitruvian.water import RigidBodies, RigidBody, Tank, fill, open_boundary, step
from vitruvian.water.inertia import take_back, taken_along

FULL = {"free_surface": False, "gravity": (0.0, 0.0, 0.0)}


def vortex_error(n: int, order: int) -> float:
    """Worst error of a steady Taylor-Green vortex after 0.5 s."""
    h = np.pi / n
    tank = Tank((n, n, 4), h, order=order, largest_substep=0.5 * h, tolerance=1e-8, **FULL)
    state = fill(tank)
    x, y = np.arange(n + 1) * h, (np.arange(n) + 0.5) * h
    state.u[:] = (np.sin(x)[:, None] * np.cos(y)[None])[..., None]
    state.v[:] = -(np.cos(y)[:, None] * np.sin(x)[None])[..., None]
    first = state.u.copy()
    step(tank, state, 0.5)
    return float(np.abs(state.u - first).max())


def test_a_vortex_is_kept_to_second_order():
    coarse, fine = vortex_error(16, 2), vortex_error(32, 2)
    assert coarse / fine > 3.3
    assert vortex_error(16, 1) / vortex_error(32, 1) < 2.5
    assert fine < 0.5 * vortex_error(32, 1)


def test_an_even_acceleration_is_carried_and_taken_back():
    tank = Tank((8, 8, 8), 0.1, order=2, **FULL)
    state = fill(tank)
    state.acceleration = [np.full(f.shape, 3.0) for f in (state.u, state.v, state.w)]
    state.u, state.v, state.w = taken_along(state, 0.01)
    assert state.u == pytest.approx(0.015)
    take_back(tank, state, open_boundary(tank), 0.01)
    assert np.abs(state.u).max() < 1e-15


def test_water_at_rest_stays_at_rest():
    tank = Tank((12, 12, 12), 1 / 12, order=2)
    state = fill(tank, level=0.53)
    step(tank, state, 0.1)
    assert max(np.abs(f).max() for f in (state.u, state.v, state.w)) < 1e-6
    assert max(np.abs(a).max() for a in state.acceleration) < 1e-4


def test_a_neutral_ball_hangs_in_it_and_a_light_one_rises():
    tank = Tank((16, 16, 16), 1 / 16, order=2)
    speeds = []
    for density in (1000.0, 500.0):
        vertices, faces = sphere(0.15)
        ball = RigidBody.solid("ball", np.asarray(vertices), np.asarray(faces), density, position=(0.5, 0.5, 0.4))
        bodies = RigidBodies([ball])
        body = bodies.start()
        water = fill(tank, level=0.8, mechanism=bodies, body=body)
        step(tank, water, 0.06, mechanism=bodies, body=body)
        speeds.append(body.velocity[0, 2])
    assert abs(speeds[0]) < 1e-6
    assert speeds[1] == pytest.approx(0.5 * 9.81 * 0.06, rel=0.12)  # (1 - r) g t / (r + 1/2)
