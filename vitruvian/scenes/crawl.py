"""Front crawl: a human swims through water that pushes back.

vitruvian run crawl --view
vitruvian run crawl --set water=still
"""

from __future__ import annotations

from dataclasses import replace

from vitruvian.scenes._swim import PARAMETERS, stroke_scene

PUSH_OFF = {"speed": replace(PARAMETERS["speed"], default=0.9)}  # from 0.6 he needs two strokes to come to his speed

scene = stroke_scene(
    "crawl",
    "a human swims the front crawl through water that pushes back",
    "Si 2013, figure 7.1 and table 7.1",
    seconds=4.3,
    changed=PUSH_OFF,
)
