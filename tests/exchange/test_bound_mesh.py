"""A stranger's mesh on a recorded limb of two bones with a skin."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from vitruvian.cli import invoke
from vitruvian.errors import InputError
from vitruvian.exchange import export_recording
from vitruvian.exchange.bound_mesh import bind_mesh, read_mesh
from vitruvian.mesh import capsule
from vitruvian.world import Frame, Mesh, Stage, Surface, SurfaceFrame

BONE = capsule(np.zeros(3), np.array([0.0, 0.0, 0.2]), 0.015)
SKIN = capsule(np.array([0.0, 0.0, -0.02]), np.array([0.0, 0.0, 0.44]), 0.05)
SLEEVE = capsule(np.array([0.0, 0.0, 0.05]), np.array([0.0, 0.0, 0.37]), 0.06)
TURN = Rotation.from_rotvec([0.4, -0.2, 0.7])
SHIFT = np.array([0.3, -0.1, 1.0])


@dataclass
class Limb:
    """Frames: at rest; moved as a whole; the skin swollen by a centimetre to the left."""

    with_skin: bool = True

    @property
    def stage(self):
        surfaces = (Surface("skin", SKIN[1]),) if self.with_skin else ()
        meshes = tuple(Mesh(n, n, *BONE, layer="bones") for n in ("Hu_l", "Ul_l"))
        return Stage(bodies=("Hu_l", "Ul_l"), meshes=meshes, surfaces=surfaces)

    time = np.array([0.0, 0.1, 0.2])
    signals: dict = None

    def frame(self, i):
        poses = np.array([[0.0, 0, 0, 1, 0, 0, 0], [0, 0, 0.22, 1, 0, 0, 0]])
        skin = SKIN[0].copy()
        if i == 1:
            poses[:, :3] = TURN.apply(poses[:, :3]) + SHIFT
            poses[:, 3:] = TURN.as_quat(scalar_first=True)
            skin = TURN.apply(skin) + SHIFT
        if i == 2:
            skin[:, 0] += 0.01
        return Frame(poses=poses, surfaces={"skin": SurfaceFrame(skin)} if self.with_skin else {})


@pytest.mark.parametrize("method", ["skinning", "nearest"])
def test_a_mesh_goes_with_a_body_that_moves_as_a_whole(method):
    limb = Limb(with_skin=method == "skinning")
    bound = bind_mesh(*SLEEVE, limb, method=method)
    np.testing.assert_allclose(bound.vertices(0), SLEEVE[0], atol=1e-9)
    np.testing.assert_allclose(bound.vertices(1), TURN.apply(SLEEVE[0]) + SHIFT, atol=1e-9)


@pytest.mark.parametrize("method", ["skinning", "nearest"])
def test_a_mesh_goes_with_the_recorded_skin(method):
    moved = bind_mesh(*SLEEVE, Limb(), method=method).vertices(2) - SLEEVE[0]
    assert moved[:, 0].mean() == pytest.approx(0.01 if method == "skinning" else 0.0075, abs=2e-4)  # one of four: bone
    assert np.abs(moved[:, 1:]).max() < 1e-9


def test_it_is_read_bound_and_written(tmp_path):
    import trimesh

    trimesh.Trimesh(1e3 * SLEEVE[0], SLEEVE[1], process=False).export(tmp_path / "sleeve.obj")
    vertices, faces = read_mesh(tmp_path / "sleeve.obj", 1e-3)
    np.testing.assert_allclose(vertices, SLEEVE[0], atol=1e-6)
    out = export_recording(bind_mesh(vertices, faces, Limb(), name="sleeve"), tmp_path / "a.glb")
    assert out.stat().st_size > 1000
    back = trimesh.load(out)
    assert "sleeve" in " ".join(back.geometry)


def test_what_cannot_be_bound_is_told(tmp_path, capsys):
    with pytest.raises(InputError, match=r"lies .* m from the bones"):
        bind_mesh(SLEEVE[0] * 1000.0, SLEEVE[1], Limb())
    with pytest.raises(InputError, match="no frame 7"):
        bind_mesh(*SLEEVE, Limb(), frame=7)
    with pytest.raises(InputError, match="known: nearest, skinning"):
        bind_mesh(*SLEEVE, Limb(), method="glue")
    (tmp_path / "a.obj").write_text("v 0 0 0\n")
    with pytest.raises(InputError, match="no triangles"):
        read_mesh(tmp_path / "a.obj")
    assert invoke(["bind", str(tmp_path / "b.obj"), str(tmp_path), str(tmp_path / "o.csv")]) == 2
    assert "csv" in capsys.readouterr().err
