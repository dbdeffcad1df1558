"""Meshes and sounds that strangers made to harm: nothing outside is read, nothing is unpacked without bound."""

import base64
import json
import os
from pathlib import Path

import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.exchange.beside import read_beside
from vitruvian.exchange.bound_mesh import read_mesh
from vitruvian.exchange.gltf_character import character_from_gltf
from vitruvian.exchange.sound_file import read_sound

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], "<f4").tobytes() + np.array([0, 1, 2], "<u4").tobytes()
# found by fuzzing: with these bytes among its parameters the C3D library does not come to an end
BUSY_AT, BUSY = 858, bytes.fromhex("7645edf117e811c0dd62e98c7028ce15fd71bcae7e61fd8832e7fc64b64e5608a9fbd762c91e2706")
INLINE = "data:;base64," + base64.b64encode(CORNERS).decode()


def gltf(path, uri, **changed):
    arrays = [
        {"componentType": 5126, "type": "VEC3", "count": 3},
        {"componentType": 5125, "type": "SCALAR", "count": 3},
    ]
    table = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [{**array, "bufferView": k} for k, array in enumerate(arrays)],
        "bufferViews": [{"buffer": 0, "byteLength": 36}, {"buffer": 0, "byteOffset": 36, "byteLength": 12}],
        "buffers": [{"byteLength": 48, "uri": uri}],
    }
    table["accessors"][0] |= changed
    path.write_text(json.dumps(table))
    return path


def test_a_mesh_file_may_name_a_file_beside_it_and_no_other(tmp_path):
    inside = tmp_path / "in"
    inside.mkdir()
    (tmp_path / "secret.bin").write_bytes(CORNERS)
    (inside / "good.bin").write_bytes(CORNERS)
    (inside / "link.bin").symlink_to(tmp_path / "secret.bin")
    (inside / "endless.bin").symlink_to("/dev/zero")
    assert len(read_mesh(gltf(inside / "a.gltf", INLINE))[0]) == 3
    assert len(read_mesh(gltf(inside / "a.gltf", "good.bin"))[0]) == 3
    for uri in ("../secret.bin", str(tmp_path / "secret.bin"), "link.bin", "endless.bin", "/dev/zero", "/etc/passwd"):
        with pytest.raises(InputError, match=r"a\.gltf"):
            read_mesh(gltf(inside / "a.gltf", uri))
        with pytest.raises(InputError, match=r"beside it|not an ordinary file"):
            character_from_gltf(inside / "a.gltf")
    with pytest.raises(InputError, match="larger than"):
        read_beside(inside / "a.gltf", "good.bin", 40)


def test_an_obj_file_needs_no_colours_and_reads_none_from_elsewhere(tmp_path):
    for colours in ("none.mtl", "/dev/zero", "/etc/passwd"):
        path = tmp_path / "suit.obj"
        path.write_text(f"mtllib {colours}\nusemtl a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
        assert len(read_mesh(path)[1]) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("v 1e300 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "farther than 1e\\+06 m"),
        ("v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "not finite"),
        ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3000000000\n", "cannot be read|not there"),
    ],
)
def test_numbers_of_a_mesh_are_bounded(tmp_path, text, said):
    (tmp_path / "a.obj").write_text(text)
    with pytest.raises(InputError, match=said):
        read_mesh(tmp_path / "a.obj")


def test_a_file_nested_without_end_is_refused(tmp_path):
    from vitruvian.anatomy.characters import read_character
    from vitruvian.control.search.policy import Policy
    from vitruvian.control.search.samples import Control

    (tmp_path / "deep.gltf").write_text("[" * 200_000 + "]" * 200_000)
    for name in ("nodes.csv", "elements.csv", "weights.csv", "faces.csv", "tetrahedra.csv"):
        (tmp_path / name).write_text("")
    (tmp_path / "character.json").write_text("[" * 200_000)
    for read in (character_from_gltf, Policy.read, Control.read):
        with pytest.raises(InputError, match="is not a"):
            read(tmp_path / "deep.gltf")
    with pytest.raises(InputError, match="character"):
        read_character(tmp_path)


def test_silence_that_packs_small_is_not_unpacked(tmp_path, monkeypatch):
    import soundfile

    soundfile.write(tmp_path / "a.flac", np.zeros((8_000, 8)), 8_000)
    monkeypatch.setattr("vitruvian.exchange.sound_file.MOST_SAMPLES", 60_000)
    with pytest.raises(InputError, match="would unpack to 64000 samples"):
        read_sound(tmp_path / "a.flac")


def test_a_damaged_c3d_file_that_keeps_its_reader_busy_is_given_up(tmp_path):
    from vitruvian.exchange import read_trial
    from vitruvian.verify import _track_lab as lab

    path = tmp_path / "a.c3d"
    lab.write_c3d(path, np.random.default_rng(0).uniform(0.0, 1.0, (6, 3, 3)), ("LASI", "RASI", "C7"))
    data = bytearray(path.read_bytes())
    data[BUSY_AT : BUSY_AT + len(BUSY)] = BUSY
    path.write_bytes(data)
    with pytest.raises(InputError, match="damaged; it could not be read in"):
        read_trial(path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"extras": [{}] * 300_000}, "more than 500000 values"),
        ({"nodes": [{"mesh": 0}] * 20_001}, "more than 20000 nodes"),
        ({"accessors": [{"componentType": 5126, "type": "VEC3", "count": 10**9}, {"count": 3}]}, "1000000000 vertices"),
        ({"accessors": 3}, "do not fit together"),
    ],
)
@pytest.mark.parametrize("read", [read_mesh, character_from_gltf])
def test_few_bytes_of_a_gltf_do_not_take_gigabytes(tmp_path, read, change, said):
    path = gltf(tmp_path / "a.gltf", INLINE)
    text = json.dumps(json.loads(path.read_text()) | change).encode()
    path.write_bytes(text)
    with pytest.raises(InputError, match=said):
        read(path)
    chunk = len(text).to_bytes(4, "little") + b"JSON" + text
    (tmp_path / "a.glb").write_bytes(b"glTF" + bytes([2, 0, 0, 0]) + (12 + len(chunk)).to_bytes(4, "little") + chunk)
    with pytest.raises(InputError, match=said):
        read(tmp_path / "a.glb")


def test_a_glb_file_of_empty_chunks_is_refused(tmp_path):
    (tmp_path / "a.glb").write_bytes(b"glTF" + bytes([2, 0, 0, 0]) + bytes(8_000))
    for read in (read_mesh, character_from_gltf):
        with pytest.raises(InputError, match="chunks"):
            read(tmp_path / "a.glb")


def test_a_large_buffer_inside_a_gltf_is_read(tmp_path):
    padded = "data:;base64," + base64.b64encode(CORNERS + bytes(3_000_000)).decode()
    assert len(read_mesh(gltf(tmp_path / "a.gltf", padded))[1]) == 1


def test_devices_pipes_and_endless_values_are_no_json(tmp_path):
    from vitruvian.control.search.policy import Policy
    from vitruvian.control.search.samples import Control
    from vitruvian.door.plan import _read_plan

    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "many.json").write_text("[" + "{}," * 5_000_000 + "{}]")
    for read in (Policy.read, Control.read, _read_plan):
        for path in (Path("/dev/zero"), tmp_path / "pipe"):
            with pytest.raises(InputError, match="not an ordinary file"):
                read(path)
        with pytest.raises(InputError, match="more than 5000000 values"):
            read(tmp_path / "many.json")


def test_arrays_that_pack_small_are_not_unpacked(tmp_path, monkeypatch):
    from vitruvian import given_file

    np.savez_compressed(tmp_path / "a.npz", a=np.zeros(100_000))
    assert len(given_file.read_arrays(tmp_path / "a.npz")["a"]) == 100_000
    monkeypatch.setattr(given_file, "MOST_ARRAYS", 500_000)
    with pytest.raises(InputError, match="would unpack to"):
        given_file.read_arrays(tmp_path / "a.npz")


def test_tables_of_numbers_are_bounded(tmp_path):
    from vitruvian.exchange import read_trial
    from vitruvian.exchange.trc import read_storage

    def trc(markers, rows):
        names = "\t\t\t".join(f"M{k}" for k in range(markers))
        head = "PathFileType\t4\nDataRate\tUnits\n100\tmm\nFrame#\tTime\t" + names + "\n\n"
        (tmp_path / "a.trc").write_text(head + rows)
        return tmp_path / "a.trc"

    with pytest.raises(InputError, match="names 20000 markers"):
        read_trial(trc(20_000, "1\t0\n2\t1\n"))
    with pytest.raises(InputError, match="too many numbers"):
        read_trial(trc(1000, "1\n" * 100_000))
    with pytest.raises(InputError, match="more than 10000000 fields"):
        read_trial(trc(1, "\t" * 10_000_001))
    with pytest.raises(InputError, match="more than 1000000 lines"):
        read_trial(trc(1, "1\n" * 2_000_001))
    (tmp_path / "a.mot").write_text("endheader\n" + "x " * 1000 + "\n" + "1\n" * 100_000)
    with pytest.raises(InputError, match="too many numbers"):
        read_storage(tmp_path / "a.mot")
    for text in ("1\n" * 2_000_001, "," * 10_000_001):
        (tmp_path / "a.csv").write_text("time [s],A.x [mm]\n" + text)
        with pytest.raises(InputError, match="more than"):
            read_trial(tmp_path / "a.csv")
