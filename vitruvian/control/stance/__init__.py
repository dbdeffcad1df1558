"""Standing, squatting, jumping, walking on the ground's true forces.

`control`   from a plan's wish to activations; `solve` muscles and ground together; `soles` what stands
`plans`     stand, follow a motion on both feet, jump
`catch`     stand, and step where standing is not enough
`gait`      the steps of a motion that walks, and the way of the centre of mass that they carry
`walk`      follow a motion that walks, and place the feet where they catch the body
"""

from vitruvian.control.stance.catch import Catch
from vitruvian.control.stance.control import Plan, Sensed, StanceControl, StanceGains, Swing, Wish
from vitruvian.control.stance.plans import Follow, Jump, posture_weights
from vitruvian.control.stance.soles import soles, soles_of
from vitruvian.control.stance.walk import Walk

__all__ = [
    "Catch",
    "Follow",
    "Jump",
    "Plan",
    "Sensed",
    "StanceControl",
    "StanceGains",
    "Swing",
    "Walk",
    "Wish",
    "posture_weights",
    "soles",
    "soles_of",
]
