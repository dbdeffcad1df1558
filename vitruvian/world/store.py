"""Rows of arrays out of a Zarr 3 directory store that is untrusted input: sizes are bounded, every chunk must be there.

Decoded chunks are kept, the latest of them, since frames are mostly asked for in a row.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np

from vitruvian.world.chunks import Layout, layout_of, read_chunk, read_metadata
from vitruvian.world.untrusted import Trouble, check

MOST_BYTES = 1 << 30  # of one array read at once
KEPT_BYTES = 128 << 20  # of decoded chunks


class Store:
    """Arrays and their attributes below one folder; whatever is wrong becomes an `InputError` that names the array."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._arrays: dict[str, Layout] = {}
        self._blocks: OrderedDict[tuple[str, int], np.ndarray] = OrderedDict()
        self._lock = threading.Lock()

    def metadata(self, at: str) -> dict[str, Any]:
        """Attributes of a group or array."""
        with self.trouble(at or "attributes"):
            return read_metadata(self.path, at)["attributes"]

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
        with self.trouble(at):
            if at not in self._arrays:
                # Metadata is kept, so a recording that grows is seen at the length it had when first asked.
                self._arrays[at] = layout_of(read_metadata(self.path, at))
            array = self._arrays[at]
            stop = array.shape[0] if stop is None else stop
            check(0 <= start <= stop <= array.shape[0], f"{array.shape[0]} rows, asked for {start} to {stop}")
            check(shape is None or array.shape[1:] == shape, f"shape {array.shape}")
            check(ndim is None or len(array.shape) == ndim, f"shape {array.shape}")
            check(array.row_bytes * (stop - start) <= MOST_BYTES, "too large")
            rows = array.chunk[0]
            first, last = start // rows, -(-stop // rows)
            if last - first == 1:
                return self._block(at, array, first)[start - first * rows : stop - first * rows]
            if last - first > 1:  # a chunk that is not there is told before room is made for all of them
                self._block(at, array, last - 1)
            out = np.empty((stop - start, *array.shape[1:]), array.dtype)
            for index in range(first, last):
                low, high = max(start, index * rows), min(stop, (index + 1) * rows)
                out[low - start : high - start] = self._block(at, array, index)[
                    low - index * rows : high - index * rows
                ]
            return out

    def _block(self, at: str, array: Layout, index: int) -> np.ndarray:
        """One chunk of rows."""
        with self._lock:
            if (at, index) in self._blocks:
                self._blocks.move_to_end((at, index))
                return self._blocks[at, index]
        block = read_chunk(self.path, at, array, index)
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
