"""The skin follows the bones: positions, exact velocities, forces by virtual work."""

from dataclasses import replace

import numpy as np
import pytest

from vitruvian.anatomy import human
from vitruvian.anatomy.density import enclosed
from vitruvian.mesh import sphere
from vitruvian.skeleton import bone_poses, integrate, world_twists
from vitruvian.skin import BoundSkin, bind, turning_centres


@pytest.fixture(scope="module")
def body():
    return human()


@pytest.fixture(scope="module")
def skin(body) -> BoundSkin:
    """A ball about the elbow, bound to upper arm, forearm and hand by smooth weights: no data package is needed."""
    vertices, faces = sphere(0.12, subdivisions=3)
    names = ("Hu_l", "Ul_l", "Rad_l", "Ha_l")
    rest = bone_poses(body.skeleton, body.default_q)
    elbow = rest[body.skeleton.index("Ul_l"), :3, 3]
    x = np.asarray(vertices)
    weights = np.stack([np.exp(-((x[:, 0] - c) ** 2) / 0.01) for c in (-0.1, 0.0, 0.05, 0.15)], axis=1)
    return bind(body.skeleton, body.default_q, x + elbow, faces, names, weights / weights.sum(axis=1, keepdims=True))


@pytest.fixture(scope="module")
def moving(body):
    """A pose with bent joints and a velocity in every coordinate."""
    rng = np.random.default_rng(3)
    s = body.skeleton
    q = integrate(s, body.default_q, 0.6 * rng.standard_normal(s.n_v), 1.0)
    return q, rng.standard_normal(s.n_v)


def _twists(body, skin, q, v):
    s = body.skeleton
    _, screws = world_twists(s, q)
    return np.stack([(screws * (s.supports[b] * v)[:, None]).sum(axis=0) for b in skin.bones])


def test_skin_is_where_it_was_drawn_in_the_default_pose(body, skin):
    place = skin.place(bone_poses(body.skeleton, body.default_q))
    np.testing.assert_allclose(place.vertices, skin.rest, atol=1e-14)


def test_velocities_are_the_derivative_of_positions(body, skin, moving):
    q, v = moving
    s, h = body.skeleton, 1e-6
    found = skin.place(bone_poses(s, q)).velocities(_twists(body, skin, q, v))
    ahead = skin.place(bone_poses(s, integrate(s, q, v, h))).vertices
    behind = skin.place(bone_poses(s, integrate(s, q, v, -h))).vertices
    np.testing.assert_allclose(found, (ahead - behind) / (2 * h), atol=1e-7 * np.abs(found).max())


def test_forces_on_the_skin_do_the_same_work_on_the_bones(body, skin, moving):
    q, v = moving
    forces = np.random.default_rng(5).standard_normal(skin.rest.shape)
    place, twists = skin.place(bone_poses(body.skeleton, q)), _twists(body, skin, q, v)
    wrenches = place.wrenches(forces)
    assert (wrenches * twists).sum() == pytest.approx((forces * place.velocities(twists)).sum(), rel=1e-11)
    np.testing.assert_allclose(wrenches[:, 3:].sum(axis=0), forces.sum(axis=0), atol=1e-10)
    np.testing.assert_allclose(wrenches[:, :3].sum(axis=0), np.cross(place.vertices, forces).sum(axis=0), atol=1e-10)


def test_a_skin_with_a_volume_keeps_it_in_every_pose(body, skin, moving):
    kept = skin.with_rest(skin.rest, enclosed(skin.rest, skin.faces)[0])
    bent = kept.place(bone_poses(body.skeleton, moving[0]))
    loose = skin.place(bone_poses(body.skeleton, moving[0]))
    assert enclosed(bent.vertices, skin.faces)[0] == pytest.approx(kept.volume, rel=2e-4)
    assert abs(enclosed(loose.vertices, skin.faces)[0] / kept.volume - 1.0) > 1e-3


def test_every_triangle_belongs_to_the_bone_that_moves_it_most(skin):
    corner = skin.dense_weights()[skin.faces].sum(axis=1)
    np.testing.assert_array_equal(skin.face_bone, corner.argmax(axis=1))


@pytest.mark.parametrize("with_faces", [True, False])
def test_skin_that_two_bones_share_turns_about_the_middle_of_its_ring(with_faces):
    vertices, faces = sphere(0.1, subdivisions=4)
    tube = np.asarray(vertices) * [3.0, 1.0, 1.0] + [0.0, 0.0, 1.0]
    one = 1.0 / (1.0 + np.exp(-tube[:, 0] / 0.03))
    weights = np.stack([one, 1.0 - one], axis=1)
    faces = faces if with_faces else np.zeros((0, 3), int)
    shared = np.minimum(one, 1.0 - one) > 0.05
    centre = turning_centres(tube, faces, weights, taut=0.0)[shared]
    assert np.abs(centre[:, 1:] - [0.0, 1.0]).max() < 0.005
    assert np.abs(centre[:, 0] - tube[shared, 0]).max() < 0.03  # the ring that each belongs to
    np.testing.assert_allclose(turning_centres(tube, faces, weights, taut=1.0), tube)


def test_a_twisted_limb_keeps_more_of_its_breadth_than_by_linear_blending(body, skin, moving):
    elbow = skin.rest.mean(axis=0)
    poses = bone_poses(body.skeleton, body.default_q)
    turn = np.eye(4)
    turn[:3, :3] = [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]
    about = np.eye(4)
    about[:3, 3] = elbow
    for name in skin.names[1:]:
        i = body.skeleton.index(name)
        poses[i] = about @ turn @ np.linalg.inv(about) @ poses[i]
    breadth = [
        np.linalg.norm((s.place(poses).vertices - elbow)[:, 1:], axis=1).max() / 0.12
        for s in (skin, replace(skin, centre=skin.rest))
    ]
    assert breadth[0] > 0.9
    assert breadth[0] > breadth[1]
