"""A face of tissue and muscles: it smiles, opens and shuts, keeps its volume, and can be resumed."""

from dataclasses import fields

import numpy as np
import pytest

from vitruvian.anatomy.face import CHAIN, jaw_pose, make_face
from vitruvian.anatomy.face.basis import unpacked
from vitruvian.anatomy.face.clothes import above_hem, cut
from vitruvian.anatomy.face.face import SHIPPED
from vitruvian.anatomy.face.grids import mouth_corners, triangles
from vitruvian.anatomy.face.jaw import carried
from vitruvian.anatomy.face.posing import skinned
from vitruvian.control.face import FaceDriver, expression
from vitruvian.errors import InputError
from vitruvian.flesh import tissue_volume
from vitruvian.systems.face import FaceSystem


@pytest.fixture(scope="module")
def face():
    return make_face()


@pytest.fixture(scope="module")
def smile(face):
    return FaceDriver(face).settled({"AU12": 1.0})


def test_the_shipped_modes_belong_to_this_tissue(face):
    """Else every new install solves them anew, for minutes; `vitruvian train face` makes those to ship."""
    with np.load(SHIPPED) as stored:
        assert unpacked(dict(stored), face.tissue) is not None


def test_no_skin_hangs_below_the_shirt(face):
    """Skin that is neither under the shirt nor above its hem would stand out of the shoulders in jags."""
    assert above_hem(face.fine_rest[np.unique(face.parts["skin"])]).min() >= 0.0


def near(face, point):
    return int(np.argmin(np.linalg.norm(face.head.vertices - point, axis=1)))


def test_a_smile_draws_the_corners_up_out_and_back(face, smile):
    moved = face.control_points(smile.q) - face.control_points(np.zeros(face.n_modes))
    for corner, side in zip(mouth_corners(face.head), (1.0, -1.0)):
        way = moved[near(face, corner)] * (side, 1.0, 1.0)
        assert way[0] > 0.001
        assert way[1] > 0.0005
        assert 0.004 < way[2] < 0.020


def test_one_sided_smile_leaves_the_other_side(face):
    state = FaceDriver(face).settled({"LAU12": 1.0})
    moved = np.linalg.norm(face.control_points(state.q) - face.control_points(np.zeros(face.n_modes)), axis=1)
    left, right = (moved[near(face, c)] for c in mouth_corners(face.head))
    assert left > 2.0 * right


def middle_of(face, base):
    """Number of a vertex of the base mesh: 467 upper, 496 lower lip."""
    return int(np.flatnonzero(face.head.base == base)[0])


def test_a_pucker_pushes_the_lips_forward_on_their_teeth(face):
    """Without teeth behind them lips are drawn back by 3 mm."""
    state = FaceDriver(face).settled({"AU18": 1.0})
    moved = face.control_points(state.q) - face.control_points(np.zeros(face.n_modes))
    for base in (467, 496):
        assert moved[middle_of(face, base), 1] < -0.002
    corner = moved[near(face, mouth_corners(face.head)[0])]
    assert corner[0] < -0.004
    skin = face.mouth.teeth.surface.embedding.positions(face.nodes(state.q))
    assert face.mouth.teeth.shapes[0].distance(skin)[0].min() > -0.0005


def test_the_cheek_raiser_lifts_the_cheek_below_the_eye(face):
    """A ring of the eye alone draws the outer cheek inward and leaves what lies 45 mm below the eye where it is."""
    state = FaceDriver(face).settled({"AU6": 1.0})
    moved = face.control_points(state.q) - face.control_points(np.zeros(face.n_modes))
    off = face.head.vertices - face.head.eyes[0]
    cheek = (np.abs(off[:, 0] - 0.020) < 0.008) & (np.abs(off[:, 2] + 0.045) < 0.010) & (off[:, 1] < 0.03)
    inward, _, up = moved[cheek].mean(axis=0) * (-1.0, 1.0, 1.0)
    assert up > 0.0035
    assert inward < 0.4 * up
    corner = moved[near(face, mouth_corners(face.head)[0])]
    assert np.linalg.norm(corner) < 0.5 * up  # that is the work of another muscle


def test_lids_leave_the_mouth_alone(face):
    for lid in face.lids:
        at = face.head.vertices[lid.vertex]
        assert not ((np.abs(at[:, 0]) < 0.012) & (at[:, 2] < lid.centre[2] - 0.024)).any()


def test_the_chin_raiser_lifts_the_lower_lip(face):
    state = FaceDriver(face).settled({"AU17": 1.0})
    moved = face.control_points(state.q) - face.control_points(np.zeros(face.n_modes))
    assert moved[middle_of(face, 496), 2] > 0.0015


def test_the_teeth_push_along_the_slope_of_their_distance(face):
    shape = face.mouth.teeth.shapes[0]
    at = shape.rest + np.random.default_rng(0).normal(0.0, 0.003, shape.rest.shape)
    slope = shape.distance(at)[1]
    for k in range(3):
        step = np.zeros(3)
        step[k] = 1e-6
        found = (shape.distance(at + step)[0] - shape.distance(at - step)[0]) / 2e-6
        np.testing.assert_allclose(found, slope[:, k], atol=1e-6)


def test_a_cut_ends_where_the_level_is_nought():
    x, z = np.meshgrid(np.linspace(0.0, 1.0, 6), np.linspace(0.0, 1.0, 6))
    points = np.stack([x.ravel(), 0.0 * x.ravel(), z.ravel()], axis=1)
    k = (np.arange(5)[:, None] * 6 + np.arange(5)).ravel()
    faces = triangles(np.stack([k, k + 1, k + 7, k + 6], axis=1))
    mix, cut_faces, _ = cut(faces, 0.7 - points[:, 0] - 0.3 * points[:, 2], len(points))
    v = mix @ points
    area = 0.5 * np.linalg.norm(np.cross(*(v[cut_faces[:, k]] - v[cut_faces[:, 0]] for k in (1, 2))), axis=1).sum()
    assert area == pytest.approx(0.55, abs=1e-12)  # under x = 0.7 - 0.3 z
    assert (v[:, 0] + 0.3 * v[:, 2]).max() < 0.7 + 1e-12


def test_tissue_keeps_its_volume(face, smile):
    lattice = face.tissue.lattice
    now = tissue_volume(lattice, face.nodes(smile.q))
    assert now == pytest.approx(tissue_volume(lattice, lattice.nodes), rel=0.01)
    assert face.tissue_volume(face.nodes(smile.q)) == pytest.approx(now, rel=1e-12)


def test_the_jaw_opens_the_mouth_and_lips_part(face):
    state = FaceDriver(face).settled({"AU26": 1.0})
    assert state.jaw == pytest.approx(np.radians(10.0))
    assert np.median(face.mouth.lips.gaps(face.nodes(state.q, state.jaw))) > 0.003


def test_a_wide_open_jaw_keeps_the_tissues_volume(face):
    """Places on the chord of their turn instead of on its arc would lose 1.3 % of it."""
    assert face.tissue_volume(face.nodes(np.zeros(face.n_modes), np.radians(18.0))) == pytest.approx(
        face.rest_volume, rel=0.005
    )


def test_teeth_and_skin_open_about_the_same_joint(face):
    at = face.head.bones["Man"][0][::40]
    pose = jaw_pose(np.radians(12.0))
    moved = carried(at, np.ones(len(at)), np.radians(12.0))
    assert moved == pytest.approx(at @ pose[:3, :3].T + pose[:3, 3], abs=1e-12)


def test_hairs_ride_on_the_skin_and_skin_on_the_neck(face, smile):
    """Against the sums written out."""
    surface = face.skin(smile.q)
    brows = face.riders["brows"]
    a, b, c = (surface[brows.on[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    assert brows.at(surface) == pytest.approx(brows.mix @ surface + brows.height[:, None] * normal, abs=1e-12)
    rng = np.random.default_rng(0)
    points, weights, moves = rng.normal(size=(7, 3)), rng.random((7, 4)), rng.normal(size=(4, 3, 4))
    weights[2, 1] = 0.0
    blended = np.einsum("nk,kij->nij", weights, moves)
    told = np.einsum("nij,nj->ni", blended[:, :, :3], points) + blended[:, :, 3]
    assert skinned(points, weights, moves) == pytest.approx(told, abs=1e-12)


def test_lids_shut_over_the_eyes(face):
    wide, shut = (face.eye_seen(np.tile([a, 0.0], (2, 1))) for a in (0.0, 1.0))
    assert wide > 60e-6
    assert shut < 0.02 * wide


def test_cheeks_pushed_up_stay_outside_the_globes(face):
    state = FaceDriver(face).settled({"AU6": 1.0, "AU12": 1.0})
    now = face.control_points(state.q, 0.0, state.lid_positions)
    for orbit in face.orbits:
        far = np.linalg.norm(now[orbit.vertex] - orbit.centre, axis=1)
        assert (far > orbit.least - 1e-9).all()


def test_the_upper_lid_follows_the_gaze_down(face):
    state = FaceDriver(face).start()
    state.gaze = np.radians([[0.0, -20.0], [0.0, -20.0]])
    level = FaceDriver(face).start().lid_positions[:, 0]
    assert (state.lid_positions[:, 0] > level + 0.2).all()


def test_a_raised_forehead_folds_and_a_calm_one_does_not(face):
    raised = FaceDriver(face).settled({"AU1": 1.0, "AU2": 1.0})
    assert np.abs(face.folds.depth(face.folds.stretch @ face.nodes(raised.q))).max() > 3e-4
    assert np.abs(face.folds.depth(face.folds.stretch @ face.nodes(np.zeros(face.n_modes)))).max() == 0.0


def test_a_head_that_turns_takes_its_face_along(face):
    turn = np.eye(4)
    turn[:3, :3] = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    q, lids = np.zeros(face.n_modes), np.zeros((2, 2))
    poses = {name: turn @ face.rest_poses[name] for name in CHAIN}
    still = face.posed(q, 0.0, lids, face.rest_poses)
    assert np.allclose(face.posed(q, 0.0, lids, poses), still @ turn[:3, :3].T, atol=1e-9)


def test_the_chin_turns_with_the_skull_and_the_collar_with_the_chest(face):
    """Skin under the chin that lagged behind the head would fold into a flange."""
    turn = np.eye(4)
    turn[:3, :3] = [[np.cos(1.0), -np.sin(1.0), 0.0], [np.sin(1.0), np.cos(1.0), 0.0], [0.0, 0.0, 1.0]]
    poses = {name: turn @ face.rest_poses[name] if name == "Sku" else face.rest_poses[name] for name in CHAIN}
    q, lids = np.zeros(face.n_modes), np.zeros((2, 2))
    still, turned = (face.posed(q, 0.0, lids, p) for p in (face.rest_poses, poses))
    chin = (still[:, 1] < -0.095) & (still[:, 2] > 1.71)
    assert chin.sum() > 100
    np.testing.assert_allclose(turned[chin], still[chin] @ turn[:3, :3].T, atol=1e-6)
    collar = still[:, 2] < 1.60
    np.testing.assert_allclose(turned[collar], still[collar], atol=1e-9)


def test_crows_feet_are_rays_and_not_bumps(face):
    """Beside the eye the depth of folds changes with the angle of the ray more than along a ray."""
    depth = np.zeros(len(face.fine_rest))
    nodes = face.nodes(FaceDriver(face).settled({"AU6": 1.0}).q)
    depth[face.folds.vertex] = face.folds.depth(face.folds.stretch @ nodes)
    lid = face.head.vertices[np.linalg.norm(face.head.vertices - face.head.eyes[0], axis=1) < 1.3 * face.head.globe]
    off = face.fine_rest - lid[np.argmax(lid[:, 0])]
    aside = np.hypot(np.maximum(off[:, 0], 0.0), off[:, 1])
    far, angle = np.hypot(aside, off[:, 2]), np.degrees(np.arctan2(off[:, 2], aside))
    beside = (off[:, 0] > 0.0) & (far > 0.010) & (far < 0.020) & (np.abs(angle + 6.0) < 36.0)
    assert depth[beside].max() > 3e-4
    rays = [depth[beside & (np.abs(angle - middle) < 3.0)] for middle in range(-39, 33, 6)]
    within = np.mean([ray.var() for ray in rays])
    assert np.var([ray.mean() for ray in rays]) > 2.0 * within


def test_steps_are_a_function_of_the_state(face):
    driver = FaceDriver(face)
    first, units = driver.start(), expression("joy")
    for _ in range(3):
        driver.step(first, units, 1.0 / 30.0)
    kept = {f.name: np.copy(getattr(first, f.name)) for f in fields(first)}
    again = driver.start()
    for name, value in kept.items():
        setattr(again, name, value.item() if value.ndim == 0 else value)
    for state in (first, again):
        driver.step(state, units, 1.0 / 30.0)
    assert np.array_equal(first.q, again.q)


def test_units_out_of_range_are_refused(face):
    driver = FaceDriver(face)
    with pytest.raises(InputError, match="AU12"):
        driver.step(driver.start(), {"AU12": 3.0}, 0.03)


def test_what_is_seen_has_all_parts(face):
    system = FaceSystem(face, lambda time: None)
    stage, frame = system.stage(), system.observe(system.start(np.random.default_rng(0)), None, 0.0)
    assert {s.name for s in stage.surfaces} == set(frame.surfaces)
    for surface in stage.surfaces:
        assert surface.faces.max() == len(frame.surfaces[surface.name].vertices) - 1
    assert len(frame.poses) == len(stage.bodies)
