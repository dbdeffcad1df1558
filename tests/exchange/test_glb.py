import json
import struct

import numpy as np
import pytest
import trimesh

from vitruvian.exchange import export_recording
from vitruvian.mesh import vertex_normals

WIDTH = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}


@pytest.fixture(scope="module")
def glb(recording, tmp_path_factory):
    """The file, its JSON, and a reader of accessors."""
    path = tmp_path_factory.mktemp("glb") / "a.glb"
    export_recording(recording, path)
    data = path.read_bytes()
    magic, version, length, json_length, kind = struct.unpack_from("<4sIIII", data)
    assert (magic, version, length, kind) == (b"glTF", 2, len(data), 0x4E4F534A)
    document = json.loads(data[20 : 20 + json_length])
    binary_length, kind = struct.unpack_from("<II", data, 20 + json_length)
    assert kind == 0x004E4942
    binary = data[28 + json_length :]
    assert len(binary) == binary_length
    assert json_length % 4 == binary_length % 4 == 0

    def read(index):
        accessor = document["accessors"][index]
        view = document["bufferViews"][accessor["bufferView"]]
        dtype = {5126: "<f4", 5125: "<u4"}[accessor["componentType"]]
        width = WIDTH[accessor["type"]]
        assert view["byteOffset"] % 4 == 0
        assert view["byteLength"] == 4 * width * accessor["count"]
        values = np.frombuffer(binary, dtype, accessor["count"] * width, view["byteOffset"]).reshape(-1, width)
        if "min" in accessor:
            assert np.array_equal(values.min(axis=0), accessor["min"])
            assert np.array_equal(values.max(axis=0), accessor["max"])
        return values

    return path, document, read


def channels(document, name):
    node = next(i for i, node in enumerate(document["nodes"]) if node["name"] == name)
    animation = document["animations"][0]
    return {
        channel["target"]["path"]: animation["samplers"][channel["sampler"]]
        for channel in animation["channels"]
        if channel["target"]["node"] == node
    }


def test_bodies_move_as_recorded_and_turn_the_short_way(recording, glb):
    _, document, read = glb
    moves = channels(document, "left femur")
    poses = np.array([frame.poses[0] for frame in recording.frames])
    assert np.allclose(read(moves["translation"]["input"])[:, 0], recording.time)
    assert np.allclose(read(moves["translation"]["output"]), poses[:, :3])
    turns = read(moves["rotation"]["output"])[:, [3, 0, 1, 2]]
    assert np.allclose(np.abs(np.sum(turns * poses[:, 3:], axis=1)), 1.0)
    assert (np.sum(turns[1:] * turns[:-1], axis=1) > 0).all()


def test_morph_targets_and_weights_give_the_recorded_skin_at_each_instant(recording, glb):
    _, document, read = glb
    node = next(node for node in document["nodes"] if node["name"] == "skin")
    primitive = document["meshes"][node["mesh"]]["primitives"][0]
    base = read(primitive["attributes"]["POSITION"])
    targets = np.array([read(target["POSITION"]) for target in primitive["targets"]])
    weights = read(channels(document, "skin")["weights"]["output"]).reshape(len(recording.time), -1)
    for frame, weight in zip(recording.frames, weights, strict=True):
        assert np.allclose(base + np.tensordot(weight, targets, 1), frame.surfaces["skin"].vertices, atol=1e-6)


def test_exactly_the_water_of_the_instant_has_size(recording, glb):
    _, document, read = glb
    for i, now in enumerate(recording.time):
        for j, other in enumerate(recording.frames):
            if len(other.surfaces["water"].faces) == 0:
                continue
            scale = channels(document, f"water {j}")["scale"]
            assert scale["interpolation"] == "STEP"
            past = read(scale["input"])[:, 0] <= np.float32(now)
            assert read(scale["output"])[past][-1, 0] == (i == j), (now, j)


def test_another_reader_finds_the_meshes_where_the_first_frame_has_them(recording, glb):
    scene = trimesh.load(glb[0])
    assert {"bone", "glass", "stand", "skin", "muscles"} <= set(scene.geometry)
    # glTF is y up: (x, y, z) of ours is (x, z, -y) there. The femur starts at (0, 2, 3) and is a unit cube.
    transform, name = scene.graph.get(next(n for n in scene.graph.nodes_geometry if "bone" in n))
    corners = trimesh.transform_points(scene.geometry[name].vertices, transform)
    assert np.allclose(corners.min(axis=0), [0.0, 3.0, -3.0], atol=1e-6)
    assert np.allclose(corners.max(axis=0), [1.0, 4.0, -2.0], atol=1e-6)


def test_colours_are_linear_and_glass_is_blended(glb):
    materials = {material["name"]: material for material in glb[1]["materials"]}
    assert np.allclose(materials["bone"]["pbrMetallicRoughness"]["baseColorFactor"], [0.2140411] * 3 + [1.0])
    assert materials["glass"]["alphaMode"] == "BLEND"
    assert "alphaMode" not in materials["bone"]


def test_normals_of_a_sphere_point_outward():
    sphere = trimesh.creation.icosphere(3)
    normals = vertex_normals(sphere.vertices, sphere.faces)
    assert np.allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-6)
    assert (np.sum(normals * sphere.vertices, axis=1) > 0.999).all()
