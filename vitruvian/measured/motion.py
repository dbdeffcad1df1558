"""A measured file as a motion for a body of its own size: what controllers follow.

The trial is scaled to the body, not the body to the subject: places / s with s from `subject.found_size`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control import Relaxer, SampledMotion
from vitruvian.errors import InputError
from vitruvian.measured.ground import sole_motion
from vitruvian.measured.kinematics import PoseFitter
from vitruvian.measured.pipeline import FLOOR
from vitruvian.measured.smooth import closed_on_itself, smoothed
from vitruvian.measured.subject import found_size, placed, trial_goals
from vitruvian.measured.trial import Trial, filled


def trial_motion(
    trial: Trial, body: Body, *, rate: float = 120.0, cutoff: float = 6.0, closed: bool = False
) -> SampledMotion:
    """The trial's motion for `body`, from where it stands, its soles on z = 0; filtered at `cutoff` [Hz].

    closed: a stride, whose last pose is made the first one again, but for the way it went."""
    trial = filled(trial)
    fitter = PoseFitter(body)
    goals, _ = trial_goals(trial, body)
    scale, start = found_size(fitter, goals)
    goals = placed(fitter, replace(goals, place=goals.place / scale), start)
    relaxer = Relaxer(body)
    q = np.array([relaxer.rest(pose, tolerance=1e-5) for pose in fitter.fit(goals, start).q])
    if closed:
        found = closed_on_itself(body, q)
        if found is None:
            raise InputError(f"{trial.name} does not end in the pose in which it begins, so it cannot be repeated")
        q = found[0]
    course = smoothed(body, trial.time, q, rate=rate, cutoff=cutoff, closed=closed)
    lowest = sole_motion(body, course)[0][..., 2].min(axis=(1, 2))
    course.q[:, :2] += body.default_q[:2] - course.q[0, :2]
    course.q[:, 2] -= float(np.percentile(lowest, FLOOR))
    return SampledMotion(body, course.period, course.q, course.v, course.a)
