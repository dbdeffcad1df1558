"""A breath from markers on a chest: the activations of the trunk's muscles that move our skin as the subject's moves.

Markers (C3D, TRC or CSV) become an average breath; the largest activations of four groups, and with `widen` that of
the lower intercostals, which widen the cage, are found without derivatives when the scene is built. Without a file a
subject is simulated, of known activations and with noise on his markers. Names of markers: `measured.chest_breath`.

    vitruvian run breath-capture --view
    vitruvian run breath-capture --set file=subject.trc
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from vitruvian.control.behaviour import Behave
from vitruvian.exchange import read_trial
from vitruvian.measured.chest_breath import COLUMN, chest_breath
from vitruvian.scenes._torso import SKIN, common, trunk_of
from vitruvian.systems import Measure, Now, PointsLayer, TorsoSystem
from vitruvian.systems.torso_capture import GROUPS, CaptureFit, SkinMarkers, fit_markers, made_subject
from vitruvian.systems.torso_look import TORSO_CAMERAS, torso_layers
from vitruvian.world import Parameter, Points, Recording, Report, Scene, Signal, World

Array = np.ndarray
SUBJECTS = {  # external, diaphragm, internal, abdomen (DiLorenzo 2009, table 5.2), lower external
    "1": (0.305, 0.040, 0.018, 0.007, 0.0),
    "2": (0.488, 0.002, 0.002, 0.002, 0.0),
    "3": (0.254, 0.099, 0.033, 0.010, 0.0),
    "4": (0.261, 0.106, 0.0, 0.0, 0.0),
    "wide": (0.30, 0.08, 0.10, 0.02, 0.25),
}
PERIOD = 4.0  # [s] of a simulated subject's breath
NEAR, ERROR = 0.05, 5e-3  # activations and error_p [m] within which a simulated subject is found
OURS, THEIRS = (0.15, 0.45, 0.85), (0.95, 0.55, 0.1)


def build(parameters: Mapping[str, Any]) -> World:
    fit = fitted(
        parameters["file"], parameters["up"], parameters["subject"], parameters["noise"], parameters["widen"],
        parameters["markers"], int(parameters["noise_seed"]),
    )  # fmt: skip
    trunk = trunk_of()
    plain = TorsoSystem(trunk, skin=False, drawn=False, layers=())
    own = SkinMarkers(plain, fit.names)
    first = plain.start(np.random.default_rng(0))
    start = own.places(Now(plain, first).poses, first.breath.x)

    def ours(now: Now) -> Array:
        return own.places(now.poses, now.state.breath.x)

    def theirs(now: Now) -> Array:
        phase = (now.time / fit.period + fit.shift) % 1.0 * len(fit.wanted)
        k = int(phase) % len(fit.wanted)
        part = phase - int(phase)
        moved = (1.0 - part) * fit.wanted[k] + part * fit.wanted[(k + 1) % len(fit.wanted)]
        return np.asarray(start - fit.wanted[0] + moved)

    told = np.array([fit.activations.get(g, 0.0) for g in GROUPS])
    measures = [
        Measure(Signal("found", "1", "largest activations found", GROUPS), lambda now: told),
        Measure(Signal("fit_error", "m, m/s", "rms error of the markers", ("error_p", "error_v")),
                lambda now: np.array([fit.error_p, fit.error_v])),
        Measure(Signal("fit_runs", "1", "runs of the search"), lambda now: float(fit.runs)),
        Measure(Signal("fit_seconds", "s", "time that the search took"), lambda now: fit.seconds),
    ]  # fmt: skip
    layers = [
        PointsLayer(Points("markers", radius=0.008, layer="markers", colour=OURS), lambda now: now.once(ours)),
        PointsLayer(Points("captured", radius=0.007, layer="markers", colour=THEIRS), theirs),
    ]
    system = TorsoSystem(
        trunk,
        measures=measures,
        cameras=TORSO_CAMERAS,
        layers=[*torso_layers(trunk, plain, parameters["skin"]), *layers],
    )
    return World(system, Behave(trunk, fit.behaviour), frame_rate=50.0, substeps=int(parameters["steps"]))


@lru_cache(maxsize=4)
def fitted(file: str, up: str, subject: str, noise: float, widen: bool, markers: str, seed: int) -> CaptureFit:
    """The breath of a file, or of a simulated subject."""
    torso = TorsoSystem(trunk_of(), skin=False, drawn=False, layers=())
    own = SkinMarkers(torso)
    if file:
        trial = read_trial(file, up=up or None)
    else:
        trial = made_subject(torso, own, np.array(SUBJECTS[subject]), period=PERIOD, noise=1e-3 * noise, seed=seed)
    breath = chest_breath(trial, own.sites)
    if markers == "column":
        breath = breath.only(COLUMN)
    return fit_markers(torso, own, breath, widen=widen)


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    report, s = Report(), recording.signals
    found, (error_p, error_v) = s["found"][0], s["fit_error"][0]
    report.metrics |= {f"found_{g.replace(' ', '_')}": float(a) for g, a in zip(GROUPS, found)}
    report.metrics |= {
        "error_p_mm": 1e3 * float(error_p), "error_v_mm_per_s": 1e3 * float(error_v), "runs": float(s["fit_runs"][0]),
        "search_s": float(s["fit_seconds"][0]),
    }  # fmt: skip
    if not parameters["file"]:
        known = np.array(SUBJECTS[parameters["subject"]])
        count = len(GROUPS) if parameters["widen"] else len(GROUPS) - 1
        off = float(np.abs(found - known)[:count].max())
        report.metrics["activation_off"] = off
        if parameters["widen"] or known[-1] == 0.0:
            report.checks[f"activations within {NEAR:g}"] = off < NEAR
            report.checks[f"markers within {1e3 * ERROR:g} mm"] = bool(error_p < ERROR)
    common(report, recording)
    return report


scene = Scene(
    name="breath-capture",
    summary="Markers on a chest become the muscles that breathe so",
    answers="DiLorenzo 2009, section 5.3, table 5.2",
    seconds=8.0,
    build=build,
    check=check,
    parameters={
        "file": Parameter("", "markers: .c3d, .trc, .csv; a subject is simulated without it"),
        "up": Parameter("", "the file's axis that points up: x, y, z; by default as its format has it"),
        "subject": Parameter(
            "3", "simulated subject: of table 5.2, or one who widens his cage", choices=tuple(SUBJECTS)
        ),
        "noise": Parameter(1.0, "on a simulated subject's markers", "mm", low=0.0, high=10.0),
        "noise_seed": Parameter(0, "seed of the noise on the markers", low=0, high=10_000),
        "markers": Parameter("all", "that are matched", choices=("all", "column")),
        "widen": Parameter(True, "also find the lower intercostals', which widen the cage"),
        "skin": SKIN,
        "steps": Parameter(4, "steps per frame of 1/50 s (5 ms)", low=1, high=40),
    },
    qualities={"draft": {"steps": 2}, "standard": {}, "fine": {"steps": 10}},
)
