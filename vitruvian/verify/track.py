"""Measured motion: known motions are recovered, the package's own walk and run are analysed beside gait literature.

The known motions are written as C3D files by a made-up laboratory (`_track_lab`) and go through the same reader and
pipeline as a real file. Walk and run have no force plates: their ground forces are estimated. The run's clip falls
faster than gravity before each landing, so that nothing on Earth carries it; its claims say so.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import numpy as np

from vitruvian.exchange import read_trial, write_tracked
from vitruvian.measured import Tracked, TrackSettings, analyse
from vitruvian.measured.curves import joint_angles
from vitruvian.verify import _track_lab as lab
from vitruvian.verify.book import Claim, Finding, claim, worst

NOISE = 3e-4  # [m] of a good optical system, each coordinate, standard deviation


@lru_cache(maxsize=1)
def _stride() -> tuple[Tracked, dict[str, float]]:
    """A known gait as it comes back, and the largest error of each joint angle [deg]."""
    body = lab.subject()
    _, q = lab.stride(body)
    places = lab.marker_places(body, q) + np.random.default_rng(0).normal(0.0, NOISE, (len(q), len(lab.MARKERS), 3))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "known.c3d"
        lab.write_c3d(path, places)
        found = analyse(read_trial(path), TrackSettings(mass=lab.MASS, muscles="none"))
    true, got = joint_angles(body, q), joint_angles(found.body, found.fit.q)
    return found, {name: float(np.abs(true[name] - got[name]).max()) for name in true}


@lru_cache(maxsize=2)
def _clip(name: str) -> tuple[Tracked, float]:
    """A clip of the package, taken as a cycle, and the seconds that everything took, files included; less what the
    process waited while other programs had the processor."""
    analyse(read_trial(name), TrackSettings(rate=20.0, cycle=True))  # kernels are loaded by then
    begun, worked = perf_counter(), process_time()
    with TemporaryDirectory() as folder:
        found = analyse(read_trial(name), TrackSettings(cycle=True))
        write_tracked(found, Path(folder) / name, begun)
        return found, min(perf_counter() - begun, process_time() - worked)


@claim
def a_known_c3d_motion_is_recovered_to_a_degree() -> Finding:
    """Joint angles of a known gait, written as C3D in mm with 0.3 mm of noise, come back within 1 degree."""
    _, off = _stride()
    name = max(off, key=lambda k: off[k])
    return Finding.error(worst(off.values()), 1.0, "deg", f"{len(off)} angles, 121 frames; worst: {name}")


@claim
def height_comes_from_the_markers() -> Finding:
    """The height of the known subject is found from the markers alone."""
    found, _ = _stride()
    return Finding(found.metrics["height_m"], lab.HEIGHT, 0.005, "m", f"{len(found.goals.names)} markers")


@lru_cache(maxsize=1)
def _odd() -> tuple[Tracked, dict[str, float], dict[str, float]]:
    """A subject whose segments are 8 % shorter to 10 % longer than ours: what is found, the largest error of each joint
    angle [deg], and of each segment's length (a share)."""
    body = lab.subject(odd=True)
    _, q = lab.stride(body)
    places = lab.marker_places(body, q) + np.random.default_rng(0).normal(0.0, NOISE, (len(q), len(lab.MARKERS), 3))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "odd.c3d"
        lab.write_c3d(path, places)
        found = analyse(read_trial(path), TrackSettings(mass=lab.MASS, muscles="none"))
    true, got = joint_angles(body, q), joint_angles(found.body, found.fit.q)
    size = found.body.scale / body.scale
    lengths = {n: abs(size * found.subject.factors.get(n, 1.0) / f - 1.0) for n, f in lab.ODD.items()}
    return found, {name: float(np.abs(true[name] - got[name]).max()) for name in true}, lengths


@claim
def segments_of_an_odd_subject_are_found() -> Finding:
    """A subject whose eight segments are 8 % shorter to 10 % longer than ours: each length comes back within 0.5 %."""
    found, _, off = _odd()
    name = max(off, key=lambda k: off[k])
    rms = 1000.0 * found.metrics["residual_rms_m"]
    return Finding.error(100.0 * worst(off.values()), 0.5, "%", f"worst: {name}; markers {rms:.2f} mm rms")


@claim
def an_odd_subject_moves_as_it_moved() -> Finding:
    """Joint angles of that subject come back within 1 degree."""
    _, off, _ = _odd()
    name = max(off, key=lambda k: off[k])
    return Finding.error(worst(off.values()), 1.0, "deg", f"{len(off)} angles, 121 frames; worst: {name}")


@claim
def force_plates_carry_the_body() -> Finding:
    """With two force plates in the C3D file, less than half a percent of body weight is left on the pelvis."""
    body = lab.subject()
    course = lab.squat(body)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "squat.c3d"
        lab.write_c3d(path, lab.marker_places(body, course.q), plates=lab.squat_plates(body, course))
        found = analyse(read_trial(path), TrackSettings(mass=lab.MASS, muscles="none"))
    share, moment = found.metrics["pelvis_force_rms_bw"], found.metrics["pelvis_moment_rms_nm"]
    return Finding.error(
        share, 0.005, "body weights", f"a squat, {found.ground.kind}; moment left {moment:.2f} N m rms"
    )


def _residual(clip: str) -> Claim:
    def measure() -> Finding:
        m = _clip(clip)[0].metrics
        rms, most = 1000 * m["residual_rms_m"], 1000 * m["residual_largest_m"]
        detail = f"joints of the legs {rms:.1f} mm rms, {most:.0f} at most"
        return Finding.error(np.degrees(m["residual_rms_rad"]), 5.0, "deg", detail)

    text = f"Orientations of the {clip} clip's segments are met within 5 degrees rms."
    return Claim(f"track/{clip}-residual", text, measure)


def _wall(clip: str) -> Claim:
    def measure() -> Finding:
        found, wall = _clip(clip)
        length = float(found.course.time[-1])
        detail = f"{length:.3g} s of motion in {wall:.3g} s: size, poses, moments, muscles, reactions, report"
        return Finding.within(wall / length, 0.0, 10.0, "times the clip", detail)

    text = f"All of `track {clip} --cycle` takes at most 10 times the clip's duration, waiting not counted."
    return Claim(f"track/{clip}-wall-time", text, measure)


def _peak(clip: str, quantity: str, near: float = 1.0) -> Claim:
    def measure() -> Finding:
        p = next(p for p in _clip(clip)[0].peaks if p.band.quantity == quantity)
        where = "IN BAND" if p.within else "OUT OF BAND"
        detail = f"left {p.left:.2f}, right {p.right:.2f}; {p.band.low:g} to {p.band.high:g} ({p.band.source}): {where}"
        return Finding.within(0.5 * (p.left + p.right), p.band.low / near, p.band.high * near, p.band.unit, detail)

    how = "" if near == 1.0 else f"a factor of {near:g} of "
    text = f"{clip.capitalize()}: peak {quantity} within {how}the published range."
    return Claim(f"track/{clip}-{quantity.replace(' ', '-')}", text, measure)


walk_residual, run_residual = _residual("walk"), _residual("run")
walk_wall_time, run_wall_time = _wall("walk"), _wall("run")
MOMENTS = ("ankle plantarflexion moment", "knee extension moment", "hip extension moment", "hip flexion moment")
for _quantity in (*MOMENTS, "vertical ground force"):
    globals()[f"walk_{_quantity.replace(' ', '_')}"] = _peak("walk", _quantity)
    globals()[f"run_{_quantity.replace(' ', '_')}"] = _peak("run", _quantity, 1.0 if "knee" not in _quantity else 1.1)
del _quantity


@claim
def what_the_walk_leaves_on_the_pelvis() -> Finding:
    """Estimated contact carries the walk: less than a tenth of body weight is left on the pelvis (rms)."""
    m = _clip("walk")[0].metrics
    detail = f"moment left {m['pelvis_moment_rms_nm']:.0f} N m rms"
    return Finding.error(m["pelvis_force_rms_bw"], 0.1, "body weights", detail)
