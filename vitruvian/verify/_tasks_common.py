"""What the claims on task control share."""

from __future__ import annotations

from functools import cache

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control.tasks import Capsules, fit_capsules
from vitruvian.skeleton import integrate
from vitruvian.skin import BoundSkin
from vitruvian.verify._swim_bodies import lying_human

Array = np.ndarray


@cache
def swimmer() -> tuple[Body, BoundSkin]:
    return lying_human("full")


@cache
def capsules() -> Capsules:
    return fit_capsules(*swimmer())


def moving(seed: int, speed: float = 1.0) -> tuple[Array, Array]:
    """A pose near the default one, lying a little under water, and velocities [rad/s, m/s]."""
    body, _ = swimmer()
    rng = np.random.default_rng(seed)
    q = integrate(body.skeleton, body.default_q, 0.15 * rng.standard_normal(body.skeleton.n_v))
    q[2] -= 1.2
    return q, speed * rng.standard_normal(body.skeleton.n_v)
