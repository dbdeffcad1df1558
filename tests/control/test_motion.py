import numpy as np
import pytest

from vitruvian.anatomy import human
from vitruvian.control import KeyMotion, SampledMotion, load_motion, pose
from vitruvian.control.legs import plant_feet
from vitruvian.control.motion import flowing
from vitruvian.errors import InputError
from vitruvian.skeleton import bone_poses, difference
from vitruvian.spatial import log_so3, rotation_from_quaternion


@pytest.fixture(scope="module")
def body():
    return human()


def test_velocity_and_acceleration_are_derivatives_of_the_pose(body):
    motion, h = load_motion(body, "flex"), 1e-5
    for time in (0.3, 1.7, 2.9):
        _q, v, a = motion.sample(time)
        (q0, v0, _), (q1, v1, _) = motion.sample(time - h), motion.sample(time + h)
        assert difference(body.skeleton, q0, q1) / (2 * h) == pytest.approx(v, abs=1e-7)
        assert (v1 - v0) / (2 * h) == pytest.approx(a, abs=1e-6)


def test_keys_are_met_at_rest_and_ends_are_held(body):
    motion = load_motion(body, "curl")
    q, v, a = motion.sample(1.2)
    assert np.degrees(q[body.skeleton.q_slice("Ul_r")]) == pytest.approx([90.0])
    assert np.abs(v).max() == pytest.approx(0.0, abs=1e-9)
    assert np.abs(a).max() == pytest.approx(0.0, abs=1e-6)
    assert (motion.sample(99.0)[0] == motion.sample(5.0)[0]).all()
    assert (motion.sample(-1.0)[0] == motion.keys[0]).all()


def test_flowing_motion_passes_its_keys_without_stopping(body):
    keys = [pose(body, {"elbow": x}) for x in (0, 40, 90)]
    motion = flowing(KeyMotion.through(body, [0.0, 0.5, 1.0], keys))
    q, v, _ = motion.sample(0.5)
    assert np.degrees(q[body.skeleton.q_slice("Ul_l")][0]) == pytest.approx(40.0, abs=0.01)
    assert v[body.skeleton.v_slice("Ul_l")][0] > 1.0


def test_sampled_motion_has_central_difference_velocities(body):
    keys = np.array([pose(body, {"elbow": 10 * x * x}) for x in range(4)])
    motion = SampledMotion.from_poses(body, 0.1, keys)
    assert np.degrees(motion.v[1][body.skeleton.v_slice("Ul_l")]) == pytest.approx([200.0])
    assert np.degrees(motion.a[1][body.skeleton.v_slice("Ul_l")]) == pytest.approx([2000.0])


def test_spine_bends_so_that_head_and_chest_meet_their_targets_within_the_ranges(body):
    q = pose(body, {"chest": [20, 5, 8], "head": [10, 0, 30]})
    poses = bone_poses(body.skeleton, q)
    for bone, wanted in (("T1", [20, 5, 8]), ("Sku", [10, 0, 30])):
        assert np.degrees(log_so3(poses[body.skeleton.index(bone), :3, :3])) == pytest.approx(wanted, abs=1e-6)
    turn = difference(body.skeleton, body.default_q, q)
    s = body.skeleton
    at = s.v_slice("C1")
    assert abs(turn[at][2]) > 3 * abs(turn[s.v_slice("C5")][2]), "the atlas does most of a head turn"


def upper_arm_direction(body, q, side):
    """Where the upper arm points in its parent's frame, unit vector (3,)."""
    s = body.skeleton
    elbow = s.bodies[s.index(f"Ul_{side}"), 9:12]
    return rotation_from_quaternion(q[s.q_slice(f"Hu_{side}")]) @ (elbow / np.linalg.norm(elbow))


def test_arms_point_where_they_are_told_on_both_sides(body):
    q = pose(body, {"arm": {"direction": [0.3, -1.0, -0.5], "twist": 40}})
    wanted = np.array([0.3, -1.0, -0.5]) / np.linalg.norm([0.3, -1.0, -0.5])
    assert upper_arm_direction(body, q, "l") == pytest.approx(wanted)
    assert upper_arm_direction(body, q, "r") == pytest.approx(wanted * (-1, 1, 1))


def test_feet_stay_planted_when_the_pelvis_sinks(body):
    q = plant_feet(body, pose(body, {"pelvis": {"shift": [0, 0.03, -0.2], "turn": [8, 0, 0]}}))
    before, after = bone_poses(body.skeleton, body.default_q), bone_poses(body.skeleton, q)
    for foot in ("Fo_l", "Fo_r"):
        i = body.skeleton.index(foot)
        assert after[i, :3, 3] == pytest.approx(before[i, :3, 3], abs=1e-3)
        assert after[i, 2, 1] == pytest.approx(0.0, abs=0.02), "the sole is level"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[key]]\ntime = 0\npose = { elbwo = 3 }", "key 1: unknown joint 'elbwo'; did you mean elbow"),
        ("[[key]]\ntime = 0\npose = { elbow = [1, 2] }", "'elbow' needs 1 finite number"),
        ("[[key]]\ntime = 0\npose = { elbow = 'bent' }", "'elbow' needs 1 finite number"),
        ("[[key]]\npose = { elbow = 3 }", "key 1 needs 'time'"),
        ("[[key]]\ntime = 0", "key 1 needs 'time' and 'pose'"),
        ("[[key]]\ntime = 'now'\npose = {}", "key 1 needs a number of seconds as 'time', got 'now'"),
        ("[[key]]\ntime = 1\npose = {}\n[[key]]\ntime = 0\npose = {}", "times of key poses must ascend"),
        ("[[key]]\ntime = 0\npose = { index_middle_l = 3 }", "does not move in this body"),
        ("speed = 3\n[[key]]\ntime = 0", "a motion is a list of"),
        ("[[key]\ntime", "Expected"),
        ("timing = 'fast'\n[[key]]\ntime = 0", "timing must be rest or flow"),
        ("[[key]]\ntime = 0\npose = { pelvis = { shift = [0, 0, 1.0] }, feet = 0 }", "foot cannot be planted"),
    ],
)
def test_a_bad_motion_file_is_one_clear_line_that_names_it(body, tmp_path, text, message):
    path = tmp_path / "dance.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as error:
        load_motion(body, path)
    assert "dance.toml" in str(error.value)
    assert "\n" not in str(error.value)


def test_unknown_motion_is_named_with_the_nearest(body):
    with pytest.raises(InputError, match="unknown motion 'curly'; did you mean curl"):
        load_motion(body, "curly")
