"""Backstroke: on the back, arms in turn, six-beat kick.

vitruvian run backstroke --view
vitruvian run backstroke --set actuation=inverse-dynamics
"""

from __future__ import annotations

from dataclasses import replace

from vitruvian.scenes._swim import PARAMETERS, stroke_scene

CALM = {"rate": replace(PARAMETERS["rate"], default=0.6)}  # the muscles do not follow a much faster one

scene = stroke_scene("backstroke", "a human swims the backstroke", seconds=5.0, changed=CALM)
