"""Rows of arrays out of a Zarr 3 directory store that is untrusted input: sizes are bounded, every chunk must be there.

Decoded chunks are kept, the latest of them, since frames are mostly asked for in a row.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np

from vitruvian.world.untrusted import Trouble, check

MOST_BYTES = 8 << 30  # one array read at once
KEPT_BYTES = 128 << 20  # of decoded chunks
MOST_METADATA = 64 << 20  # one zarr.json


class Store:
    """Arrays and their attributes below one folder; whatever is wrong becomes an `InputError` that names the array."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._arrays: dict[str, Any] = {}
        self._blocks: OrderedDict[tuple[str, int], np.ndarray] = OrderedDict()
        self._lock = threading.Lock()

    def metadata(self, at: str) -> dict[str, Any]:
        """Attributes of a group or array."""
        file = self.path / at / "zarr.json"
        with self.trouble(at or "attributes"):
            check(file.stat().st_size <= MOST_METADATA, "metadata too large")
            about = json.loads(file.read_bytes())["attributes"]
            check(isinstance(about, dict), "attributes")
        return about

    def read(
        self,
        at: str,
        start: int = 0,
        stop: int | None = None,
        *,
        shape: tuple[int, ...] | None = None,
        ndim: int | None = None,
    ) -> np.ndarray:
        """Rows start:stop of an array, each of the given shape; every chunk that they lie in must be there."""
        import zarr  # here, because it takes a third of a second

        with self.trouble(at):
            if at not in self._arrays:
                # Metadata is kept, so a recording that grows is seen at the length it had when first asked.
                self._arrays[at] = zarr.open_array(self.path / at, mode="r", zarr_format=3)
            array = self._arrays[at]
            stop = array.shape[0] if stop is None else stop
            check(0 <= start <= stop <= array.shape[0], f"{array.shape[0]} rows, asked for {start} to {stop}")
            check(shape is None or array.shape[1:] == shape, f"shape {array.shape}")
            check(ndim is None or array.ndim == ndim, f"shape {array.shape}")
            check(array.dtype.kind in "fiu", f"type {array.dtype}")
            row_bytes = int(np.prod(array.shape[1:], dtype=object)) * array.dtype.itemsize
            chunk_bytes = int(np.prod(array.chunks, dtype=object)) * array.dtype.itemsize
            check(max(row_bytes * (stop - start), chunk_bytes) <= MOST_BYTES, "too large")
            check(getattr(array, "shards", None) is None, "sharded")
            # One chunk holds whole rows, so that the file of a chunk is there for all of a row or for none of it.
            whole = all(chunk >= side for chunk, side in zip(array.chunks[1:], array.shape[1:], strict=True))
            check(whole, f"chunks {array.chunks} cut rows of shape {array.shape[1:]}")
            rows = array.chunks[0]
            blocks = [self._block(at, array, index, rows) for index in range(start // rows, -(-stop // rows))]
            if not blocks:
                return np.zeros((0, *array.shape[1:]), array.dtype)
            first = start - start // rows * rows
            if len(blocks) == 1:
                return blocks[0][first : first + stop - start]
            return np.concatenate(blocks)[first : first + stop - start]

    def _block(self, at: str, array: Any, index: int, rows: int) -> np.ndarray:
        """One chunk of rows."""
        with self._lock:
            if (at, index) in self._blocks:
                self._blocks.move_to_end((at, index))
                return self._blocks[at, index]
        # Zarr itself would read a chunk that is not there as so many fill values.
        name = array.metadata.encode_chunk_key((index, *(0 for _ in array.shape[1:])))
        check(self.path.joinpath(at, name).is_file(), f"chunk {name} is missing")
        block = np.asarray(array[index * rows : (index + 1) * rows])
        block.flags.writeable = False
        with self._lock:
            self._blocks[at, index] = block
            held = sum(kept.nbytes for kept in self._blocks.values())
            while held > KEPT_BYTES and len(self._blocks) > 1:
                held -= self._blocks.popitem(last=False)[1].nbytes
        return block

    def trouble(self, at: str) -> Trouble:
        return Trouble(self.path, at)

    def close(self) -> None:
        """Forget what was read."""
        self._arrays.clear()
        self._blocks.clear()
