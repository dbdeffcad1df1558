"""What scenes of soft characters share: a captured motion under a control that was found; strides and slip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from vitruvian.anatomy.characters import Character, character, soft_body
from vitruvian.control.search import Following
from vitruvian.control.search.cycle import Cycle
from vitruvian.control.search.playing import Playing, Running, found_file
from vitruvian.control.search.policy import Policy
from vitruvian.control.search.samples import Control
from vitruvian.exchange.found import cycle_for, motion_of
from vitruvian.systems import Measure, Push
from vitruvian.systems.character import CharacterSystem
from vitruvian.world import Parameter, Recording, Report, Signal, World

FALLEN = 0.6  # of the first height of the centre of mass
LONG = 28.5  # [s] in which a runner is to make thirty strides
FIRM = 0.02  # [m] that soles that bear half of the weight slide in a step, at most
SUBSTEPS = 5  # of 4 ms in a frame of 20 ms
YOUNG = Parameter(0.0, "Young's modulus of the flesh; 0: what the policy was found on", "Pa", low=0.0, high=1e7)
TOUCH = Parameter("off", "whether the skin meets itself", choices=("off", "on"))
CONTROL = Parameter("found", "the one that was found, or the captured motion alone", choices=("found", "off"))


def opened(found: str, *, off: bool = False, loop: bool = False, touch: bool = False) -> World:
    """A character under an open loop that is shipped; off: along the captured motion alone; touch: its skin meets
    itself."""
    control = Control.read(found_file(found))
    who = character(control.told["character"])
    reference = motion_of(who, control.told, loop=loop)
    q, v = reference.sample(control.start)
    playing = Playing(reference, control)
    if off:
        playing = Playing(reference, Control(control.window, 0.0 * control.offsets, 0.0 * control.factors + 1.0,
                                             control.costs, control.start))  # fmt: skip
    return ran(soft_system(who, q, v, control.told["young"], touch=touch), playing)


def steady(
    found: str, *, off: bool = False, young: float | None = None, pushes: Sequence[Push] = ()
) -> tuple[CharacterSystem, Following | Running, Cycle]:
    """A character and a policy that is shipped, on the flesh that it was found on unless `young` [Pa] is given.

    off: along the cycle alone."""
    policy = Policy.read(found_file(found))
    who, cycle = cycle_for(policy)
    system = soft_system(who, cycle.targets[0], cycle.rates[0], young or policy.told["young"], pushes)
    if off:
        policy = policy.at(0.0 * policy.flat)
    return system, Running(who, cycle, policy), cycle


def ran(system: Any, controller: Any) -> World:
    """A world of frames of 20 ms and steps of 4."""
    return World(system, controller, frame_rate=50.0, substeps=SUBSTEPS)


def soft_system(
    who: Character,
    q: np.ndarray,
    v: np.ndarray,
    young: float | None = None,
    pushes: Sequence[Push] = (),
    *,
    touch: bool = False,
) -> CharacterSystem:
    """That character, with the window that its control is in as a signal, and with how deep it is in itself."""
    deep = Measure(Signal("overlap", "m", "how deep the skin is in other flesh, at most"), _overlap)
    return CharacterSystem(
        who, q, v, body=soft_body(who, young=young, self_contact=touch), pushes=pushes,
        measures=(
            Measure(Signal("window", "", "window of the control"), _window),
            Measure(Signal("ankles", "m", "height of the ankles", ("left", "right")), _ankles),
            *((deep,) if touch else ()),
        ),
    )  # fmt: skip


def _window(now: Any) -> float:
    return float(now.controls.told["window"]) if now.controls is not None else 0.0


def _overlap(now: Any) -> float:
    return float(now.system.body.overlap(now.state)[1])


def _ankles(now: Any) -> np.ndarray:
    return np.array([now.poses[now.system.skeleton.index(name), 2, 3] for name in ("foot_l", "foot_r")])


def upright(recording: Recording, lane: str = "") -> float:
    """How long it stayed up [s]: until its centre of mass came below `FALLEN` of where it began."""
    height = recording.signals[f"{lane}centre"][:, 2]
    low = np.flatnonzero(height < FALLEN * height[0])
    return float(recording.time[low[0]] if len(low) else recording.time[-1])


def running_report(recording: Recording, cycle: float | None = None) -> Report:
    """Strides (two steps each) until it fell or the end; slip, also that of soles that bear half of its weight.

    cycle [s]: of an open loop; a policy's windows begin anew with each stride."""
    up = upright(recording)
    n = int(np.searchsorted(recording.time, up))
    way = recording.signals["centre"][min(n, len(recording.time) - 1), :2] - recording.signals["centre"][0, :2]
    slid, load = recording.signals["slip"], recording.signals["ground_force"][:, 2]
    slip = float(slid[min(n, len(slid) - 1)])
    bearing = (load[1:] > 0.5 * load[: n + 1].mean()) & (np.arange(1, len(load)) <= n)  # upright it bears its weight
    again = np.diff(recording.signals["window"].ravel()[: n + 1]) < 0.0
    strides = np.floor(up / cycle + 1e-6) if cycle is not None else again.sum()
    borne = float(np.diff(slid)[bearing].sum())
    return Report(
        metrics={
            "strides": float(strides), "upright_s": up, "slip": slip, "slip_under_load": borne,
            "slip_a_step": borne / max(2.0 * float(strides), 1.0),
            "in_the_air": float((load[1 : n + 1] <= 0.0).mean()) if n else 0.0,
            "speed": float(np.linalg.norm(way)) / max(up, 1e-9),
            "most_inverted": float(recording.signals["inverted"].max()),
        }
    )  # fmt: skip


def moved_report(recording: Recording) -> Report:
    """How far it went and turned, how high a foot came, how it ended."""
    turns = Rotation.from_quat(recording.poses[:, 0, 3:], scalar_first=True)
    each = (turns[:-1].inv() * turns[1:]).as_rotvec()
    total = np.degrees(np.abs(np.cumsum(each, axis=0)).max(axis=0))
    centre = recording.signals["centre"]
    return Report(
        metrics={
            "somersault_deg": float(total[0]), "spin_deg": float(total[2]),
            "way": float(np.linalg.norm(centre[-1, :2] - centre[0, :2])),
            "rise": float(centre[:, 2].max() - centre[0, 2]),
            "kick_height": float(recording.signals["ankles"].max()),
            "upright_s": upright(recording), "end_tilt_deg": float(recording.signals["tilt"][-1]),
            "slip": float(recording.signals["slip"][-1]),
            "most_inverted": float(recording.signals["inverted"].max()),
        }
    )  # fmt: skip


def running_checks(report: Report, recording: Recording) -> None:
    """What a runner under a policy must do."""
    report.checks["it does not fall"] = report.metrics["upright_s"] >= recording.time[-1] - 1e-9
    if recording.time[-1] >= 2.0:
        report.checks["feet hardly slide"] = report.metrics["slip_a_step"] <= FIRM
    if recording.time[-1] >= LONG:
        report.checks["thirty strides"] = report.metrics["strides"] >= 30.0


Parameters = Mapping[str, Any]
