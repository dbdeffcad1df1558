"""C3D files of motion laboratories: markers and force plates in SI units, through the library ezc3d.

Lengths come in the unit that the file says (POINT:UNITS); a file that says none, or one we do not know, is refused.
Points that are a model's output (angles, moments) are left out by the file's own lists. A marker that was not seen is
NaN. Plates give the force on the subject and its moment about the world's origin.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from vitruvian.errors import InputError, MissingExtra
from vitruvian.measured import ForcePlate, Trial

Array = np.ndarray
MOST_BYTES = 500_000_000
METRES = {"mm": 1e-3, "cm": 1e-2, "dm": 0.1, "m": 1.0, "in": 0.0254}
NEWTON_METRES = {"nmm": 1e-3, "ncm": 1e-2, "nm": 1.0}
UPWARD = {  # file's axes -> ours, +z up; a turn, never a mirror
    "z": np.eye(3),
    "y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
    "x": np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
}
OUTPUTS = ("ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS")
MAGIC = 0x50  # second byte of every C3D file
TOUCHED = 20.0  # [N] above which a plate is loaded


def read_c3d(path: str | Path, up: str = "z") -> Trial:
    """Read and check a C3D file; up: the file's axis that points up."""
    path = Path(path)
    if path.stat().st_size > MOST_BYTES:
        raise InputError(f"'{path.name}' is larger than {MOST_BYTES // 1_000_000} MB")
    with path.open("rb") as file:
        head = file.read(512)
    if len(head) < 512 or head[1] != MAGIC:
        raise InputError(f"{path.name}: not a C3D file")
    try:
        import ezc3d
    except ImportError:
        raise MissingExtra("ezc3d", "pip install ezc3d") from None
    try:
        data: Any = ezc3d.c3d(str(path), extract_forceplat_data=True)
    except Exception as error:
        try:  # a plate that cannot be read shall not hide the markers' own fault
            data = ezc3d.c3d(str(path))
        except Exception:
            raise InputError(f"{path.name}: cannot be read: {' '.join(str(error).split())[:200]}") from None
        if _count(data, "FORCE_PLATFORM", "USED"):
            raise InputError(
                f"{path.name}: its force plates cannot be read: {' '.join(str(error).split())[:200]}"
            ) from None
    axes = _axes(up)
    metre = _unit(data, path.name)
    rate = float(data["header"]["points"]["frame_rate"])
    points = np.asarray(data["data"]["points"], dtype=float)[:3]
    if not rate > 0.0 or points.shape[2] < 3 or points.shape[1] == 0:
        raise InputError(f"{path.name}: has {points.shape[1]} markers in {points.shape[2]} frames at {rate:g} a second")
    remarks = [f"lengths in {_word(data)} by the file"]
    markers = _markers(data, metre * np.einsum("ij,jmf->mfi", axes, points), remarks)
    time = np.arange(points.shape[2]) / rate
    plates = [_plate(k, plate, axes, time, path.name) for k, plate in enumerate(data["data"].get("platform", []), 1)]
    return Trial(path.name, "C3D", time, markers, plates=plates, remarks=remarks)


def _markers(data: Any, places: Array, remarks: list[str]) -> dict[str, Array]:
    labels = [str(w).strip() for w in data["parameters"]["POINT"]["LABELS"]["value"]]
    labels += [str(w).strip() for w in data["parameters"]["POINT"].get("LABELS2", {"value": []})["value"]]
    made = {
        str(w).strip() for kind in OUTPUTS for w in data["parameters"]["POINT"].get(kind, {"value": []})["value"] or []
    }
    out: dict[str, Array] = {}
    unnamed = 0
    for k in range(len(places)):
        name = labels[k] if k < len(labels) else ""
        if not name or name.startswith("*"):
            unnamed += 1
        elif name not in made:
            out[name] = places[k]
    if unnamed:
        remarks.append(f"{unnamed} markers without a name left out")
    if made & set(labels):
        remarks.append(f"{len(made & set(labels))} outputs of a model left out")
    return out


def _plate(number: int, plate: Any, axes: Array, time: Array, what: str) -> ForcePlate:
    metre = METRES.get(str(plate["unit_position"]).strip().lower())
    turn = NEWTON_METRES.get(str(plate["unit_moment"]).strip().lower())
    if metre is None or turn is None or str(plate["unit_force"]).strip().upper() != "N":
        units = f"{plate['unit_force']}, {plate['unit_moment']}, {plate['unit_position']}"
        raise InputError(f"{what}: force plate {number} has units that are not known ({units})")
    force = axes @ np.asarray(plate["force"], dtype=float)
    # moments are about the middle of the plate's corners
    middle = metre * axes @ np.asarray(plate["corners"], dtype=float).mean(axis=1)
    moment = turn * axes @ np.asarray(plate["moment"], dtype=float) + np.cross(middle, force.T).T
    if not (np.isfinite(force).all() and np.isfinite(moment).all()):
        raise InputError(f"{what}: force plate {number} has readings that are not finite")
    loaded = np.abs(force[2]) > TOUCHED
    if loaded.any() and force[2, loaded].mean() < 0.0:  # the subject's force on the plate: the ground's is its opposite
        force, moment = -force, -moment
    count = force.shape[1]
    step = (time[1] - time[0]) * len(time) / count
    return ForcePlate(str(number), np.arange(count) * step, force.T.copy(), moment.T.copy())


def _word(data: Any) -> str:
    found = data["parameters"]["POINT"].get("UNITS", {"value": []})["value"]
    return str(found[0]).strip() if len(found) else ""


def _unit(data: Any, what: str) -> float:
    word = _word(data)
    if word.lower() not in METRES:
        said = f"the unit '{word}'" if word else "no unit of length (POINT:UNITS)"
        raise InputError(f"{what}: says {said}; known: {', '.join(METRES)}")
    return METRES[word.lower()]


def _axes(up: str) -> Array:
    if up not in UPWARD:
        raise InputError(f"up must be one of {', '.join(UPWARD)}, got '{up}'")
    return UPWARD[up]


def _count(data: Any, group: str, name: str) -> int:
    found = data["parameters"].get(group, {}).get(name, {"value": [0]})["value"]
    return int(found[0]) if len(found) else 0
