"""Which Blender there is, and running our scripts in it.

Looked for, in this order: the program that VITRUVIAN_BLENDER names (Blender itself, or a Python with the package
`bpy`), this Python if it has `bpy`, the environment that `GET` makes, `blender` on the path. `bpy` wants another NumPy
than we do, and Python 3.11, so that it lives in an environment of its own.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from vitruvian.errors import InputError, MissingExtra, RunFailed
from vitruvian.sources import home

VARIABLE = "VITRUVIAN_BLENDER"
SCRIPT = Path(__file__).parent / "in_blender"
TAIL = 5  # lines of what Blender said that an error tells


def own_environment() -> Path:
    """The folder of the environment in which `bpy` is looked for."""
    return home() / "cycles"


def how_to_get() -> str:
    """The command that brings `bpy`."""
    where = own_environment()
    return f"python3.11 -m venv {where} && {where}/bin/pip install bpy==5.0.1"


def find_blender() -> list[str]:
    """The words that run our script in Blender, to which its own are added; `MissingExtra` where there is none."""
    asked = os.environ.get(VARIABLE)
    if asked:
        found = shutil.which(asked)
        if found is None:
            raise InputError(f"{VARIABLE}={asked}: there is no such program")
        return _words(found)
    if find_spec("bpy") is not None:
        return _words(sys.executable)
    own = own_environment() / "bin" / "python"
    if own.is_file():
        return _words(str(own))
    found = shutil.which("blender")
    if found is not None:
        return _words(found)
    raise MissingExtra(f"Blender (or set {VARIABLE} to one)", how_to_get())


def _words(program: str) -> list[str]:
    if "python" in Path(program).name.lower():
        return [program, str(SCRIPT)]
    return [
        program,
        "-b",
        "--factory-startup",
        "--python-exit-code",
        "1",
        "--python",
        str(SCRIPT / "__main__.py"),
        "--",
    ]


def tell_blender(*words: str | Path) -> Iterator[dict[str, Any]]:
    """Run our script in Blender with these words; yields what it tells as it goes. Errors: `RunFailed`."""
    command = [*find_blender(), *map(str, words)]
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=environment
    ) as process:
        said: list[str] = []
        assert process.stdout is not None
        try:
            for line in process.stdout:
                told = _told(line)
                if told is not None:
                    yield told
                elif line.strip():
                    said = [*said, line.strip()][-TAIL:]
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        raise RunFailed(f"Blender failed: {said[-1][:300] if said else f'exit status {process.returncode}'}")


def _told(line: str) -> dict[str, Any] | None:
    if line.startswith('{"vitruvian"'):
        return dict(json.loads(line)["vitruvian"])
    return None
