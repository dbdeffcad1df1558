import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.mesh import box, sphere
from vitruvian.systems import TankSystem
from vitruvian.water import (
    RigidBodies,
    RigidBody,
    Tank,
    cover,
    divergence,
    fill,
    follow,
    open_boundary,
    project,
    step,
    water_energy,
    water_volume,
)
from vitruvian.water.particles import move_particles
from vitruvian.water.periodic import fold, narrow, widen


def noisy(tank, seed=0):
    state = fill(tank, level=0.61 * tank.size[2]) if tank.free_surface else fill(tank)
    rng = np.random.default_rng(seed)
    for axis, f in enumerate((state.u, state.v, state.w)):
        f[:] = rng.normal(size=f.shape)
        line = np.moveaxis(f, axis, 0)
        line[-1] = line[0] if axis in tank.wrapped else 0.0
        if axis not in tank.wrapped:
            line[0] = 0.0
    return state


@pytest.mark.parametrize("periodic", ["x", "y", "xy"])
@pytest.mark.parametrize("shape", [(16, 12, 8), (15, 11, 9), (4, 5, 6)])
@pytest.mark.parametrize("free_surface", [True, False])
def test_the_projection_leaves_no_divergence_beside_the_seam(shape, periodic, free_surface):
    tank = Tank(shape, 0.1, periodic=periodic, free_surface=free_surface)
    state = noisy(tank)
    boundary = open_boundary(tank)
    found = project(tank, state, boundary, 0.01)
    wet = found.system.diagonal[1:-1, 1:-1, 1:-1] > 0.0
    left = divergence(tank, state, boundary, (boundary.body_x, boundary.body_y, boundary.body_z))
    assert np.abs(left[wet]).max() < 2e-5
    assert found.iterations < 25
    for axis in tank.wrapped:
        line = np.moveaxis((state.u, state.v)[axis], axis, 0)
        assert np.array_equal(line[0], line[-1])


def run(shift, **options):
    """A flow with a bumpy surface, begun `shift` cells farther along x and y."""
    tank = Tank((20, 14, 12), 0.05, periodic="xy", **options)
    x, y, z = np.meshgrid(*tank.centres(), indexing="ij")
    a, b = 2.0 * np.pi * x / tank.size[0], 2.0 * np.pi * y / tank.size[1]
    phi = np.roll(z - 0.3 - 0.05 * np.cos(a) - 0.03 * np.sin(b), shift, (0, 1))
    state = fill(tank, phi if tank.free_surface else None)
    state.u[:] = 0.5 + 0.5 * np.roll(np.cos(b[:1]), shift[1], 1)
    for _ in range(4):
        step(tank, state, 0.02)
    energy = water_energy(tank, state)
    return tank, state, energy.total


@pytest.mark.parametrize("options", [{"viscosity": 0.01}, {"viscosity": 0.01, "free_surface": False}])
@pytest.mark.parametrize("shift", [(9, 0), (0, 6), (13, 3)])
def test_nobody_sees_where_the_seam_lies(options, shift):
    tank, plain, energy = run((0, 0), **options)
    _, moved, other = run(shift, **options)
    for one, two in ((plain.u, moved.u), (plain.v, moved.v), (plain.w, moved.w), (plain.phi, moved.phi)):
        first = tuple(slice(n) for n in tank.shape[:2])
        assert np.abs(np.roll(one[first], shift, (0, 1)) - two[first]).max() < 1e-4
    assert other == pytest.approx(energy, rel=1e-6)
    opened = np.ones(tank.shape)
    assert water_volume(tank, moved.phi, opened) == pytest.approx(water_volume(tank, plain.phi, opened), rel=1e-7)


def test_a_stream_goes_on_for_ever():
    tank = Tank((12, 8, 8), 0.05, periodic="x", rest_level=0.22)
    state = fill(tank)
    state.u[:] = 1.3
    first = state.volume
    for _ in range(10):
        step(tank, state, 0.02)
    assert np.abs(state.u[:-1][state.phi < 0.0] - 1.3).max() < 1e-5
    assert state.volume == first
    assert water_volume(tank, state.phi, np.ones(tank.shape)) == pytest.approx(first, rel=1e-9)


def test_markers_come_back_by_the_other_side():
    tank = Tank((10, 8, 8), 0.1, periodic="x", particles=4, rest_level=0.41)
    state = fill(tank)
    state.u[:] = 1.0
    before = state.markers.copy()
    move_particles(tank, state, 0.25, None)
    assert len(state.markers) == len(before)
    assert (state.markers[:, 0] - before[:, 0]) % 1.0 == pytest.approx(np.full(len(before), 0.25))
    assert state.markers[:, 0].min() >= 0.0
    assert state.markers[:, 0].max() <= 1.0


def test_a_splash_across_the_seam_keeps_its_volume():
    tank = Tank((20, 6, 30), 0.05, periodic="x", particles=16)  # so high that nothing leaves by the rim
    x, _, z = np.meshgrid(*tank.centres(), indexing="ij")
    state = fill(tank, np.maximum(0.7 - x, z - 0.6))
    for _ in range(15):
        step(tank, state, 0.04)
    assert state.exchanged_volume == 0.0
    held = water_volume(tank, state.phi, np.ones(tank.shape)) + state.spray_volume.sum()
    assert held == pytest.approx(state.volume, rel=5e-3)
    assert (state.phi[0] < 0.0).any()  # it has run out by x+ and come in by x-


def test_widened_fields_give_back_their_middle():
    tank = Tank((6, 5, 4), 0.1, periodic="xy")
    faces = np.random.default_rng(0).random((7, 5, 4))
    faces[-1] = faces[0]
    wide = widen(tank, faces, 8)
    assert wide.shape == (23, 21, 4)
    assert np.array_equal(wide[8 - 6 : 8], faces[:6][:, np.arange(-8, 13) % 5])
    assert np.array_equal(narrow(tank, wide, 8), faces)
    assert fold(tank, np.ones((10, 9, 4)), 2).sum() == 360.0


def ball(position, radius=0.1):
    vertices, faces = sphere(radius)
    return RigidBody.solid("ball", np.asarray(vertices), np.asarray(faces), 600.0, position=position)


def test_a_body_may_not_cross_the_seam():
    tank = Tank((16, 12, 12), 0.05, periodic="y", rest_level=0.3)
    bodies = RigidBodies([ball((0.4, 0.3, 0.3))], tank.gravity)
    body = bodies.start()
    water = fill(tank, mechanism=bodies, body=body)
    step(tank, water, 0.01, mechanism=bodies, body=body)
    body.velocity[0, 1] = 3.0
    with pytest.raises(InputError, match="ball: comes within a cell of the tank's periodic y sides"):
        step(tank, water, 0.08, mechanism=bodies, body=body, beyond_walls=True)


def test_a_free_body_meets_no_wall_at_the_seam():
    system = TankSystem(Tank((16, 12, 12), 0.05, periodic="y", rest_level=0.3), bodies=[ball((0.4, 0.3, 0.3))])
    assert np.isinf(system.mechanism.walls[0]).tolist() == [False, True, False]


def test_a_sheet_may_be_in_a_tank_that_is_periodic_along_y_and_not_along_x():
    vertices, faces = box((0.02, 0.2, 0.2))
    plate = RigidBody.solid("plate", np.asarray(vertices, float), np.asarray(faces), 900.0, position=(0.425, 0.3, 0.3))
    for periodic in "yx":
        tank = Tank((16, 12, 12), 0.05, periodic=periodic, free_surface=False)
        bodies = RigidBodies([plate], tank.gravity)
        body = bodies.start()
        water = fill(tank, mechanism=bodies, body=body)
        if periodic == "y":
            step(tank, water, 0.01, mechanism=bodies, body=body)
            continue
        with pytest.raises(InputError, match="thinner than a cell"):
            step(tank, water, 0.01, mechanism=bodies, body=body)


def test_contradictions_are_refused():
    with pytest.raises(InputError, match="periodic is"):
        Tank((8, 8, 8), 0.1, periodic="z")
    with pytest.raises(InputError, match="x- is periodic"):
        Tank((8, 8, 8), 0.1, periodic="x", boundaries={"x-": "open"})
    tank = Tank((8, 8, 8), 0.1, periodic="x", rest_level=0.4)
    with pytest.raises(InputError, match="periodic axis"):
        follow(tank, fill(tank), np.array([0.7, 0.4, 0.4]))
    bodies = RigidBodies([ball((0.4, 0.4, 0.4))], tank.gravity)
    body = bodies.start()
    water = fill(tank, mechanism=bodies, body=body)
    with pytest.raises(InputError, match="without periodic sides"):
        step(tank, water, 0.01, mechanism=bodies, body=body, patches=cover(tank, bodies, body, links=[0]))
