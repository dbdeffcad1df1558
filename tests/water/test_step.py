import sys

import numpy as np
import pytest

from vitruvian.errors import Diverged, InputError
from vitruvian.mesh import box, sphere
from vitruvian.water import (
    RigidBodies,
    RigidBody,
    Tank,
    check_inside,
    fill,
    follow,
    move_window,
    spray_total,
    step,
    surface_mesh,
    water_volume,
)

N = 20


def tank_of(**options):
    return Tank((N, N, N), 1.0 / N, **options)


def free(name="ball", *, density=500.0, radius=0.2, **options):
    vertices, faces = sphere(radius, subdivisions=3)
    return RigidBody.solid(name, np.asarray(vertices), faces, density, **options)


def run(tank, bodies, seconds, *, level=0.6, dt=0.02, forces="pressure"):
    mechanism = RigidBodies(bodies, tank.gravity)
    body = mechanism.start()
    state = fill(tank, level=level, mechanism=mechanism, body=body)
    for _ in range(round(seconds / dt)):
        step(tank, state, dt, mechanism=mechanism, body=body, forces=forces)
    return state, body


def test_calm_water_stays_calm():
    tank = tank_of()
    state = fill(tank, level=0.53)
    for _ in range(5):
        step(tank, state, 0.02)
    assert max(np.abs(f).max() for f in (state.u, state.v, state.w)) < 1e-6
    assert abs(state.shifted_net) < 1e-6 * state.volume


@pytest.mark.parametrize("forces", ["pressure", "velocity"])
def test_a_half_dense_ball_rests_half_in(forces):
    _, body = run(tank_of(), [free(position=(0.5, 0.5, 0.6))], 0.1, forces=forces)
    assert abs(body.velocity[0, 2]) < 1e-4
    assert body.position[0, 2] == pytest.approx(0.6, abs=1e-5)


def test_a_neutral_ball_hovers():
    _, body = run(tank_of(), [free(density=1000.0, position=(0.5, 0.5, 0.32))], 0.1)
    assert np.abs(body.velocity).max() < 1e-4


def test_a_light_ball_accelerates_against_its_added_mass():
    """Deep in water (1 - r) g / (r + 1/2), less what the near walls and surface change."""
    tank = Tank((24, 24, 24), 1.0 / 24)
    _, body = run(tank, [free(density=300.0, radius=0.15, position=(0.5, 0.5, 0.45))], 0.01, level=0.95, dt=0.01)
    assert body.velocity[0, 2] / 0.01 == pytest.approx(0.7 * 9.81 / 0.8, rel=0.08)


def test_two_bodies_move_apart_in_mirror_image():
    bodies = [
        free("left", radius=0.12, position=(0.33, 0.5, 0.6)),
        free("right", radius=0.12, position=(0.67, 0.5, 0.6)),
    ]
    _, body = run(tank_of(), bodies, 0.06, level=0.55)
    assert body.velocity[0, 0] == pytest.approx(-body.velocity[1, 0], abs=2e-4)
    assert body.velocity[0, 2] == pytest.approx(body.velocity[1, 2], abs=2e-4)
    assert body.velocity[0, 2] < -0.05


def test_a_body_that_leaves_the_water_falls_freely():
    tank = tank_of()
    _, body = run(tank, [free(radius=0.1, position=(0.5, 0.5, 0.8))], 0.04, level=0.3)
    assert body.velocity[0, 2] == pytest.approx(-9.81 * 0.04, rel=1e-9)


def test_a_body_beyond_the_sides_of_the_grid_is_named():
    with pytest.raises(InputError, match=r"ball: lies .* beyond the x- wall"):
        run(tank_of(), [free(position=(0.05, 0.5, 0.6))], 0.04)


def test_a_body_may_stick_out_of_a_side_where_it_is_allowed():
    for options in ({"boundaries": {"x-": "open"}, "rest_level": 0.6}, {}):
        tank = tank_of(**options)
        mechanism = RigidBodies([free(position=(0.05, 0.5, 0.6))], tank.gravity)
        body = mechanism.start()
        state = fill(tank, level=0.6, mechanism=mechanism, body=body)
        step(tank, state, 0.04, mechanism=mechanism, body=body, beyond_walls=True)
        assert np.isfinite(body.velocity).all()
        assert np.isfinite(state.u).all()


def test_a_body_that_sinks_through_the_floor_is_named_and_walls_hold_it():
    tank = tank_of(particles=0)
    stone = free(density=3000.0, position=(0.5, 0.5, 0.3), velocity=(0.0, 0.0, -2.0))
    for walls in (None, (np.full(3, tank.cell), np.full(3, 1.0 - tank.cell))):
        mechanism = RigidBodies([stone], tank.gravity, walls=walls)
        body = mechanism.start()
        state = fill(tank, level=0.6, mechanism=mechanism, body=body)
        if walls is None:
            with pytest.raises(InputError, match=r"ball: lies .* beyond the floor"):
                step(tank, state, 0.2, mechanism=mechanism, body=body)
        else:
            step(tank, state, 0.2, mechanism=mechanism, body=body)
            assert mechanism.skins(body)[0].vertices[:, 2].min() > 0.0


def test_a_body_faster_than_a_cell_per_step_is_given_more_substeps():
    tank = tank_of()
    mechanism = RigidBodies([free(radius=0.1, position=(0.5, 0.5, 0.85), velocity=(0.0, 0.0, -8.0))], tank.gravity)
    body = mechanism.start()
    state = fill(tank, level=0.5, mechanism=mechanism, body=body)
    done = step(tank, state, 0.05, mechanism=mechanism, body=body)
    assert done.substeps >= 8
    assert np.isfinite(state.w).all()


def test_a_step_that_is_far_too_large_is_an_error_not_a_hang(monkeypatch):
    tank = tank_of(largest_substep=1e-5, particles=0)
    state = fill(tank, level=0.5)
    monkeypatch.setattr(sys.modules["vitruvian.water.step"], "MOST_SUBSTEPS", 3)
    with pytest.raises(Diverged, match="sub-steps"):
        step(tank, state, 1.0)


def test_a_velocity_that_is_not_a_number_is_named():
    tank = tank_of()
    state = fill(tank, level=0.5)
    state.u[3, 3, 3] = np.nan
    with pytest.raises(Diverged, match="not a number"):
        step(tank, state, 0.01)


def test_bad_tanks_are_refused_by_name():
    with pytest.raises(InputError, match="side"):
        Tank((8, 8, 8), 0.1, boundaries={"top": "wall"})
    with pytest.raises(InputError, match="courant"):
        Tank((8, 8, 8), 0.1, courant=9.0)
    with pytest.raises(InputError, match="at least 4"):
        Tank((2, 8, 8), 0.1)
    with pytest.raises(InputError, match="empty"):
        fill(tank_of(), level=-1.0)


def test_a_falling_blob_keeps_its_volume_with_spray():
    tank = Tank((20, 20, 24), 0.05)
    x, y, z = np.meshgrid(*tank.centres(), indexing="ij")
    blob = np.sqrt((x - 0.5) ** 2 + (y - 0.5) ** 2 + (z - 0.7) ** 2) - 0.15
    state = fill(tank, np.minimum(blob, z - 0.3))
    for _ in range(10):
        step(tank, state, 0.03)
    total = water_volume(tank, state.phi, np.ones(tank.shape)) + spray_total(state)
    assert total == pytest.approx(state.volume, rel=2e-3)
    assert abs(state.shifted_net) < 0.03 * state.volume


def test_the_window_follows_by_whole_cells_and_brings_calm_water():
    tank = tank_of(boundaries={"x-": "open", "x+": "open"}, rest_level=0.5, sponge=0.15)
    state = fill(tank)
    state.u[10] = 1.0
    assert follow(tank, state, np.array([0.5, 0.5, 0.5])).tolist() == [0, 0, 0]
    assert follow(tank, state, np.array([0.5 + 3.4 / N, 0.5, 0.5])).tolist() == [3, 0, 0]
    assert state.origin[0] == pytest.approx(3.0 / N)
    assert (state.u[7] == 1.0).all()
    assert water_volume(tank, state.phi, np.ones(tank.shape)) == pytest.approx(0.5, rel=1e-6)
    with pytest.raises(InputError, match="jump"):
        move_window(tank, state, np.array([N, 0, 0]))
    vertices, _ = box((0.2, 0.2, 0.2))
    with pytest.raises(InputError, match="swimmer: reaches the x- side"):
        check_inside(tank, state.origin, "swimmer", np.asarray(vertices) + np.array([0.13, 0.5, 0.5]))


def test_open_sides_let_a_wave_out():
    tank = Tank((40, 4, 16), 0.05, boundaries={"x-": "open", "x+": "open"}, rest_level=0.4, sponge=0.4, particles=0)
    x, _, z = np.meshgrid(*tank.centres(), indexing="ij")
    state = fill(tank, z - 0.4 - 0.05 * np.exp(-(((x - 1.0) / 0.15) ** 2)))
    first = float((state.phi[:, 0, 7] - 0.025).max() - (state.phi[:, 0, 7] - 0.025).min())
    for _ in range(60):
        step(tank, state, 0.03)
    last = float(state.phi[:, 0, 7].max() - state.phi[:, 0, 7].min())
    assert last < 0.25 * first  # between walls it would keep most of its height


def test_the_drawn_surface_is_closed_and_encloses_the_water():
    tank = tank_of()
    state = fill(tank, level=0.53)
    vertices, faces = surface_mesh(tank, state)
    from vitruvian.mesh import mesh_volume, topology

    topology(faces, len(vertices))
    assert mesh_volume(vertices, faces) == pytest.approx(0.53, rel=0.01)


def test_the_second_order_scheme_feels_the_same_added_mass_as_the_first():
    forces = []
    for order in (1, 2):
        tank = tank_of(free_surface=False, gravity=(0.0, 0.0, 0.0), order=order, largest_substep=0.01)
        mechanism = RigidBodies([free(course=lambda t: ((0.5 + 0.5 * t * t, 0.5, 0.5), (t, 0.0, 0.0)))], tank.gravity)
        body = mechanism.start()
        state = fill(tank, mechanism=mechanism, body=body)
        done = step(tank, state, 0.05, mechanism=mechanism, body=body)
        forces.append(done.impulses[0, 3] / 0.05)
    assert forces[0] < 0.0
    assert forces[1] == pytest.approx(forces[0], rel=0.03)


def test_a_full_tank_that_follows_a_body_stays_full():
    tank = tank_of(free_surface=False, gravity=(0.0, 0.0, 0.0), boundaries={"x-": "open", "x+": "open"})
    state = fill(tank)
    move_window(tank, state, np.array([2, 0, 0]))
    assert (state.phi < 0.0).all()


def test_a_tank_that_was_filled_without_its_bodies_is_refused():
    """Their volume would be put back as water: the surface would rise by it."""
    mechanism = RigidBodies([free(position=(0.5, 0.5, 0.4))])
    body, tank = mechanism.start(), tank_of()
    with pytest.raises(InputError, match="filled without the bodies"):
        step(tank, fill(tank, level=0.6), 0.01, mechanism=mechanism, body=body)
    above = RigidBodies([free(position=(0.5, 0.5, 0.85))])  # nothing is displaced yet
    step(tank, fill(tank, level=0.6), 0.01, mechanism=above, body=above.start())


def test_a_mechanism_without_its_state_is_refused():
    mechanism, tank = RigidBodies([free(position=(0.5, 0.5, 0.4))]), tank_of()
    with pytest.raises(InputError, match="a mechanism needs its state"):
        step(tank, fill(tank, level=0.6), 0.01, mechanism=mechanism)
    with pytest.raises(InputError, match="a mechanism needs its state"):
        fill(tank, level=0.6, mechanism=mechanism)
