"""What drives the joints of a body in water, in the form that a stiff step can use.

    JointTorques   tau = torque - stiffness (q - q_start) - damping (v - v_start): inverse-dynamics or PD torques, whose
                   change within the step is taken implicitly
    JointCourse    the joints go where they are told, whatever it takes; only the root is free
Muscles need no class: their activations go into `muscle.implicit.BodyStepper`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass
class JointTorques:
    """Generalized forces [N m or N] on all joint coordinates, each shape (n_v,); the root's should be zero."""

    torque: Array  # at the start of the step
    stiffness: Array | float = 0.0  # -d tau/dq [N m], not negative
    damping: Array | float = 0.0  # -d tau/dv [N m s], not negative


@dataclass
class JointCourse:
    """Joints on a course: `sample(time)` gives joint coordinates, shape (n_q,); those of the root are not looked at."""

    sample: Callable[[float], Array]


Actuation = JointTorques | JointCourse | None


def torques_now(given: JointTorques, moved: Array, gained: Array) -> Array:
    """Torque after the joints have moved by `moved` (n_v,) and gained speed `gained` (n_v,) since the step began."""
    return np.asarray(given.torque - given.stiffness * moved - given.damping * gained)
