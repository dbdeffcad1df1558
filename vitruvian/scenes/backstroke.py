"""Backstroke: on the back, arms in turn, six-beat kick.

vitruvian run backstroke --view
vitruvian run backstroke --set actuation=inverse-dynamics
"""

from __future__ import annotations

from dataclasses import replace

from vitruvian.scenes._swim import PARAMETERS, stroke_scene

BRISK = {"rate": replace(PARAMETERS["rate"], default=0.75)}  # shoulders still within 7 degrees of their course

scene = stroke_scene("backstroke", "a human swims the backstroke", seconds=4.1, changed=BRISK)
