"""Files that a stranger's mesh file names: read only where they lie beside it.

A glTF or OBJ file may name others (buffers, materials, pictures) by any path. Here only the last part of that path
counts, and what is found must be an ordinary file of a bounded size: no link, no pipe, no device.
"""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

from vitruvian.errors import InputError
from vitruvian.given_file import read_bytes


def read_beside(file: Path, name: str, most: int) -> bytes:
    """The bytes of the file that `file` calls `name`, at most `most` of them."""
    found = file.parent / Path(str(name)).name
    try:
        about = found.lstat()
    except (OSError, ValueError):
        raise InputError(f"'{file.name}' needs '{name:.80}' beside it") from None
    if not stat.S_ISREG(about.st_mode):
        raise InputError(f"'{file.name}' needs '{name:.80}', which is not an ordinary file")
    if about.st_size > most:
        raise InputError(f"'{found.name}' is larger than {most // 1_000_000} MB")
    return read_bytes(found, most)


class Beside:
    """What trimesh asks for other files (its `Resolver`)."""

    def __init__(self, file: Path, most: int) -> None:
        self.file, self.most = file, most

    def get(self, name: str) -> bytes:
        try:
            return read_beside(self.file, name, self.most)
        except InputError as error:  # an OBJ file's colours may well be missing
            raise FileNotFoundError(str(error)) from None

    def __getitem__(self, name: str) -> bytes:
        return self.get(name)

    def write(self, name: str, data: Any) -> None:
        raise InputError(f"'{self.file.name}' is only read")

    def namespaced(self, namespace: str) -> Beside:
        return self
