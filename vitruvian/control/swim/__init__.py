"""Swimming: what drives the body through a stroke, and what steers it.

Every actuation is a `Controller` (see `world/simulation.py`): `.start(rng) -> own`, `.act(own, state, time, dt) ->
Controls`. It senses q, v, activation, load and wrench (the water's push on each bone of the last step) of the state.

    MuscleActuation         rhythm -> wanted lengths -> activations; control "cpg" or "spline"
    InverseDynamicsActuation  joint torques that give the stroke's accelerations with a free pelvis
    PdActuation             joint torques of springs and dampers, stable at long steps
    CourseActuation         joints led through the stroke, whatever force it takes
    Pilot                   heading, depth and roll reflexes, speed, targets, turns: what changes the rhythm under way
    plan=                   commands at their times: [(2.0, rate(1.5)), (4.0, stroke("crawl")), (6.0, heading(1.57))]

Torques come with `stiffness` and `damping` for the step to take implicitly; muscles stay in the body, switched off, as
passive tissue.
"""

from vitruvian.control.swim.course import CourseActuation
from vitruvian.control.swim.muscles import MuscleActuation, MuscleOwn, MuscleSettings
from vitruvian.control.swim.pilot import (
    Command,
    Pilot,
    PilotState,
    Pool,
    Reflexes,
    heading,
    hold,
    rate,
    release,
    stroke,
)
from vitruvian.control.swim.splines import SplineRhythm
from vitruvian.control.swim.torques import InverseDynamicsActuation, PdActuation, TorqueGains

__all__ = [
    "Command",
    "CourseActuation",
    "InverseDynamicsActuation",
    "MuscleActuation",
    "MuscleOwn",
    "MuscleSettings",
    "PdActuation",
    "Pilot",
    "PilotState",
    "Pool",
    "Reflexes",
    "SplineRhythm",
    "TorqueGains",
    "heading",
    "hold",
    "rate",
    "release",
    "stroke",
]
