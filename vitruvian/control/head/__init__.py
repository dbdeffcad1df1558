"""What holds, turns and directs a head (Lee 2008, chapter 4).

`setpoint`     joint angles for a wanted orientation
`solutions`    activations that hold a pose, or stiffen the neck; `networks` give them at once, `training` makes these
`reflex`       the stretch reflex; `controller` puts all of it together; `goals` are what it is asked for
`eyes`, `gaze` eyes that look, and a head that follows them; `carried` by a whole body
"""

from vitruvian.control.head.carried import Carried, Limp
from vitruvian.control.head.controller import HeadControl, HeadSettings, HeadState
from vitruvian.control.head.gaze import GazeControl
from vitruvian.control.head.goals import HeadGoal, Steered, Still, Turns
from vitruvian.control.head.networks import HeadNetworks, shipped
from vitruvian.control.head.reflex import Reflex
from vitruvian.control.head.setpoint import NeckChain
from vitruvian.control.head.solutions import HeadStatics

__all__ = [
    "Carried",
    "GazeControl",
    "HeadControl",
    "HeadGoal",
    "HeadNetworks",
    "HeadSettings",
    "HeadState",
    "HeadStatics",
    "Limp",
    "NeckChain",
    "Reflex",
    "Steered",
    "Still",
    "Turns",
    "shipped",
]
