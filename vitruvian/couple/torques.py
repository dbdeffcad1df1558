"""What drives joints directly, in the form that a stiff step can use.

JointTorques   tau = torque - stiffness (q - q_start) - damping (v - v_start): inverse-dynamics or PD torques, whose
               change within the step is taken implicitly
JointCourse    prescribed joint angles, whatever force it takes; only the root is free
PostureTarget  what PD servos pull towards, with gains of their own
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vitruvian.couple.step import System
from vitruvian.errors import InputError
from vitruvian.skeleton import difference

Array = np.ndarray


@dataclass
class JointTorques:
    """Generalized forces [N m or N] on all joint coordinates, each shape (n_v,)."""

    torque: Array  # at the start of the step
    stiffness: Array | float = 0.0  # -d tau/dq [N m], not negative
    damping: Array | float = 0.0  # -d tau/dv [N m s], not negative

    def __post_init__(self) -> None:
        self.torque = np.asarray(self.torque, float)
        for name in ("stiffness", "damping"):
            value = np.asarray(getattr(self, name), float)
            if value.shape not in ((), self.torque.shape):
                raise InputError(f"joint torques: {name} has shape {value.shape}, the torque {self.torque.shape}")
            if not (value >= 0.0).all():
                raise InputError(f"joint torques: {name} must not be negative or NaN")

    def __add__(self, other: JointTorques) -> JointTorques:
        return JointTorques(
            self.torque + other.torque,
            np.asarray(self.stiffness) + np.asarray(other.stiffness),
            np.asarray(self.damping) + np.asarray(other.damping),
        )

    @property
    def stiff(self) -> bool:
        """Whether it changes within a step."""
        return bool(np.any(self.stiffness) or np.any(self.damping))


@dataclass
class JointCourse:
    """Joints on a course: `sample(time)` gives joint coordinates, shape (n_q,); those of the root are not looked at."""

    sample: Callable[[float], Array]


@dataclass
class PostureTarget:
    """Where servos pull the joints: coordinates (n_q,) and velocities (n_v,) [rad/s]; the root has no servo."""

    q: Array
    rate: Array


@dataclass(eq=False)
class AppliedTorques:
    """A contributor: joint torques given at the beginning of a step, at (q, v) = `start`, met here or in a sub-step."""

    given: JointTorques
    start: tuple[Array, Array]
    account: str = "drive"

    def add(self, system: System) -> None:
        system.force += self._at(system)
        if self.given.stiff:
            system.add_diagonal(self._soft(system))

    def work(self, system: System, gained: Array, middle: Array) -> float:
        # the torque that the implicit step really applied: less for the velocity gained
        return float((self._at(system) * system.dt - self._soft(system) * gained) @ middle)

    def _at(self, system: System) -> Array:
        """Torque after the joints have moved and gained speed since the step began, less h K v."""
        given, (q, v) = self.given, self.start
        if not given.stiff:
            return given.torque
        moved: Array | float = 0.0 if system.q is q else difference(system.step.skeleton, q, system.q)
        now = np.asarray(given.torque - given.stiffness * moved - given.damping * (system.v - v))
        return np.asarray(now - system.dt * np.asarray(given.stiffness) * system.v)

    def _soft(self, system: System) -> Array:
        """What it adds to the diagonal of A, h D + h² K, shape (n_v,)."""
        h = system.dt
        soft = h * np.asarray(self.given.damping) + h * h * np.asarray(self.given.stiffness)
        return np.zeros(len(system.v)) + soft
