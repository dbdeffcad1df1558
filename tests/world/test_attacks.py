"""Recordings made to do harm: each is refused in one line, soon, in little memory, and no other file is read."""

import io
import json
import os
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest
import zarr
from numcodecs.zstd import Zstd
from toys import make_world

from vitruvian.errors import InputError
from vitruvian.world import Recording, run_world
from vitruvian.world.chunks import zstd_content_size
from vitruvian.world.series import write_array


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    path = tmp_path_factory.mktemp("good") / "r.zarr"
    run_world(make_world(), path, seconds=0.8)
    return path


@pytest.fixture
def bad(good, tmp_path):
    return Path(shutil.copytree(good, tmp_path / "bad.zarr"))


def read_all(path):
    recording = Recording.open(path)
    for i in range(len(recording)):
        recording.frame(i)
    return [recording.signals[name] for name in recording.signals], recording.poses


def change(file, **entries):
    about = json.loads(file.read_text())
    about.update(entries)
    file.write_text(json.dumps(about))


def rewrite(path, edit):
    array = zarr.open_array(path, mode="r+")
    array[:] = edit(array[:])


def bomb(path, count):
    """A chunk of `count` zeros in a few kilobytes, and an array that promises as many."""
    about = json.loads((path / "zarr.json").read_text())
    about["shape"], about["chunk_grid"]["configuration"]["chunk_shape"] = [count], [count]
    (path / "zarr.json").write_text(json.dumps(about))
    (path / "c/0").write_bytes(Zstd(level=1).encode(np.zeros(count)))


def swollen(path):
    """A chunk that unpacks to far more than its array says."""
    (path / "c/0").write_bytes(Zstd(level=1).encode(np.zeros(20_000_000)))


def replaced(file, make):
    file.unlink()
    make(file)


ATTACKS = {
    "poses x 1e40": lambda r: rewrite(r / "poses", lambda p: p * 1e40),
    "one body at 1e150 m": lambda r: rewrite(r / "poses", lambda p: np.where(np.arange(7) == 1, 1e150, p)),
    "zero quaternions": lambda r: rewrite(r / "poses", lambda p: p * 0.0),
    "mesh at 1e38 m": lambda r: rewrite(r / "meshes/vertices", lambda v: v + 1e38),
    "skin at 1e38 m": lambda r: rewrite(r / "surfaces/sheet/vertices", lambda v: v + 1e38),
    "skin that is not a number": lambda r: rewrite(r / "surfaces/sheet/vertices", lambda v: v * np.nan),
    "water at infinity": lambda r: rewrite(r / "surfaces/drops/vertices", lambda v: v + np.inf),
    "muscle at 1e38 m": lambda r: rewrite(r / "lines/rope/points", lambda v: v + 1e38),
    "spray at 1e38 m": lambda r: (
        shutil.rmtree(r / "points/spray/positions"),
        write_array(r / "points/spray/positions", np.full((50, 3), 1e38, "f4")),
        rewrite(r / "points/spray/offsets", lambda o: np.arange(len(o))),
    ),
    "last time 1e12 s": lambda r: rewrite(r / "time", lambda t: np.append(t[:-1], 1e12)),
    "camera at 1e300 m": lambda r: change_attribute(
        r, cameras=[{"name": "a", "eye": [1e300, 0, 0], "target": [0, 0, 0]}]
    ),
    "ground at 1e308 m": lambda r: change_attribute(r, ground=1e308),
    "a layer with a name of a million letters": lambda r: change_attribute(r, layers=["a" * 10**6]),
    "10^13 frames in one chunk": lambda r: change(
        r / "time/zarr.json",
        shape=[10**13],
        chunk_grid={"name": "regular", "configuration": {"chunk_shape": [10**13]}},
    ),
    "10^13 frames in chunks of 1024": lambda r: change(r / "time/zarr.json", shape=[10**13]),
    "400 MB of zeros in one chunk": lambda r: bomb(r / "time", 5 * 10**7),
    "160 MB in a chunk of one kilobyte": lambda r: swollen(r / "time"),
    "codec vlen-bytes": lambda r: change(r / "time/zarr.json", codecs=[{"name": "vlen-bytes", "configuration": {}}]),
    "codec pickle": lambda r: change(r / "time/zarr.json", codecs=[{"name": "numcodecs.pickle"}]),
    "type object": lambda r: change(r / "time/zarr.json", data_type={"name": "numpy.object", "configuration": {}}),
    "metadata nested 200,000 deep": lambda r: (r / "zarr.json").write_text(
        '{"attributes":' + "[" * 200_000 + "]" * 200_000 + "}"
    ),
    "a number of 5000 digits": lambda r: (r / "zarr.json").write_text(
        (r / "zarr.json").read_text().replace('"frame_rate": 50', '"frame_rate": ' + "9" * 5000)
    ),
    "a pipe as metadata": lambda r: replaced(r / "meshes/zarr.json", os.mkfifo),
    "a pipe as chunk": lambda r: replaced(r / "time/c/0", os.mkfifo),
    "an endless device as metadata": lambda r: replaced(r / "meshes/zarr.json", lambda f: f.symlink_to("/dev/zero")),
    "a link to a file outside as chunk": lambda r: replaced(r / "time/c/0", lambda f: f.symlink_to("/etc/passwd")),
    "a link to a folder outside": lambda r: (
        shutil.move(r / "signals", r.parent / "elsewhere"),
        (r / "signals").symlink_to(r.parent / "elsewhere"),
    ),
    "a link in a circle": lambda r: (shutil.rmtree(r / "signals"), (r / "signals").symlink_to("..")),
    "signal ../../etc": lambda r: change_attribute(r, signals=["../../../../etc"]),
}


def change_attribute(recording, **entries):
    about = json.loads((recording / "zarr.json").read_text())["attributes"]
    change(recording / "zarr.json", attributes={**about, **entries})


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_recording_made_to_harm_is_refused_in_one_line(bad, attack):
    ATTACKS[attack](bad)
    with pytest.raises(InputError) as caught:
        read_all(bad)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600
    assert "root:" not in str(caught.value)


def packed_checkpoint(path, count):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("about.npy", "w") as member:
        np.lib.format.write_array_header_1_0(member, {"descr": "|u1", "fortran_order": False, "shape": (count,)})
        for _ in range(count // 10**6):
            member.write(bytes(10**6))


def boastful_checkpoint(path, count):
    content = io.BytesIO()
    np.lib.format.write_array_header_1_0(content, {"descr": "<f8", "fortran_order": False, "shape": (count,)})
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("about.npy", content.getvalue() + b"{}")


@pytest.mark.parametrize(
    "attack",
    [
        lambda r: packed_checkpoint(r / "checkpoint/state.npz", 10**8),
        lambda r: boastful_checkpoint(r / "checkpoint/state.npz", 10**12),
        lambda r: os.truncate(r / "checkpoint/state.npz", 10**10),
        lambda r: replaced(r / "checkpoint/state.npz", os.mkfifo),
        lambda r: replaced(r / "checkpoint/state.npz", lambda f: f.symlink_to("/etc/passwd")),
        lambda r: (
            shutil.move(r / "poses", r.parent / "poses"),
            (r / "poses").symlink_to(r.parent / "poses"),
        ),
    ],
    ids=["packed", "boastful", "sparse", "pipe", "link", "linked poses"],
)
def test_a_checkpoint_made_to_harm_is_refused_in_one_line(bad, attack):
    attack(bad)
    before = sorted(bad.parent.rglob("*"))
    with pytest.raises(InputError) as caught:
        run_world(make_world(), bad, seconds=0.4, resume=True)
    assert "\n" not in str(caught.value)
    assert sorted(bad.parent.rglob("*")) == before


@pytest.mark.parametrize("count", [1, 255, 256, 65_791, 65_792, 10**6])
def test_the_size_of_a_packed_chunk_is_known_before_it_is_unpacked(count):
    assert zstd_content_size(bytes(Zstd(level=1, checksum=True).encode(bytes(count)))) == count
    assert zstd_content_size(b"\x28\xb5\x2f\xfd") is None
    assert zstd_content_size(b"nonsense") is None
