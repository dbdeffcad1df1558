"""Breaststroke: glide, outsweep, insweep, whip kick.

vitruvian run breaststroke --view
"""

from __future__ import annotations

from vitruvian.scenes._swim import stroke_scene

scene = stroke_scene("breaststroke", "a human swims the breaststroke", "")
