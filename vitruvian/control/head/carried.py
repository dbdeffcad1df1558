"""A head carried by a whole body: the neck's muscles follow the head's control, all others the body's own controller.

The networks that were trained on the neck alone serve here, too: they see the head's pose and gravity in the chest's
axes, and the neck's muscles are the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vitruvian.control.controls import Controls
from vitruvian.control.head.gaze import GazeControl, GazeState

Array = np.ndarray


@dataclass
class CarriedState:
    body: Any  # of the body's own controller
    gaze: GazeState


class Carried:
    """A `Controller`; what the body's controller asks of the neck's muscles is not heard."""

    def __init__(self, control: Any, gaze: GazeControl):
        """control: the body's own `Controller`, which can `leave` coordinates and muscles to another."""
        self.control, self.gaze = control, gaze
        control.leave(gaze.control.statics.rows, gaze.control.statics.muscles)

    def start(self, rng: np.random.Generator) -> CarriedState:
        return CarriedState(self.control.start(rng), self.gaze.start(rng))

    def act(self, own: CarriedState, state: Any, time: float, dt: float) -> Controls:
        given, head = (c.act(s, state, time, dt) for c, s in ((self.control, own.body), (self.gaze, own.gaze)))
        return replace(given, reflex=head.reflex, told={**given.told, **head.told})


class Limp:
    """A `Controller`: the body's own, with the neck's muscles off."""

    def __init__(self, control: Any, muscles: Array):
        """muscles: of the neck, indices."""
        self.control, self.muscles = control, muscles

    def start(self, rng: np.random.Generator) -> Any:
        return self.control.start(rng)

    def act(self, own: Any, state: Any, time: float, dt: float) -> Controls:
        given = self.control.act(own, state, time, dt)
        excitation = given.excitation.copy()
        excitation[self.muscles] = 0.0
        return replace(given, excitation=excitation)
