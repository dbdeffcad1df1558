"""Strokes as files, closed splines, joint coordinates on their manifold, exact derivatives of muscle lengths."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

from vitruvian.anatomy import human, upper_body
from vitruvian.control.rhythm import (
    MuscleKinematics,
    PeriodicSpline,
    StrokeMotion,
    StrokeWarning,
    arms_together,
    length_cycle,
    load_stroke,
    parse_stroke,
    stroke_names,
)
from vitruvian.errors import InputError
from vitruvian.muscle import lengths, moment_arms
from vitruvian.skeleton import bone_poses, difference, integrate, world_twists

PHASES = (0.01, 0.137, 0.51, 0.731, 0.99)  # between key poses, where third derivatives jump


@pytest.fixture(scope="module")
def body():
    return human(paths="documents")


@pytest.fixture(scope="module")
def crawl(body):
    return StrokeMotion(body, load_stroke("crawl"))


def test_a_closed_spline_through_uneven_samples_equals_scipys_periodic_cubic():
    x = np.array([0.0, 0.11, 0.25, 0.4, 0.52, 0.7, 0.83])
    y = np.random.default_rng(3).normal(size=(len(x), 4))
    mine = PeriodicSpline.fit(x, y)
    peer = CubicSpline(np.append(x, 1.0), np.vstack([y, y[:1]]), bc_type="periodic")
    at = np.linspace(-0.7, 2.3, 101)
    for k, scale in enumerate((1.0, 30.0, 900.0)):
        assert np.abs(mine(at, k) - peer(at % 1.0, k)).max() < 1e-11 * scale


def test_fewer_controls_give_the_least_squares_spline():
    x = np.arange(60) / 60
    smooth = np.cos(2 * np.pi * x)[:, None]
    noisy = smooth + 0.05 * np.random.default_rng(0).normal(size=(60, 1))
    fitted = PeriodicSpline.fit(x, noisy, controls=8)
    assert len(fitted.controls) == 8
    assert np.sqrt(np.mean((fitted(x) - smooth) ** 2)) < 0.6 * 0.05  # sqrt(8/60) = 0.37 of the noise is left


def test_the_four_strokes_of_the_package_lie_on_the_body(body):
    assert stroke_names() == ("backstroke", "breaststroke", "butterfly", "crawl")
    for name in stroke_names():
        stroke = load_stroke(name)
        assert len(stroke.phase) == 24
        assert np.abs(stroke.spline(stroke.phase) - stroke.angles).max() < 1e-12
        for x in PHASES:
            assert np.isfinite(np.concatenate(StrokeMotion(body, stroke).at(x))).all()


def test_the_strokes_of_the_package_stay_within_the_joints_but_for_10_degrees_at_the_ankles(body):
    for name in stroke_names():
        beyond = StrokeMotion(body, load_stroke(name)).beyond_range()
        assert {b.joint.split()[-1] for b in beyond if np.degrees(b.excess) > 0.5} <= {"ankle"}
        assert all(np.degrees(b.excess) < 10.5 for b in beyond)


def test_arms_and_legs_of_the_breaststroke_come_forward_slowly(body):
    """What comes forward quickly under water stops the swimmer: seen from chest and pelvis, in metres a cycle."""
    motion, s = StrokeMotion(body, load_stroke("breaststroke")), body.skeleton
    poses = [bone_poses(s, motion.at(k / 240)[0]) for k in range(240)]

    def ahead(bone, base):
        i, j = s.index(bone), s.index(base)
        return np.array([P[j, :3, 2] @ (P[i, :3, 3] - P[j, :3, 3]) for P in poses])

    forward = {
        bone: 240.0 * np.diff(ahead(bone, base), append=ahead(bone, base)[0]).max()
        for bone, base in (("Ha_l", "T6"), ("Fo_l", "Pel"))
    }
    assert forward["Ha_l"] < 2.2
    assert forward["Fo_l"] < 2.7


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"elbow flexion": [0, -90, 0, 0]}, "'elbow flexion' is -90 degrees at pose 2 .* range is 0 to 145"),
        ({"left knee flexion": [0, 0, 200, 0]}, "'left knee flexion' is 200 degrees at pose 3 .* range is 0 to 140"),
        ({"right hip flexion": [0, -60, 0, 0]}, "'right hip flexion' is -60 degrees .* range is -20 to 120"),
        ({"right wrist flexion": [0, 0, 0, -120]}, "'right wrist flexion' is -120 degrees .* range is -70 to 80"),
    ],
)
def test_angles_that_no_joint_has_are_an_error_that_names_them(body, row, told):
    with pytest.raises(InputError, match=told):
        StrokeMotion(body, parse_stroke({"angles": row}, "mine"))


def test_an_angle_that_overshoots_between_poses_is_told_between_them(body):
    """Equal poses 2 and 3: the curve goes further half-way; and from the last pose round to the first."""
    with pytest.raises(InputError, match=r"'left knee flexion' is 196 degrees between poses 2 and 3 \(phase 0\.38\)"):
        StrokeMotion(body, parse_stroke({"angles": {"left knee flexion": [0, 165, 165, 0]}}, "mine"))
    late = {"phase": [0.1, 0.35, 0.6, 0.85], "angles": {"left knee flexion": [165, 0, 0, 165]}}
    with pytest.raises(InputError, match=r"between poses 4 and 1 \(phase 0\.9[78]\)"):
        StrokeMotion(body, parse_stroke(late, "mine"))


def test_angles_somewhat_beyond_a_joint_are_a_warning(body):
    with pytest.warns(StrokeWarning, match="'L5 twist' is 10 degrees .* range is -1 to 1"):
        StrokeMotion(body, parse_stroke({"angles": {"L5 twist": [10, 10, 10, 10]}}, "mine"))


def test_whether_arms_move_together_is_seen_from_the_stroke_itself(body):
    found = {name: arms_together(body, load_stroke(name)) for name in stroke_names()}
    assert found == {"backstroke": False, "breaststroke": True, "butterfly": True, "crawl": False}
    wave = (30.0 * np.sin(2 * np.pi * np.arange(8) / 8)).tolist()
    kick = {"left hip flexion": wave, "right hip flexion": wave[4:] + wave[:4]}
    assert arms_together(body, parse_stroke({"angles": kick}, "kick"))
    both = {"left shoulder abduction": wave, "Hu_r abduction": wave}
    assert arms_together(body, parse_stroke({"angles": both}, "both"))
    assert not arms_together(body, parse_stroke({"angles": both | {"Hu_r abduction": wave[4:] + wave[:4]}}, "in turn"))
    assert not arms_together(body, parse_stroke({"angles": {"left shoulder abduction": wave}}, "one arm"))


def test_ball_joints_turn_by_the_product_of_rotations_in_order(body, crawl):
    x, s = 0.37, body.skeleton
    angle = dict(zip(crawl.stroke.keys, crawl.stroke.spline(x)))
    for side, flip in (("left", 1.0), ("right", -1.0)):
        a, f, r = (angle[f"{side} shoulder", c] for c in ("abduction", "horizontal_flexion", "rotation"))
        peer = Rotation.from_euler("YZX", [-a * flip, -f * flip, r])  # intrinsic
        q = crawl.at(x)[0][s.q_slice(f"Hu_{side[0]}")]
        assert (peer.inv() * Rotation.from_quat(q, scalar_first=True)).magnitude() < 1e-12
    assert crawl.at(x)[0][s.q_slice("Ha_l")][0] == pytest.approx(-angle["left wrist", "flexion"])


def test_velocity_and_acceleration_are_the_derivatives_on_the_manifold(body, crawl):
    h, s = 1e-5, body.skeleton
    for x in PHASES:
        q, v, a = crawl.at(x)
        assert np.abs(difference(s, crawl.at(x - h)[0], crawl.at(x + h)[0]) / (2 * h) - v).max() < 1e-6
        assert np.abs((crawl.at(x + h)[1] - crawl.at(x - h)[1]) / (2 * h) - a).max() < 1e-5 * np.abs(a).max()
        assert np.abs(integrate(s, q, v, h) - crawl.at(x + h)[0]).max() < 1e-7


def test_coordinates_are_continuous_across_the_seam_with_two_derivatives(crawl):
    before, after = crawl.at(1.0 - 1e-12), crawl.at(0.0)
    for k, tolerance in enumerate((1e-9, 1e-8, 1e-6)):
        assert np.abs(before[k] - after[k]).max() < tolerance


def test_prone_and_supine_swimmers_point_the_head_forward(body):
    for name, facing in (("crawl", -1.0), ("backstroke", 1.0)):
        motion = StrokeMotion(body, load_stroke(name))
        mean = np.mean([bone_poses(body.skeleton, motion.at(x)[0])[0] for x in np.arange(12) / 12], axis=0)
        assert mean[:3, 2] @ (0, -1, 0) > 0.99  # up the spine
        assert facing * (mean[:3, :3] @ (0, -1, 0))[2] > 0.9  # belly


def test_strokes_lie_on_the_other_bodies_too_and_say_what_a_part_lacks():
    crawl = load_stroke("crawl")
    for options in ({"feet": "universal"}, {"knee": "spline"}, {"shoulder": "spline"}, {"pelvis": "fixed"}):
        other = human(**options)
        q = StrokeMotion(other, crawl).at(0.3)[0]
        bend = crawl.spline(0.3)[crawl.keys.index(("left knee", "flexion"))]
        assert q[other.skeleton.q_slice("Tfp_l")] == pytest.approx([bend])
    with pytest.raises(InputError, match="this body has no joint 'left hip'"):
        StrokeMotion(upper_body(), parse_stroke({"angles": {"left hip flexion": [0, 1, 2, 1]}}, "legs"))


def test_left_and_right_of_the_crawl_are_half_a_cycle_apart(body, crawl):
    s = body.skeleton
    for x in PHASES:
        assert crawl.at(x)[0][s.q_slice("Ul_l")] == pytest.approx(crawl.at(x + 0.5)[0][s.q_slice("Ul_r")], abs=2e-3)


def test_length_rates_are_moment_arms_times_velocity(body, crawl):
    measure = MuscleKinematics(body)
    for x in PHASES:
        q, v, a = crawl.at(x)
        length, arms = moment_arms(body.muscles, *world_twists(body.skeleton, q))
        mine = measure(q, v, a)
        assert np.abs(mine[0] - length).max() < 1e-13
        assert np.abs(mine[1] - arms.rates(v)).max() < 1e-13


def test_length_accelerations_match_finite_differences_along_any_motion(body):
    rng, s, measure, h = np.random.default_rng(1), body.skeleton, MuscleKinematics(body), 1e-6
    q = integrate(s, body.default_q, 0.3 * rng.normal(size=s.n_v))
    v, a = rng.normal(size=s.n_v), rng.normal(size=s.n_v)

    def rate(t):
        return measure(integrate(s, q, v * t + 0.5 * a * t * t), v + a * t, a)

    # along q exp(v t + a t^2 / 2) the body velocity is v + a t up to second order in t
    numeric = (rate(h)[1] - rate(-h)[1]) / (2 * h)
    assert np.abs(numeric - rate(0.0)[2]).max() < 1e-6 * np.abs(numeric).max()


def test_the_cycle_of_lengths_and_its_derivatives_belong_together(body, crawl):
    cycle = length_cycle(crawl, 96)
    assert np.abs(cycle.length[7] - lengths(body.muscles, bone_poses(body.skeleton, crawl.at(7 / 96)[0]))).max() < 1e-13
    # Over a closed cycle the slopes integrate to zero, and the trapezoidal rule is nearly exact.
    assert np.abs(cycle.slope.mean(axis=0)).max() < 1e-4 * np.abs(cycle.slope).max()
    assert np.abs(cycle.curvature.mean(axis=0)).max() < 1e-2 * np.abs(cycle.curvature).max()


TABLE = {"posture": "prone", "angles": {"elbow flexion": [0, 10, 20, 10], "left hip flexion": 5}}


def test_words_without_a_side_mean_both_sides_and_numbers_hold_throughout(body):
    motion = StrokeMotion(body, parse_stroke(TABLE, "mine"))
    q, s = motion.at(0.5)[0], body.skeleton
    assert np.degrees(q[s.q_slice("Ul_l")]) == pytest.approx(20)
    assert np.degrees(q[s.q_slice("Ul_r")]) == pytest.approx(20)
    turn = Rotation.from_quat(q[s.q_slice("Fe_l")], scalar_first=True).as_rotvec(degrees=True)
    assert turn == pytest.approx([-5, 0, 0], abs=1e-12)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"angles": {"elbwo flexion": [0, 1, 2, 1]}}, "unknown joint 'elbwo'"),
        ({"angles": {"elbow bending": [0, 1, 2, 1]}}, "unknown coordinate of elbow 'bending'"),
        ({"angles": {"elbow flexion": [0, 1, 2]}}, "3 poses are too few"),
        ({"angles": {"elbow flexion": [0, 1, 2, 1], "knee flexion": [0, 1, 2, 1, 0]}}, "'elbow flexion' has 4 angles"),
        ({"phase": [0, 0.2, 0.4, 0.6, 1], "angles": {"elbow flexion": [0, 1, 2, 1, 5]}}, "does not close: 'elbow"),
        ({"phase": [0, 0.4, 0.2, 0.6], "angles": {"elbow flexion": [0, 1, 2, 1]}}, "'phase' must ascend"),
        ({"angles": {"elbow flexion": [0, 1, float("nan"), 1]}}, "'elbow flexion' needs finite numbers"),
        ({"angles": {"elbow flexion": 1, "left elbow flexion": [0, 1, 2, 3]}}, "'left elbow flexion' is given twice"),
        ({"angles": {"Rb3 flexion": [0, 1, 2, 1]}}, "joint 'Rb3' does not move in a stroke"),
        ({"angles": {}}, "needs a table [angles]"),
        ({"pose": 1}, "unknown entry 'pose'"),
        ({"posture": "sideways"}, "unknown posture 'sideways'"),
    ],
)
def test_a_wrong_stroke_gets_one_line_that_names_what_is_wrong(body, change, named):
    with pytest.raises(InputError) as caught:
        StrokeMotion(body, parse_stroke(TABLE | change, "mine"))
    assert named in str(caught.value)
    assert str(caught.value).startswith("stroke 'mine': ")
    assert "\n" not in str(caught.value)


def test_files_that_are_missing_or_no_toml_are_told(tmp_path):
    with pytest.raises(InputError, match="no stroke file"):
        load_stroke(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("angles = [")
    with pytest.raises(InputError, match=r"stroke file 'bad\.toml'"):
        load_stroke(tmp_path / "bad.toml")
    with pytest.raises(InputError, match="did you mean crawl"):
        load_stroke("crwal")


def test_a_last_pose_that_repeats_the_first_closes_the_cycle():
    phase = [0, 0.25, 0.5, 0.75, 1]
    closed = parse_stroke({"phase": phase, "angles": {"elbow flexion": [0, 10, 20, 10, 0]}}, "a")
    even = parse_stroke({"angles": {"elbow flexion": [0, 10, 20, 10]}}, "b")
    at = np.linspace(0, 1, 17)
    assert np.abs(closed.spline(at) - even.spline(at)).max() < 1e-14


def test_a_file_like_a_stroke_changes_only_the_joints_it_names(tmp_path: Path) -> None:
    crawl = load_stroke("crawl")
    text = 'like = "crawl"\n[angles]\n"knee flexion" = 5\n"left hip abduction" = -9\n'
    arms = load_stroke(_written(tmp_path, text))
    mine, base = (dict(zip(s.keys, s.angles.T)) for s in (arms, crawl))
    assert arms.posture == crawl.posture
    assert np.allclose(np.degrees(mine["knee", "flexion"]), 5.0)
    assert not {("left knee", "flexion"), ("right knee", "flexion"), ("hip", "abduction")} & set(mine)
    assert np.allclose(np.degrees(mine["left hip", "abduction"]), -9.0)
    assert np.allclose(mine["right hip", "abduction"], base["hip", "abduction"])
    untouched = set(mine) & set(base)
    assert len(untouched) == len(base) - 3
    assert all(np.array_equal(mine[k], base[k]) for k in untouched)


def test_a_file_like_an_unknown_stroke_is_told_which_there_are(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"stroke 'own': .*'crowl'.*crawl"):
        load_stroke(_written(tmp_path, 'like = "crowl"\n[angles]\n"knee flexion" = 5\n'))


def test_a_file_like_a_stroke_keeps_its_poses(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="keeps its poses"):
        load_stroke(_written(tmp_path, 'like = "crawl"\nphase = [0, 0.5]\n[angles]\n"knee flexion" = [5, 6]\n'))


def _written(folder: Path, text: str) -> Path:
    path = folder / "own.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "content",
    [
        bytes(range(256)),
        '[angles]\n"knee flexion" = [5, 30, 50, 10]\n'.encode("utf-16"),
        b"a = " + b"[" * 5000 + b"]" * 5000,
        b'[angles]\n"knee flexion" = [' + b"5, " * 200_000 + b"5]\n",
        b'[angles]\n"knee flexion" = [0, true, 20, 10]\n',
        b'[angles]\n"knee flexion" = [0, 1e300, 20, 10]\n',
        b'[angles]\n"knee flexion" = [[1, 2], [3]]\n',
        b'[angles]\n"knee flexion" = 1' + b"0" * 5000,
    ],
    ids=["binary", "utf-16", "deep", "many", "true", "huge", "nested", "digits"],
)
def test_a_stroke_file_made_to_harm_is_one_line(tmp_path, content):
    file = tmp_path / "bad.toml"
    file.write_bytes(content)
    with pytest.raises(InputError, match="bad") as caught:
        load_stroke(file)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400
