"""Butterfly: the butterfly through water that pushes back.

vitruvian run butterfly --view
"""

from __future__ import annotations

from vitruvian.scenes._swim import PARAMETERS, QUALITIES, build_stroke, swim_report
from vitruvian.world.scene import Scene

scene = Scene(
    name="butterfly",
    summary="a human swims the butterfly",
    answers="Si 2013, figure 7.2",
    seconds=4.0,
    build=build_stroke("butterfly"),
    check=swim_report,
    parameters=PARAMETERS,
    qualities=QUALITIES,
)
