import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.mesh import sphere
from vitruvian.water import RigidBodies, RigidBody, Tank, drag, fill, step, water_energy

RHO, G = 1000.0, 9.81


@pytest.mark.parametrize("level", [0.41, 0.45, 0.5, 0.537])
def test_energy_of_water_at_rest_is_that_of_its_height(level):
    tank = Tank((8, 8, 16), 0.05)
    found = water_energy(tank, fill(tank, level=level))
    exact = RHO * G * 0.4 * 0.4 * 0.5 * level**2
    assert found.kinetic == 0.0
    assert found.potential == pytest.approx(exact, abs=RHO * G * 0.4 * 0.4 * 0.05**2 / 32)


def test_energy_of_a_moving_column_is_half_its_mass_times_speed_squared():
    tank = Tank((8, 8, 16), 0.05)
    state = fill(tank, level=0.5)
    state.w[:] = 2.0
    assert water_energy(tank, state).kinetic == pytest.approx(0.5 * RHO * 0.4 * 0.4 * 0.5 * 4.0, rel=0.06)


def test_drag_points_against_a_towed_ball():
    tank = Tank((24, 16, 16), 0.05, free_surface=False, gravity=(0.0, 0.0, 0.0))
    shape = np.asarray(sphere(0.12)[0]), np.asarray(sphere(0.12)[1])
    ball = RigidBody.solid("ball", *shape, RHO, course=lambda t: ((0.4 + 0.5 * t * t, 0.4, 0.4), (t, 0.0, 0.0)))
    bodies = RigidBodies([ball], tank.gravity)
    body = bodies.start()
    water = fill(tank, mechanism=bodies, body=body)
    done = [step(tank, water, 0.02, mechanism=bodies, body=body) for _ in range(3)][-1]
    assert drag(done, np.array([2.0, 0.0, 0.0])) == pytest.approx(-done.impulses[0, 3] / 0.02)
    # an accelerated ball feels half the mass of the water that it displaces
    assert drag(done, np.array([1.0, 0.0, 0.0])) == pytest.approx(0.5 * RHO * ball.volume, rel=0.2)


def _turning(tank, spin):
    def course(t):
        a = spin * t
        R = np.array([[np.cos(a), -np.sin(a), 0.0], [np.sin(a), np.cos(a), 0.0], [0.0, 0.0, 1.0]])
        return (0.6, 0.4, 0.4), (0.0, 0.0, 0.0), R, (0.0, 0.0, spin)

    vertices, faces = sphere(0.1, subdivisions=3)
    body = RigidBody.solid("oar", np.asarray(vertices) * (2.5, 0.8, 1.0), np.asarray(faces), RHO, course=course)
    bodies = RigidBodies([body], tank.gravity)
    state = bodies.start()
    return bodies, state, fill(tank, mechanism=bodies, body=state)


def test_a_course_that_turns_drives_the_water_and_feels_its_moment():
    tank = Tank((24, 16, 16), 0.05, free_surface=False, gravity=(0.0, 0.0, 0.0))
    bodies, body, water = _turning(tank, 2.0)
    first = step(tank, water, 0.01, mechanism=bodies, body=body)
    assert first.impulses[0, 2] < 0.0
    assert water_energy(tank, water, first.boundary).kinetic > 0.0
    for _ in range(20):
        step(tank, water, 0.01, mechanism=bodies, body=body)
    assert bodies.rotation(body, 0)[1, 0] == pytest.approx(np.sin(2.0 * 0.21), abs=1e-9)


def test_a_state_of_another_tank_or_of_other_bodies_and_a_drag_along_nothing_are_named():
    tank = Tank((8, 8, 8), 0.1)
    water = fill(tank, level=0.4)
    with pytest.raises(InputError, match=r"the state has \(9, 8, 8\) cells"):
        step(tank, fill(Tank((9, 8, 8), 0.1), level=0.4), 0.01)
    with pytest.raises(InputError, match="no link 0"):
        drag(step(tank, water, 0.01), np.array([1.0, 0.0, 0.0]))
    with pytest.raises(InputError, match="three numbers"):
        drag(step(tank, water, 0.01), np.zeros(3))
    ball = RigidBody.solid("ball", *map(np.asarray, sphere(0.1, subdivisions=1)), 500.0, position=(0.4, 0.4, 0.2))
    with pytest.raises(InputError, match="the state holds 0 bodies, the mechanism 1"):
        step(tank, water, 0.01, mechanism=RigidBodies([ball]), body=RigidBodies([]).start())
