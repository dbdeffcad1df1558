import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.exchange import parse_bvh, read_trial
from vitruvian.exchange.trials import bvh_trial, own_clips


def test_a_clip_stands_upright_and_walks_ahead():
    trial = read_trial("walk")
    hip, knee, ankle = (trial.segments.joints[f"{b}_l"] for b in ("Fe", "Tfp", "Fo"))
    assert np.allclose(np.linalg.norm(knee - hip, axis=1), 0.422)
    assert np.allclose(np.linalg.norm(ankle - knee, axis=1), 0.410)
    assert (hip[:, 2] > knee[:, 2]).all()
    assert hip[-1, 1] - hip[0, 1] < -1.0  # ahead is -y
    left, right = hip.mean(axis=0), trial.segments.joints["Fe_r"].mean(axis=0)
    assert left[0] > right[0]


def test_the_packages_clips_have_their_credit_beside_them():
    clips = own_clips()
    credit = (clips["walk"].parent / "CREDIT.md").read_text()
    assert {"walk", "run"} <= set(clips)
    assert "MIT" in credit
    assert all(f"`{name}.csv`" in credit for name in clips)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: [rows[0].replace("chest_qw", "chest_q"), *rows[1:]], "not a clip; it has no column chest_qw"),
        (lambda rows: [*rows[:3], rows[3] + ",1", *rows[4:]], "line 4 has 45 columns"),
        (lambda rows: [*rows[:3], "-" + rows[3].removeprefix("-"), *rows[4:]], "times must ascend; frame 4"),
        (
            lambda rows: [*rows[:3], rows[3].replace("0.033332", "nan"), *rows[4:]],
            "line 4, column duration is not finite",
        ),
        (lambda rows: rows[:2], "needs three frames"),
    ],
)
def test_broken_clips_are_named(tmp_path, change, message):
    rows = own_clips()["walk"].read_text().splitlines()
    (tmp_path / "a.csv").write_text("\n".join(change(rows)) + "\n")
    with pytest.raises(InputError, match=message):
        read_trial(tmp_path / "a.csv")


def test_unknown_files_are_named(tmp_path):
    with pytest.raises(InputError, match=r"no file 'hop', nor a clip of that name \(.*run, .*walk\)"):
        read_trial("hop")
    (tmp_path / "a.fbx").write_text("")
    with pytest.raises(InputError, match=r"known endings are .c3d, .trc, .bvh, .csv"):
        read_trial(tmp_path / "a.fbx")


def test_a_bvh_figure_without_legs_is_named():
    text = """HIERARCHY ROOT Hips { OFFSET 0 0 0 CHANNELS 3 Zrotation Yrotation Xrotation }
MOTION\nFrames: 3\nFrame Time: 0.01\n0 0 0\n0 0 0\n0 0 0\n"""
    with pytest.raises(InputError, match=r"arm.bvh: has no joint for Fe_l, Fe_r, Fo_l"):
        bvh_trial(parse_bvh(text), "arm.bvh")
