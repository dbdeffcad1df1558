"""Breaststroke: glide, outsweep, insweep, whip kick.

vitruvian run breaststroke --view
"""

from __future__ import annotations

from dataclasses import replace

from vitruvian.scenes._swim import PARAMETERS, stroke_scene

RATE = {"rate": replace(PARAMETERS["rate"], default=0.85)}

scene = stroke_scene("breaststroke", "a human swims the breaststroke", "", 3.6, changed=RATE)
