"""Standing, squatting, jumping, walking on the ground's true forces.

`control`   from a plan's wish to activations; `solve` muscles and ground together
`plans`     stand, follow a motion on both feet, jump, walk
"""

from vitruvian.control.stance.control import Plan, Sensed, StanceControl, StanceGains, Wish
from vitruvian.control.stance.plans import Follow, Jump, Walk, posture_weights, soles

__all__ = [
    "Follow",
    "Jump",
    "Plan",
    "Sensed",
    "StanceControl",
    "StanceGains",
    "Walk",
    "Wish",
    "posture_weights",
    "soles",
]
