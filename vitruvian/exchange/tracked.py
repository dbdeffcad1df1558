"""What was found of a measured motion, as files: a recording, a report, and tables as CSV and STO."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

from vitruvian.errors import InputError, RunFailed
from vitruvian.exchange.trc import write_columns, write_storage
from vitruvian.measured import Tracked, TrackSettings
from vitruvian.measured.report import report_page
from vitruvian.systems import played_world
from vitruvian.world import RunResult, run_world


def write_tracked(found: Tracked, folder: Path, begun: float) -> RunResult:
    """Write everything into the new folder: `recording.zarr`, `report.html`, tables. begun: `perf_counter()` at which
    the work began, for the report."""
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise InputError(f"cannot write {folder}: {error.strerror or error}") from error
    result = run_world(
        played_world(found),
        folder / "recording.zarr",
        seconds=float(found.course.time[-1]),
        scene="track",
        parameters=_told(found.settings),
    )
    try:
        _write_tables(found, folder)
        (folder / "report.html").write_text(report_page(found, perf_counter() - begun), encoding="utf-8")
    except OSError as error:
        raise RunFailed(f"the report in {folder} could not be written: {error.strerror or error}") from error
    return result


def _write_tables(found: Tracked, folder: Path) -> None:
    time, body = found.curves.time, found.body
    without = ("reactions", "muscle_groups") if found.settings.muscles == "none" else ()
    for name, (unit, curves) in found.curves.tables().items():
        if name in without:
            continue
        write_columns(folder / f"{name}.csv", {"time [s]": time, **{f"{k} [{unit}]": c for k, c in curves.items()}})
        write_storage(folder / f"{name}.sto", name, {"time": time, **curves}, degrees=unit == "deg")
    if found.settings.muscles != "none":
        for name, values in (("activations", found.forces.activation), ("muscle_forces", found.forces.force)):
            columns = dict(zip(body.muscles.names, values.T))
            write_columns(folder / f"{name}.csv", {"time [s]": time, **columns})
            write_storage(folder / f"{name}.sto", name, {"time": time, **columns})
    generalised = dict(zip(body.coordinate_names, found.forces.moment.T))
    write_columns(folder / "generalised_forces.csv", {"time [s]": time, **generalised})
    write_storage(folder / "generalised_forces.sto", "generalised forces", {"time": time, **generalised})


def _told(settings: TrackSettings) -> dict[str, float | str]:
    """What a recording says of how it was made."""
    told: dict[str, float | str] = {"rate": settings.rate, "cutoff": settings.cutoff, "gap": settings.gap}
    for name in ("height", "mass"):
        value = getattr(settings, name)
        if value is not None:
            told[name] = float(value)
    return told
