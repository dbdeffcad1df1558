import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.mesh import sphere
from vitruvian.water import (
    RigidBodies,
    RigidBody,
    Tank,
    fill,
    open_boundary,
    rasterise,
    set_body_velocity,
    spray_surface,
)
from vitruvian.water.advect import advect_velocity
from vitruvian.water.viscosity import diffuse_velocity


def full_tank(n, **options):
    return Tank((n, n, 4), np.pi / n, free_surface=False, gravity=(0.0, 0.0, 0.0), **options)


def vortex(tank, state):
    """The Taylor-Green vortex in a box with free-slip walls."""
    nx, ny, _ = tank.shape
    h = tank.cell
    x, y = np.arange(nx + 1) * h, (np.arange(ny) + 0.5) * h
    state.u[:] = (np.sin(x)[:, None] * np.cos(y)[None])[..., None]
    x, y = (np.arange(nx) + 0.5) * h, np.arange(ny + 1) * h
    state.v[:] = -(np.cos(x)[:, None] * np.sin(y)[None])[..., None]
    return state


def test_maccormack_carries_a_vortex_better_than_semi_lagrangian():
    errors = {}
    for kind in ("maccormack", "semi-lagrangian"):
        tank = full_tank(24, advection=kind)
        state = vortex(tank, fill(tank))
        flow = state.u.copy(), state.v.copy(), state.w.copy()
        # carry a passive blob once around a quarter and back again
        blob = np.exp(-(((np.arange(25) * tank.cell)[:, None, None] - 1.2) ** 2) * 8.0) * np.ones_like(state.u)
        fields = blob, np.zeros_like(state.v), np.zeros_like(state.w)
        for sign in (1.0, -1.0):
            for _ in range(8):
                state.u, state.v, state.w = (sign * f for f in flow)
                advect_velocity(tank, state, 0.05, fields)
                fields = state.u, state.v, state.w
        errors[kind] = float(np.abs(fields[0] - blob)[3:-3, 3:-3].mean())
    assert errors["maccormack"] < 0.5 * errors["semi-lagrangian"]


def test_viscosity_decays_the_vortex_at_the_exact_rate():
    tank = full_tank(32, viscosity=0.1)
    state = vortex(tank, fill(tank))
    before = np.abs(state.u).max()
    for _ in range(10):
        diffuse_velocity(tank, state, open_boundary(tank), 0.05)
    assert np.abs(state.u).max() / before == pytest.approx(np.exp(-2.0 * 0.1 * 0.5), rel=2e-3)


def test_what_water_loses_to_friction_the_body_gains():
    n = 16
    tank = Tank((n, n, n), 1.0 / n, free_surface=False, gravity=(0.0, 0.0, 0.0), viscosity=1e-3)
    vertices, faces = sphere(0.25, subdivisions=3)
    bodies = RigidBodies([RigidBody.solid("ball", np.asarray(vertices), faces, 1000.0, position=(0.5, 0.5, 0.5))])
    body = bodies.start()
    state = fill(tank, mechanism=bodies, body=body)
    boundary = rasterise(tank, state, bodies.skins(body), bodies.links(body).origins)
    set_body_velocity(tank, state, boundary, bodies.skins(body), np.array([[0, 0, 0, 0.5, 0, 0.0]]))
    # a face whose centre is in the body carries the water of its open part, any other face a whole cell's
    psi = boundary.psi
    centre = 0.25 * (psi[:, 1:, 1:] + psi[:, :-1, 1:] + psi[:, 1:, :-1] + psi[:, :-1, :-1])
    mass = 1000.0 * tank.cell**3 * np.where(centre > 0.0, 1.0, boundary.open_x)
    before = (mass * state.u).sum()
    impulses = diffuse_velocity(tank, state, boundary, 0.05)
    gained = (mass * state.u).sum() - before
    assert impulses[0, 3] == pytest.approx(-gained, rel=1e-9)
    assert impulses[0, 3] < 0.0


def test_viscosity_that_would_take_for_ever_is_refused():
    tank = full_tank(8, viscosity=1e4)
    with pytest.raises(InputError, match="viscous sub-steps"):
        diffuse_velocity(tank, fill(tank), open_boundary(tank), 1.0)


def test_spray_surface_wraps_drops_and_stretches_along_a_sheet():
    lone, _ = spray_surface(np.zeros((1, 3)), np.array([1e-6]), 0.04, finest=0.001)
    radius = np.linalg.norm(lone, axis=1)
    assert radius.max() - radius.min() < 0.0005  # a ball
    assert 0.001 < radius.mean() < 0.008  # no larger than k_n h
    grid = np.stack(np.meshgrid(np.linspace(0, 0.2, 21), np.linspace(0, 0.2, 21), [0.0]), axis=-1).reshape(-1, 3)
    sheet, faces = spray_surface(grid, np.full(len(grid), 1e-7), 0.04, finest=0.004)
    assert len(faces) > 0
    middle = sheet[np.all(np.abs(sheet[:, :2] - 0.1) < 0.04, axis=1)]
    assert len(middle) > 0
    assert np.abs(middle[:, 2]).max() < 0.03
