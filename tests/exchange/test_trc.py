import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.exchange import read_trial
from vitruvian.exchange.trc import read_storage, write_storage

HEAD = """PathFileType\t4\t(X/Y/Z)\twalk.trc
DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames
100\t100\t4\t2\tmm\t100\t1\t4
Frame#\tTime\tLASI\t\t\tRASI\t\t
\t\tX1\tY1\tZ1\tX2\tY2\tZ2

"""
ROWS = "".join(f"{k + 1}\t{k / 100:.3f}\t{100 + k}\t900\t50\t{-100 + k}\t900\t50\n" for k in range(4))


def write(folder, text):
    (folder / "walk.trc").write_text(text)
    return folder / "walk.trc"


def test_markers_stand_up_in_metres(tmp_path):
    trial = read_trial(write(tmp_path, HEAD + ROWS))
    assert np.allclose(trial.markers["LASI"][1], (0.101, -0.05, 0.9))
    assert trial.time.tolist() == [0.0, 0.01, 0.02, 0.03]


def test_empty_fields_are_unseen(tmp_path):
    trial = read_trial(write(tmp_path, HEAD + ROWS.replace("102\t900\t50", "\t\t")))
    assert np.isnan(trial.markers["LASI"][2]).all()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\tmm\t", "\tell\t", "says the unit 'ell'"),
        ("PathFileType", "Something", "not a TRC file"),
        ("0.020", "0.001", "times must ascend; frame 3"),
        ("101\t900", "hello\t900", "frame 2, column 3: 'hello' is not a number"),
        ("RASI", "LASI", "marker 'LASI' appears twice"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, old, new, message):
    with pytest.raises(InputError, match=message):
        read_trial(write(tmp_path, (HEAD + ROWS).replace(old, new)))


def test_ground_forces_of_a_mot_file_are_plates(tmp_path):
    t = np.arange(5) / 100.0
    one = np.ones(5)
    columns = {"time": t, "ground_force_vx": 5 * one, "ground_force_vy": 700 * one, "ground_force_vz": 0 * one,
               "ground_force_px": 0.3 * one, "ground_force_py": 0 * one, "ground_force_pz": 0.1 * one,
               "1_ground_force_vx": 0 * one, "1_ground_force_vy": 0 * one, "1_ground_force_vz": 0 * one,
               "1_ground_force_px": 0 * one, "1_ground_force_py": 0 * one, "1_ground_force_pz": 0 * one,
               "ground_torque_x": 0 * one, "ground_torque_y": 2 * one, "ground_torque_z": 0 * one}  # fmt: skip
    write_storage(tmp_path / "grf.mot", "forces", columns)
    trial = read_trial(write(tmp_path, HEAD + ROWS), forces=tmp_path / "grf.mot")
    first, second = trial.plates
    assert np.allclose(first.force[0], (5.0, 0.0, 700.0))  # +y of the file is up
    assert np.allclose(first.centre()[0], (0.3, -0.1, 0.0))
    assert first.moment[0, 2] == pytest.approx(2.0 + 0.1 * 5.0)  # torque, and the arm of the push ahead
    assert second.name == "1"


def test_a_mot_file_alone_is_not_a_motion(tmp_path):
    write_storage(tmp_path / "grf.mot", "forces", {"time": np.arange(3.0)})
    with pytest.raises(InputError, match="give the TRC file, and this as --forces"):
        read_trial(tmp_path / "grf.mot")
    with pytest.raises(InputError, match="has no ground forces"):
        read_trial(write(tmp_path, HEAD + ROWS), forces=tmp_path / "grf.mot")


def test_storage_is_read_as_written(tmp_path):
    columns = {"time": np.arange(4.0), "knee flexion, left": np.array([0.1, -2.5, 3.0, 1e-7])}
    write_storage(tmp_path / "a.sto", "angles", columns, degrees=True)
    found = read_storage(tmp_path / "a.sto")
    assert list(found) == ["time", "knee_flexion_left"]
    assert np.allclose(found["knee_flexion_left"], columns["knee flexion, left"])
    assert "inDegrees=yes" in (tmp_path / "a.sto").read_text()


def test_markers_and_forces_tell_the_time_of_one_clock(tmp_path):
    t = np.arange(101) / 100.0
    columns = {"time": t, "ground_force_vx": 0 * t, "ground_force_vy": 700 + t, "ground_force_vz": 0 * t,
               "ground_force_px": 0 * t, "ground_force_py": 0 * t, "ground_force_pz": 0 * t}  # fmt: skip
    write_storage(tmp_path / "grf.mot", "forces", columns)
    late = "".join(f"{k + 1}\t{0.8 + k / 100:.3f}\t{100 + k}\t900\t50\t{-100 + k}\t900\t50\n" for k in range(4))
    trial = read_trial(write(tmp_path, HEAD + late), forces=tmp_path / "grf.mot")
    (plate,) = trial.plates
    assert trial.began == 0.8
    assert np.interp(0.0, plate.time, plate.force[:, 2]) == pytest.approx(700.8)  # the markers' first frame
    assert "time 0 is 0.8 s of the file's clock" in trial.remarks


def test_a_vertical_axis_is_refused_where_the_format_has_its_own(tmp_path):
    with pytest.raises(InputError, match="up is for files with markers"):
        read_trial("walk", up="z")
