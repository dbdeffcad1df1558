"""C3D files of motion laboratories: markers and force plates in SI units, through the library ezc3d.

Lengths come in the unit that the file says (POINT:UNITS); a file that says none, or one we do not know, is refused.
Points that are a model's output (angles, moments) are left out by the file's own lists. A marker that was not seen is
NaN. Plates give the force on the subject and its moment about the world's origin. Files are untrusted: the library
works in a process of its own (`c3d_worker`), which may crash or be ended without harm.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np

from vitruvian.errors import InputError, MissingExtra
from vitruvian.given_file import read_bytes
from vitruvian.measured import ForcePlate, Trial, seen_only

Array = np.ndarray
MOST_BYTES = 500_000_000
LONGEST = 60.0  # [s] that reading may take
MOST_DECLARED = 65535  # frames that a header of 16 bits can declare; longer files say so elsewhere
METRES = {"mm": 1e-3, "cm": 1e-2, "dm": 0.1, "m": 1.0, "in": 0.0254}
NEWTON_METRES = {"nmm": 1e-3, "ncm": 1e-2, "nm": 1.0}
UPWARD = {  # file's axes -> ours, +z up; a turn, never a mirror
    "z": np.eye(3),
    "y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
    "x": np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
}
MAGIC = 0x50  # second byte of every C3D file
BIG_ENDIAN = b"V"  # fourth byte of the parameters, where numbers are stored that way round
TOUCHED = 20.0  # [N] above which a plate is loaded


def read_c3d(path: str | Path, up: str = "z") -> Trial:
    """Read and check a C3D file; up: the file's axis that points up."""
    path = Path(path)
    data = read_bytes(path, MOST_BYTES, "C3D")
    head = data[:512]
    if len(head) < 512 or head[1] != MAGIC:
        raise InputError(f"{path.name}: not a C3D file")
    place = 512 * max(head[0] - 1, 0) + 3  # where the parameters say how numbers are stored
    order: Literal["little", "big"] = "big" if data[place : place + 1] == BIG_ENDIAN else "little"
    first, last = (int.from_bytes(head[k : k + 2], order) for k in (6, 8))
    declared = last - first + 1  # the library tells how many it found
    about, arrays = _read(path)
    axes, metre, rate, points = UPWARD[up], _unit(about, path.name), float(about["rate"]), arrays["points"]
    if points.ndim != 3 or not (np.isfinite(rate) and rate > 0.0) or points.shape[2] < 3 or points.shape[1] == 0:
        raise InputError(f"{path.name}: has {points.shape[1]} markers in {points.shape[2]} frames at {rate:g} a second")
    if points.shape[2] < declared < MOST_DECLARED:
        raise InputError(f"{path.name}: is cut off: it has {points.shape[2]} of the {declared} frames that it declares")
    remarks = [f"lengths in {about['unit'][0]} by the file"]
    markers = _markers(about, metre * np.einsum("ij,jmf->mfi", axes, points), remarks)
    markers = seen_only(markers, remarks)
    if not markers:
        raise InputError(f"{path.name}: has no marker with a name")
    time = np.arange(points.shape[2]) / rate
    plates = [_plate(k, units, arrays, axes, time, path.name) for k, units in enumerate(about["plates"])]
    return Trial(path.name, "C3D", time, markers, plates=plates, remarks=remarks)


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Array]]:
    """What the library finds, in a process that may fail."""
    if find_spec("ezc3d") is None:
        raise MissingExtra("ezc3d", "pip install ezc3d")
    with TemporaryDirectory() as folder:
        out = Path(folder) / "c3d.npz"
        command = [sys.executable, str(Path(__file__).with_name("c3d_worker.py")), str(path), str(out)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST)
        except subprocess.TimeoutExpired:
            raise InputError(f"{path.name}: damaged; it could not be read in {LONGEST:g} s") from None
        if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            raise InputError(f"{path.name}: damaged; it could not be read in the time that a file of its size takes")
        if done.returncode or not out.is_file():
            said = done.stderr.strip().splitlines()[-1:] or ["the reader crashed"]
            raise InputError(
                f"{path.name}: damaged or no C3D file: {said[0][:200] if done.returncode > 0 else said[-1]}"
            )
        with np.load(out, allow_pickle=False) as found:
            arrays = {name: found[name] for name in found.files}
    about = json.loads(str(arrays.pop("about")))
    if about["trouble"] and about["plates_used"]:
        raise InputError(f"{path.name}: its force plates cannot be read: {' '.join(about['trouble'].split())[:200]}")
    return about, arrays


def _markers(about: dict[str, Any], places: Array, remarks: list[str]) -> dict[str, Array]:
    labels, made = about["labels"], set(about["outputs"])
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


def _plate(k: int, units: list[str], arrays: dict[str, Array], axes: Array, time: Array, what: str) -> ForcePlate:
    metre, turn = METRES.get(units[2].lower()), NEWTON_METRES.get(units[1].lower())
    if metre is None or turn is None or units[0].upper() != "N":
        raise InputError(f"{what}: force plate {k + 1} has units that are not known ({', '.join(units)})")
    force = axes @ arrays[f"force{k}"]
    # moments are about the middle of the plate's corners
    middle = metre * axes @ arrays[f"corners{k}"].mean(axis=1)
    moment = turn * axes @ arrays[f"moment{k}"] + np.cross(middle, force.T).T
    count = force.shape[1]
    if count < 2 or not (np.isfinite(force).all() and np.isfinite(moment).all()):
        raise InputError(f"{what}: force plate {k + 1} has no readings, or some that are not finite")
    loaded = np.abs(force[2]) > TOUCHED
    if loaded.any() and force[2, loaded].mean() < 0.0:  # the subject's force on the plate: the ground's is its opposite
        force, moment = -force, -moment
    step = (time[1] - time[0]) * len(time) / count
    return ForcePlate(str(k + 1), np.arange(count) * step, force.T.copy(), moment.T.copy())


def _unit(about: dict[str, Any], what: str) -> float:
    word = about["unit"][0] if about["unit"] else ""
    if word.lower() not in METRES:
        said = f"the unit '{word}'" if word else "no unit of length (POINT:UNITS)"
        raise InputError(f"{what}: says {said}; known: {', '.join(METRES)}")
    return METRES[word.lower()]
