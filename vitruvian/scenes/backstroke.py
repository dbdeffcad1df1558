"""Backstroke: on the back, arms in turn, six-beat kick.

vitruvian run backstroke --view
"""

from __future__ import annotations

from vitruvian.scenes._swim import stroke_scene

scene = stroke_scene("backstroke", "a human swims the backstroke", "")
