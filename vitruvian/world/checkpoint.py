"""Checkpoints: everything that a run needs to go on, in one file that is either whole or absent.

An NPZ archive without pickle. Arrays of the simulation's and the controller's state are members by name; the numbers,
the random generator and the counts are one JSON member. The file is written beside the old one, flushed to the disk and
renamed over it.
"""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from vitruvian.errors import InputError
from vitruvian.world.series import Series, write_whole
from vitruvian.world.state import flatten_state, unflatten_state
from vitruvian.world.world import World

FOLDER = "checkpoint"
MOST_BYTES = 64 << 30


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
        with np.load(file, allow_pickle=False) as archive:
            if sum(member.file_size for member in archive.zip.infolist()) > MOST_BYTES:
                raise ValueError("too large")
            leaves: dict[str, Any] = {name: archive[name] for name in archive.files}
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
    except (ValueError, KeyError, TypeError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"the checkpoint of {recording} is damaged: {' '.join(str(error).split())[:200]}") from error
