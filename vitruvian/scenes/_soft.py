"""What scenes of soft characters share: a captured motion under a control that was found; strides and slip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from vitruvian.anatomy.characters import Character, character, soft_body
from vitruvian.control.search import Reference
from vitruvian.control.search.playing import Playing, found_file
from vitruvian.control.search.policy import Policy
from vitruvian.exchange import read_trial
from vitruvian.measured.retarget import retargeted
from vitruvian.systems import Measure, Push
from vitruvian.systems.character import CharacterSystem
from vitruvian.world import Recording, Report, Signal, World

FALLEN = 0.6  # of the first height of the centre of mass
SUBSTEPS = 5  # of 4 ms in a frame of 20 ms


def motion_of(who: Character, clip: str, *, loop: bool, slower: float = 1.0) -> Reference:
    """A captured clip on a character, as searches and scenes use it."""
    return retargeted(read_trial(clip), who, loop=loop).smoothed(0.015).slowed(slower)


def played(
    name: str,
    clip: str,
    found: str,
    *,
    loop: bool,
    slower: float = 1.0,
    young: float | None = None,
    pushes: Sequence[Push] = (),
    once: bool = False,
    off: bool = False,
) -> World:
    """A character under a control that is shipped; off: along the captured motion alone."""
    who = character(name)
    reference = motion_of(who, clip, loop=loop, slower=slower)
    policy = Policy.read(found_file(found))
    if off:
        policy = replace(policy, control=replace(policy.control, offsets=0.0 * policy.control.offsets))
    q, v = reference.sample(policy.start)
    system = CharacterSystem(
        who, q, v, body=soft_body(who, young=young), pushes=pushes,
        measures=(Measure(Signal("window", "", "window of the control"), _window),),
    )  # fmt: skip
    return World(system, Playing(who, reference, policy, once=once), frame_rate=50.0, substeps=SUBSTEPS)


def _window(now: Any) -> float:
    return float(now.controls.told["window"]) if now.controls is not None else 0.0


def upright(recording: Recording) -> float:
    """How long it stayed up [s]: until its centre of mass came below `FALLEN` of where it began."""
    height = recording.signals["centre"][:, 2]
    low = np.flatnonzero(height < FALLEN * height[0])
    return float(recording.time[low[0]] if len(low) else recording.time[-1])


def running_report(recording: Recording, cycle: float) -> Report:
    """Strides (two steps each) until it fell or the end; slip, also that under more than half of the largest load."""
    up = upright(recording)
    n = int(np.searchsorted(recording.time, up))
    way = recording.signals["centre"][min(n, len(recording.time) - 1), :2] - recording.signals["centre"][0, :2]
    slid, load = recording.signals["slip"], recording.signals["ground_force"][:, 2]
    slip = float(slid[min(n, len(slid) - 1)])
    standing = (load[1:] > 0.5 * load.max()) & (np.arange(1, len(load)) <= n)
    count = up / cycle
    return Report(
        metrics={
            "strides": float(np.floor(count + 1e-6)), "upright_s": up, "slip": slip,
            "slip_under_load": float(np.diff(slid)[standing].sum()),
            "speed": float(np.linalg.norm(way)) / max(up, 1e-9),
            "most_inverted": float(recording.signals["inverted"].max()),
        }
    )  # fmt: skip


Parameters = Mapping[str, Any]
