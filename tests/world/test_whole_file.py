import errno
import os
import subprocess

import pytest

from vitruvian.errors import InputError, RunFailed
from vitruvian.world.whole_file import whole_file


def test_what_was_written_gets_the_name_and_nothing_else_is_left(tmp_path):
    with whole_file(tmp_path / "a.csv") as partial:
        assert partial.suffix == ".csv"
        partial.write_text("new")
        assert not (tmp_path / "a.csv").exists()
    assert (tmp_path / "a.csv").read_text() == "new"
    assert os.listdir(tmp_path) == ["a.csv"]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (KeyboardInterrupt(), None),
        (ValueError("x"), None),
        (OSError(errno.ENOSPC, "No space left on device"), "a.csv: the disk is full"),
        (OSError(errno.EIO, "Input/output error"), "a.csv: Input/output error"),
    ],
    ids=["interrupted", "failed", "full", "broken"],
)
def test_a_failed_write_leaves_what_was_there_before(tmp_path, error, said):
    (tmp_path / "a.csv").write_text("old")

    def write():
        with whole_file(tmp_path / "a.csv") as partial:
            partial.write_text("half")
            raise error

    with pytest.raises(RunFailed if said else type(error), match=said):
        write()
    assert (tmp_path / "a.csv").read_text() == "old"
    assert os.listdir(tmp_path) == ["a.csv"]


def test_where_nothing_can_be_written_is_bad_input(tmp_path):
    (tmp_path / "file").write_text("x")
    for out in (tmp_path / "none" / "a.csv", tmp_path, tmp_path / "file" / "a.csv", "/proc/a.csv"):
        with pytest.raises(InputError, match="cannot write"), whole_file(out):
            pytest.fail("the block must not begin")


def test_a_link_is_followed(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link.csv").symlink_to(tmp_path / "real" / "a.csv")
    with whole_file(tmp_path / "link.csv") as partial:
        partial.write_text("new")
    assert (tmp_path / "real" / "a.csv").read_text() == "new"
    assert (tmp_path / "link.csv").is_symlink()


def test_a_film_on_a_really_full_disk_is_one_line(tmp_path, capfd):
    """A file system of 64 kB in memory; needs the right to mount one."""
    import numpy as np

    from vitruvian.view.film import encoder

    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True).returncode:
        pytest.skip("this user may not mount a file system")
    try:
        noise = np.random.default_rng(0).integers(0, 256, (40, 128, 128, 3), dtype=np.uint8)

        def write():
            with whole_file(disk / "film.mp4") as partial, encoder(partial, (128, 128), 30.0) as add:
                for picture in noise:
                    add(picture)

        with pytest.raises(RunFailed, match=r"film\.mp4: the disk is full"):
            write()
        assert os.listdir(disk) == []
    finally:
        subprocess.run(["umount", disk], check=True)
    said = capfd.readouterr()
    assert (said.out, said.err) == ("", "")
