import json

import numpy as np
import pytest

from vitruvian.cli import invoke
from vitruvian.verify import _track_lab as lab
from vitruvian.world import Recording


def test_track_prints_what_run_prints_and_leaves_everything(tmp_path, capsys):
    out = tmp_path / "walk"
    assert invoke(["track", "walk", "--rate", "30", "--mass", "70", "--out", str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out.strip().splitlines()[-1])
    assert {"scene", "seconds", "wall_seconds", "steps", "frames", "recording", "checks", "metrics", "report"} <= set(
        told
    )
    assert 0.0 < told["metrics"]["residual"] < 0.1
    assert told["metrics"]["wall_seconds"] == pytest.approx(told["wall_seconds"])
    assert told["metrics"]["mass_kg"] == pytest.approx(70.0)
    recording = Recording.open(told["recording"])
    assert len(recording) == told["frames"]
    assert recording.signal("moment").unit == "N m"
    names = {p.name for p in out.iterdir()}
    for table in ("angles", "moments", "powers", "ground", "reactions", "activations", "muscle_forces"):
        assert {f"{table}.csv", f"{table}.sto"} <= names
    head = (out / "activations.csv").read_text().splitlines()[0].split(",")
    assert len(head) > 840  # time and every muscle
    assert invoke(["track", "walk", "--out", str(out)]) == 2  # nothing is overwritten
    assert "already exists" in capsys.readouterr().err


def test_bad_files_are_one_line_and_leave_nothing(tmp_path, capsys):
    body = lab.subject()
    _, q = lab.stride(body, 0.2)
    places = lab.marker_places(body, q)
    out = tmp_path / "out"

    def refused(*arguments):
        assert invoke(["track", *map(str, arguments), "--out", str(out), "--json"]) == 2
        text = capsys.readouterr()
        assert len(text.err.strip().splitlines()) == 1
        assert not out.exists()
        return json.loads(text.out.strip().splitlines()[-1])["error"]

    holed = places.copy()
    holed[3:16, lab.MARKERS.index("LKNE")] = np.nan
    lab.write_c3d(tmp_path / "gap.c3d", holed)
    assert "gaps longer than 0.1 s are not filled: LKNE" in refused(tmp_path / "gap.c3d")
    no_pelvis = [k for k, n in enumerate(lab.MARKERS) if n[1:] not in ("ASI", "PSI")]
    lab.write_c3d(tmp_path / "none.c3d", places[:, no_pelvis], [lab.MARKERS[k] for k in no_pelvis])
    assert "the pelvis needs three of LASI" in refused(tmp_path / "none.c3d")
    assert "no file" in refused(tmp_path / "absent.c3d")
    assert "--marker wants NAME=SITE" in refused(tmp_path / "none.c3d", "--marker", "A")
    assert "has no force plate '7'" in refused(tmp_path / "gap.c3d", "--without-plate", "7")
    assert "has no marker 'NOSE' to leave out" in refused(tmp_path / "gap.c3d", "--without", "NOSE")


def test_scenes_follow_measured_motion(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frames = "\n".join(f"0 90 0 0 0 0 0 {-3 * k} 0" for k in range(31))
    (tmp_path / "arm.bvh").write_text(
        "HIERARCHY ROOT Hips { OFFSET 0 0 0 CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation\n"
        "JOINT LeftForeArm { OFFSET 10 0 0 CHANNELS 3 Zrotation Yrotation Xrotation } }\n"
        f"MOTION\nFrames: 31\nFrame Time: 0.02\n{frames}\n"
    )
    arguments = [
        "run",
        "flex",
        "--set",
        "motion=arm.bvh",
        "--set",
        "mass=0",
        "--seconds",
        "0.1",
        "--out",
        "a.zarr",
        "--json",
    ]
    assert invoke(arguments) in (0, 1)
    told = json.loads(capsys.readouterr().out.strip().splitlines()[-1])
    assert told["metrics"]["elbow_range_deg"] > 0.1
    assert invoke(["run", "flex", "--set", "motion=none.bvh", "--seconds", "0.1", "--out", "b.zarr"]) == 2
    assert "no BVH file 'none.bvh'" in capsys.readouterr().err
