"""What a body in water carries from step to step: bones, muscles, forces to sense, and an account."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

Array = np.ndarray


@dataclass
class Book:
    """Where momentum and energy went since time 0; world axes."""

    impulse_water: Array = field(default_factory=lambda: np.zeros(3))  # of the water on the body [N s]
    spin_water: Array = field(default_factory=lambda: np.zeros(3))  # about the world's origin [N m s]
    impulse_weight: Array = field(default_factory=lambda: np.zeros(3))  # of gravity [N s]
    impulse_push: Array = field(default_factory=lambda: np.zeros(3))  # of pushes [N s]
    work_drive: float = 0.0  # of muscles or torques on the joints [J]
    work_water: float = 0.0  # of the water on the body, usually negative [J]
    work_push: float = 0.0  # [J]
    work_joints: float = 0.0  # of the joints' damping, stops included, negative [J]


@dataclass
class SwimmerState:
    """Bones, muscles and the account; a controller senses q, v, activation, load, wrench and water_force."""

    q: Array  # shape (n_q,)
    v: Array  # shape (n_v,)
    activation: Array  # shape (n_muscles,)
    load: Array  # inertia held by each bone, shape (n_bones, 10)
    push: Array  # of people and things on each bone, (moment, force) in its own frame, shape (n_bones, 6)
    wrench: Array  # of the water (mean of the latest step) and of pushes, likewise, shape (n_bones, 6)
    water_force: Array  # mean generalized force of the water in the latest step [N m, N], shape (n_v,)
    link_force: Array  # the same as (moment, force) on each link about its origin, world axes, shape (links, 6)
    drive: Array  # mean generalized force of muscles or torques in the latest step, shape (n_v,)
    book: Book = field(default_factory=Book)
