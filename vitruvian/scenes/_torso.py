"""What the scenes with a breathing trunk share: parameters, building, and how breaths and bursts are found."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from vitruvian.anatomy.face import make_face
from vitruvian.anatomy.trunk import Trunk, breathing_human
from vitruvian.control.behaviour import Behave, Behaviour
from vitruvian.control.face import FaceDriver
from vitruvian.systems import Measure, TorsoSystem
from vitruvian.world import Parameter, Recording, Report, World

Array = np.ndarray
RATE = 50.0  # frames a second
CALM, BURST = (
    Parameter(4, "steps per frame of 1/50 s (5 ms)", low=1, high=40),
    Parameter(10, "steps per frame of 1/50 s (2 ms)", low=1, high=40),
)
SKIN = Parameter(True, "draw the skin")
FACE = Parameter(True, "a face that takes part, where skin is drawn; else one that keeps still")
ELEMENTS = Parameter("hill", "force law of the muscle elements", choices=("hill", "spring"))


@lru_cache(maxsize=2)
def trunk_of(elements: str = "hill", columns: int = 48) -> Trunk:
    """The trunk, built once."""
    return breathing_human(elements=elements, columns=columns)


def torso_world(
    behaviour: Behaviour, steps: int, *, skin: bool, face: bool = False, elements: str = "hill",
    measures: Sequence[Measure] = (),
) -> World:  # fmt: skip
    """A trunk that plays a behaviour; face: so does its face, where skin is drawn."""
    trunk = trunk_of(elements)
    head = make_face() if face and skin else None
    system = TorsoSystem(trunk, skin=skin, face=head, measures=measures)
    driver = None if head is None else FaceDriver(head)
    return World(system, Behave(trunk, behaviour, driver), frame_rate=RATE, substeps=steps)


def tidal_volumes(time: Array, volume: Array, period: float, skip: float = 0.0) -> Array:
    """Largest less least volume of each whole breath of `period` [s] from `skip` on, in the unit of `volume`."""
    out = []
    start = skip
    while start + period <= time[-1] + 1e-6:
        at = (time >= start - 1e-9) & (time <= start + period + 1e-9)
        out.append(float(np.ptp(volume[at])))
        start += period
    return np.array(out)


def common(report: Report, recording: Recording, worst: float = 2.0) -> None:
    """Volume of the belly and the book of gas, which every scene keeps."""
    error = float(np.abs(recording.signals["belly_error"]).max())
    gas = float(np.abs(recording.signals["gas_error"]).max())
    report.metrics |= {"belly_error_percent": error, "gas_error": gas}
    report.checks[f"the belly keeps its volume to {worst:g} %"] = error < worst
    report.checks["gas is accounted for to 1e-9"] = gas < 1e-9
