"""`vt.track`: a measured motion into poses, moments, muscle forces and joint reactions, with a report.

    vt.track("walk.c3d", mass=72)
    vt.track("walk.trc", forces="walk_grf.mot", out="walk")
    vt.track("dance.bvh", height=1.7, forward=True)

The folder `out` gets `recording.zarr` (to be viewed), `report.html` (one page that stands alone), and the tables as CSV
and STO files; with `forward` also `forward.zarr`, in which the muscles follow the motion by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

import numpy as np

from vitruvian.door.running import FOLDER, Run
from vitruvian.errors import InputError
from vitruvian.exchange import read_trial, write_tracked
from vitruvian.measured import Tracked, TrackSettings, Trial, analyse
from vitruvian.systems import follower_world
from vitruvian.world import Recording, run_world
from vitruvian.world.run import refuse_existing

# residuals on the pelvis that force plates should leave at most (Hicks et al. 2015, J. Biomech. Eng. 137:020905): force
# in parts of the ground's largest, moment in parts of that times the height of the centre of mass
LEFT_FORCE, LEFT_MOMENT, CENTRE = 0.05, 0.01, 0.56
NEAR, TURNED = 0.03, np.radians(10.0)  # residuals [m, rad rms] of a body that fits what was measured


@dataclass(frozen=True, repr=False)
class Track(Run):
    """How tracking went, where its files are, and everything that was found."""

    report: Path = Path()
    found: Tracked | None = field(default=None, compare=False)


def track(
    file: str | Path | Trial,
    /,
    *,
    forces: str | Path | None = None,
    height: float | None = None,
    mass: float | None = None,
    up: str | None = None,
    rate: float = 100.0,
    cutoff: float = 6.0,
    gap: float = 0.1,
    markers: Mapping[str, str] | None = None,
    without: Sequence[str] = (),
    without_plates: Sequence[str] = (),
    cycle: bool | None = None,
    muscles: str = "rigid",
    proportions: str = "measured",
    forward: bool = False,
    out: str | Path | None = None,
    progress: Callable[[float, float], None] | None = None,
) -> Track:
    """Track a measured motion: a C3D, TRC, BVH or clip file, or a `Trial` of your own.

    forces: a MOT or STO file of ground forces. height [m] and mass [kg] of the subject; height is found where it is
    not given, mass goes with its cube. up: the file's axis that points up. rate [1/s] of the analysis, cutoff [Hz] of
    its filter, gap [s] of markers that is filled. markers: names in the file -> sites of `measured.marker_sites()`.
    without, without_plates: what is left out. cycle: whether the motion repeats itself (None looks, for files with
    joints). muscles: the force law, rigid, elastic or documents, or none to stop after joint moments. proportions:
    measured gives every segment its own length, ours scales the whole body by one number. forward: muscles
    follow the motion, too. out: a new folder.
    """
    begun = perf_counter()
    folder = place_of_track(out)
    settings = TrackSettings(
        height=height, mass=mass, rate=rate, cutoff=cutoff, gap=gap, mapping=dict(markers or {}),
        without=tuple(without), without_plates=tuple(without_plates), cycle=cycle, muscles=muscles,
        proportions=proportions,
    )  # fmt: skip
    trial = file if isinstance(file, Trial) else read_trial(file, forces=forces, up=up, height=height)
    tell = progress or (lambda done, total: None)
    most = 0.6 if forward else 0.9
    found = analyse(trial, settings, lambda done, total: tell(most * done / total, 1.0))
    length = float(found.course.time[-1])
    result = write_tracked(found, folder, begun)
    metrics = dict(found.metrics) | _peak_metrics(found)
    if forward:
        metrics |= _forward(found, folder / "forward.zarr", lambda done, total: tell(most + 0.3 * done / total, 1.0))
    wall = perf_counter() - begun
    metrics |= {"wall_seconds": wall, "wall_per_clip_second": wall / max(length, 1e-9)}
    tell(1.0, 1.0)
    return Track(
        scene="track", seconds=length, wall_seconds=wall, steps=len(found.course.time), recording=result.recording,
        checks=_checks(found), metrics=metrics, frames=result.frames, table=_table(found),
        report=folder / "report.html", found=found,
    )  # fmt: skip


def place_of_track(out: str | Path | None) -> Path:
    """The new folder of a trial: `out`, or the next of recordings/track-N."""
    if out is not None:
        if Path(out) == Path():
            raise InputError("'out' wants the name of a new folder, such as recordings/mine")
        refuse_existing(Path(out))
        return Path(out)
    numbers = [int(p.name[6:]) for p in FOLDER.glob("track-*") if p.name[6:].isdigit()]
    return FOLDER / f"track-{max(numbers, default=0) + 1}"


def _checks(found: Tracked) -> dict[str, bool]:
    m = found.metrics
    checks = {f"places are met within {1000 * NEAR:.0f} mm rms": m["residual_rms_m"] < NEAR}
    if "residual_rms_rad" in m:
        checks[f"orientations are met within {np.degrees(TURNED):.0f}° rms"] = m["residual_rms_rad"] < TURNED
    if found.ground.kind == "force plates":
        push = float(np.linalg.norm(found.ground.force.sum(axis=1), axis=1).max())
        force = LEFT_FORCE * push / (9.81 * m["mass_kg"])
        turn = LEFT_MOMENT * CENTRE * m["height_m"] * push
        limits = f"{100 * force:.1f} % of body weight, {turn:.1f} N m"
        good = m["pelvis_force_rms_bw"] < force and m["pelvis_moment_rms_nm"] < turn
        checks[f"force plates leave less than {limits} (rms) on the pelvis"] = good
    return checks


def _forward(found: Tracked, path: Path, progress: Callable[[float, float], None]) -> dict[str, float]:
    result = run_world(
        follower_world(found), path, seconds=float(found.course.time[-1]), scene="track", progress=progress
    )
    signals = Recording.open(result.recording).signals
    return {
        "forward_rms_rad": float(np.sqrt(np.mean(signals["error"] ** 2))),
        "forward_pelvis_force_rms_n": float(np.sqrt(np.mean(signals["fictitious"][:, 0] ** 2))),
    }


def _peak_metrics(found: Tracked) -> dict[str, float]:
    """Peaks beside published ranges, mean of both sides, by their name and unit."""
    units = {"N m/kg": "nm_per_kg", "deg": "deg", "BW": "bw"}
    return {f"{p.band.quantity.replace(' ', '_')}_{units[p.band.unit]}": 0.5 * (p.left + p.right) for p in found.peaks}


def _table(found: Tracked) -> tuple[tuple[str, ...], ...]:
    if not found.peaks:
        return ()
    rows = [
        (p.band.quantity, f"{p.left:.2f}", f"{p.right:.2f}", f"{p.band.low:g} to {p.band.high:g}", p.band.unit)
        for p in found.peaks
    ]
    return (("peak", "left", "right", "published", "unit"), *rows)
