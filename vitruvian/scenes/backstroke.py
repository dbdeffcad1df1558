"""Backstroke: on the back, arms in turn, six-beat kick.

vitruvian run backstroke --view

By joint torques no stronger than the muscles: driven by muscles (`--set actuation=muscles`) he comes to a stop.
"""

from __future__ import annotations

from vitruvian.scenes._swim import stroke_scene
from vitruvian.scenes._swim_drive import BY_TORQUES

scene = stroke_scene("backstroke", "a human swims the backstroke", changed=BY_TORQUES)
