import numpy as np
import pytest

from vitruvian.anatomy import human
from vitruvian.errors import InputError
from vitruvian.exchange import bvh_motion, parse_bvh
from vitruvian.exchange.bvh import joint_rotations

TEXT = """HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
  JOINT LeftForeArm
  {
    OFFSET 10 0 0
    CHANNELS 3 Zrotation Yrotation Xrotation
    End Site
    {
      OFFSET 5 0 0
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.01
0 90 0 0 0 0 0 0 0
1 90 0 0 0 0 0 -90 0
"""


def test_a_good_file_is_read_as_written():
    bvh = parse_bvh(TEXT)
    assert bvh.names == ("Hips", "LeftForeArm")
    assert bvh.parent.tolist() == [-1, 0]
    assert bvh.root_positions()[1].tolist() == [1, 90, 0]
    assert bvh.frame_time == 0.01


def test_rotation_about_the_files_up_axis_is_one_about_ours():
    turn = joint_rotations(parse_bvh(TEXT))["Ul_l"][1].as_rotvec(degrees=True)
    assert turn == pytest.approx([0.0, 0.0, -90.0], abs=1e-12)


def test_motion_capture_becomes_a_motion_of_the_body():
    frames = "\n".join(f"{0.1 * k} 90 0 0 0 0 0 {-10 * k} 0" for k in range(5))
    text = TEXT.split("Frames:")[0] + f"Frames: 5\nFrame Time: 0.1\n{frames}\n"
    body = human()
    motion = bvh_motion(parse_bvh(text), body, metre=1.0)
    q, v, _ = motion.sample(0.2)
    assert np.degrees(q[body.skeleton.q_slice("Ul_l")][0]) == pytest.approx(20.0, abs=0.5)  # about its own, tilted axis
    assert np.degrees(v[body.skeleton.v_slice("Ul_l")][0]) == pytest.approx(100.0, abs=2.0)
    assert q[0] - body.default_q[0] == pytest.approx(0.2)
    with pytest.raises(InputError, match="no joint Wing for bone 'Hu_l'"):
        bvh_motion(parse_bvh(text), body, mapping={"Hu_l": ("Wing",)})


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Frames: 2", "Frames: 3", "3 frames announced, 2 found"),
        ("0 0 -90 0", "0 -90 0", "frame 2 has 8 numbers, the channels need 9"),
        ("CHANNELS 3 Zrotation", "CHANNELS 2 Zrotation", "unexpected 'Xrotation'"),
        ("0.01", "-1", "Frame Time must be positive"),
        (
            "Zrotation Yrotation Xrotation\n    End",
            "Zrotation Yrotation Wrotation\n    End",
            "unknown channel 'Wrotation'",
        ),
        ("1 90", "x 90", "not a number"),
        (
            "Zrotation Yrotation Xrotation\n    End",
            "Zrotation Yrotation Zrotation\n    End",
            "joint 'LeftForeArm' has a channel twice",
        ),
        ("JOINT LeftForeArm", "ROOT LeftForeArm", "a second ROOT"),
        ("ROOT Hips", "JOINT Hips", "a JOINT outside of the ROOT"),
        ("HIERARCHY", "HIER", "not a BVH file"),
        ("    }\n  }\n}", "    }\n  }\n", "hierarchy is not closed"),
    ],
)
def test_a_broken_file_is_one_clear_line(old, new, message):
    assert old in TEXT
    with pytest.raises(InputError, match=message) as error:
        parse_bvh(TEXT.replace(old, new), "walk.bvh")
    assert "walk.bvh" in str(error.value)
    assert "\n" not in str(error.value)
