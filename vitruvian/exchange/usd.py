"""Recordings as Universal Scene Description: time-sampled transforms, meshes, curves and points.

z is up, one unit is one metre, and time codes are frames, `timeCodesPerSecond` of them in a second. Values on surfaces
and lines (activation, speed) are primvars of their own name.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from vitruvian.errors import MissingExtra
from vitruvian.world import Stage

Array = np.ndarray


def write_usd(recording: Any, out: str | Path, progress: Callable[[float, float], None] | None = None) -> None:
    """Write a recording (anything with `stage`, `time`, `frame(i)`) as .usda text or .usd/.usdc binary."""
    try:
        from pxr import Tf, Usd
    except ImportError:
        raise MissingExtra("usd-core", "pip install 'vitruvian[usd]'") from None
    try:
        _write(recording, Path(out), progress, Usd)
    except Tf.ErrorException as error:
        # Tf's own text runs over many lines; the first says what could not be done.
        raise OSError(str(error).strip().splitlines()[-1].strip()[:200]) from error


def _write(recording: Any, out: Path, progress: Callable[[float, float], None] | None, Usd: Any) -> None:
    from pxr import UsdGeom

    stage: Stage = recording.stage
    time = np.asarray(recording.time, dtype=float)
    rate = round((len(time) - 1) / (time[-1] - time[0]), 6) if len(time) > 1 else 60.0
    with open(out, "wb"):
        pass  # a folder that cannot be written is an ordinary error before USD meets it
    usd = Usd.Stage.CreateNew(str(out))
    UsdGeom.SetStageUpAxis(usd, UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(usd, 1.0)
    usd.SetTimeCodesPerSecond(rate)
    usd.SetFramesPerSecond(rate)
    usd.SetStartTimeCode(0)
    usd.SetEndTimeCode(len(time) - 1)
    scene = UsdGeom.Xform.Define(usd, "/vitruvian")
    usd.SetDefaultPrim(scene.GetPrim())
    parts = _Parts(usd, stage)
    for i in range(len(time)):
        parts.sample(i, recording.frame(i))
        if progress:
            progress(i + 1, len(time))
    usd.GetRootLayer().Save()


class _Parts:
    """The prims of a stage, ready for samples."""

    def __init__(self, usd: Any, stage: Stage) -> None:
        from pxr import UsdGeom

        self.usd, self.stage = usd, stage
        self.taken: set[str] = set()
        paths, self.bodies = {"": "/vitruvian"}, []
        for body in stage.bodies:
            paths[body] = self._path("/vitruvian", body)
            node = UsdGeom.Xform.Define(usd, paths[body])
            self.bodies.append(
                (
                    node.AddTranslateOp(UsdGeom.XformOp.PrecisionDouble),
                    node.AddOrientOp(UsdGeom.XformOp.PrecisionDouble),
                )
            )
        for mesh in stage.meshes:
            prim = UsdGeom.Mesh.Define(usd, self._path(paths[mesh.body], mesh.name))
            prim.CreatePointsAttr(_vectors(mesh.vertices))
            _set_faces(prim, np.asarray(mesh.faces))
            self._paint(prim, mesh.colour, mesh.opacity)
        self.surfaces, self.lines, self.points, self.values = {}, {}, {}, {}
        for surface in stage.surfaces:
            prim = UsdGeom.Mesh.Define(usd, self._path("/vitruvian", surface.name))
            if surface.faces is not None:
                _set_faces(prim, np.asarray(surface.faces))
            self._paint(prim, surface.colour, surface.opacity)
            self.surfaces[surface.name] = prim
            if surface.value:
                self.values[surface.name] = self._primvar(prim, surface.value, UsdGeom.Tokens.vertex)
        for lines in stage.lines:
            prim = UsdGeom.BasisCurves.Define(usd, self._path("/vitruvian", lines.name))
            prim.CreateTypeAttr(UsdGeom.Tokens.linear)
            prim.CreateCurveVertexCountsAttr(_integers(np.diff(lines.offsets)))
            prim.CreateWidthsAttr(_numbers(2.0 * np.asarray(lines.radius)))
            prim.SetWidthsInterpolation(UsdGeom.Tokens.uniform)
            self._paint(prim, lines.colour, lines.opacity)
            self.lines[lines.name] = prim
            if lines.value:
                self.values[lines.name] = self._primvar(prim, lines.value, UsdGeom.Tokens.uniform)
        for points in stage.points:
            prim = UsdGeom.Points.Define(usd, self._path("/vitruvian", points.name))
            self._paint(prim, points.colour, 1.0)
            self.points[points.name] = (prim, 2.0 * points.radius)

    def sample(self, i: int, frame: Any) -> None:
        from pxr import Gf

        for (move, turn), pose in zip(self.bodies, np.asarray(frame.poses).tolist(), strict=True):
            move.Set(Gf.Vec3d(*pose[:3]), i)
            turn.Set(Gf.Quatd(*pose[3:]), i)
        for name, prim in self.surfaces.items():
            shown = frame.surfaces[name]
            prim.CreatePointsAttr().Set(_vectors(shown.vertices), i)
            if shown.faces is not None:
                _set_faces(prim, shown.faces, i)
            if name in self.values:
                self.values[name].Set(_numbers(shown.values), i)
        for name, prim in self.lines.items():
            prim.CreatePointsAttr().Set(_vectors(frame.lines[name].points), i)
            if name in self.values:
                self.values[name].Set(_numbers(frame.lines[name].values), i)
        for name, (prim, width) in self.points.items():
            prim.CreatePointsAttr().Set(_vectors(frame.points[name]), i)
            prim.CreateWidthsAttr().Set(_numbers(np.full(len(frame.points[name]), width)), i)

    def _path(self, parent: str, name: str) -> str:
        """A path that USD allows, different from all others."""
        from pxr import Tf

        word = path = f"{parent}/{Tf.MakeValidIdentifier(name)}"
        count = 1
        while path in self.taken:
            count += 1
            path = f"{word}_{count}"
        self.taken.add(path)
        return path

    @staticmethod
    def _paint(prim: Any, colour: tuple[float, float, float], opacity: float) -> None:
        from pxr import Gf, Vt

        prim.CreateDisplayColorAttr(Vt.Vec3fArray([Gf.Vec3f(*colour)]))
        prim.CreateDisplayOpacityAttr(Vt.FloatArray([opacity]))
        if hasattr(prim, "CreateSubdivisionSchemeAttr"):
            prim.CreateSubdivisionSchemeAttr("none")
            prim.CreateDoubleSidedAttr(True)

    @staticmethod
    def _primvar(prim: Any, name: str, interpolation: Any) -> Any:
        from pxr import Sdf, Tf, UsdGeom

        word = Tf.MakeValidIdentifier(name)
        return UsdGeom.PrimvarsAPI(prim).CreatePrimvar(word, Sdf.ValueTypeNames.FloatArray, interpolation)


def _set_faces(prim: Any, faces: Array, i: int | None = None) -> None:
    when = () if i is None else (i,)
    prim.CreateFaceVertexCountsAttr().Set(_integers(np.full(len(faces), 3)), *when)
    prim.CreateFaceVertexIndicesAttr().Set(_integers(faces.ravel()), *when)


def _vectors(array: Array) -> Any:
    from pxr import Vt

    return Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(array, dtype=np.float32).reshape(-1, 3))


def _numbers(array: Array) -> Any:
    from pxr import Vt

    return Vt.FloatArray.FromNumpy(np.ascontiguousarray(array, dtype=np.float32))


def _integers(array: Array) -> Any:
    from pxr import Vt

    return Vt.IntArray.FromNumpy(np.ascontiguousarray(array, dtype=np.int32))
