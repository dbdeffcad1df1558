"""Tables and meshes -> bodies: `human()` and parts of it."""

from vitruvian.anatomy.body import PARTS, Body
from vitruvian.anatomy.human import arm, human, legs, neck, torso, upper_body

__all__ = ["PARTS", "Body", "arm", "human", "legs", "neck", "torso", "upper_body"]
