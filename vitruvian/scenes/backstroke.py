"""Backstroke: on the back, arms in turn, six-beat kick.

vitruvian run backstroke --view
vitruvian run backstroke --set actuation=inverse-dynamics
"""

from __future__ import annotations

from dataclasses import replace

from vitruvian.scenes._swim import PARAMETERS, stroke_scene

BRISK = {"rate": replace(PARAMETERS["rate"], default=0.8)}  # at 0.75 he goes 0.75 m/s instead of 0.80

scene = stroke_scene("backstroke", "a human swims the backstroke", seconds=4.1, changed=BRISK)
