"""The shapes with which the body touches: they follow its skin, hold its bones, and leave neighbours alone."""

import numpy as np
import pytest

from vitruvian.anatomy import body_contacts, bone_surfaces, bound_skin, contact_shapes, human, neck, sole_balls
from vitruvian.anatomy.tables import load_tables
from vitruvian.skeleton import bone_poses


@pytest.fixture(scope="module")
def body():
    return human()


def distance(x, shapes, body):
    """Of points (n, 3) to the union of the shapes in the default pose [m]."""
    poses = bone_poses(body.skeleton, body.default_q)
    least = np.full(len(x), np.inf)
    for c in shapes:
        T = poses[body.skeleton.index(c.bone)]
        a, b = (T[:3, :3] @ np.array(end) + T[:3, 3] for end in (c.start, c.end))
        for s in np.linspace(0.0, 1.0, 33):  # balls along the axis
            far = np.linalg.norm(x - a - s * (b - a), axis=1) - c.radius[0] - s * (c.radius[1] - c.radius[0])
            least = np.minimum(least, far)
    return least


def test_the_skin_lies_on_the_shapes(body):
    off = distance(bound_skin(body).rest, contact_shapes(body), body)
    assert np.sqrt(np.mean(off**2)) < 0.0065
    assert np.percentile(np.abs(off), 95) < 0.015


def test_no_bone_sticks_out_of_the_shapes_by_more_than_a_centimetre(body):
    poses, shapes = bone_poses(body.skeleton, body.default_q), contact_shapes(body)
    for name, (vertices, _) in bone_surfaces(body).items():
        T = poses[body.skeleton.index(name)]
        assert distance(vertices[::3] @ T[:3, :3].T + T[:3, 3], shapes, body).max() < 0.010, name


def test_soles_are_level_and_mirrored(body):
    balls = sole_balls(body)
    assert len(balls) == 16
    low = {bone: [c[2] - r for b, c, r in balls if b == bone] for bone in ("Fo_l", "Fo_r")}
    assert np.ptp([*low["Fo_l"], *low["Fo_r"]]) < 1e-9


def test_knees_may_touch_and_neighbours_may_not(body):
    contacts = body_contacts(body)
    met = {frozenset((contacts.shapes[i].bone, contacts.shapes[j].bone)) for i, j in contacts.pairs}
    assert {frozenset(("Tfp_l", "Tfp_r")), frozenset(("Ha_l", "Fe_l")), frozenset(("Ul_r", "T6"))} <= met
    for pair in (("Fe_l", "Pel"), ("Fe_l", "Tfp_l"), ("T6", "T9"), ("Cla_l", "T3"), ("Sku", "C3")):
        assert frozenset(pair) not in met
    assert not len(body_contacts(body, itself=False).pairs)


def test_shapes_scale_with_the_body_and_parts_keep_their_own(body):
    small = human(height=1.6)
    one, other = contact_shapes(body)[0], contact_shapes(small)[0]
    assert np.array(other.radius) == pytest.approx(np.array(one.radius) * small.scale)
    assert {c.bone for c in contact_shapes(neck())} >= {"Sku", "C3", "T6"}


def test_every_neutral_angle_lies_within_its_own_range():
    for rows in load_tables().coordinates.values():
        for row in rows:
            assert row.low <= row.neutral <= row.high, f"{row.bone} {row.coordinate}"
