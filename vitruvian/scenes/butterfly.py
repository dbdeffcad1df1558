"""Butterfly: both arms over water, two dolphin kicks a stroke.

vitruvian run butterfly --view
"""

from __future__ import annotations

from vitruvian.scenes._swim import stroke_scene

scene = stroke_scene("butterfly", "a human swims the butterfly", "Si 2013, figure 7.2")
