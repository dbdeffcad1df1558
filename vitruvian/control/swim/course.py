"""A controller that leads the joints through a stroke, whatever force it takes; the pelvis is free."""

from __future__ import annotations

import numpy as np

from vitruvian.control.controls import Controls
from vitruvian.control.rhythm import StrokeMotion
from vitruvian.control.senses import Sensed
from vitruvian.couple import JointCourse


class CourseActuation:
    """A `Controller` without a state."""

    def __init__(self, motion: StrokeMotion):
        self.motion = motion

    def start(self, rng: np.random.Generator) -> None:
        return None

    def act(self, own: None, state: Sensed, time: float, dt: float) -> Controls:
        return Controls(course=JointCourse(lambda t: self.motion.sample(t)[0]))
