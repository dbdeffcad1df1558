"""Characters: ours, folders, and meshes of users."""

import base64
import json

import numpy as np
import pytest

from vitruvian.anatomy.characters import build, character, read_character, write_character
from vitruvian.anatomy.characters.cutting import cut_along_borders
from vitruvian.anatomy.characters.three import mascot
from vitruvian.cli import invoke
from vitruvian.errors import InputError
from vitruvian.exchange import read_trial
from vitruvian.exchange.gltf_character import OURS, character_from_gltf, known_name
from vitruvian.flesh.tetrahedra_bcc import bcc_tetrahedra, dihedral_angles, euler_number
from vitruvian.measured import Trial
from vitruvian.measured.retarget import retargeted
from vitruvian.mesh import capsule, ellipsoid, mesh_volume
from vitruvian.skeleton import bone_poses


@pytest.mark.parametrize(("name", "bones"), [("mascot", 15), ("panda", 17), ("baby", 17)])
def test_ours_are_of_the_size_of_table_1(name, bones):
    who = character(name)
    assert len(who.bones) == bones
    assert 950 < who.tetrahedra.n_nodes < 1250
    assert 3600 < who.tetrahedra.n_elements < 4400
    assert 5000 < who.n_skin < 8200
    assert euler_number(who.tetrahedra.surface()) == 2
    assert dihedral_angles(who.tetrahedra.nodes[who.tetrahedra.element_nodes]).min() > 20.0
    for k in range(bones):
        assert np.linalg.matrix_rank(who.tetrahedra.nodes[who.fixed == k] - who.bones[k].at, tol=1e-3) >= 2
    np.testing.assert_allclose(who.skeleton.mass + who.node_mass[who.fixed < 0].sum(), who.mass)
    np.testing.assert_allclose(who.rigid.mass, who.mass)
    poses = bone_poses(who.skeleton, who.bind_q)
    np.testing.assert_allclose(poses[:, :3, 3], [b.at for b in who.bones], atol=1e-9)


def test_a_folder_reads_as_it_was_written(tmp_path):
    who = character("baby")
    write_character(who, tmp_path / "copy")
    back = read_character(tmp_path / "copy")
    np.testing.assert_array_equal(back.fixed, who.fixed)
    np.testing.assert_allclose(back.weights, who.weights, atol=1e-5)
    np.testing.assert_allclose(back.tetrahedra.nodes, who.tetrahedra.nodes, atol=1e-5)
    assert [p.name for p in back.patches] == [p.name for p in who.patches]


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("character.json", '"mass": 10.0', '"mass": -1', "mass"),
        ("nodes.csv", "foot_l", "fin", "fin"),
        ("weights.csv", "0", "x", "not a number"),
        ("faces.csv", ",skin skin", ",scales", "scales"),
    ],
)
def test_a_broken_folder_is_refused(tmp_path, file, old, new, message):
    folder = tmp_path / "broken"
    write_character(character("baby"), folder)
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1 if file != "nodes.csv" else -1))
    with pytest.raises(InputError, match=message):
        read_character(folder)


def test_no_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match="not a character"):
        character(str(tmp_path))


def test_a_lattice_encloses_a_ball():
    def ball(p):
        return np.linalg.norm(p, axis=1) - 0.5

    found = bcc_tetrahedra(ball, np.full(3, -0.5), np.full(3, 0.5), 0.2)
    assert euler_number(found.surface()) == 2
    assert ball(found.nodes[np.unique(found.surface())]).min() > -0.02
    assert found.volume.sum() > 4.0 / 3.0 * np.pi * 0.5**3


def test_colours_meet_along_a_smooth_line():
    vertices, faces = ellipsoid((1.0, 1.0, 1.0), (0.0, 0.0, 0.0), subdivisions=3)
    axes = np.array([[0.0, 0.0, 1.0], [0.9, 0.0, -0.4], [-0.6, 0.7, -0.4]])  # three colours, each on its side
    points, cut, colour = cut_along_borders(vertices, faces, -(vertices @ axes.T))
    assert euler_number(cut) == euler_number(faces) == 2
    assert mesh_volume(points, cut) == pytest.approx(mesh_volume(vertices, faces), rel=1e-9)
    near = points[cut] @ axes.T
    own = np.take_along_axis(near, np.broadcast_to(colour[:, None, None], (len(cut), 3, 1)), 2)[..., 0]
    assert (own >= near.max(axis=2) - 0.01).all()  # a face has its colour's side at every corner
    assert np.mean(own >= near.max(axis=2) - 1e-9) > 0.99


def test_soles_are_flat():
    level = mascot().distance(np.array([[0.22, -0.05, 0.005], [0.22, -0.05, -0.005]]))
    assert level[0] < 0.0 < level[1]


# --- glTF -----------------------------------------------------------------------------------------------------------


def gltf(path, vertices, faces, joints):
    """A skinned mesh; joints: name -> (parent, place in our axes)."""
    names = list(joints)
    at = np.array([joints[n][1] for n in names]) @ OURS  # ours to the file's
    inverse = np.tile(np.eye(4), (len(names), 1, 1))
    inverse[:, :3, 3] = -at
    blobs = [
        (np.asarray(vertices) @ OURS).astype("<f4"), faces.astype("<u4").ravel(),
        inverse.transpose(0, 2, 1).astype("<f4").reshape(-1, 16),
    ]  # fmt: skip
    views, place = [], 0
    for blob in blobs:
        views.append({"buffer": 0, "byteOffset": place, "byteLength": blob.nbytes})
        place += blob.nbytes
    kinds = [(5126, "VEC3", len(vertices)), (5125, "SCALAR", faces.size), (5126, "MAT4", len(names))]
    nodes = [{"name": n, "children": [k + 1 for k, m in enumerate(names) if joints[m][0] == n]} for n in names]
    table = {
        "asset": {"version": "2.0"},
        "nodes": [{"mesh": 0, "skin": 0}, *nodes],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "skins": [{"joints": [k + 1 for k in range(len(names))], "inverseBindMatrices": 2}],
        "accessors": [
            {"bufferView": k, "componentType": c, "type": t, "count": n} for k, (c, t, n) in enumerate(kinds)
        ],
        "bufferViews": views,
        "buffers": [
            {
                "byteLength": place,
                "uri": "data:;base64," + base64.b64encode(b"".join(b.tobytes() for b in blobs)).decode(),
            }
        ],
    }
    path.write_text(json.dumps(table))
    return path


WORM = {"tail": ("", (0.0, 0.0, 0.1)), "middle": ("tail", (0.0, 0.0, 0.4)), "nose": ("middle", (0.0, 0.0, 0.7))}


def test_a_users_mesh_becomes_a_character(tmp_path):
    vertices, faces = capsule((0.0, 0.0, 0.1), (0.0, 0.0, 0.9), 0.1)
    lines = []
    who = character_from_gltf(gltf(tmp_path / "worm.gltf", vertices, faces, WORM), nodes=250, say=lines.append)
    assert [b.name for b in who.bones] == ["tail", "middle", "nose"]
    assert [b.joint for b in who.bones] == ["free", "ball", "ball"]
    assert 150 < who.tetrahedra.n_nodes < 350
    assert any("each joint is a ball" in line for line in lines)
    np.testing.assert_allclose(who.weights.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.ptp(who.vertices[:, 2]), 1.0, atol=0.01)  # up in the file is up here
    with pytest.raises(InputError, match="tail"):
        retargeted(read_trial("run"), who)


def test_limbs_that_a_lattice_would_glue_get_a_finer_one(tmp_path, monkeypatch):
    vertices, faces = capsule((0.0, 0.0, 0.1), (0.0, 0.0, 0.9), 0.1)
    asked, whole = [], build.enclosed

    def glues(distance, low, high, nodes, name):
        asked.append(nodes)
        if nodes < 300:
            raise InputError("parts of the hull touch")
        return whole(distance, low, high, nodes, name)

    monkeypatch.setattr(build, "enclosed", glues)
    lines = []
    who = character_from_gltf(gltf(tmp_path / "worm.gltf", vertices, faces, WORM), nodes=200, say=lines.append)
    assert asked == [200, 400]
    assert who.tetrahedra.n_nodes > 300
    assert any("glues" in line for line in lines)


def test_what_is_wrong_with_a_mesh_is_said(tmp_path):
    vertices, faces = capsule((0.0, 0.0, 0.1), (0.0, 0.0, 0.9), 0.1)
    with pytest.raises(InputError, match="hole"):
        character_from_gltf(gltf(tmp_path / "open.gltf", vertices, faces[:-5], WORM))
    away = {**WORM, "nose": ("middle", (0.0, 0.0, 2.0))}
    with pytest.raises(InputError, match="'nose' lies outside"):
        character_from_gltf(gltf(tmp_path / "away.gltf", vertices, faces, away))
    with pytest.raises(InputError, match="face inwards"):
        character_from_gltf(gltf(tmp_path / "inward.gltf", vertices, faces[:, ::-1], WORM))
    (tmp_path / "bare.gltf").write_text('{"asset": {"version": "2.0"}, "nodes": [{}]}')
    with pytest.raises(InputError, match="no skinned mesh"):
        character_from_gltf(tmp_path / "bare.gltf")
    (tmp_path / "noise.glb").write_bytes(b"\x00\x01\x02")
    with pytest.raises(InputError, match="not a glTF"):
        character_from_gltf(tmp_path / "noise.glb")


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (("skins", 0, "joints", 0), 99, "do not fit together"),
        (("nodes", 0, "mesh"), 7, "do not fit together"),
        (("nodes",), None, "do not fit together"),
        (("buffers", 0, "uri"), "data:;base64,%", "do not fit together|broken"),
        (("nodes", 3, "children"), [2], "hangs from itself"),
        (("accessors", 0, "count"), 5, "vertices that are not there"),
        (("accessors", 2, "count"), 1, "finite place"),
        (("bufferViews", 0, "byteStride"), -5_000_000, "broken"),  # would read what lies far before the file's bytes
        (("bufferViews", 1, "byteOffset"), -8, "broken"),
    ],
)
def test_a_file_whose_parts_do_not_fit_is_refused(tmp_path, place, value, words):
    vertices, faces = capsule((0.0, 0.0, 0.1), (0.0, 0.0, 0.9), 0.1)
    path = gltf(tmp_path / "worm.gltf", vertices, faces, WORM)
    table = json.loads(path.read_text())
    owner = table
    for key in place[:-1]:
        owner = owner[key]
    owner[place[-1]] = value
    path.write_text(json.dumps(table))
    with pytest.raises(InputError, match=words):
        character_from_gltf(path)


def test_many_triangles_are_drawn_anew(tmp_path):
    vertices, faces = ellipsoid((0.2, 0.2, 0.5), (0.0, 0.0, 0.5), subdivisions=6)
    assert len(faces) > 40_000
    lines = []
    who = character_from_gltf(gltf(tmp_path / "egg.gltf", vertices, faces, WORM), nodes=250, say=lines.append)
    assert sum(len(p.faces) for p in who.patches) < 15_000
    assert any("drawn anew" in line for line in lines)


BLOB = """HIERARCHY
ROOT Blob
{
 OFFSET 0 0 0
 CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
 End Site
 {
  OFFSET 0 10 0
 }
}
MOTION
Frames: 3
Frame Time: 0.03
0 0 0 0 0 0
0 0 0 0 0 0
0 0 0 0 0 0
"""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["character", "none.glb", "out"], "no file"),
        (["character", "open.gltf", "out"], "hole"),
        (["character", "away.gltf", "out"], "'nose' lies outside"),
        (["search", "mascot", "blob.bvh", "out.json"], "its joints are Blob"),
        (["search", "mascot", "run", "nowhere/out.json"], "no folder"),
        (["search", "mascot", "run", "out.json", "--start", "9"], "after the end"),
        (["search", "mascot", "run", "out.json", "--young", "-1"], "positive"),
        (["search", "mascot", "run", "out.json", "--processes", "0"], "processes"),
    ],
)
def test_commands_refuse_in_one_line_before_any_work(tmp_path, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(tmp_path)
    vertices, faces = capsule((0.0, 0.0, 0.1), (0.0, 0.0, 0.9), 0.1)
    gltf(tmp_path / "open.gltf", vertices, faces[:-5], WORM)
    gltf(tmp_path / "away.gltf", vertices, faces, {**WORM, "nose": ("middle", (0.0, 0.0, 2.0))})
    (tmp_path / "blob.bvh").write_text(BLOB)
    assert invoke(arguments) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("vitruvian: ") == 1
    assert "Traceback" not in said
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("mixamorig:Hips", "pelvis"), ("mixamorig:LeftUpLeg", "thigh_l"), ("mixamorig:RightLeg", "shank_r"),
        ("LeftForeArm", "forearm_l"), ("upper_arm.R", "upper_arm_r"), ("hand.L", "hand_l"), ("Spine2", "chest"),
        ("LeftHandThumb1", None), ("RightToeBase", None), ("foot.R", "foot_r"),
    ],
)  # fmt: skip
def test_common_names_are_known(theirs, ours):
    assert known_name(theirs) == ours


def test_a_trial_without_turns_is_refused():
    trial = Trial("m", "C3D", np.arange(4.0), markers={"a": np.zeros((4, 3))})
    with pytest.raises(InputError, match="markers"):
        retargeted(trial, character("mascot"))
