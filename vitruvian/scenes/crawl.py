"""Front crawl: a human swims through water that pushes back.

vitruvian run crawl --view
vitruvian run crawl --set water=still
"""

from __future__ import annotations

from vitruvian.scenes._swim import PARAMETERS, QUALITIES, build_stroke, swim_report
from vitruvian.world.scene import Scene

scene = Scene(
    name="crawl",
    summary="a human swims the front crawl",
    answers="Si 2013, figure 7.1 and table 6.1",
    seconds=4.0,
    build=build_stroke("crawl"),
    check=swim_report,
    parameters=PARAMETERS,
    qualities=QUALITIES,
)
