"""Backstroke: the backstroke through water that pushes back.

vitruvian run backstroke --view
"""

from __future__ import annotations

from vitruvian.scenes._swim import PARAMETERS, QUALITIES, build_stroke, swim_report
from vitruvian.world.scene import Scene

scene = Scene(
    name="backstroke",
    summary="a human swims the backstroke",
    answers="",
    seconds=4.0,
    build=build_stroke("backstroke"),
    check=swim_report,
    parameters=PARAMETERS,
    qualities=QUALITIES,
)
