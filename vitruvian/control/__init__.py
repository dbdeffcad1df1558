"""Everything that decides activations.

`controls`         what a controller asks of a system: one set for all; `senses` what it may feel
`activation`, `coactivation`, `inverse`   which muscles give a torque, with which tone; which torques give a motion
`computed_muscle`  follows a motion; `motion`, `poses`, `spine`, `legs`, `relax` make motions and poses
`rhythm`, `swim`   central pattern generators and strokes; what drives and steers a swimmer
`strength`         isometric strength beside measured people
"""

from vitruvian.control.computed_muscle import ComputedMuscleControl, Gains
from vitruvian.control.controls import Beat, Controls, Effort, honoured

__all__ = ["Beat", "ComputedMuscleControl", "Controls", "Effort", "Gains", "honoured"]
