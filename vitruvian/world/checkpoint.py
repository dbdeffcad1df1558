"""Checkpoints: everything that a run needs to go on, in one file that is either whole or absent.

An NPZ archive without pickle. Arrays of the simulation's and the controller's state are members by name; the numbers,
the random generator and the counts are one JSON member. The file is written beside the old one, flushed to the disk and
renamed over it. Members are not packed, so that what is read into memory is no larger than the file, and the file no
larger than a state of this simulation may be.
"""

from __future__ import annotations

import io
import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from vitruvian.errors import InputError
from vitruvian.world.chunks import read_file
from vitruvian.world.series import Series, write_whole
from vitruvian.world.state import flatten_state, unflatten_state
from vitruvian.world.untrusted import check
from vitruvian.world.world import World

FOLDER = "checkpoint"
LEAST_LIMIT = 256 << 20  # bytes that any checkpoint may have
GROWTH = 4  # a state may grow to this many times the size that it starts with: spray, contacts


# What reading bytes that are no checkpoint may raise.
DAMAGE = (
    *(ValueError, LookupError, TypeError, AttributeError, ArithmeticError, OSError, EOFError, MemoryError),
    *(RecursionError, NotImplementedError, RuntimeError, zipfile.BadZipFile, struct.error),
)


def save_checkpoint(recording: Path, world: World, frames: int) -> None:
    """Save `world` into the folder of its recording, which holds `frames` flushed frames."""
    arrays: dict[str, np.ndarray] = {}
    plain: dict[str, Any] = {}
    for part, state in (("simulation", world.state), ("controller", world.own)):
        for name, leaf in flatten_state(state).items():
            (arrays if isinstance(leaf, np.ndarray) else plain)[f"{part}:{name}"] = leaf
    about = {
        "plain": plain,
        "rng": world.rng.bit_generator.state,
        "step_index": world.step_index,
        "retried": world.retried,
        "frames": frames,
    }
    arrays["about"] = np.frombuffer(json.dumps(about).encode(), np.uint8)
    folder = recording / FOLDER
    if not folder.exists():
        # A Zarr array of no elements, so that readers of the store meet a node that they know.
        Series(folder, (), "u1", attributes={"holds": "state.npz, from which the run can be resumed"})
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    write_whole(folder / "state.npz", buffer.getbuffer(), sync=True)


def has_checkpoint(recording: Path) -> bool:
    """Whether a run got as far as saving itself."""
    return (recording / FOLDER / "state.npz").is_file()


def load_checkpoint(recording: Path, world: World) -> int:
    """Put `world` where the checkpoint says; returns the number of frames that belong to it."""
    file = recording / FOLDER / "state.npz"
    if not has_checkpoint(recording):
        raise InputError(f"{recording} has no checkpoint, so it cannot be resumed")
    world.start()
    try:
        begun = {f"simulation:{name}": leaf for name, leaf in flatten_state(world.state).items()}
        begun |= {f"controller:{name}": leaf for name, leaf in flatten_state(world.own).items()}
        arrays = {name: leaf for name, leaf in begun.items() if isinstance(leaf, np.ndarray)}
        most = LEAST_LIMIT + GROWTH * sum(leaf.nbytes for leaf in arrays.values())
        leaves = _members(read_file(recording, f"{FOLDER}/{file.name}", most))
        for name, leaf in arrays.items():
            kept = leaves.get(name, leaf)
            check(kept.dtype == leaf.dtype and kept.ndim == leaf.ndim, f"{name} is of another kind")
        about = json.loads(leaves.pop("about").tobytes())
        leaves |= about["plain"]
        state, own = (
            unflatten_state(template, {n.split(":", 1)[1]: v for n, v in leaves.items() if n.startswith(f"{part}:")})
            for part, template in (("simulation", world.state), ("controller", world.own))
        )
        world.rng.bit_generator.state = about["rng"]
        world.state, world.own = state, own
        world.step_index, world.retried = int(about["step_index"]), int(about["retried"])
        frames = int(about["frames"])
        if frames != world.step_index // world.substeps + 1:
            raise ValueError(f"{frames} frames do not belong to step {world.step_index}")
        return frames
    except DAMAGE as error:
        raise InputError(f"the checkpoint of {recording} is damaged: {' '.join(str(error).split())[:200]}") from error


def _members(data: bytes) -> dict[str, Any]:
    """Arrays of an NPZ archive by name; none is larger than the bytes that stand for it."""
    leaves: dict[str, Any] = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        check(sum(member.file_size for member in members) <= len(data), "members that are larger than the file")
        for member in members:
            check(member.compress_type == zipfile.ZIP_STORED, f"{member.filename:.40} is packed")
            content = io.BytesIO(archive.read(member))
            version = np.lib.format.read_magic(content)
            read_header = {
                (1, 0): np.lib.format.read_array_header_1_0,
                (2, 0): np.lib.format.read_array_header_2_0,
            }[version]
            shape, fortran, dtype = read_header(content)
            check(not dtype.hasobject, f"{member.filename:.40} holds Python objects")
            size = int(np.prod(shape, dtype=object)) * dtype.itemsize
            check(size == len(content.getbuffer()) - content.tell(), f"{member.filename:.40} has another size")
            flat = np.frombuffer(content.read(), dtype) if dtype.itemsize else np.zeros(0, dtype)
            name = member.filename.removesuffix(".npy")
            leaves[name] = flat.reshape(shape, order="F" if fortran else "C").copy()
    return leaves
