"""Control by tasks (Si 2013, chapter 5): what is wanted becomes rows of one small program a step.

`now`, `force`   body and water at an instant: momentum matrix, governing equation, the water's force by part
`tasks`, `apart` wishes that add rows; `gather` collects them, `limits` bounds them, `program` solves
`capsules`       the body as capsules, for parts that keep apart
`gpdm`, `latent`, `limbs`   how people's limbs move, learned; a task that asks for it
`stops`          the stops of the joints, as muscles are chosen against them
`control`        the controller: velocities, then torques or muscles; `sequence` controllers in turn
"""

from vitruvian.control.tasks.apart import Apart
from vitruvian.control.tasks.capsules import Capsules, fit_capsules
from vitruvian.control.tasks.control import ACTUATIONS, TaskControl, TaskState
from vitruvian.control.tasks.gather import Gathered, Task
from vitruvian.control.tasks.limbs import Natural
from vitruvian.control.tasks.limits import Limits
from vitruvian.control.tasks.now import Now, look, pelvis_from_joints
from vitruvian.control.tasks.program import Program, Solution
from vitruvian.control.tasks.sequence import InTurn, Stage
from vitruvian.control.tasks.smooth import Align, Balance, Follow, Smooth
from vitruvian.control.tasks.steer import Steer, Travel, heading_off
from vitruvian.control.tasks.tasks import Effort, Gaze, Hold, MouthOut, Orient, Reach, Rest, Rise, Rotate, Untwist
from vitruvian.control.tasks.turning import random_start, turning_tasks

__all__ = [
    "ACTUATIONS",
    "Align",
    "Apart",
    "Balance",
    "Capsules",
    "Effort",
    "Follow",
    "Gathered",
    "Gaze",
    "Hold",
    "InTurn",
    "Limits",
    "MouthOut",
    "Natural",
    "Now",
    "Orient",
    "Program",
    "Reach",
    "Rest",
    "Rise",
    "Rotate",
    "Smooth",
    "Solution",
    "Stage",
    "Steer",
    "Task",
    "TaskControl",
    "TaskState",
    "Travel",
    "Untwist",
    "fit_capsules",
    "heading_off",
    "look",
    "pelvis_from_joints",
    "random_start",
    "turning_tasks",
]
