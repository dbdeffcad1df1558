"""Bodies whose segments have lengths of their own."""

import numpy as np
import pytest

from vitruvian.anatomy import arm, body_contacts, bone_surfaces, human
from vitruvian.anatomy.proportions import SEGMENTS
from vitruvian.errors import InputError
from vitruvian.muscle import moment_arms
from vitruvian.skeleton import bone_poses, world_twists

ODD = {"thigh": 1.1, "shank": 0.92, "foot": 1.05, "upper arm": 0.93, "forearm": 1.08, "trunk": 1.06, "shoulders": 1.05,
       "pelvis": 0.95}  # fmt: skip


@pytest.fixture(scope="module")
def pair():
    """Our body and an odd one, of one size and mass."""
    return human(height=1.75, mass=70.0), human(height=1.75, mass=70.0, proportions=ODD)


def distance(body, near, far):
    T, s = bone_poses(body.skeleton, body.default_q), body.skeleton
    return np.linalg.norm(T[s.index(far), :3, 3] - T[s.index(near), :3, 3])


@pytest.mark.parametrize("segment", [n for n, (_, ends) in SEGMENTS.items() if ends[0]])
def test_joints_are_as_far_apart_as_the_factor_says(pair, segment):
    ours, odd = pair
    for side in "lr":
        near, far = (f"{end}_{side}" for end in SEGMENTS[segment][1])
        assert distance(odd, near, far) == pytest.approx(ODD[segment] * distance(ours, near, far), rel=1e-12)


def test_it_stands_where_it_stood_and_is_as_tall_as_its_parts(pair):
    ours, odd = pair
    feet = [bone_poses(b.skeleton, b.default_q)[b.skeleton.index("Fo_r"), 2, 3] for b in pair]
    assert feet[0] == pytest.approx(feet[1], abs=1e-12)
    assert ours.stature == pytest.approx(1.75)
    higher = [bone_poses(b.skeleton, b.default_q)[b.skeleton.index("Sku"), 2, 3] for b in pair]
    assert odd.stature - ours.stature == pytest.approx(higher[1] - higher[0], abs=1e-12)
    assert odd.skeleton.mass == pytest.approx(70.0)
    assert human(proportions={"thigh": 1.1}).skeleton.mass > human().skeleton.mass


def test_mass_and_inertia_are_those_of_the_stretched_bone():
    """A point of mass in a stretched bone moves with it: the second moments are those of stretched places."""
    ours, odd = human(), human(proportions={"thigh": 1.1})
    i = ours.skeleton.index("Fe_l")
    along = bone_poses(ours.skeleton, ours.default_q)
    a = along[ours.skeleton.index("Tfp_l"), :3, 3] - along[i, :3, 3]
    a /= np.linalg.norm(a)
    ratio = odd.skeleton.masses[i] / ours.skeleton.masses[i]
    assert ratio == pytest.approx(1.1)
    assert odd.skeleton.coms[i] @ a == pytest.approx(1.1 * ours.skeleton.coms[i] @ a)

    def moment(body):
        xx, xy, xz, yy, yz, zz = body.skeleton.bodies[i, 16:22]
        full = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        return a @ (0.5 * np.trace(full) * np.eye(3) - full) @ a

    assert moment(odd) == pytest.approx(1.1**3 * moment(ours))


def test_muscles_keep_their_force_and_their_levers_at_the_knee(pair):
    ours, odd = pair
    assert odd.muscles.names == ours.muscles.names
    assert np.allclose(odd.muscles.f_max, ours.muscles.f_max)
    levers = []
    for body in pair:
        q = body.default_q.copy()
        q[body.skeleton.q_slice("Tfp_l")] = np.radians(60.0)
        arms = moment_arms(body.muscles, *world_twists(body.skeleton, q))[1].dense()
        levers.append(1e3 * arms[body.muscles.named("rectus_femoris_01_l"), body.skeleton.v_slice("Tfp_l").start])
    assert levers[0] == pytest.approx(levers[1], abs=0.1)  # the patella and its groove keep their size


def test_fibres_grow_with_their_paths():
    ours, odd = human(muscles="rigid"), human(muscles="rigid", proportions=ODD)
    ratio = np.array([o.fibre_length / u.fibre_length for o, u in zip(odd.muscles.elements, ours.muscles.elements)])
    assert 0.85 < ratio.min() < 0.99
    assert 1.01 < ratio.max() < 1.2


def test_bones_flesh_and_default_bodies(pair):
    tall = [np.ptp(bone_surfaces(b)["Fe_l"][0][:, 2]) for b in pair]
    assert tall[1] / tall[0] == pytest.approx(1.1, abs=0.005)
    wide = [np.ptp(bone_surfaces(b)["Fe_l"][0][:, 1]) for b in pair]
    assert wide[1] / wide[0] == pytest.approx(1.0, abs=0.02)
    cones = [{c.bone: c for c in body_contacts(b).shapes} for b in pair]
    assert cones[1]["Fe_l"].radius == pytest.approx(cones[0]["Fe_l"].radius)
    assert human(proportions={"thigh": 1.0}).skeleton.bodies.tobytes() == human().skeleton.bodies.tobytes()


@pytest.mark.parametrize(
    ("given", "words"),
    [({"leg": 1.1}, "segment 'leg'"), ({"thigh": 3.0}, "between 0.5 and 2"), ({"thigh": "long"}, "must be a number")],
)
def test_what_is_no_proportion_is_named(given, words):
    with pytest.raises(InputError, match=words):
        human(proportions=given)


def test_parts_have_proportions_too_and_splines_have_not():
    longer = arm("left", proportions={"forearm": 1.1})
    assert distance(longer, "Ul_l", "Ha_l") == pytest.approx(1.1 * distance(arm("left"), "Ul_l", "Ha_l"))
    with pytest.raises(InputError, match="hinged knees"):
        human(knee="spline", proportions={"thigh": 1.1})
