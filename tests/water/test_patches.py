from dataclasses import replace

import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.mesh import box, mesh_volume, sphere
from vitruvian.spatial import exp_so3
from vitruvian.systems import TankSystem
from vitruvian.verify._water_patches import TEN_MM_START, hand, momentum_gap
from vitruvian.water import RigidBodies, RigidBody, Tank, WetShape, WetSurface, cover, cover_narrow, fill, step
from vitruvian.water.patches.axes import ALONG, askew_axes, principal_axes
from vitruvian.water.patches.cutting import cut
from vitruvian.water.patches.solve import face_masses
from vitruvian.world.state import copy_state, flatten_state

H = 0.045
TURNED = exp_so3(np.array([0.4, -0.7, 0.3]))


def tank_of(**options):
    return Tank((16, 16, 16), H, particles=0, **options)


def plate(density=1000.0, **options):
    vertices, faces = box((0.18, 0.08, 0.025))
    return RigidBody.solid("plate", np.asarray(vertices), np.asarray(faces), density, rotation=TURNED, **options)


def patched(tank, body, *, level=0.5):
    mechanism = RigidBodies([body], tank.gravity)
    state = mechanism.start()
    water = fill(tank, level=level, mechanism=mechanism, body=state)
    return mechanism, state, water, cover(tank, mechanism, state, [0])


def test_both_parts_of_a_cut_skin_are_closed():
    vertices, faces = sphere(0.2, subdivisions=3)
    vertices = np.asarray(vertices)
    shape = WetShape.build("ball", faces, len(vertices))
    upper = vertices[shape.mesh.faces].mean(axis=1)[:, 2] > 0.05
    parts = [cut("part", shape, chosen) for chosen in (upper, ~upper)]  # an open one would be an error
    volumes = [mesh_volume(p.points(vertices), p.shape.mesh.faces) for p in parts]
    assert sum(volumes) == pytest.approx(mesh_volume(vertices, shape.mesh.faces), rel=1e-12)
    assert 0.0 < volumes[0] < volumes[1]


def test_the_window_does_not_see_what_a_patch_covers():
    tank = tank_of()
    mechanism, body, _, patches = patched(tank, plate(position=(0.36, 0.36, 0.3)))
    assert patches.uncovered(mechanism.skins(body)) == []


def test_a_hand_starts_with_the_force_of_a_fine_grid_whatever_its_orientation():
    starts = [hand(turn, until=0.05).mean() for turn in (np.eye(3), TURNED)]
    assert starts == pytest.approx([TEN_MM_START.mean()] * 2, rel=0.15)
    assert starts[0] == pytest.approx(starts[1], rel=0.02)


def test_a_hand_along_the_grid_starts_alike_on_other_cells():
    starts = [hand(np.eye(3), until=0.05, patched=c).mean() for c in (0.0125, 0.013, 0.0135)]
    assert starts == pytest.approx([np.mean(starts)] * 3, rel=0.02)


def corners_of(shape, turn=TURNED):
    vertices, faces = shape
    return np.asarray(vertices, float)[np.asarray(faces)] @ turn.T


def test_flat_sides_do_not_lie_along_a_patch():
    vertices, _ = box((0.18, 0.08, 0.025))
    corners = corners_of(box((0.18, 0.08, 0.025)))
    axes = principal_axes(np.asarray(vertices) @ TURNED.T)
    assert np.abs(np.abs(TURNED.T @ axes) - np.eye(3)[:, ::-1]).max() < 1e-9  # the box's own, the shortest first
    askew = askew_axes(axes, corners)
    assert askew.T @ askew == pytest.approx(np.eye(3), abs=1e-12)
    assert np.abs(TURNED.T @ askew).max(axis=0).max() < ALONG


def test_a_round_limb_lies_along_its_patch():
    vertices, faces = sphere(1.0, subdivisions=3)
    corners = corners_of((np.asarray(vertices) * (0.1, 0.05, 0.02), faces))
    assert askew_axes(principal_axes(corners.reshape(-1, 3)), corners) is None


@pytest.mark.parametrize(("thickness", "askew"), [(0.025, True), (0.004, False)])
def test_a_sheet_that_would_leak_lies_along_its_patch(thickness, askew):
    tank = tank_of()
    vertices, faces = box((0.18, 0.08, thickness))
    body = RigidBody.solid("sheet", np.asarray(vertices), faces, 1000.0, position=(0.36, 0.36, 0.3))
    _, _, _, patches = patched(tank, body)
    along = np.abs(patches.patches[0].turn).max(axis=0)
    assert (along.max() < ALONG) == askew


def test_what_the_cells_are_too_large_for_is_covered():
    tank = tank_of()
    hand_like, ball = (
        plate(position=(0.36, 0.36, 0.3)),
        RigidBody.solid("ball", *sphere(0.1), 1000.0, position=(0.3,) * 3),
    )
    both = RigidBodies([ball, hand_like], tank.gravity)
    patches = cover_narrow(tank, both, both.start())
    assert [(p.name, p.link) for p in patches.patches] == [("plate", 1)]
    assert patches.patches[0].tank.cell == pytest.approx(0.08 / 6, rel=1e-6)
    alone = RigidBodies([ball], tank.gravity)
    assert cover_narrow(tank, alone, alone.start()) is None


def test_each_link_may_have_cells_of_its_own():
    tank = tank_of()
    bodies = [replace(plate(position=(x, 0.36, 0.3)), name=name) for x, name in ((0.2, "left"), (0.5, "right"))]
    two = RigidBodies(bodies, tank.gravity)
    patches = cover(tank, two, two.start(), [0, 1], cell=[0.013, 0.02], margin=[0.08, 0.05])
    assert [p.tank.cell for p in patches.patches] == [0.013, 0.02]
    with pytest.raises(InputError, match="1 values of cell for 2 links"):
        cover(tank, two, two.start(), [0, 1], cell=[0.013])


def test_a_tank_covers_its_narrow_bodies():
    system = TankSystem(tank_of(), bodies=[plate(position=(0.36, 0.36, 0.3))], patches="narrow")
    assert [p.name for p in system.patches.patches] == ["plate"]
    assert TankSystem(tank_of(), patches="narrow").patches is None


def test_the_book_of_momentum_is_closed():
    gap, passed = momentum_gap(steps=6)
    assert passed > 0.05
    assert gap < 1e-9


def test_a_body_in_a_patch_is_lifted_by_what_it_displaces():
    held = plate(course=lambda t: (np.array([0.36, 0.36, 0.3]), np.zeros(3)))
    mechanism, body, water, patches = patched(tank_of(), held)
    for _ in range(4):
        done = step(tank_of(), water, 0.01, mechanism=mechanism, body=body, patches=patches)
    assert done.impulses[0, 3:] / 0.01 == pytest.approx([0.0, 0.0, 9.81 * 1000.0 * held.volume], abs=2e-3)
    assert max(np.abs(f).max() for f in (water.u, water.v, water.w)) < 1e-4


def test_a_neutral_plate_hovers():
    mechanism, body, water, patches = patched(tank_of(), plate(position=(0.36, 0.36, 0.3)))
    for _ in range(6):
        step(tank_of(), water, 0.01, mechanism=mechanism, body=body, patches=patches)
    assert np.abs(body.velocity).max() < 1e-3


def test_a_very_light_plate_stays_stable():
    light = plate(50.0, position=(0.36, 0.36, 0.2))
    mechanism, body, water, patches = patched(tank_of(), light)
    speeds = []
    for _ in range(10):
        step(tank_of(), water, 0.01, mechanism=mechanism, body=body, patches=patches)
        speeds.append(float(np.linalg.norm(body.velocity)))
    assert np.all(np.diff(speeds) > -0.02)  # it rises ever faster up to its last speed, and does not ring
    assert speeds[-1] < 2.5


def test_a_patch_sleeps_in_air_and_wakes_in_water():
    falling = plate(position=(0.36, 0.36, 0.62), velocity=(0.0, 0.0, -2.0))
    mechanism, body, water, patches = patched(tank_of(), falling, level=0.3)
    step(tank_of(), water, 0.005, mechanism=mechanism, body=body, patches=patches)
    assert not water.patches[0].awake
    assert water.patches[0].substeps == 0
    for _ in range(20):
        step(tank_of(), water, 0.005, mechanism=mechanism, body=body, patches=patches)
    assert water.patches[0].awake
    assert body.velocity[0, 2] > -2.0 - 0.1 * 9.81  # slower than in the air


def test_calm_water_in_a_closed_tank_stays_calm_about_a_patch():
    rest = np.array([0.36, 0.36, 0.3])
    held = replace(plate(position=tuple(rest)), course=lambda t: (rest, np.zeros(3)))
    mechanism, body, water, patches = patched(Tank((16, 16, 20), H), held, level=0.6)
    for _ in range(4):
        water.volume -= 1e-8  # [m^3], so that the level set is shifted a little
        step(Tank((16, 16, 20), H), water, 1 / 30, mechanism=mechanism, body=body, patches=patches)
    assert max(np.abs(f).max() for f in (water.u, water.v, water.w)) < 1e-5


def test_a_body_in_a_patch_may_not_pass_the_floor():
    sinking = plate(20000.0, position=(0.36, 0.36, 0.2))
    mechanism, body, water, patches = patched(tank_of(), sinking)

    def fall():
        for _ in range(40):
            step(tank_of(), water, 0.02, mechanism=mechanism, body=body, patches=patches)

    with pytest.raises(InputError, match=r"plate: lies .* beyond the floor"):
        fall()


@pytest.mark.parametrize(
    "given", [{"links": ["b"]}, {"links": 0}, {"links": [0], "cell": "a"}, {"links": [0], "courant": [0.5]}]
)
def test_wrong_links_and_numbers_are_named(given):
    mechanism, body, _, _ = patched(tank_of(), plate(position=(0.36, 0.36, 0.3)))
    with pytest.raises(InputError, match="patches: "):
        cover(tank_of(), mechanism, body, **given)


def test_patches_belong_to_the_state():
    def system():
        body = plate(600.0, position=(0.36, 0.36, 0.4), velocity=(0.3, 0.0, -0.5), angular_velocity=(2.0, 1.0, 0.0))
        return TankSystem(tank_of(rest_level=0.36), bodies=[body], patches=["plate"])

    first = system()
    state = first.start(np.random.default_rng(0))
    for n in range(6):
        if n == 3:
            kept = copy_state(state)
        first.step(state, None, 0.01 * n, 0.01)
    again = system()  # remembers nothing
    for n in range(3, 6):
        again.step(kept, None, 0.01 * n, 0.01)
    one, two = flatten_state(state), flatten_state(kept)
    assert all(np.array_equal(one[name], two[name]) for name in one)
    assert one["water.patches.0.u"].any()


def test_water_between_a_wall_and_a_face_moves_with_that_face():
    vertices, faces = box((0.3, 0.3, 0.3))
    tank = Tank((8, 8, 8), 0.1, free_surface=False, gravity=(0.0, 0.0, 0.0))
    mechanism = RigidBodies([RigidBody.solid("box", np.asarray(vertices), np.asarray(faces), 1e3)], (0.0, 0.0, 0.0))
    body = mechanism.start()
    body.position[:] = 0.45 - 0.02
    water = fill(tank, mechanism=mechanism, body=body)
    from vitruvian.water import rasterise

    boundary = rasterise(tank, water, mechanism.skins(body), np.zeros((1, 3)))
    mass = face_masses(tank, boundary)[0]
    assert mass[:, 0, 0] == pytest.approx(1.0)
    # the box reaches from 0.28 to 0.58: beyond the face at 0.6 stands half a cell and 0.02 before the wall
    assert mass[6, 4, 4] == pytest.approx(0.7, abs=0.01)
    assert mass[2, 4, 4] == pytest.approx(0.5 + 0.8, abs=0.01)


def test_what_cannot_be_is_named():
    tank = tank_of()
    mechanism, body, water, patches = patched(tank, plate(position=(0.36, 0.36, 0.3)))
    with pytest.raises(InputError, match="not finer"):
        cover(tank, mechanism, body, [0], cell=0.06)
    with pytest.raises(InputError, match="no link 3"):
        cover(tank, mechanism, body, [3])
    with pytest.raises(InputError, match="margin"):
        cover(tank, mechanism, body, [0], margin=0.0)
    with pytest.raises(InputError, match="pressure forces"):
        step(tank, water, 0.01, mechanism=mechanism, body=body, forces="velocity", patches=patches)
    with pytest.raises(InputError, match="none of its bodies"):
        TankSystem(tank, bodies=[plate(position=(0.36, 0.36, 0.3))], patches=["hand"])


def test_drift_of_a_skin_is_cut_with_it():
    vertices, faces = sphere(0.2, subdivisions=2)
    vertices = np.asarray(vertices)
    shape = WetShape.build("ball", faces, len(vertices))
    upper = vertices[shape.mesh.faces].mean(axis=1)[:, 2] > 0.0
    part = cut("part", shape, upper)
    whole = WetSurface(shape, vertices, np.ones((len(shape.mesh.faces), 3, 3)))
    drift = part.surface(whole).drift
    assert drift[: upper.sum()].min() == 1.0
    assert not drift[upper.sum() :].any()
