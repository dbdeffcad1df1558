"""`vt.open`: a recording's signals as arrays and as a table."""

import sys

import numpy as np
import pytest

import vitruvian as vt
from vitruvian.errors import InputError, MissingExtra


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return vt.run("pendulum", seconds=0.25, out=tmp_path_factory.mktemp("runs") / "a.zarr")


def test_signals_are_arrays_over_time(run):
    recording = vt.open(run.recording)
    assert recording.time.shape == (16,)
    assert recording["angle"].shape == (16,)
    assert recording["energy"].shape == (16, 4)
    assert recording["angle"] is recording.signals["angle"]
    assert vt.open(run)["angle"][0] == vt.open(str(run.recording))["angle"][0] == np.deg2rad(60.0)
    assert recording.stage.signals[-1].name == "angle"
    assert "angle" in recording
    assert "angel" not in recording


def test_unknown_signal_is_an_error_that_names_the_nearest(run):
    with pytest.raises(KeyError, match="unknown signal 'angel'; did you mean angle"):
        run.open()["angel"]
    with pytest.raises(InputError, match="did you mean angle"):
        run.open().signal("angel")


def test_recording_is_no_sequence(run):
    with pytest.raises(TypeError, match="not iterable"):
        iter(run.open())


def test_table_holds_every_signal_with_its_unit(run):
    pytest.importorskip("pandas")
    recording, table = run.open(), run.open().to_pandas()
    assert table.index.name == "time"
    np.testing.assert_array_equal(table.index, recording.time)
    np.testing.assert_array_equal(table["angle"], recording["angle"])
    np.testing.assert_array_equal(table["energy.total"], recording["energy"][:, 3])
    assert table.attrs["units"]["energy.total"] == "J"
    assert len(table.columns) == sum(len(s.components) or 1 for s in recording.stage.signals)


def test_without_pandas_the_error_says_what_brings_it(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match=r"pip install 'vitruvian\[table\]'"):
        run.open().to_pandas()


def test_printed_form_says_what_is_in_it(run):
    said = repr(run.open())
    assert "pendulum, 0.25 s in 16 frames" in said
    assert "length=1.0" in said
    assert "energy.(kinetic|gravity|springs|total) [J]" in said


def test_what_is_no_recording_is_an_error(tmp_path):
    with pytest.raises(InputError, match="is not a recording"):
        vt.open(tmp_path)
