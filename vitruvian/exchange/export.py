"""Which writer makes which file: one line for each format, by suffix, for recordings and for models.

A writer of recordings takes anything that has `stage`, `time`, `signals` and `frame(i)`. Writers are imported
when used.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from vitruvian.errors import InputError
from vitruvian.world.whole_file import check_writable, whole_file

RECORDING_WRITERS = {
    ".blend": "vitruvian.view.cycles.render:write_blend",
    ".csv": "vitruvian.exchange.csv:write_csv",
    ".glb": "vitruvian.exchange.glb:write_glb",
    ".usd": "vitruvian.exchange.usd:write_usd",
    ".usda": "vitruvian.exchange.usd:write_usd",
    ".usdc": "vitruvian.exchange.usd:write_usd",
}
MODEL_WRITERS: dict[str, str] = {
    ".xml": "vitruvian.exchange.mjcf:write_mjcf",
    ".osim": "vitruvian.exchange.osim:write_osim",
}


def export_recording(recording: Any, out: str | Path, progress: Callable[[float, float], None] | None = None) -> Path:
    """Write a recording (or a scene or model at one instant) as the suffix of `out` says."""
    return _export("a recording", RECORDING_WRITERS, MODEL_WRITERS, recording, Path(out), progress=progress)


def export_model(model: Any, out: str | Path) -> Path:
    """Write a model as the suffix of `out` says."""
    return _export("a model", MODEL_WRITERS, RECORDING_WRITERS, model, Path(out))


def check_suffix(out: str | Path) -> None:
    """Raise `InputError` unless a recording can be written to `out`, before any work is done."""
    _writer("a recording", RECORDING_WRITERS, MODEL_WRITERS, Path(out))
    check_writable(out)


def _export(what: str, writers: dict[str, str], others: dict[str, str], source: Any, out: Path, **options: Any) -> Path:
    module, _, function = _writer(what, writers, others, out).partition(":")
    write = getattr(import_module(module), function)
    with whole_file(out) as partial:
        write(source, partial, **options)
    return out


def _writer(what: str, writers: dict[str, str], others: dict[str, str], out: Path) -> str:
    suffix = out.suffix.lower()
    if suffix in writers:
        return writers[suffix]
    can = f"it can be written as {', '.join(sorted(writers))}" if writers else "there is no format for it yet"
    if suffix in others:
        other = "a model" if what == "a recording" else "a recording"
        raise InputError(f"{out.name}: {suffix} holds {other}, not {what}; {can}")
    known = f"recordings: {', '.join(sorted(RECORDING_WRITERS))}; models: {', '.join(sorted(MODEL_WRITERS))}"
    raise InputError(f"{out.name}: unknown format '{suffix}'; {known}" if suffix else f"'{out}' has no suffix; {known}")
