"""Files that somebody else may have made, read whole and within bounds: what goes wrong is one `InputError`.

    data = read_bytes(path, 200_000_000)           an ordinary file (no pipe, no device) of a bounded size
    table = read_json(path, "policy")              its JSON, of bounded size and with a bounded number of values
    text = read_columns(path, 200_000_000)         a table of numbers with a bounded number of fields

A value of JSON may take two bytes in a file and a hundred in memory, so it is the values that are counted, before any
is made: each begins after one of `MARKS`. Data in base64 has none of these, so the buffers of a glTF do not count.
"""

from __future__ import annotations

import csv
import io
import json
import os
import stat
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from vitruvian.errors import InputError

MOST_JSON = 64_000_000  # bytes
MOST_VALUES = 5_000_000  # in JSON
MOST_FIELDS = 10_000_000  # in a table: 50 markers, 200 times a second, for five minutes
MOST_ROWS = 1_000_000
MOST_ARRAYS = 500_000_000  # bytes, unpacked
MARKS = b"{[,:"
BETWEEN = b" ,;\t\n\r\v\f\x1c\x1d\x1e"  # of a table's fields, and what ends a line


def read_bytes(path: Path, most: int, kind: str = "") -> bytes:
    """The bytes of the file at `path`, at most `most` of them; kind: what it should be, for errors."""
    what = f"{kind} file '{path}'".lstrip()
    try:
        # Without O_NONBLOCK the opening of a pipe would wait for a writer.
        with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise InputError(f"{what} is not an ordinary file")
            data = b"" if about.st_size > most else file.read(most + 1)
    except FileNotFoundError:
        raise InputError(f"no {what}") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{what} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if max(len(data), about.st_size) > most:
        raise InputError(f"{what} is larger than {most // 1_000_000} MB")
    return data


def read_json(path: Path, kind: str) -> Any:
    """What the JSON file at `path` says; ValueError or RecursionError if it is none."""
    data = read_bytes(path, MOST_JSON, kind)
    check_values(data, f"{kind} file '{path}'")
    return json.loads(data.decode("utf-8"))


def check_values(text: bytes, what: str, most: int = MOST_VALUES) -> None:
    """InputError if a JSON text may hold more than `most` values."""
    if sum(text.count(mark) for mark in (MARKS[k : k + 1] for k in range(len(MARKS)))) > most:
        raise InputError(f"{what} has more than {most} values")


def read_columns(path: Path, most: int) -> str:
    """The text of a table of numbers with at most `MOST_FIELDS` fields."""
    data = read_bytes(path, most)
    if data.count(b"\n") + data.count(b"\r") > 2 * MOST_ROWS:  # a line may end with both
        raise InputError(f"file '{path}' has more than {MOST_ROWS} lines")
    if len(data) - len(data.translate(None, BETWEEN)) > MOST_FIELDS:
        raise InputError(f"file '{path}' has more than {MOST_FIELDS} fields")
    return data.decode("utf-8", errors="replace")


def csv_rows(path: Path, most: int) -> list[list[str]]:
    """The rows of a file of comma-separated values."""
    try:
        return list(csv.reader(io.StringIO(read_columns(path, most), newline="")))
    except csv.Error as error:
        raise InputError(f"{path.name}: {error}") from None


def read_arrays(path: Path) -> Any:
    """The NPZ archive at `path`, as of `np.load`; it unpacks to a bounded size and holds no Python objects."""
    data = io.BytesIO(read_bytes(path, MOST_ARRAYS))
    try:
        with zipfile.ZipFile(data) as archive:
            size = sum(member.file_size for member in archive.infolist())
    except (zipfile.BadZipFile, ValueError):
        raise InputError(f"'{path}' is no archive of arrays") from None
    if size > MOST_ARRAYS:
        raise InputError(f"'{path}' would unpack to {size} bytes; at most {MOST_ARRAYS}")
    data.seek(0)
    return np.load(data, allow_pickle=False)
