import numpy as np
import pytest

from vitruvian.mesh import box, lathe, open_box, sphere
from vitruvian.scenes import vessel
from vitruvian.spatial import exp_so3, transform_from_pose
from vitruvian.verify._water_vessels import (
    BOX,
    CELL,
    LEVEL,
    MIDDLE,
    SUNK,
    cavity,
    inside,
    placed,
    tank_with,
)  # fmt: skip
from vitruvian.verify._water_vessels import box as driven
from vitruvian.water import RigidBodies, RigidBody, Tank, WetShape, buoyancy_correction, fill, project, rasterise, step
from vitruvian.water.depths import heights, short_parts, skin_depths
from vitruvian.water.sides import ALL, OPEN, find_sides, piece_levels, sees, uncover

PLACES = [(0.4, 0), (0.4, 2), (1.0, 1), (2.0, 1), (2.0, 3)]  # walls in cells, placings


def points(tank):
    return np.stack(np.meshgrid(*tank.centres(), indexing="ij"), -1)


def on_grid(tank, state, bodies, body):
    return rasterise(tank, state, bodies.skins(body), bodies.links(body).origins)


def sheet(turn, n=10, thick=0.1, **options):
    """A sheet across a tank with a free surface on cells of 1 m."""
    vertices, faces = box((3.0 * n, 3.0 * n, thick))
    rest = np.array([0.5 * n + 0.13, 0.5 * n, 0.5 * n])
    body = RigidBody("sheet", np.asarray(vertices), faces, 1.0, np.eye(3), tuple(rest), turn,
                     course=lambda t: (rest, np.zeros(3)))  # fmt: skip
    tank = Tank((n, n, n), 1.0, **options)
    bodies = RigidBodies([body])
    return tank, bodies, bodies.start()


def test_cells_do_not_see_each_other_through_a_sheet():
    tank, bodies, body = sheet(exp_so3(np.array([0.0, 0.5 * np.pi, 0.0])) @ exp_so3(np.array([0.1, 0.2, 0.0])))
    water = fill(tank, level=5.0, mechanism=bodies, body=body)
    b = on_grid(tank, water, bodies, body)
    s = b.sides
    side = (points(tank) - body.position[0]) @ bodies.rotation(body, 0)[:, 2]
    plain = ~s.hidden
    assert plain.sum() > 100
    for n in np.flatnonzero(plain):
        for a in range(-1, 2):
            for c in range(-1, 2):
                for e in range(-1, 2):
                    at = tuple(s.cells[n] + [a, c, e])
                    if not sees(s.seen[n], a, c, e) or min(at) < 0 or max(at) >= 10:
                        continue
                    if s.number[at] < 0 or not s.hidden[s.number[at]]:
                        assert side[at] * side[tuple(s.cells[n])] > 0.0
    assert (s.seen[plain] & ALL != ALL).all()
    assert (s.seen & OPEN != 0).any()


def test_a_flat_surface_is_continued_exactly_past_a_sheet():
    """Water on one side of a sloping sheet, air on the other: what lies hidden in it, and further pieces, are found
    from their own side."""
    tank, bodies, body = sheet(exp_so3(np.array([0.0, 0.5 * np.pi, 0.0])) @ exp_so3(np.array([0.1, 0.2, 0.0])))
    water = fill(tank, level=5.0, mechanism=bodies, body=body)
    b = on_grid(tank, water, bodies, body)
    x = points(tank)
    side = (x - body.position[0]) @ bodies.rotation(body, 0)[:, 2]
    plane = np.where(side > 0.0, x @ [0.1, -0.2, 0.9], x @ [-0.3, 0.1, 0.9]) - np.where(side > 0.0, 4.0, 3.0)
    phi = plane.copy()
    hidden = tuple(b.sides.cells[b.sides.hidden].T)
    phi[hidden] = 99.0
    uncover(phi, tank.cell, b, None, water.origin)
    both = np.stack([x @ [0.1, -0.2, 0.9] - 4.0, x @ [-0.3, 0.1, 0.9] - 3.0])
    core = (x > 2.0).all(-1) & (x < 8.0).all(-1)
    assert core[hidden].sum() > 3
    assert np.abs(both - phi).min(axis=0)[hidden][core[hidden]].max() < 1e-12
    level, _ = piece_levels(phi, tank.cell, b)
    cells = tuple(b.pieces.cells.T)
    inner = core[cells] & (np.abs(level) > 0.01)
    assert inner.sum() > 10
    assert np.abs(both[:, *cells] - level).min(axis=0)[inner].max() < 1e-12
    other = np.abs(np.where(side > 0.0, both[1], both[0])[cells] - level)[inner]
    assert (other < 1e-12).sum() > 0.9 * inner.sum()  # of the side that the cell's own piece is not on


def test_limbs_of_several_links_have_the_same_water_all_round():
    vertices, faces = open_box((0.4, 0.4, 0.3), 0.02)
    one = WetShape.build("box", faces, len(vertices), 0)
    two = WetShape.build("box", faces, len(vertices), np.arange(len(faces)) % 2)
    assert one.two_sided(vertices, CELL)
    assert not two.two_sided(vertices, CELL)


def test_a_thick_convex_body_has_the_same_water_all_round():
    tank = Tank((16, 16, 16), 1.0 / 16)
    vertices, faces = sphere(0.2, subdivisions=3)
    bodies = RigidBodies([RigidBody.solid("ball", np.asarray(vertices), faces, 500.0, position=(0.5, 0.5, 0.5))])
    body = bodies.start()
    b = on_grid(tank, fill(tank, level=0.5, mechanism=bodies, body=body), bodies, body)
    assert b.sides is None
    assert find_sides(b, np.zeros(len(b.pieces.thin), bool)) is None


@pytest.mark.parametrize(("wall", "seed"), PLACES)
def test_a_dry_vessel_stays_dry_and_carries_what_it_displaces(wall, seed):
    aside, turn = placed(seed)
    centre = MIDDLE + aside
    tank, bodies, body, water = tank_with(driven(wall, centre, turn), centre, 0.8, wall)
    for _ in range(3):
        done = step(tank, water, 0.03, mechanism=bodies, body=body)
    dry = cavity(points(tank), centre, turn, wall * CELL)
    assert inside(tank, water, done.boundary, dry) < 2e-5
    wet = (water.phi[:, :, 1:] < 0.0) & (water.phi[:, :, :-1] < 0.0) & (done.boundary.open_z[:, :, 1:-1] > 0.5)
    assert np.abs(water.w[:, :, 1:-1][wet]).max() < 0.02
    grid = [np.linspace(-0.5, 0.5, 60, endpoint=False) + 1.0 / 120.0] * 3
    solid = (np.stack(np.meshgrid(*grid, indexing="ij"), -1) * BOX) @ turn.T + centre
    displaced = np.prod(BOX) * (solid[..., 2] < LEVEL).mean()
    assert done.impulses[0, 5] / 0.03 == pytest.approx(9810.0 * displaced, rel=0.01)


def test_depths_on_a_vessel_are_those_of_each_side():
    tank, bodies, body, water = tank_with(driven(0.4, MIDDLE, np.eye(3)), MIDDLE, 0.8, 0.4)
    b = on_grid(tank, water, bodies, body)
    corners = b.gathered[1]
    depth = skin_depths(tank, water, b, corners, heights(tank, water, b))
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    middle = corners.mean(axis=1) - MIDDLE
    outside = (normal * middle).sum(axis=1) > 0.0
    below = outside & (np.abs(normal[:, 2]) < 1e-12)
    assert depth[below][corners[below][..., 2] < LEVEL] == pytest.approx(SUNK)
    assert depth[outside & (normal[:, 2] < -1e-9)] == pytest.approx(SUNK)
    assert depth[~outside].max() <= 1e-9
    assert buoyancy_correction(tank, water, b, bodies.skins(body))[0, 3:5] == pytest.approx([0.0, 0.0], abs=1.0)


@pytest.mark.parametrize(("wall", "seed"), [(0.4, 0), (0.4, 1), (1.0, 1)])
def test_a_cup_in_the_air_keeps_its_water(wall, seed):
    """It slops to and fro in it."""
    aside, turn = placed(seed, tilt=0.05)
    centre = np.array([0.6, 0.6, 0.35]) + aside
    tank = Tank.of_size((1.2, 1.2, 0.7), CELL, keep_volume=False)
    body = RigidBody("box", *open_box(BOX, wall * CELL), 1.0, np.eye(3), tuple(centre), turn,
                     course=lambda t: (centre, np.zeros(3)))  # fmt: skip
    bodies = RigidBodies([body])
    start = bodies.start()
    x = points(tank)
    phi = np.where(cavity(x, centre, turn), x[..., 2] - 0.38 - 0.1 * (x[..., 0] - 0.6), 0.25)
    water = fill(tank, phi, mechanism=bodies, body=start)
    first = water.volume
    assert first > 0.5 * 0.1 * np.prod(BOX[:2] - 2.0 * wall * CELL)
    for _ in range(8):
        done = step(tank, water, 0.05, mechanism=bodies, body=start)
    everywhere = np.ones(tank.shape, bool)
    assert inside(tank, water, done.boundary, everywhere) == pytest.approx(first, rel=0.01)
    assert inside(tank, water, done.boundary, x[..., 2] < 0.15) == 0.0


def test_cells_that_a_wall_has_passed_take_what_is_behind_it():
    n = 12
    vertices, faces = box((0.4, 40.0, 40.0))

    def course(t):
        return np.array([4.0 + t, 6.0, 6.0]), np.array([1.0, 0.0, 0.0])

    bodies = RigidBodies(
        [RigidBody("gate", np.asarray(vertices), faces, 1.0, np.eye(3), (4.0, 6.0, 6.0), course=course)]
    )
    body = bodies.start()
    tank = Tank((n, n, n), 1.0, gravity=(0.0, 0.0, 0.0), keep_volume=False)
    x = points(tank)
    water = fill(tank, np.where(x[..., 0] < 4.0, 5.0, x[..., 2] - 6.2), mechanism=bodies, body=body)
    phi, before = np.where(x[..., 0] < 4.0, 5.0, x[..., 2] - 6.2), on_grid(tank, water, bodies, body)
    for m in range(1, 7):
        bodies.advance(body, 0.4 * (m - 1), 0.4)
        b = on_grid(tank, water, bodies, body)
        uncover(phi, tank.cell, b, before, water.origin)
        before = b
    assert (phi[x[..., 0] < 6.0] > 0.0).all()
    assert ((phi < 0.0) == (x[..., 2] < 6.2))[x[..., 0] > 7.0].all()


def test_still_water_on_both_sides_of_a_wall_presses_by_its_own_level():
    """Levels of 3 and 6 cells on two sides of a sheet: neither moves, and the wall bears the difference."""
    turn = exp_so3(np.array([0.0, 0.5 * np.pi, 0.0]))
    tank, bodies, body = sheet(turn)
    x = points(tank)
    high = x[..., 0] > body.position[0, 0]
    water = fill(tank, x[..., 2] - np.where(high, 6.0, 3.0), mechanism=bodies, body=body)
    b = on_grid(tank, water, bodies, body)
    dt = 0.01
    water.w -= 9.81 * dt
    done = project(tank, water, b, dt)
    wet = water.phi < 0.0
    assert np.abs(water.u).max() < 1e-5
    assert np.abs(water.w[:, :, 1:-1][wet[:, :, 1:] & wet[:, :, :-1]]).max() < 1e-5
    assert done.impulses[0, 3] / dt == pytest.approx(-9810.0 * 10.0 * (36.0 - 9.0) / 2.0, rel=0.02)


@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_a_vessel_of_few_triangles_has_the_lift_of_what_it_displaces(place):
    """Held in calm water where its walls and floor lie in several parts of their cells, 0.09 and 0.26 cells thick."""
    h, size = 1.1 / 24, np.array([0.5, 0.3, 0.2])
    x, z, wall = [(-1.5, -20.0, 4.0), (0.0, -10.0, 12.0), (-5.8, -30.0, 4.0), (17.1, 20.0, 12.0)][place]
    middle = 1e-3 * np.array([0.3 * x, x, z])
    tank = Tank.of_size((1.1, 0.9, 0.8), h, origin=(-0.55, -0.45, -0.5))
    body = RigidBody("box", *open_box(size, 1e-3 * wall), 1.0, np.eye(3), tuple(middle),
                     course=lambda t: (middle, np.zeros(3)))  # fmt: skip
    bodies = RigidBodies([body])
    start = bodies.start()
    at, low = points(tank) - middle, np.asarray(body.vertices)[:, 2].min()
    dry = (np.abs(at[..., :2]) < 0.5 * size[:2] - 0.5e-3 * wall).all(-1)
    dry &= (at[..., 2] > low + 0.5e-3 * wall) & (at[..., 2] < low + size[2])
    water = fill(tank, np.where(dry, 5.0 * h, points(tank)[..., 2]), mechanism=bodies, body=start)
    done = step(tank, water, 0.01, mechanism=bodies, body=start)
    lift = -9810.0 * size[0] * size[1] * (middle[2] + low)
    assert done.impulses[0, 5] / 0.01 == pytest.approx(lift, rel=0.01)
    assert np.abs(done.impulses[0, :3] / 0.01).max() < 1e-3 * lift
    assert np.abs(done.impulses[0, 3:5] / 0.01).max() < 0.01 * lift


def test_a_vessel_let_go_above_its_draught_comes_to_rest():
    """It heaves less and less, upright and in its place: no energy comes from anywhere."""
    world = vessel.build({"load": 18.0, "wall": 0.004, "lift": 0.02, "cells": 24})
    world.start()
    poses = []
    for _ in range(60):
        poses.append(world.observe().poses[0])
        world.advance(1.0 / 30.0)
    T = np.array([transform_from_pose(p) for p in poses])
    first, second = np.ptp(T[:30, 2, 3]), np.ptp(T[30:, 2, 3])
    assert second < first < 0.04
    assert T[:, 2, 2].min() > np.cos(np.deg2rad(1.0))
    assert np.abs(T[:, :2, 3]).max() < 0.005


def test_short_parts_make_up_their_triangles():
    corners = np.random.default_rng(0).normal(size=(4, 3, 3))
    parts, of = short_parts(corners, 0.4, np.array([True, True, False, True]))

    def areas(c):
        return 0.5 * np.cross(c[:, 1] - c[:, 0], c[:, 2] - c[:, 0])

    total = np.zeros((4, 3))
    np.add.at(total, of, areas(parts))
    assert total == pytest.approx(areas(corners), abs=1e-12)
    assert (of == 2).sum() == 1
    assert np.linalg.norm(parts - np.roll(parts, 1, axis=1), axis=2)[of != 2].max() <= 0.4


def test_a_ball_in_a_cup_is_the_same_in_either_order():
    tank = Tank.of_size((0.96, 0.96, 0.64), 0.04)
    profile = np.array([[0.0, 0.0], [0.22, 0.0], [0.22, 0.3], [0.2, 0.3], [0.2, 0.02], [0.0, 0.02]])
    vertices, faces = lathe(profile, sides=24)
    place = np.array([0.49, 0.47, 0.15])
    cup = RigidBody("cup", vertices, faces, 1.0, np.eye(3), tuple(place), course=lambda t: (place, np.zeros(3)))
    ball = RigidBody.solid("ball", *map(np.asarray, sphere(0.07, subdivisions=2)), 500.0, position=(0.49, 0.47, 0.35))
    offset = points(tank) - place
    inner = (np.hypot(offset[..., 0], offset[..., 1]) < 0.21) & (offset[..., 2] > 0.01) & (offset[..., 2] < 0.3)
    forces = []
    for order in ([cup, ball], [ball, cup]):
        bodies = RigidBodies(order, tank.gravity)
        body = bodies.start()
        phi = points(tank)[..., 2] - np.where(inner, 0.35, 0.25)
        water = fill(tank, phi, mechanism=bodies, body=body)
        done = step(tank, water, 0.02, mechanism=bodies, body=body)
        forces.append(done.impulses[[order.index(cup), order.index(ball)]])
    assert np.allclose(forces[0], forces[1], atol=1e-6)
