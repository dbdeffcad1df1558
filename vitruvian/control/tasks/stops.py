"""The stops of the joints, as muscles are chosen against them.

A stop pushes a joint back into its range and never holds it. The body's step is implicit: for its length a joint in a
stop has the stop's stiffness and damping on the way out too; a forearm of 1 g m² that leaves it at 0.4 rad/s is held
by 4 N m. Muscles that are to bring about the wanted change of velocity in that very step pull against the 4 N m; a
fraction of the step later the joint is out of the stop, and they throw it at 25 rad/s. A wrist that water throws into
its stop at 9 rad/s rests there after 10 ms; asked to do so in T, all its muscles pull with all their strength. So

    a joint that is in its range, or will be after this beat if it moves as is wanted, has no stop: muscles move it
    one that stays beyond its range has its stop, which bears what presses on it, and muscles are not asked to move it
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
        f, joints = s.forces, limits.joints
        self._whole = f.limit_stiffness[joints], f.limit_damping[joints]
        self._set = f.limit_stiffness.copy(), f.limit_damping.copy()
        forces = replace(f, limit_stiffness=self._set[0], limit_damping=self._set[1])
        self.stepper = BodyStepper(replace(s, forces=forces), body.muscles)

    def meet(self, q: Array, x: Array, beat: float) -> Array:
        """Set the stops for driven joints at q (n_q,) that should move at x (n,) for `beat` [s]; the coordinates that
        stay in their stops, of all (n_v,) bool."""
        y, (low, high), joints = self.limits.place(q), self.limits.range, self.limits.joints
        end = y + beat * x
        pressed = ((y < low) & (end < low)) | ((y > high) & (end > high))
        for whole, now in zip(self._whole, self._set, strict=True):
            now[joints] = np.where(pressed, whole, 0.0)
        out = np.zeros(len(self._set[0]), bool)
        out[joints] = pressed
        return out
