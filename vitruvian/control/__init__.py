"""Everything that decides activations.

`controls`         what a controller asks of a system: one set for all; `senses` what it may feel
`activation`, `coactivation`, `inverse`   which muscles give a torque, with which tone; which torques give a motion
`computed_muscle`  follows a motion; `motion`, `poses`, `spine`, `legs`, `relax` make motions and poses
`rhythm`, `swim`   central pattern generators and strokes; what drives and steers a swimmer
`tasks`            wishes as rows of one program: turning over, reaching, keeping the mouth out
`posture`          holds a trunk that breathes; `behaviour` breath, laughter, cough from files
`strength`         isometric strength beside measured people
"""

from vitruvian.control.activation import ActivationSolver
from vitruvian.control.computed_muscle import ComputedMuscleControl, Gains, tracking_error
from vitruvian.control.controls import Beat, BreathDrive, Controls, Effort, honoured
from vitruvian.control.inverse import InverseDynamics
from vitruvian.control.motion import KeyMotion, Motion, SampledMotion, load_motion
from vitruvian.control.poses import HANGING, pose
from vitruvian.control.posture import Posture, trunk_coordinates
from vitruvian.control.relax import Relaxer
from vitruvian.control.strength import strength_tests

__all__ = [
    "HANGING",
    "ActivationSolver",
    "Beat",
    "BreathDrive",
    "ComputedMuscleControl",
    "Controls",
    "Effort",
    "Gains",
    "InverseDynamics",
    "KeyMotion",
    "Motion",
    "Posture",
    "Relaxer",
    "SampledMotion",
    "honoured",
    "load_motion",
    "pose",
    "strength_tests",
    "tracking_error",
    "trunk_coordinates",
]
