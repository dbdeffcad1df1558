"""Front crawl: a human swims through water that pushes back.

vitruvian run crawl --view
vitruvian run crawl --set water=still
"""

from __future__ import annotations

from vitruvian.scenes._swim import stroke_scene

scene = stroke_scene(
    "crawl",
    "a human swims the front crawl through water that pushes back",
    "Si 2013, figure 7.1 and table 7.1",
    seconds=4.5,
)
