import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.exchange import read_trial
from vitruvian.verify import _track_lab as lab

NAMES = ("LASI", "RASI", "LPSI", "C7")
PLACES = np.random.default_rng(0).uniform(-1.0, 2.0, (20, 4, 3))


@pytest.mark.parametrize("unit", ["mm", "m"])
def test_lengths_come_in_the_unit_of_the_file(tmp_path, unit):
    lab.write_c3d(tmp_path / "a.c3d", PLACES, NAMES, unit=unit)
    trial = read_trial(tmp_path / "a.c3d")
    assert list(trial.markers) == list(NAMES)
    assert np.allclose(trial.markers["C7"], PLACES[:, 3], atol=1e-6)
    assert trial.rate == pytest.approx(100.0)
    assert f"lengths in {unit} by the file" in trial.remarks


def test_a_unit_that_is_not_known_is_named(tmp_path):
    lab.write_c3d(tmp_path / "a.c3d", PLACES, NAMES, unit="furlong")
    with pytest.raises(InputError, match=r"a\.c3d: says the unit 'furlong'; known: mm"):
        read_trial(tmp_path / "a.c3d")


def test_what_was_not_seen_is_not_made_up(tmp_path):
    holed = PLACES.copy()
    holed[5:9, 2] = np.nan
    lab.write_c3d(tmp_path / "a.c3d", holed, NAMES)
    found = read_trial(tmp_path / "a.c3d").markers["LPSI"]
    assert np.isnan(found[5:9]).all()
    assert np.isfinite(found[:5]).all()


def test_plates_give_the_force_on_the_subject_about_the_origin(tmp_path):
    force = np.tile([12.0, -30.0, 640.0], (20, 1))
    at = np.array([0.31, -0.42, 0.0])
    moment = np.cross(at, force)
    moment[:, 2] += 3.0
    lab.write_c3d(tmp_path / "a.c3d", PLACES, NAMES, plates=[(np.array([0.2, -0.3, 0.0]), force, moment)])
    (plate,) = read_trial(tmp_path / "a.c3d").plates
    assert np.allclose(plate.force, force, atol=1e-3)
    assert np.allclose(plate.moment, moment, atol=1e-2)
    assert np.allclose(plate.centre()[0], at, atol=1e-4)


def test_another_axis_may_point_up(tmp_path):
    lab.write_c3d(tmp_path / "a.c3d", PLACES, NAMES)
    turned = read_trial(tmp_path / "a.c3d", up="y").markers["C7"]
    assert np.allclose(turned[:, 2], PLACES[:, 3, 1], atol=1e-6)
    with pytest.raises(InputError, match="up must be one of z, y, x"):
        read_trial(tmp_path / "a.c3d", up="w")


@pytest.mark.parametrize("keep", [0, 100, 600, 1500])
def test_broken_files_are_one_line(tmp_path, keep):
    lab.write_c3d(tmp_path / "a.c3d", PLACES, NAMES)
    whole = (tmp_path / "a.c3d").read_bytes()
    (tmp_path / "b.c3d").write_bytes(whole[:keep])
    with pytest.raises(InputError, match=r"b\.c3d"):
        read_trial(tmp_path / "b.c3d")


def test_a_file_that_is_cut_off_between_frames_is_told(tmp_path):
    lab.write_c3d(tmp_path / "a.c3d", PLACES, NAMES)
    whole = (tmp_path / "a.c3d").read_bytes()
    (tmp_path / "b.c3d").write_bytes(whole[: len(whole) * 3 // 4])
    with pytest.raises(InputError, match=r"b\.c3d: is cut off: it has 12 of the 20 frames"):
        read_trial(tmp_path / "b.c3d")


def test_other_bytes_are_no_c3d_file(tmp_path):
    (tmp_path / "a.c3d").write_bytes(b"hello" * 300)
    with pytest.raises(InputError, match="not a C3D file"):
        read_trial(tmp_path / "a.c3d")
