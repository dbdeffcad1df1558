import numpy as np
import pytest

from vitruvian.errors import InputError, MissingExtra
from vitruvian.exchange import export_recording


def test_samples_read_back_as_recorded(recording, tmp_path):
    pxr = pytest.importorskip("pxr.Usd")
    from pxr import UsdGeom

    path = tmp_path / "a.usdc"
    export_recording(recording, path)
    stage = pxr.Stage.Open(str(path))
    assert UsdGeom.GetStageUpAxis(stage) == "Z"
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    assert stage.GetTimeCodesPerSecond() == 30.0
    assert stage.GetEndTimeCode() == len(recording.time) - 1
    bone = UsdGeom.Xformable(stage.GetPrimAtPath("/vitruvian/left_femur/bone"))
    skin, water = (UsdGeom.Mesh(stage.GetPrimAtPath(f"/vitruvian/{name}")) for name in ("skin", "water"))
    muscles = UsdGeom.BasisCurves(stage.GetPrimAtPath("/vitruvian/muscles"))
    assert list(muscles.GetCurveVertexCountsAttr().Get()) == [2, 3]
    for i, frame in enumerate(recording.frames):
        matrix = np.array(bone.ComputeLocalToWorldTransform(i)).T
        assert np.allclose(matrix[:3, 3], frame.poses[0, :3])
        half = 0.45 * i
        assert np.allclose(matrix[:2, 0], [np.cos(2 * half), np.sin(2 * half)])
        assert np.allclose(skin.GetPointsAttr().Get(i), frame.surfaces["skin"].vertices, atol=1e-6)
        shown = frame.surfaces["water"]
        assert np.array_equal(np.reshape(water.GetFaceVertexIndicesAttr().Get(i), (-1, 3)), shown.faces)
        assert np.allclose(muscles.GetPointsAttr().Get(i), frame.lines["muscles"].points)
        activation = UsdGeom.PrimvarsAPI(muscles).GetPrimvar("activation")
        assert np.allclose(activation.Get(i), frame.lines["muscles"].values)
        assert np.allclose(UsdGeom.PrimvarsAPI(skin).GetPrimvar("strain_rate").Get(i), i)


def test_an_unwritable_place_is_one_clear_line(recording, tmp_path):
    pytest.importorskip("pxr.Usd")
    with pytest.raises(InputError, match="cannot write") as caught:
        export_recording(recording, tmp_path / "none" / "a.usda")
    assert "\n" not in str(caught.value)


def test_without_the_extra_it_says_what_brings_it(recording, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pxr", None)
    with pytest.raises(MissingExtra, match=r"pip install 'vitruvian\[usd\]'"):
        export_recording(recording, tmp_path / "a.usda")
