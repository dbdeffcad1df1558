"""Tables and meshes -> bodies: `human()` and parts of it."""

from vitruvian.anatomy.body import PARTS, Body
from vitruvian.anatomy.human import arm, human, legs, neck, torso, upper_body
from vitruvian.anatomy.state import BodyState

__all__ = ["PARTS", "Body", "BodyState", "arm", "human", "legs", "neck", "torso", "upper_body"]
