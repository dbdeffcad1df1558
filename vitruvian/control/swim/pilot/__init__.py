"""What steers a swimmer: reflexes for heading, roll, pitch and depth on top of the rhythm, and commands at their times.

No stroke swims straight by itself, and no swimmer swims blind.

    (`control.senses.course` is what he feels of his course: means over a stroke)
    reflexes    what he does about it: heading -> bank -> arms; pitch and depth -> arch; speed -> stroke rate
    posture     how bend, twist, arch and arms change joints and muscle lengths
    arms        a straight arm for sharp turns
    follow      targets within a pool
    commands    rate, stroke, heading, hold, release, and plans of them
    pilot       all of it together
"""

from vitruvian.control.swim.pilot.arms import ARMS
from vitruvian.control.swim.pilot.commands import (
    Command,
    checked_plan,
    give_commands,
    heading,
    hold,
    rate,
    release,
    stroke,
)
from vitruvian.control.swim.pilot.follow import Pool, SwimTarget
from vitruvian.control.swim.pilot.pilot import Pilot, PilotState
from vitruvian.control.swim.pilot.posture import POSTURE_PARTS, Postures
from vitruvian.control.swim.pilot.reflexes import Reflexes

__all__ = [
    "ARMS",
    "POSTURE_PARTS",
    "Command",
    "Pilot",
    "PilotState",
    "Pool",
    "Postures",
    "Reflexes",
    "SwimTarget",
    "checked_plan",
    "give_commands",
    "heading",
    "hold",
    "rate",
    "release",
    "stroke",
]
