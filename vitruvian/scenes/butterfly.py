"""Butterfly: both arms over water, two dolphin kicks a stroke.

vitruvian run butterfly --view
vitruvian run butterfly --set actuation=inverse-dynamics
"""

from __future__ import annotations

from dataclasses import replace

from vitruvian.scenes._swim import PARAMETERS, stroke_scene

BRISK = {"rate": replace(PARAMETERS["rate"], default=0.95)}  # slower strokes leave the arms in the air for too long

scene = stroke_scene("butterfly", "a human swims the butterfly", "Si 2013, figure 7.2", changed=BRISK)
