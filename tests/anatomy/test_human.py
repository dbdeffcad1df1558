from dataclasses import fields, replace

import numpy as np
import pytest

from vitruvian.anatomy import arm, human, legs, neck, stronger, torso, upper_body
from vitruvian.anatomy.models import MODELS, describe
from vitruvian.control.rhythm import StrokeMotion, load_stroke
from vitruvian.couple import BodyStepper
from vitruvian.errors import InputError
from vitruvian.muscle import CurvedHill, lengths, moment_arms
from vitruvian.skeleton import bone_poses, integrate, mass_matrix, world_twists


@pytest.fixture(scope="module")
def body():
    return human()


def test_the_body_has_103_bones_163_coordinates_860_muscles_and_86_6_kg(body):
    facts = describe(body)
    assert (facts["bones"], facts["dof"], facts["muscles"]) == (103, 163, 860)
    assert facts["mass"] == pytest.approx(86.6, abs=0.01)
    assert facts["moving_bones"] == 75
    assert facts["muscle_driven_dof"] == 125
    assert facts["muscles_by_part"] == {
        "torso": 412,
        "neck": 264,
        "left arm": 46,
        "right arm": 46,
        "left leg": 46,
        "right leg": 46,
    }
    assert any("CC BY" in line for line in facts["sources"])


def test_feet_may_have_two_axes():
    assert human(feet="universal").skeleton.n_v == 165


def test_muscles_are_at_rest_length_in_the_default_pose(body):
    length = lengths(body.muscles, bone_poses(body.skeleton, body.default_q))
    assert length == pytest.approx(body.muscles.rest_length, abs=1e-12)


def test_left_and_right_muscles_have_equal_lengths_in_mirrored_poses(body):
    s = body.skeleton
    rng = np.random.default_rng(0)
    move = np.zeros(s.n_v)
    for name in s.names:
        other = body.mirror[name]
        if s.joints[s.index(name)].n_v in (0, 6) or name > other:
            continue
        own = rng.uniform(-0.3, 0.3, s.joints[s.index(name)].n_v)
        if len(own) == 3:
            own *= (1.0, 0.0, 0.0) if name == other else (1.0, 1.0, 1.0)
            move[s.v_slice(other)] = own * (1.0, -1.0, -1.0)
        elif name == other:
            own *= np.array([1.0, 0.0])[: len(own)]
            move[s.v_slice(other)] = own
        else:
            move[s.v_slice(other)] = own
        move[s.v_slice(name)] = own
    length = lengths(body.muscles, bone_poses(s, integrate(s, body.default_q, move)))
    index = {n: i for i, n in enumerate(body.muscles.names)}
    pairs = [(i, index[n[:-1] + "r"]) for n, i in index.items() if n.endswith("_l")]
    assert len(pairs) == 430
    assert max(abs(length[a] - length[b]) for a, b in pairs) < 1e-12


@pytest.mark.parametrize(
    ("build", "dof", "muscles"),
    [(neck, 27, 264), (torso, 106, 552), (legs, 10, 92), (upper_body, 147, 768), (lambda: arm("right"), 9, 64)],
)
def test_parts_move_only_their_own_joints(build, dof, muscles):
    part = build()
    assert (part.skeleton.n_v, part.muscles.n_muscles) == (dof, muscles)
    assert not part.free_root


def test_height_and_mass_scale_bones_and_muscles_together():
    small, large = human(height=1.5, mass=45.0), human()
    assert small.skeleton.mass == pytest.approx(45.0)
    s, m = 1.5 / 1.92, 45.0 / 86.605
    assert small.muscles.rest_length == pytest.approx(s * large.muscles.rest_length)
    assert small.muscles.f_max == pytest.approx(m / s * large.muscles.f_max)
    k = small.skeleton.forces.stiffness[6:] / large.skeleton.forces.stiffness[6:]
    assert k == pytest.approx(m * s)
    turning, still = (mass_matrix(b.skeleton, b.default_q)[6:, 6:] for b in (small, large))  # all joints turn
    assert turning == pytest.approx(m * s**2 * still, rel=1e-9, abs=1e-12)
    length = lengths(small.muscles, bone_poses(small.skeleton, small.default_q))
    assert length == pytest.approx(small.muscles.rest_length, abs=1e-12)


@pytest.mark.parametrize(("bone", "stop"), [("Ul_l", 3000.0), ("Tfp_r", 45000.0)])
def test_a_hinge_driven_past_its_stop_is_pushed_back_by_it(body, bone, stop):
    s = body.skeleton
    at, place = s.v_slice(bone).start, s.q_slice(bone)
    assert s.forces.limit_stiffness[at] == pytest.approx(stop)
    none = np.zeros(s.n_v)
    stopless = replace(s, forces=replace(s.forces, limit_stiffness=none, limit_damping=none))
    past = []
    for skeleton in (s, stopless):
        q, v = body.default_q.copy(), np.zeros(s.n_v)
        q[place] = s.forces.high[at] + np.radians(5.0)
        stepper = BodyStepper(skeleton, body.muscles, held=np.arange(s.n_v) != at)
        for _ in range(50):
            q, v = stepper.step(q, v, np.zeros(body.muscles.n_muscles), 0.001)
        past.append(np.degrees(q[place][0] - s.forces.high[at]))
    assert past[0] < 0.5  # back within its range, however hard the stop is
    assert past[1] > past[0] + 1.0  # ligaments and passive muscle alone are slower


def test_cartilage_springs_are_5_kn_per_metre(body):
    springs = body.skeleton.springs
    assert len(springs.names) == 18
    assert springs.stiffness == pytest.approx(5000.0)
    assert springs.damping == pytest.approx(50.0)


def test_pronators_pronate_and_biceps_supinates_over_the_whole_range_of_the_forearm(body):
    s = body.skeleton
    column = body.coordinate_names.index("Rad_l hinge_1")
    q = body.default_q.copy()
    q[s.q_slice("Ul_l")] = np.radians(60.0)
    for angle in (20.0, 60.0, 100.0, 140.0):  # from full supination; the range is 0 to 160
        q[s.q_slice("Rad_l")] = np.radians(angle)
        arms = moment_arms(body.muscles, *world_twists(s, q))[1].dense()[:, column]
        for head in (1, 2, 3):
            assert arms[body.muscles.index(f"pronator_0{head}_l")] < -1.5e-3
        for muscle in ("biceps_brachii_01_l", "supinator_01_l"):
            assert arms[body.muscles.index(muscle)] > 1e-3


def test_teres_minor_stays_on_the_humeral_head_through_the_breaststroke(body):
    m, stroke = body.muscles, StrokeMotion(body, load_stroke("breaststroke"), 1.0)
    k = m.index("teres_minor_01_l")
    found = [moment_arms(m, *world_twists(body.skeleton, stroke.sample(t)[0])) for t in np.linspace(0.0, 1.0, 181)]
    arms = np.array([arm.data[m.row_start[k] : m.row_start[k + 1]] for _, arm in found])
    assert np.abs(arms).max() < 0.025  # the radius of the head; a path that let go of its cylinder had 146 mm
    assert np.abs(np.diff(arms, axis=0)).max() < 0.003
    assert np.ptp([length[k] for length, _ in found]) < 0.020


def test_corrections_reach_the_muscles():
    printed, body = human("printed"), human(paths="documents")
    assert (len(body.notes), len(printed.notes)) == (135, 3)
    arms = [moment_arms(b.muscles, *world_twists(b.skeleton, b.default_q))[1].dense() for b in (body, printed)]
    for muscle, coordinate, corrected, before in (
        ("quadratus_lumborum_01_l", "L5 rotvec_y", -103.8, 0.0),  # its origin is on the pelvis, not on L5
        ("pronator_02_l", "Rad_l hinge_1", -2.1, -5.2),
        ("rectus_femoris_01_l", "Tfp_l hinge_1", 44.5, 44.5),
    ):
        row, column = body.muscles.index(muscle), body.coordinate_names.index(coordinate)
        assert [1e3 * a[row, column] for a in arms] == pytest.approx([corrected, before], abs=0.1)
    for muscle, factor in (("rotatores_01_l", 6.0), ("multifidus_01_l", 4.0)):
        i = body.muscles.index(muscle)
        ratio = body.muscles.f_max[i] / (0.3e6 * body.muscles.pcsa[i])
        assert ratio == pytest.approx(factor)


def test_spline_knee_turns_as_far_as_its_coordinate_says_and_glides():
    body = human(knee="spline", pelvis="fixed")
    s = body.skeleton
    q = body.default_q.copy()
    q[s.q_slice("Tfp_l")] = np.radians(60.0)
    before, after = bone_poses(s, body.default_q), bone_poses(s, q)
    i = s.index("Tfp_l")
    turn = after[i, :3, :3] @ before[i, :3, :3].T
    assert np.degrees(np.arccos((np.trace(turn) - 1) / 2)) == pytest.approx(60.0, abs=1e-6)
    assert 0.005 < np.linalg.norm(after[i, :3, 3] - before[i, :3, 3]) < 0.03
    arms = moment_arms(body.muscles, *world_twists(s, q))[1].dense()
    step = np.zeros(s.n_v)
    step[s.v_slice("Tfp_l")] = 1e-6
    ends = [lengths(body.muscles, bone_poses(s, integrate(s, q, sign * step))) for sign in (1, -1)]
    assert arms[:, s.v_slice("Tfp_l").start] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-8)


def test_spline_shoulder_keeps_the_acromion_at_the_clavicles_end():
    body = human(shoulder="spline", pelvis="fixed")
    s = body.skeleton
    assert (body.n_bones, s.n_v) == (105, 161)
    sca, cla = s.index("Sca_l"), s.index("Cla_l")
    reach = np.linalg.norm(bone_poses(s, body.default_q)[sca, :3, 3] - bone_poses(s, body.default_q)[cla, :3, 3])
    for protraction, elevation in ((-20, 0), (20, 10), (0, 30), (25, 35)):
        q = body.default_q.copy()
        q[s.q_slice("Sca_l")] = np.radians([protraction, elevation])
        poses = bone_poses(s, q)
        assert np.linalg.norm(poses[sca, :3, 3] - poses[cla, :3, 3]) == pytest.approx(reach, abs=2e-3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"parameters": "perfect"}, "unknown parameter set 'perfect'"),
        ({"feet": "webbed"}, "unknown feet 'webbed'"),
        ({"height": 12.0}, "height must lie between"),
        ({"height": "a"}, "height must be a number, got 'a'"),
        ({"mass": [70]}, "mass must be a number"),
        ({"mass": -3.0}, "mass must lie between"),
    ],
)
def test_bad_options_are_one_clear_line(options, message):
    with pytest.raises(InputError, match=message) as error:
        human(**options)
    assert "\n" not in str(error.value)


def test_unknown_side_is_refused():
    with pytest.raises(InputError, match="unknown side 'upper'"):
        arm("upper")


def test_models_for_the_command_line_include_the_body_and_its_parts():
    assert {"human", "human-printed", "neck", "torso", "legs", "upper-body"} <= set(MODELS)


def test_a_stronger_body_is_one_with_thicker_muscles_and_keeps_its_bones(body):
    strong = stronger(body, 1.5)
    assert strong.muscles.f_max == pytest.approx(1.5 * body.muscles.f_max)
    assert strong.muscles.rest_length == pytest.approx(body.muscles.rest_length)
    assert strong.skeleton is body.skeleton
    assert stronger(body, 1.0) is body
    with pytest.raises(InputError, match="strength must be positive"):
        stronger(body, -1.0)


ILIACUS = [("Pel", (0.10, -0.011, -0.019)), ("Pel", (0.075, -0.066, -0.119)), ("Fe_l", (0.027, 0.027, -0.087))]


def test_one_more_muscle_is_named_counted_and_at_rest_in_the_default_pose_and_the_others_keep_their_bits(body):
    more = body.with_muscle("iliacus_02_l", ILIACUS, pcsa=10e-4)
    m, before = more.muscles, body.muscles
    assert (m.n_muscles, m.index("iliacus_02_l"), m.groups[-1], m.regions[-1]) == (861, 860, "iliacus_02_l", "leg")
    assert m.f_max[-1] == pytest.approx(300.0)
    length = lengths(m, bone_poses(body.skeleton, body.default_q))
    assert length[-1] == pytest.approx(m.rest_length[-1], abs=1e-15)
    assert m.rest_length[-1] == pytest.approx(body.path_length(ILIACUS))
    assert m.names[:-1] == before.names
    assert m.elements[:-1] == before.elements
    assert (m.table[:-1].tobytes(), m.local[:-3].tobytes()) == (before.table.tobytes(), before.local.tobytes())
    arms = len(before.column)
    assert np.array_equal(m.column[:arms], before.column)
    screws = world_twists(body.skeleton, body.default_q)
    assert moment_arms(m, *screws)[1].data[:arms] == pytest.approx(moment_arms(before, *screws)[1].data, abs=1e-15)
    assert set(m.column[arms:]) == set(range(*body.skeleton.v_slice("Fe_l").indices(body.skeleton.n_v)))
    assert body.muscles.n_muscles == 860
    assert more.notes[-1] == "muscle iliacus_02_l added"
    assert describe(more)["muscles_by_part"]["left leg"] == describe(body)["muscles_by_part"]["left leg"] + 1


def test_points_in_the_world_are_those_of_the_default_pose(body):
    poses = bone_poses(body.skeleton, body.default_q)
    placed = [(b, poses[body.skeleton.index(b), :3, :3] @ p + poses[body.skeleton.index(b), :3, 3]) for b, p in ILIACUS]
    one = body.with_muscle("iliacus_02_l", ILIACUS, pcsa=10e-4).muscles
    other = body.with_muscle("iliacus_02_l", placed, pcsa=10e-4, world=True).muscles
    assert other.local[-3:] == pytest.approx(one.local[-3:], abs=1e-15)
    assert other.rest_length[-1] == pytest.approx(one.rest_length[-1])


def test_a_muscle_added_with_a_force_law_has_the_cross_section_of_its_force(body):
    element = CurvedHill(240.0, body.path_length(ILIACUS), k_pe=5.0, b_pe=1.0, v_max=2.0)
    muscles = body.with_muscle("iliacus_02_l", ILIACUS, element=element, group="iliacus").muscles
    assert muscles.elements[-1] is element
    assert muscles.groups[-1] == "iliacus"
    assert muscles.pcsa[-1] == pytest.approx(240.0 / 0.3e6)
    assert body.with_muscle("iliacus_02_l", ILIACUS, element=element, pcsa=2e-4).muscles.pcsa[-1] == 2e-4


def test_a_muscle_given_back_and_taken_away_leaves_the_body_as_it_was(body):
    again = body.with_muscle("iliacus_02_l", ILIACUS, pcsa=10e-4).without_muscles("iliacus_02").muscles
    for f in fields(body.muscles):
        now, before = getattr(again, f.name), getattr(body.muscles, f.name)
        for a, b in zip(now, before, strict=True) if isinstance(now, tuple) else [(now, before)]:
            assert np.array_equal(a, b, equal_nan=isinstance(a, np.ndarray)), f.name


def test_muscles_are_taken_away_by_the_beginning_of_their_names(body):
    less = body.without_muscles("biceps_brachii", "brachialis_01_l")
    gone = set(body.muscles.names) - set(less.muscles.names)
    assert gone == {*(f"biceps_brachii_0{k}_{s}" for k in (1, 2) for s in "lr"), "brachialis_01_l"}
    kept = body.muscles.index("triceps_brachii_01_l"), less.muscles.index("triceps_brachii_01_l")
    arms = [moment_arms(b.muscles, *world_twists(b.skeleton, body.default_q))[1].dense() for b in (body, less)]
    assert arms[1][kept[1]] == pytest.approx(arms[0][kept[0]], abs=0.0)
    with pytest.raises(InputError, match="unknown muscle 'bicepts'; did you mean biceps"):
        body.without_muscles("bicepts")


HIP = ("Fe_l", (0.0, 0.0, -0.1))


@pytest.mark.parametrize(
    ("name", "path", "options", "message"),
    [
        ("m", [("Pel", (0, 0, 0)), ("Fem_l", (0, 0, 0))], {"pcsa": 1e-4}, "unknown bone 'Fem_l'; did you mean Fe_l"),
        ("m", [HIP], {"pcsa": 1e-4}, "a path needs at least two points, got 1"),
        ("m", [HIP, ("Fe_l", (0, 0, 0.1))], {"pcsa": 1e-4}, "crosses no joint that moves: all its points are on Fe_l"),
        ("m", [("Sku", (0, 0, 0)), ("Sku", (0, 0, 0.1))], {"pcsa": 1e-4}, "crosses no joint"),
        ("biceps_brachii_01_l", [("Pel", (0, 0, 0)), HIP], {"pcsa": 1e-4}, "is defined twice"),
        ("m", [("Pel", (0, np.inf, 0)), HIP], {"pcsa": 1e-4}, "three finite coordinates, got .* on Pel"),
        ("m", [("Pel", (0, np.nan, 0)), HIP], {"pcsa": 1e-4, "world": True}, "three finite coordinates"),
        ("m", [("Pel", 0, 0, 0), HIP], {"pcsa": 1e-4}, r"a point is \(bone, \(x, y, z\)\), got \('Pel', 0, 0, 0\)"),
        ("m", [("Pel", "top"), HIP], {"pcsa": 1e-4}, r"a point is \(bone, \(x, y, z\)\)"),
        ("m", [("Pel", (0, 0, 0)), HIP], {}, r"needs a cross-section \(pcsa\) or a force law \(element\)"),
        ("m", [("Pel", (0, 0, 0)), HIP], {"pcsa": -1e-4}, "PCSA must be positive"),
        ("m", [("Pel", (0, 0, 0)), HIP], {"pcsa": 1e-4, "region": "lge"}, "unknown region 'lge'; did you mean leg"),
        ("m", [("Pel", (0, 0, 0)), HIP], {"pcsa": 1e-4, "weight": 0.0}, "weight must be positive"),
    ],
)
def test_a_muscle_that_cannot_be_added_is_one_clear_line_that_names_it(body, name, path, options, message):
    with pytest.raises(InputError, match=message) as error:
        body.with_muscle(name, path, **options)
    assert f"muscle '{name}'" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_spine_of_sections_has_the_limits_of_the_thesis():
    body = human(spine="sections")
    s = body.skeleton
    jointed = [n for n in ("Sku", *(f"{a}{k}" for a, m in (("C", 7), ("T", 12), ("L", 5)) for k in range(1, m + 1)))
               if s.joints[s.index(n)].n_v]  # fmt: skip
    assert sorted(jointed) == sorted(["Sku", "C3", "C7", "T4", "T8", "T12", "L3", "L5"])
    at = s.v_slice("L3")
    forces = s.forces
    assert np.degrees(forces.high[at] - forces.low[at]) == pytest.approx([41.0, 40.0, 12.0])
    assert set(body.muscles.names) < set(human().muscles.names)  # muscles within a section are left out
    assert s.mass == pytest.approx(human().skeleton.mass)
