"""Swimming: what drives the body through a stroke, and what steers it.

Every actuation is a `Controller` (see `world/simulation.py`): `.start(rng) -> own`, `.act(own, state, time, dt) ->
SwimControls`. The state that it senses needs `q`, `v` and `wrench` (the water's push on each bone of the last step, in
the bone's frame: (moment, force)), as `BodyState` has; give `sense=` where they lie deeper: `sense=lambda s: s.body`.

    SwimControls            .excitation (n_muscles,) and .torque (n_v,) on the joint coordinates, none on the pelvis
    MuscleActuation         rhythm -> wanted lengths -> activations; control "cpg" or "spline"
    InverseDynamicsActuation  joint torques that give the stroke's accelerations with a free pelvis
    PdActuation             joint torques of springs and dampers, stable at long steps
    Pilot                   heading, depth and roll reflexes, speed, targets, turns: what changes the rhythm under way
    plan=                   commands at their times: [(2.0, rate(1.5)), (4.0, stroke("crawl")), (6.0, heading(1.57))]

Torques come with `stiffness` and `damping` for the step to take implicitly; muscles stay in the body, switched off, as
passive tissue.
"""

from vitruvian.control.swim.controls import Sensed, SwimControls, WaterSense
from vitruvian.control.swim.muscles import MuscleActuation, MuscleOwn, MuscleSettings
from vitruvian.control.swim.pilot import (
    Pilot,
    PilotState,
    Pool,
    Reflexes,
    Senses,
    heading,
    hold,
    rate,
    release,
    stroke,
)
from vitruvian.control.swim.splines import SplineRhythm
from vitruvian.control.swim.torques import InverseDynamicsActuation, PdActuation, TorqueGains

__all__ = [
    "InverseDynamicsActuation",
    "MuscleActuation",
    "MuscleOwn",
    "MuscleSettings",
    "PdActuation",
    "Pilot",
    "PilotState",
    "Pool",
    "Reflexes",
    "Sensed",
    "Senses",
    "SplineRhythm",
    "SwimControls",
    "TorqueGains",
    "WaterSense",
    "heading",
    "hold",
    "rate",
    "release",
    "stroke",
]
