"""Whether a stroke's arms move together, as in butterfly and breaststroke, or in turn."""

from __future__ import annotations

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control.rhythm.motion import columns_of
from vitruvian.control.rhythm.stroke import Stroke

ARM = ("Cla", "Hu", "Ul", "Rad", "Ha")
SAMPLES = 48
ALIKE = 0.5  # rms of left less right over rms of their motion; 0: mirrored, 1: unrelated, 1.4: in turn


def arms_together(body: Body, stroke: Stroke) -> bool:
    """True if the left arm's angles are those of the right arm at the same instant, or neither arm moves."""
    angles = stroke.spline(np.arange(SAMPLES) / SAMPLES)
    columns = columns_of(body, stroke)
    apart, moved = 0.0, 0.0
    for bone in ARM:
        sides = [columns.get(f"{bone}_{side}", {}) for side in "lr"]
        for name in set(sides[0]) | set(sides[1]):
            left, right = (angles[:, given[name]] if name in given else np.zeros(SAMPLES) for given in sides)
            apart += float(np.mean((left - right) ** 2))
            moved += float(left.var() + right.var())
    return bool(apart <= ALIKE**2 * moved) if moved > 0.0 else apart == 0.0
