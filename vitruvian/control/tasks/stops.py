"""The stops of the joints, as muscles are chosen against them.

A stop pushes a joint back into its range and never holds it. The body's step is implicit: for its length a joint that is
in a stop has the stop's stiffness and damping on the way out too, and a forearm of 1 g m² that leaves it at 0.4 rad/s
is held by 4 N m. Muscles chosen for that very step pull against the 4 N m; a fraction of the step later the joint is
out of the stop, and they throw it at 25 rad/s. So the step for which muscles are chosen has

    no damping of stops: they do not hold a joint, so nothing has to pull against them
    no stop of a joint that is in its range, or will be at the end of the beat if it moves as is wanted
    the stop's stiffness otherwise: what presses vertebrae and clavicles against their stops is borne by them
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control.tasks.limits import Limits
from vitruvian.couple import BodyStepper

Array = np.ndarray


class Stops:
    """A stepper to choose muscles with, whose stops are set anew for each choice."""

    def __init__(self, body: Body, limits: Limits):
        s, self.limits = body.skeleton, limits
        self._whole = s.forces.limit_stiffness[limits.joints]
        self._stiffness, damping = s.forces.limit_stiffness.copy(), s.forces.limit_damping.copy()
        damping[limits.joints] = 0.0
        forces = replace(s.forces, limit_stiffness=self._stiffness, limit_damping=damping)
        self.stepper = BodyStepper(replace(s, forces=forces), body.muscles)

    def meet(self, q: Array, x: Array, beat: float) -> None:
        """Set the stops for driven joints at q (n_q,) that should move at x (n,) for `beat` [s]."""
        y, (low, high) = self.limits.place(q), self.limits.range
        end = y + beat * x
        pressed = ((y < low) & (end < low)) | ((y > high) & (end > high))
        self._stiffness[self.limits.joints] = np.where(pressed, self._whole, 0.0)
