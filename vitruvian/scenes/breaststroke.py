"""Breaststroke: glide, outsweep, insweep, whip kick.

vitruvian run breaststroke --view
"""

from __future__ import annotations

from dataclasses import replace

from vitruvian.scenes._swim import PARAMETERS, stroke_scene

RATE = {"rate": replace(PARAMETERS["rate"], default=0.75)}  # of 0.6, 0.75 and 0.9, by muscles in still water

scene = stroke_scene("breaststroke", "a human swims the breaststroke", "", 4.1, changed=RATE)
