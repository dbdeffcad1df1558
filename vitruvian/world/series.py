"""An array that grows along its first axis, kept as a Zarr 3 array on disk.

Rows gather in memory; a full chunk is written by a thread of its own while the run goes on, an unfinished one when
flushed, which first waits for the former. A chunk that could not be written keeps its array from ever being flushed
again, so that no shape promises it. Chunk files and `zarr.json` are
written here directly, as the Zarr 3 specification lays them down, for two reasons: an append costs microseconds instead
of milliseconds, and a chunk is on disk before the shape says so. A file is replaced by renaming a finished one, so
whenever the process dies, what the shape promises is there. Each chunk carries a checksum (zstd's own).
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
from numcodecs.zstd import Zstd

from vitruvian.world.chunks import layout_of, read_chunk, read_metadata

CHUNK_BYTES = 1 << 20  # aimed at; one row may be larger
MOST_ROWS = 1024  # a chunk of small rows is still flushed whole, so it should not grow without bound
LEVEL = 1  # zstd; moving floats shrink by 4-15 % whatever the effort, so take the cheap one


class Series:
    """Rows of shape `row_shape` (no axis of length 0) and type `dtype`, appended to the Zarr array at `path`."""

    _clean: bool

    def __init__(
        self,
        path: Path,
        row_shape: tuple[int, ...],
        dtype: str,
        *,
        attributes: dict[str, Any] | None = None,
        dimensions: tuple[str, ...] = (),
        most_rows: int = MOST_ROWS,
    ) -> None:
        self.path = path
        self.dtype = np.dtype(dtype).newbyteorder("<")
        row_bytes = max(1, int(np.prod(row_shape, dtype=np.int64))) * self.dtype.itemsize
        rows = int(np.clip(CHUNK_BYTES // row_bytes, 1, most_rows))
        self.meta = _metadata((0, *row_shape), (rows, *row_shape), self.dtype, attributes or {}, dimensions)
        self._begin()
        path.mkdir(parents=True)
        self._write_meta()

    @classmethod
    def reopen(cls, path: Path, length: int) -> Series:
        """Continue the array at `path` after its first `length` rows; later ones are forgotten."""
        series: Series = object.__new__(cls)
        series.path = path
        series.meta = read_metadata(path, "")
        series.dtype = layout_of(series.meta).dtype
        if series.meta["shape"][0] < length:
            raise ValueError(f"{path.name} has {series.meta['shape'][0]} rows where {length} were saved")
        series._begin()
        done, rest = divmod(length, series._rows)
        if rest:
            series._buffer[:rest] = series._read_chunk(done)[:rest]
        series._chunk, series._filled, series._clean = done, rest, False
        return series

    @property
    def length(self) -> int:
        """Rows appended so far, whether flushed or not."""
        return self._chunk * self._rows + self._filled

    @property
    def row_shape(self) -> tuple[int, ...]:
        return self._row_shape

    def row(self, index: int) -> np.ndarray:
        """One row, from memory where it is still there."""
        chunk, rest = divmod(index, self._rows)
        return (self._buffer if chunk == self._chunk else self._read_chunk(chunk))[rest]

    def append(self, row: Any) -> None:
        """Add one row."""
        self._buffer[self._filled] = row
        self._advance(1)

    def extend(self, rows: np.ndarray) -> None:
        """Add many rows, shape (n, *row_shape)."""
        start = 0
        while start < len(rows):
            count = min(len(rows) - start, self._rows - self._filled)
            self._buffer[self._filled : self._filled + count] = rows[start : start + count]
            start += count
            self._advance(count)

    def flush(self) -> None:
        """Put all rows on disk, then the shape."""
        if self._clean:
            return
        self._settle()
        if self._filled:
            self._write(self._buffer)
        self.meta["shape"][0] = self.length
        self._write_meta()
        self._clean = True

    def drop_later_chunks(self) -> None:
        """Delete chunk files beyond the present length (after `reopen` and `flush`)."""
        first = self._chunk + (self._filled > 0)
        folder = self.path / "c"
        for entry in folder.iterdir() if folder.is_dir() else ():
            if entry.name.isdigit() and int(entry.name) >= first:
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()

    def _begin(self) -> None:
        shape = tuple(self.meta["chunk_grid"]["configuration"]["chunk_shape"])
        self._rows, self._row_shape = shape[0], shape[1:]
        self._codec = Zstd(level=LEVEL, checksum=True)
        self._buffer = np.zeros(shape, self.dtype)
        self._chunk = self._filled = 0
        self._clean = True  # nothing to flush
        self._writing: Thread | None = None
        self._failed: BaseException | None = None

    def _advance(self, count: int) -> None:
        self._filled += count
        self._clean = False
        if self._filled == self._rows:
            self._settle()
            self._writing = Thread(target=self._write_aside, args=(self._chunk, self._buffer))
            self._writing.start()
            self._buffer = np.zeros_like(self._buffer)
            self._chunk += 1
            self._filled = 0

    def _settle(self) -> None:
        """Wait until the chunk that is being written is on disk."""
        if self._writing is not None:
            self._writing.join()
            self._writing = None
        if self._failed is not None:
            raise self._failed

    def _chunk_file(self, index: int) -> Path:
        return self.path.joinpath("c", str(index), *("0" for _ in self._row_shape))

    def _write_aside(self, index: int, rows: np.ndarray) -> None:
        try:
            self._write(rows, index)
        except BaseException as error:
            self._failed = error

    def _write(self, rows: np.ndarray, index: int | None = None) -> None:
        """Write a chunk, the present one without an index."""
        file = self._chunk_file(self._chunk if index is None else index)
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, self._codec.encode(rows))

    def _read_chunk(self, index: int) -> np.ndarray:
        self._settle()
        return read_chunk(self.path, "", layout_of(self.meta), index)

    def _write_meta(self) -> None:
        write_whole(self.path / "zarr.json", json.dumps(self.meta).encode())


def write_array(
    path: Path, array: np.ndarray, attributes: dict[str, Any] | None = None, dimensions: tuple[str, ...] = ()
) -> None:
    """Write an array that will not change."""
    array = np.asarray(array)
    rows = max(1, len(array))
    series = Series(
        path, array.shape[1:], array.dtype.str, attributes=attributes, dimensions=dimensions, most_rows=rows
    )
    series.extend(array)
    series.flush()


def write_group(path: Path, attributes: dict[str, Any]) -> None:
    """Make a Zarr group, or give an existing one other attributes."""
    path.mkdir(parents=True, exist_ok=True)
    meta = {"zarr_format": 3, "node_type": "group", "attributes": attributes}
    write_whole(path / "zarr.json", json.dumps(meta, indent=1).encode())


def write_whole(path: Path, data: bytes | memoryview, *, sync: bool = False) -> None:
    """Replace a file by one with this content, or leave it as it was. With `sync` it survives a power cut."""
    partial = path.with_name(f".{path.name}.partial")
    try:
        with open(partial, "wb") as file:
            file.write(data)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        os.replace(partial, path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    if sync:
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _metadata(
    shape: tuple[int, ...],
    chunk: tuple[int, ...],
    dtype: np.dtype,
    attributes: dict[str, Any],
    dimensions: tuple[str, ...],
) -> dict[str, Any]:
    meta: dict[str, Any] = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(shape),
        "data_type": dtype.name,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(chunk)}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": "NaN" if dtype.kind == "f" else 0,
        "codecs": [
            {"name": "bytes", "configuration": {"endian": "little"}},
            {"name": "zstd", "configuration": {"level": LEVEL, "checksum": True}},
        ],
        "attributes": attributes,
    }
    if dimensions:
        meta["dimension_names"] = list(dimensions)
    return meta
