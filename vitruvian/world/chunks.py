"""Files and chunks of a Zarr 3 array that somebody else may have written, read within bounds.

Only what `world.series` writes is read: a regular grid of chunks, little-endian numbers, plain or zstd. A file is read
when it is an ordinary file inside the recording (no link, pipe or device) of a bounded size. A chunk is decoded when
the length that its zstd frame tells (RFC 8878, 3.1.1.1) is the length of a chunk, so that memory is known before.
"""

from __future__ import annotations

import json
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numcodecs.zstd import Zstd

from vitruvian.world.untrusted import check

MOST_METADATA = 16 << 20  # bytes of one zarr.json
MOST_ROW = 256 << 20  # bytes of one row of an array
MOST_CHUNK = 16 << 20  # bytes of one chunk, unless it holds a single larger row
MOST_AXES = 4
NUMBERS = re.compile(r"float(32|64)|u?int(8|16|32|64)")
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


@dataclass(frozen=True)
class Layout:
    """How an array lies on disk."""

    shape: tuple[int, ...]
    chunk: tuple[int, ...]  # whole rows: (rows, *shape[1:])
    dtype: np.dtype
    packed: bool  # chunks are zstd frames

    @property
    def row_bytes(self) -> int:
        return int(np.prod(self.shape[1:], dtype=object)) * self.dtype.itemsize

    @property
    def chunk_bytes(self) -> int:
        return int(np.prod(self.chunk, dtype=object)) * self.dtype.itemsize


def read_file(root: Path, at: str, most: int) -> bytes:
    """The bytes of the ordinary file `at` inside the folder `root`, at most `most` of them; else ValueError."""
    name = os.path.basename(at)
    file = os.path.join(os.path.realpath(root), *at.split("/"))
    check(os.path.realpath(file) == file, f"{name} is a link")
    # Without O_NONBLOCK the opening of a pipe would wait for a writer.
    with os.fdopen(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as open_file:
        about = os.fstat(open_file.fileno())
        check(stat.S_ISREG(about.st_mode), f"{name} is not an ordinary file")
        check(about.st_size <= most, f"{name} is too large ({about.st_size} bytes)")
        return open_file.read(most)


def read_metadata(root: Path, at: str) -> dict[str, Any]:
    """The contents of the zarr.json of a group or an array."""
    meta = json.loads(read_file(root, f"{at}/zarr.json" if at else "zarr.json", MOST_METADATA))
    check(isinstance(meta, dict) and isinstance(meta.get("attributes", {}), dict), "attributes")
    return meta


def layout_of(meta: dict[str, Any]) -> Layout:
    """Where the numbers of an array are, checked."""
    check(meta.get("zarr_format") == 3 and meta.get("node_type") == "array", "not a Zarr 3 array")
    check(not meta.get("storage_transformers"), "storage transformers")
    kind = meta["data_type"]
    check(isinstance(kind, str) and bool(NUMBERS.fullmatch(kind)), f"type {str(kind)[:40]}")
    dtype = np.dtype(kind).newbyteorder("<")
    grid, encoding = meta["chunk_grid"], meta["chunk_key_encoding"]
    check(grid["name"] == "regular", f"chunk grid {str(grid['name'])[:40]}")
    separator = encoding.get("configuration", {}).get("separator", "/")
    check(encoding["name"] == "default" and separator == "/", "chunk keys")
    shape, chunk = tuple(meta["shape"]), tuple(grid["configuration"]["chunk_shape"])
    check(1 <= len(shape) == len(chunk) <= MOST_AXES, f"shape {str(shape)[:80]}")
    check(all(type(n) is int and n >= 0 for n in shape) and all(type(n) is int and n > 0 for n in chunk), "shape")
    # One chunk holds whole rows, so that the file of a chunk is there for all of a row or for none of it.
    check(chunk[1:] == shape[1:], f"chunks {chunk} cut rows of shape {shape[1:]}")
    layout = Layout(shape, chunk, dtype, _packed(meta["codecs"], dtype))
    check(layout.row_bytes <= MOST_ROW, f"too large: {layout.row_bytes} bytes in a row")
    check(layout.chunk_bytes <= max(MOST_CHUNK, layout.row_bytes), f"too large: {layout.chunk_bytes} bytes in a chunk")
    return layout


def read_chunk(root: Path, at: str, layout: Layout, index: int) -> np.ndarray:
    """Chunk number `index` of the array `at`, shape layout.chunk."""
    size, name = layout.chunk_bytes, "/".join(["c", str(index), *("0" for _ in layout.shape[1:])])
    try:
        data = read_file(root, f"{at}/{name}" if at else name, size + size // 64 + 1024)
    except (FileNotFoundError, NotADirectoryError):
        raise ValueError(f"chunk {name} is missing") from None
    if not layout.packed:
        check(len(data) == size, f"chunk {name} has {len(data)} bytes where {size} belong")
        return np.frombuffer(data, layout.dtype).reshape(layout.chunk)
    told = zstd_content_size(data)
    check(told == size, f"chunk {name} would unpack to {told} bytes where {size} belong")
    out = np.empty(size, np.uint8)
    Zstd().decode(data, out=out)
    return out.view(layout.dtype).reshape(layout.chunk)


def zstd_content_size(data: bytes) -> int | None:
    """Bytes that the first zstd frame in `data` says it holds; None where it does not say, or is none."""
    if len(data) < 5 or data[:4] != ZSTD_MAGIC:
        return None
    flags = data[4]
    single = flags >> 5 & 1
    start = 5 + (1 - single) + (0, 1, 2, 4)[flags & 3]
    width = (single, 2, 4, 8)[flags >> 6]
    if width == 0 or len(data) < start + width:
        return None
    return int.from_bytes(data[start : start + width], "little") + (256 if width == 2 else 0)


def _packed(codecs: Any, dtype: np.dtype) -> bool:
    names = [codec["name"] for codec in codecs]
    check(names in (["bytes"], ["bytes", "zstd"]), f"codecs {str(names)[:80]}")
    endian = codecs[0].get("configuration", {}).get("endian", "little" if dtype.itemsize == 1 else None)
    check(endian == "little", f"byte order {str(endian)[:40]}")
    return len(names) == 2
