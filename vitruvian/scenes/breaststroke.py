"""Breaststroke: the breaststroke through water that pushes back.

vitruvian run breaststroke --view
"""

from __future__ import annotations

from vitruvian.scenes._swim import PARAMETERS, QUALITIES, build_stroke, swim_report
from vitruvian.world.scene import Scene

scene = Scene(
    name="breaststroke",
    summary="a human swims the breaststroke",
    answers="",
    seconds=4.0,
    build=build_stroke("breaststroke"),
    check=swim_report,
    parameters=PARAMETERS,
    qualities=QUALITIES,
)
