"""Butterfly: both arms over water, two dolphin kicks a stroke.

vitruvian run butterfly --view

By joint torques no stronger than the muscles: driven by muscles (`--set actuation=muscles`) the arms do not clear the
water, the swimmer sinks and slows down.
"""

from __future__ import annotations

from vitruvian.scenes._swim import stroke_scene
from vitruvian.scenes._swim_drive import BY_TORQUES

scene = stroke_scene("butterfly", "a human swims the butterfly", "Si 2013, figure 7.2", changed=BY_TORQUES)
