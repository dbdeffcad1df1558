"""Bodies at the edge, bad input and runaway steps: handled, or an error that says which part is at fault."""

import numpy as np
import pytest

from vitruvian.cli import invoke
from vitruvian.couple import BodyInWater, BodyStepper, BonePart, BoneParts
from vitruvian.errors import Diverged, InputError
from vitruvian.mesh import sphere
from vitruvian.muscle import MuscleBuilder
from vitruvian.scenes import find
from vitruvian.skeleton import Inertia, SkeletonBuilder, joints
from vitruvian.water import RigidBodies, RigidBody, Tank, fill, step

N = 12
VERTICES, FACES = (np.asarray(a) for a in sphere(0.15, subdivisions=2))


def tank_of(**options):
    return Tank((N, N, N), 1.0 / N, particles=0, **options)


def start(scene_name, **settings):
    scene = find(scene_name)
    parameters = {name: p.default for name, p in scene.parameters.items()} | settings
    return scene.build(parameters)


def test_a_plate_driven_into_the_floor_is_named_before_the_run_starts():
    simulation = start("paddle", cells=24, height=-0.5).simulation
    with pytest.raises(InputError, match="plate: reaches the z- side"):
        simulation.start(np.random.default_rng(0))


def test_a_towed_body_that_outruns_its_window_is_named():
    simulation = start("tow", shape="ball", cells=30).simulation
    state = simulation.start(np.random.default_rng(0))
    state.water.origin = state.water.origin + np.array([0.9, 0.0, 0.0])
    with pytest.raises(InputError, match="ball: leaves the water by the open x- side"):
        simulation.step(state, None, 0.0, 0.01)


@pytest.mark.parametrize(
    "words",
    [("drop", "speed=nan"), ("tow", "height=inf"), ("dam-break", "cells=1000000"), ("slosh", "height=0.9")],
)
def test_bad_settings_end_with_one_clear_line(words, tmp_path, capsys):
    scene, setting = words
    assert invoke(["run", scene, "--set", setting, "--out", str(tmp_path / "bad.zarr")]) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 1
    assert setting.split("=")[0] in said[0] or scene in said[0]


def test_a_mesh_with_a_hole_is_refused_by_name():
    body = RigidBody.solid("bowl", VERTICES, FACES, 500.0, position=(0.5, 0.5, 0.5))
    with pytest.raises(InputError, match="bowl: the mesh has a hole"):
        RigidBodies([RigidBody("bowl", VERTICES, FACES[1:], body.mass, body.inertia)])


def test_two_bodies_of_one_name_are_refused():
    body = RigidBody.solid("ball", VERTICES, FACES, 500.0)
    with pytest.raises(InputError, match="same name"):
        RigidBodies([body, body])


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda: RigidBody.solid("ball", np.full((4, 3), np.nan), FACES[:4], 500.0), "ball: a vertex"),
        (lambda: RigidBody.solid("ball", VERTICES, FACES, np.nan), "ball: a density"),
        (lambda: RigidBody.solid("ball", VERTICES, FACES, -1.0), "ball: a density"),
        (lambda: RigidBody.solid("ball", VERTICES, FACES[:, ::-1], 500.0), "ball: the mesh encloses"),
        (lambda: RigidBody.solid("ball", VERTICES, FACES + 1, 500.0), "ball: a triangle names vertex"),
        (lambda: RigidBody.solid("ball", VERTICES, FACES[1:], 500.0), "ball: the mesh has a hole"),
        (lambda: RigidBody.solid("ball", VERTICES, FACES, 500.0, rotation=2.0 * np.eye(3)), "ball: its rotation"),
        (lambda: RigidBody.solid("ball", VERTICES, FACES, 500.0, rotation=-np.eye(3)), "ball: its rotation"),
        (lambda: Tank((8, 8, 8), 0.1, particles=2.5), "particles is a whole number"),
        (lambda: Tank((8, 8.5, 8), 0.1), "shape is three whole numbers"),
        (lambda: fill(tank_of(boundaries={"x-": "open"}), level=0.5), "filled to 0.5 m, .* rest_level = 0 m"),
        (lambda: RigidBody.solid("ball", VERTICES, FACES, 500.0, position=(np.nan, 0.0, 0.0)), "ball: its position"),
        (lambda: RigidBody.solid("ball", VERTICES, FACES, 500.0, velocity=(0.0, np.inf, 0.0)), "ball: its velocity"),
        (lambda: Tank.of_size((1.0, 1.0, 1.0), 0.0), "cell must be a positive number"),
        (lambda: Tank.of_size((1.0, np.nan, 1.0), 0.1), "size is three lengths"),
        (lambda: tank_of(tolerance=10.0), "tolerance 10.0 .* below 1"),
        (lambda: tank_of(viscosity=np.nan), "viscosity"),
        (lambda: tank_of(gravity=(0.0, 0.0, np.nan)), "gravity"),
        (lambda: tank_of(gravity=(1.0, 0.0, -9.81)), "gravity .* along -z"),
        (lambda: tank_of(gravity=(0.0, 0.0, 9.81)), "gravity .* along -z"),
        (lambda: tank_of(rest_level=np.inf), "rest_level"),
        (lambda: Tank((8, 8, 8), np.nan), "cell"),
        (lambda: fill(tank_of(), np.full((N, N, N), np.nan)), "phi"),
        (lambda: step(tank_of(), fill(tank_of(), level=0.5), np.nan), "positive time"),
        (lambda: step(tank_of(), fill(tank_of(), level=0.5), 0.0), "positive time"),
        (lambda: step(tank_of(), fill(tank_of(), level=0.5), 0.01, forces="magic"), "magic"),
    ],
)
def test_input_that_makes_no_sense_is_refused_by_name(make, part):
    with pytest.raises(InputError, match=part):
        make()


def test_a_course_that_is_not_a_number_is_named():
    nowhere = (np.full(3, np.nan), np.zeros(3))
    tank = tank_of()
    bodies = RigidBodies([RigidBody.solid("plate", VERTICES, FACES, 500.0, course=lambda t: nowhere)])
    with pytest.raises(InputError, match="plate: a vertex"):
        fill(tank, level=0.5, mechanism=bodies, body=bodies.start())


@pytest.mark.parametrize(
    "course",
    [
        lambda t: ((0.4 + t, 0.5, 0.5), (0.0, 0.0, 0.0)),
        lambda t: ((0.4 + t, 0.5, 0.5), (2.0, 0.0, 0.0)),
        lambda t: ((0.4, 0.5, 0.5), (0.0, 0.0, 0.0), np.eye(3), (0.0, 0.0, 3.0)),
    ],
)
def test_a_course_whose_velocity_contradicts_its_position_is_refused(course):
    tank = tank_of()
    bodies = RigidBodies([RigidBody.solid("plate", VERTICES, FACES, 500.0, course=course)])
    body = bodies.start()
    water = fill(tank, level=0.5, mechanism=bodies, body=body)
    with pytest.raises(InputError, match=r"plate: its course moves at .* velocity"):
        step(tank, water, 0.01, mechanism=bodies, body=body)


def test_a_course_with_a_kink_is_accepted():
    tank = tank_of()
    course = lambda t: ((0.4 + max(0.0, t - 0.013), 0.5, 0.5), (1.0 if t > 0.013 else 0.0, 0.0, 0.0))  # noqa: E731
    bodies = RigidBodies([RigidBody.solid("plate", VERTICES, FACES, 500.0, course=course)])
    body = bodies.start()
    water = fill(tank, level=0.5, mechanism=bodies, body=body)
    for _ in range(3):
        step(tank, water, 0.01, mechanism=bodies, body=body)


def test_one_bad_value_of_phi_is_named_with_its_cell():
    tank = tank_of()
    water = fill(tank, level=0.5)
    water.phi[3, 4, 2] = np.nan
    with pytest.raises(Diverged, match=r"phi is not a number in cell \(3, 4, 2\)"):
        step(tank, water, 0.01)


def test_a_marker_that_is_nowhere_is_an_error():
    tank = Tank((N, N, N), 1.0 / N, particles=8)
    water = fill(tank, level=0.5)
    water.markers[5] = np.nan
    with pytest.raises(Diverged, match="place of a marker is not a number"):
        step(tank, water, 0.01)


def test_a_body_wholly_outside_is_named_even_where_walls_may_be_passed():
    tank = tank_of()
    course = lambda t: ((0.8 + 4.0 * t, 0.5, 0.5), (4.0, 0.0, 0.0))  # noqa: E731
    bodies = RigidBodies([RigidBody.solid("plate", VERTICES, FACES, 500.0, course=course)])
    body = bodies.start()
    water = fill(tank, level=0.5, mechanism=bodies, body=body)
    with pytest.raises(InputError, match=r"plate: lies wholly outside the water"):
        step(tank, water, 0.5, mechanism=bodies, body=body, beyond_walls=True)


def test_a_tank_of_one_cell_is_refused():
    with pytest.raises(InputError, match=r"0\.1 m are 1 cells"):
        Tank.of_size((3.2, 3.2, 0.1), 0.1)


def test_bodies_and_tank_of_different_gravity_are_refused():
    tank = tank_of()
    bodies = RigidBodies([RigidBody.solid("ball", VERTICES, FACES, 500.0, position=(0.5, 0.5, 0.5))], (0.0, 0.0, -1.6))
    body = bodies.start()
    water = fill(tank, level=0.5, mechanism=bodies, body=body)
    with pytest.raises(InputError, match=r"gravity is .* for its bodies"):
        step(tank, water, 0.01, mechanism=bodies, body=body)


def test_bones_and_tank_of_different_gravity_are_refused():
    builder = SkeletonBuilder(gravity=(0.0, 0.0, -1.6))
    builder.add_bone("bone", parent=None, joint=joints.Free(), inertia=Inertia.sphere(1.0, 0.15))
    skeleton = builder.build()
    parts = BoneParts(skeleton, [BonePart("bone", VERTICES + 0.5, FACES)])
    bones = BodyInWater(BodyStepper(skeleton, MuscleBuilder(skeleton).build()), parts)
    tank, body = tank_of(), bones.start(skeleton.neutral_q())
    wading = bones.begin(body)
    water = fill(tank, level=0.5, mechanism=wading, body=body)
    with pytest.raises(InputError, match=r"gravity is .* for its bodies"):
        step(tank, water, 0.01, mechanism=wading, body=body)


def test_a_step_that_is_far_too_large_is_refused_at_once():
    tank = tank_of()
    with pytest.raises(Diverged, match="sub-steps"):
        step(tank, fill(tank, level=0.5), 1e4)


def test_a_body_that_is_far_too_fast_is_refused_at_once():
    tank = tank_of()
    ball = RigidBody.solid("ball", VERTICES, FACES, 500.0, position=(0.5, 0.5, 0.7), velocity=(0.0, 0.0, -1e6))
    bodies = RigidBodies([ball])
    body = bodies.start()
    water = fill(tank, level=0.4, mechanism=bodies, body=body)
    with pytest.raises(Diverged, match="sub-steps"):
        step(tank, water, 0.01, mechanism=bodies, body=body)


def two_balls(gap, **options):
    places = ((0.5 - 0.5 * gap, 0.5, 0.5), (0.5 + 0.5 * gap, 0.5, 0.5))
    return RigidBodies(
        [
            RigidBody.solid("one", VERTICES, FACES, 500.0, position=places[0], velocity=(1.0, 0.0, 0.0), **options),
            RigidBody.solid("two", VERTICES, FACES, 500.0, position=places[1], velocity=(-1.0, 0.0, 0.0), **options),
        ]
    )


def test_two_bodies_that_start_in_each_other_are_named():
    bodies = two_balls(0.15)
    with pytest.raises(InputError, match="one and two: overlap by"):
        fill(tank_of(), level=0.5, mechanism=bodies, body=bodies.start())


def test_two_bodies_that_run_into_each_other_are_named_before_they_are_two_cells_deep():
    tank, bodies = tank_of(), two_balls(0.32)
    body = bodies.start()
    water = fill(tank, level=0.5, mechanism=bodies, body=body)
    with pytest.raises(InputError, match="one and two: overlap by"):
        step(tank, water, 0.3, mechanism=bodies, body=body)
    assert body.position[1, 0] - body.position[0, 0] > 0.3 - 2.0 / N


def test_two_bodies_that_touch_are_no_error():
    bodies = two_balls(0.3 - 0.5 / N)
    fill(tank_of(), level=0.5, mechanism=bodies, body=bodies.start())


def test_a_free_body_that_leaves_by_an_open_side_is_named_there():
    tank = tank_of(boundaries={"x+": "open"}, rest_level=0.5)
    ball = RigidBody.solid("ball", VERTICES, FACES, 500.0, position=(0.75, 0.5, 0.5), velocity=(2.0, 0.0, 0.0))
    bodies = RigidBodies([ball])
    body = bodies.start()
    water = fill(tank, mechanism=bodies, body=body)
    with pytest.raises(InputError, match=r"ball: leaves the water by the open x\+ side"):
        step(tank, water, 0.3, mechanism=bodies, body=body)
    assert body.velocity[0, 0] < 2.0
    assert body.position[0, 0] < 1.0


def test_an_order_that_there_is_not_is_refused():
    with pytest.raises(InputError, match="order is that of accuracy in time, 1 or 2, not 3"):
        tank_of(order=3)
