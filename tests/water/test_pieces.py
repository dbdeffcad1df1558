"""Bodies thinner than a cell: nothing leaks through them, and they are felt in full."""

import numpy as np
import pytest

from vitruvian.mesh import box, cylinder, sphere
from vitruvian.spatial import exp_so3
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
from vitruvian.water.boundary import Pieces, face_masses

DISC = 8.0 / 3.0  # added mass of a thin disc over rho a^3


def placed(shape, turn, offset, n=16, detail=2, velocity=(0.0, 0.0, 1.0), **options):
    tank = Tank((n, n, n), 1.0, free_surface=False, gravity=(0.0, 0.0, 0.0), body_detail=detail, **options)
    vertices, faces = shape
    body = RigidBody.solid(
        "body", np.asarray(vertices) @ turn.T, np.asarray(faces), 1000.0, position=tuple(n / 2 + np.asarray(offset))
    )
    bodies = RigidBodies([body], (0.0, 0.0, 0.0))
    state = bodies.start()
    water = fill(tank, mechanism=bodies, body=state)
    b = rasterise(tank, water, bodies.skins(state), bodies.links(state).origins)
    set_body_velocity(tank, water, b, bodies.skins(state), np.array([[0, 0, 0, *(turn @ velocity)]]))
    return tank, water, b, bodies, state


def turns(seed):
    rng = np.random.default_rng(seed)
    return exp_so3(2.0 * rng.normal(size=3)), rng.uniform(-0.5, 0.5, 3)


@pytest.mark.parametrize("thickness", [1.0, 0.5, 0.25, 0.01])
@pytest.mark.parametrize("seed", range(3))
def test_added_mass_of_a_disc_in_any_orientation(thickness, seed):
    turn, offset = turns(seed)
    tank, water, b, _, _ = placed(cylinder(3.0, thickness), turn, offset, n=24)
    push = -project(tank, water, b, 1e-3).impulses[0, 3:] @ turn[:, 2]
    exact = {1.0: 1.191, 0.5: 1.132, 0.25: 1.087, 0.01: 1.02}[thickness]  # over the thin disc's, axisymmetric solution
    assert push / (1000.0 * DISC * 27.0 * exact) == pytest.approx(1.0, abs=0.12)


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("hair", [0.0, 1e-11, -1e-11])
def test_a_plate_whose_side_lies_in_a_plane_of_the_grid_is_felt_in_full(side, hair):
    """Whatever the last digit of its place, it pushes as much as one that lies a thousandth to either side."""
    push = []
    for aside in (hair, 1e-3, -1e-3):
        offset = (0.0, 0.2, side * (0.6 + aside))  # its upper or lower side then lies at 9 or 7 cells
        tank, water, b, _, _ = placed(box((2.7, 6.0, 0.8)), np.eye(3), offset, n=16)
        push.append(-project(tank, water, b, 1e-3).impulses[0, 5])
    assert 0.98 * min(push[1:]) < push[0] < 1.02 * max(push[1:])


@pytest.mark.parametrize("seed", range(4))
def test_nothing_leaks_through_a_wall_thinner_than_a_node_spacing(seed):
    """A sheet across the whole tank, wherever it lies: water pushed on one side does not reach the other."""
    rng = np.random.default_rng(seed)
    turn = exp_so3(0.12 * rng.normal(size=3))
    tank, water, b, _, _ = placed(
        box((60.0, 60.0, 0.02)), turn, rng.uniform(-0.5, 0.5, 3), n=12, boundaries={"z+": "open", "z-": "open"}
    )
    b.body_x[:] = b.body_y[:] = b.body_z[:] = 0.0
    water.w[:] = 1.0
    project(tank, water, b, 1e-3)
    through = (b.open_z * water.w)[:, :, 0].sum()
    assert abs(through) < 1e-4  # of 144 that would pass without it


def test_still_water_beside_a_sloping_sheet_stays_still():
    tank = Tank((14, 14, 14), 0.1)
    turn, _ = turns(5)
    vertices, faces = box((0.6, 0.5, 0.02))
    plate = RigidBody.solid(
        "plate", np.asarray(vertices) @ turn.T, faces, 1000.0, position=(0.7, 0.7, 0.5),
        course=lambda t: (np.array([0.7, 0.7, 0.5]), np.zeros(3)),
    )  # fmt: skip
    bodies = RigidBodies([plate])
    body = bodies.start()
    water = fill(tank, level=1.05, mechanism=bodies, body=body)
    done = step(tank, water, 0.02, mechanism=bodies, body=body)
    assert len(done.boundary.pieces.cells) > 5
    assert max(np.abs(f).max() for f in (water.u, water.v, water.w)) < 1e-6
    assert done.impulses[0, 5] / 0.02 == pytest.approx(9.81 * plate.mass, rel=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_momentum_of_a_thin_plate_and_its_water_is_kept_by_the_projection(seed):
    turn, offset = turns(seed)
    tank, water, b, bodies, body = placed(box((6.0, 4.0, 0.3)), turn, offset, tolerance=1e-9)
    before = sum((m * f).sum() for m, f in zip(face_masses(b, water.phi), (water.u, water.v, water.w)))
    done = project(tank, water, b, 1e-3, mobility=bodies.links(body).mobility)
    p = done.scaled_pressure[1:-1, 1:-1, 1:-1]
    for axis, (mass, speed) in enumerate(zip(face_masses(b, water.phi), (water.u, water.v, water.w))):
        walls = 1000.0 * (np.take(p, 0, axis) - np.take(p, -1, axis)).sum()
        gained = 1000.0 * (mass * speed).sum() - walls
        assert gained + done.impulses[0, 3 + axis] == pytest.approx(0.0, abs=1e-7 * abs(done.impulses[0, 3:]).max())
    assert before == 0.0


def test_a_ball_of_three_cells_has_half_its_mass_of_water_whatever_its_place():
    found = []
    for seed in range(4):
        turn, offset = turns(seed)
        tank, water, b, bodies, _ = placed(sphere(3.0, subdivisions=4), turn, offset, n=24)
        push = -project(tank, water, b, 1e-3).impulses[0, 3:] @ turn[:, 2]
        found.append(push / bodies.bodies[0].mass)
    assert found == pytest.approx([0.5] * 4, rel=0.06)
    assert np.ptp(found) < 0.03


def test_a_cells_own_piece_that_is_shut_in_takes_no_part():
    """All that a cell is open by belongs to its further piece; what walls push into its own one has no answer."""
    tank = Tank((8, 8, 8), 1.0)
    water = fill(tank, level=6.3)
    water.w[:] = -0.1
    b = open_boundary(tank)
    for axis, opened in enumerate((b.open_x, b.open_y, b.open_z)):
        for up in range(2):
            at = [4, 4, 3]
            at[axis] += up
            opened[tuple(at)] = 0.0
    b.open_x[4, 4, 3] = 0.5
    b.body_y[4, 4, 3] = 1.0
    face = np.array([[0, 4, 4, 3]])
    b.pieces = Pieces(
        np.array([[4, 4, 3]]), face, np.array([[-1, 0]]), np.array([0.5]), np.ones(1), np.zeros((0, 3), int)
    )
    b.long_faces, b.long_open, b.lengths, b.pair_face = face, np.zeros(1), np.ones(1), np.zeros(1, np.int64)
    done = project(tank, water, b, 0.01)
    assert done.residual < 1e-6
    assert done.scaled_pressure[5, 5, 4] == 0.0


def test_pieces_that_are_open_to_each_other_alone_are_a_pocket():
    """A cell that is open to its neighbour's further piece and to nothing else: the grid's matrix knows no pocket."""
    tank = Tank((8, 8, 8), 1.0)
    water = fill(tank, level=6.3)
    water.w[:] = -0.1
    b = open_boundary(tank)
    for axis, opened in enumerate((b.open_x, b.open_y, b.open_z)):
        for up in range(2):
            at = [4, 4, 3]
            at[axis] += up
            opened[tuple(at)] = 0.0
    b.open_x[4, 4, 3] = 0.5
    b.body_y[4, 4, 3] = 1.0
    face = np.array([[0, 4, 4, 3]])
    b.pieces = Pieces(
        np.array([[3, 4, 3]]), face, np.array([[0, -1]]), np.array([0.5]), np.ones(1), np.zeros((0, 3), int)
    )
    b.long_faces, b.long_open, b.lengths, b.pair_face = face, np.zeros(1), np.ones(1), np.zeros(1, np.int64)
    b.psi = np.ones(1)  # there are bodies
    done = project(tank, water, b, 0.01)
    assert done.residual < 1e-3
    assert np.abs(done.scaled_pressure).max() < 10.0


def test_pieces_without_an_unknown_move_with_their_true_length():
    """Two pieces that are open to each other alone count as their cells' own; what moves with their face is as long as
    it is. Taken for a cell long by the pressure and for 0.3 by the velocity, the water there turned about and grew."""
    tank = Tank((8, 8, 8), 1.0, free_surface=False, gravity=(0.0, 0.0, 0.0))
    water = fill(tank)
    water.u[4, 4, 3] = 1.0
    b = open_boundary(tank)
    b.open_x[4, 4, 3] = 0.5
    face = np.array([[0, 4, 4, 3]])
    cells = np.array([[3, 4, 3], [4, 4, 3]])
    b.pieces = Pieces(cells, face, np.array([[0, 1]]), np.array([0.5]), np.full(1, 0.3), np.zeros((0, 3), int))
    b.long_faces, b.long_open, b.lengths, b.pair_face = face, np.zeros(1), np.ones(1), np.zeros(1, np.int64)
    project(tank, water, b, 0.01, tolerance=1e-9)
    assert np.abs(divergence(tank, water, b, (b.body_x, b.body_y, b.body_z))).max() < 1e-6
    assert 0.0 < water.u[4, 4, 3] < 1.0
