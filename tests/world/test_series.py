import json
import shutil

import numpy as np
import pytest
import zarr

from vitruvian.world.series import Series, write_array, write_whole


@pytest.mark.parametrize(
    ("shape", "dtype"), [((), "f8"), ((3,), "i4"), ((700, 3), "f4"), ((100_000, 3), "f4"), ((2, 7), "f8")]
)
def test_zarr_reads_back_what_was_appended(tmp_path, shape, dtype):
    rng = np.random.default_rng(0)
    rows = (100 * rng.normal(size=(37, *shape))).astype(dtype)
    series = Series(tmp_path / "a", shape, dtype, attributes={"unit": "m"})
    for row in rows[:20]:
        series.append(row)
    series.extend(rows[20:])
    series.flush()
    array = zarr.open_array(tmp_path / "a", mode="r")
    assert array.dtype == np.dtype(dtype)
    assert array.attrs["unit"] == "m"
    assert np.array_equal(array[:], rows)


def test_what_is_not_flushed_is_not_promised(tmp_path):
    series = Series(tmp_path / "a", (), "f8")
    for i in range(3000):
        series.append(i)
        if i == 1999:
            series.flush()
    assert np.array_equal(zarr.open_array(tmp_path / "a", mode="r")[:], np.arange(2000.0))


def test_a_chunk_that_cannot_be_written_is_never_promised(tmp_path, monkeypatch):
    """It is written while rows go on coming; what fails there must be told at every flush from then on."""
    import vitruvian.world.series as module

    series, real = Series(tmp_path / "a", (), "f8"), module.write_whole
    series.extend(np.arange(1500.0))
    series.flush()

    def write(path, data, **options):
        if path.parent.name == "c" and path.name == "1":
            raise OSError("no space")
        real(path, data, **options)

    monkeypatch.setattr(module, "write_whole", write)
    series.extend(np.arange(1500.0, 2500.0))  # fills the second chunk and begins the third
    for _ in range(2):
        with pytest.raises(OSError, match="no space"):
            series.flush()
    assert np.array_equal(zarr.open_array(tmp_path / "a", mode="r")[:], np.arange(1500.0))


def test_a_row_can_be_read_while_its_chunk_is_being_written(tmp_path):
    series = Series(tmp_path / "a", (1000, 3), "f8")
    for i in range(3 * series._rows):
        series.append(np.full((1000, 3), float(i)))
        assert (series.row(max(0, i - series._rows)) == max(0, i - series._rows)).all()


@pytest.mark.parametrize("length", [0, 1, 1023, 1024, 1025, 2048, 2500])
def test_reopened_at_any_length_it_continues_to_the_same_files(tmp_path, length):
    whole = Series(tmp_path / "whole", (), "f8")
    cut = Series(tmp_path / "cut", (), "f8")
    for i in range(2500):
        whole.append(i * 0.1)
        cut.append(i * 0.1 if i < length else -1.0)
    whole.flush()
    cut.flush()
    again = Series.reopen(tmp_path / "cut", length)
    again.flush()
    again.drop_later_chunks()
    assert zarr.open_array(tmp_path / "cut", mode="r").shape == (length,)
    for i in range(length, 2500):
        again.append(i * 0.1)
    again.flush()
    for file in sorted((tmp_path / "whole").rglob("*")):
        if file.is_file():
            assert file.read_bytes() == (tmp_path / "cut" / file.relative_to(tmp_path / "whole")).read_bytes()


def test_a_still_array_keeps_its_shape_even_when_empty(tmp_path):
    write_array(tmp_path / "a", np.zeros((0, 3), "i4"))
    assert zarr.open_array(tmp_path / "a", mode="r").shape == (0, 3)


def test_a_flipped_bit_is_noticed(tmp_path):
    write_array(tmp_path / "a", np.random.default_rng(0).normal(size=100))
    file = tmp_path / "a" / "c" / "0"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    with pytest.raises(RuntimeError):
        zarr.open_array(tmp_path / "a", mode="r")[:]


def test_a_copy_of_the_folder_taken_at_any_moment_reads_whole(tmp_path, monkeypatch):
    """Every state in which a kill could leave the files is the one before some rename."""
    copies = []

    def copy_first(path, data, **options):
        copies.append(tmp_path / f"copy{len(copies)}")
        shutil.copytree(tmp_path / "a", copies[-1])
        write_whole(path, data, **options)

    series = Series(tmp_path / "a", (), "f8")
    monkeypatch.setattr("vitruvian.world.series.write_whole", copy_first)
    for i in range(1500):
        series.append(i)
        if i % 400 == 0:
            series.flush()
    assert len(copies) > 8
    for copy in copies:
        length = json.loads((copy / "zarr.json").read_text())["shape"][0]
        assert np.array_equal(zarr.open_array(copy, mode="r")[:], np.arange(float(length)))
