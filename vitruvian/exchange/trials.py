"""Any measured file as a trial: C3D, TRC (with a MOT file of forces), markers as CSV, BVH, clips.

A BVH file names joints but no unit of length: its figure is taken to be as tall as the caller says, else as our body.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from vitruvian.anatomy.scaling import STATURE
from vitruvian.errors import InputError
from vitruvian.exchange.bvh import BODY_MAP, TRUNK_MAP, Y_UP, Bvh, read_bvh
from vitruvian.exchange.c3d import UPWARD, read_c3d
from vitruvian.exchange.clip import read_clip
from vitruvian.exchange.marker_csv import is_marker_csv, read_marker_csv
from vitruvian.exchange.trc import read_trc, with_forces
from vitruvian.measured import Segments, Trial

Array = np.ndarray
LEG = 0.5002  # thigh and shank of our body in parts of its height
KINDS = {".c3d": "C3D", ".trc": "TRC", ".bvh": "BVH", ".csv": "markers or a clip"}
TRUNK = {"root": "Pel", "chest": "T1", "head": "Sku"}
FAR = {"Fe": "Tfp", "Tfp": "Fo", "Hu": "Ul", "Ul": "Ha"}


def read_trial(
    path: str | Path, *, forces: str | Path | None = None, up: str | None = None, height: float | None = None
) -> Trial:
    """A measured file by its ending, or one of the package's own clips by name ("walk", "run").

    forces: a MOT or STO file of ground forces; up: the file's axis that points up, by default z for C3D and CSV, y for
    TRC and MOT (BVH files and clips have y up); height [m]: of a BVH file's figure."""
    path = Path(path) if Path(path).is_file() else own_clips().get(str(path), Path(path))
    for file in (path, *((Path(forces),) if forces else ())):
        if not file.is_file():
            raise InputError(f"no file '{file}', nor a clip of that name ({', '.join(own_clips())})")
    kind = path.suffix.lower()
    if kind in (".mot", ".sto"):
        raise InputError(f"'{path.name}' holds columns over time, no markers: give the TRC file, and this as --forces")
    if kind not in KINDS:
        raise InputError(f"'{path.name}': known endings are {', '.join(KINDS)} (and .mot for --forces)")
    if up is not None and up not in UPWARD:
        raise InputError(f"up must be one of {', '.join(UPWARD)}, got '{up}'")
    if up is not None and (kind == ".bvh" or (kind == ".csv" and not is_marker_csv(path))):
        raise InputError(f"'{path.name}': up is for files with markers; BVH files and clips have y up")
    if kind == ".c3d":
        trial = read_c3d(path, up or "z")
    elif kind == ".trc":
        trial = read_trc(path, up or "y")
    elif kind == ".bvh":
        trial = bvh_trial(read_bvh(path), path.name, height)
    elif is_marker_csv(path):
        trial = read_marker_csv(path, up or "z")
    else:
        trial = read_clip(path)
    return trial if forces is None else with_forces(trial, forces, up or "y")


def own_clips() -> dict[str, Path]:
    """The package's own clips by name."""
    folder = Path(str(files("vitruvian.measured") / "clips"))
    return {file.stem: file for file in sorted(folder.glob("*.csv"))}


def bvh_trial(bvh: Bvh, name: str, height: float | None = None, axes: Array = Y_UP) -> Trial:
    """A BVH figure as orientations and joints, its rest pose being a T pose as ours is."""
    turn, place = _figure(bvh)
    R = Rotation.from_matrix(axes)
    names = {bone: next((w for w in words if w in bvh.names), None) for bone, words in BODY_MAP.items()}
    for word, bone in TRUNK.items():
        names[bone] = next((w for w in TRUNK_MAP[word] if w in bvh.names), None)
    found = {bone: bvh.names.index(w) for bone, w in names.items() if w is not None}
    if "Pel" not in found:
        found["Pel"] = 0
    legs = [(f"{a}_{x}", f"{b}_{x}") for x in "lr" for a, b in (("Fe", "Tfp"), ("Tfp", "Fo"))]
    if not all(b in found for pair in legs for b in pair):
        lacking = sorted({b for pair in legs for b in pair} - set(found))
        raise InputError(f"{name}: has no joint for {', '.join(lacking)}; its joints are {', '.join(bvh.names[:40])}")
    length = float(np.mean([np.linalg.norm(bvh.offset[found[b]]) for _, b in legs])) * 2.0
    if not length > 0.0:
        raise InputError(f"{name}: its legs have no length")
    tall = height or STATURE
    metre = LEG * tall / length
    along = {}
    for bone, joint in found.items():
        far = f"{FAR.get(bone[:-2], '')}{bone[-2:]}"
        if far in found and bvh.parent[found[far]] == joint:
            along[bone] = axes @ bvh.offset[found[far]] / np.linalg.norm(bvh.offset[found[far]])
    turns = {bone: (R * turn[j] * R.inv()).as_matrix() for bone, j in found.items() if not bone.startswith("Ha")}
    joints = {
        bone: metre * place[j] @ axes.T for bone, j in found.items() if bone[:2] in ("Fe", "Tf", "Fo", "Hu", "Ul", "Ha")
    }
    time = np.arange(len(bvh.frames)) * bvh.frame_time
    told = f"a BVH file has no unit of length: its figure is taken to be {tall:.3g} m tall"
    return Trial(name, "BVH", time, segments=Segments(turns, joints, along), remarks=(told,))


def _figure(bvh: Bvh) -> tuple[list[Rotation], list[Array]]:
    """World rotation and place of every joint, in the file's axes and unit, f frames each."""
    local, frames = bvh.rotations(), len(bvh.frames)
    turn: list[Rotation] = []
    place: list[Array] = []
    for i, name in enumerate(bvh.names):
        own = local.get(name, Rotation.identity(frames))
        parent = int(bvh.parent[i])
        if parent < 0:
            turn.append(own)
            place.append(bvh.root_positions())
        else:
            turn.append(turn[parent] * own)
            place.append(place[parent] + turn[parent].apply(bvh.offset[i]))
    return turn, place
