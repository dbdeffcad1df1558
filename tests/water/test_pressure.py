import numba
import numpy as np
import pytest

from vitruvian.mesh import sphere
from vitruvian.water import (
    RigidBodies,
    RigidBody,
    Tank,
    divergence,
    fill,
    open_boundary,
    project,
    rasterise,
    set_body_velocity,
    step,
)
from vitruvian.water.boundary import face_masses
from vitruvian.water.cycle import SMALL
from vitruvian.water.gradients import couple

DT = 0.01


def ball(tank, *, density=500.0, radius=0.2, position=(0.5, 0.5, 0.6)):
    vertices, faces = sphere(radius, subdivisions=3)
    return RigidBodies([RigidBody.solid("ball", np.asarray(vertices), faces, density, position=position)], tank.gravity)


@pytest.fixture(scope="module")
def scene():
    tank = Tank((24, 24, 24), 1.0 / 24, particles=0)
    bodies = ball(tank)
    body = bodies.start()
    state = fill(tank, level=0.613, mechanism=bodies, body=body)
    boundary = rasterise(tank, state, bodies.skins(body), bodies.links(body).origins)
    return tank, bodies, body, state, boundary


def test_hydrostatic_pressure_is_exact_in_one_solve():
    tank = Tank((16, 16, 16), 1.0 / 16, particles=0)
    state = fill(tank, level=0.613)
    state.w -= 9.81 * DT
    project(tank, state, open_boundary(tank), DT, tolerance=1e-11)
    z = tank.centres()[2]
    wet = z < 0.613
    assert np.abs(state.pressure[:, :, wet] / (1000.0 * 9.81 * (0.613 - z[wet])) - 1.0).max() < 1e-8
    assert np.abs(state.w[:, :, : int(wet.sum())]).max() < 1e-9 * 9.81 * DT


def test_divergence_vanishes_in_cut_cells_around_a_moving_body(scene):
    tank, bodies, body, state, boundary = scene
    rng = np.random.default_rng(0)
    for f in (state.u, state.v, state.w):
        f[:] = rng.normal(size=f.shape)
    skins = bodies.skins(body)
    set_body_velocity(tank, state, boundary, skins, np.array([[0.3, -0.2, 0.5, 1.0, 0.4, -0.7]]))
    found = project(tank, state, boundary, DT)
    wet = found.system.diagonal[1:-1, 1:-1, 1:-1] > 0.0
    cut = wet & (boundary.volume > 0.0) & (boundary.volume < 1.0)
    after = divergence(tank, state, boundary, (boundary.body_x, boundary.body_y, boundary.body_z))
    assert cut.sum() > 200
    assert np.abs(after[wet]).max() < 2e-5  # relative to about 15 before


def test_body_part_of_the_pressure_matrix_is_symmetric_and_positive(scene):
    tank, bodies, body, _, boundary = scene
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(2, *(n + 2 for n in tank.shape)))
    mobility = bodies.links(body).mobility
    ya, yb = np.zeros_like(a), np.zeros_like(b)
    index = np.ravel_multi_index(tuple(boundary.cells.T + 1), a.shape)
    for x, y in ((a, ya), (b, yb)):
        work = couple(x.ravel(), y.ravel(), index, boundary.cell_link, boundary.rows, mobility)
        assert work == pytest.approx((x * y).sum(), rel=1e-10)
        assert work > 0.0
    assert (b * ya).sum() == pytest.approx((a * yb).sum(), rel=1e-10)


def test_water_and_a_free_body_trade_momentum_exactly():
    """Without gravity and surface, in a full closed tank, what the body gains the walls and the water lose."""
    tank = Tank((16, 16, 16), 1.0 / 16, free_surface=False, gravity=(0.0, 0.0, 0.0), particles=0)
    bodies = ball(tank, position=(0.5, 0.5, 0.5))
    body = bodies.start()
    state = fill(tank, mechanism=bodies, body=body)
    boundary = rasterise(tank, state, bodies.skins(body), bodies.links(body).origins)
    links = bodies.links(body)
    set_body_velocity(tank, state, boundary, bodies.skins(body), np.array([[0, 0, 0, 1.0, 0, 0]]))
    found = project(tank, state, boundary, DT, mobility=links.mobility, tolerance=1e-10)
    impulse = found.impulses[0, 3]
    # all water starts at rest, so it holds minus the impulse on the body, less what the walls x- and x+ take
    h = tank.cell
    p = found.scaled_pressure[1:-1, 1:-1, 1:-1]
    walls = 1000.0 * h**3 * (p[0] - p[-1]).sum()
    # each face carries the momentum of the water that moves with it
    water = 1000.0 * h**3 * (face_masses(boundary, state.phi)[0] * state.u)[1:-1].sum()
    assert impulse < 0.0
    assert water == pytest.approx(-impulse + walls, rel=1e-6)


def test_more_threads_give_the_same_bits():
    """A step with a body, on a grid whose pressure solve is threaded."""
    tank = Tank((64, 48, 80), 1.0 / 48, particles=4)
    assert np.prod(tank.shape) > SMALL
    bodies = ball(tank, position=(0.6, 0.5, 0.8))
    results = []
    for threads in sorted({1, 2, numba.config.NUMBA_NUM_THREADS}):
        numba.set_num_threads(threads)
        body = bodies.start()
        state = fill(tank, level=1.2, mechanism=bodies, body=body)
        state.u += 0.1 * np.sin(np.arange(state.u.size)).reshape(state.u.shape)
        step(tank, state, 0.01, mechanism=bodies, body=body)
        results.append((state.u, state.v, state.w, state.phi, state.pressure, state.markers, body.velocity))
    for more in results[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(results[0], more))
