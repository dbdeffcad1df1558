"""What a controller asks of a system for one step: one set of controls for every system.

A field that is None is not asked for. A system says which fields it honours; one that it does not honour is an error,
never ignored. A controller may also tell what it knows of itself (`effort`, `beat`, `told`); measures read that.

    Controls(excitation=a)                         muscles
    Controls(reflex=StretchReflex(...))            muscles that answer to their own strain, beside the excitation
    Controls(torque=tau)                           joint torques; `JointTorques` adds stiffness and damping
    Controls(course=JointCourse(sample))           prescribed joint angles
    Controls(posture=PostureTarget(q, rate))       where a soft character's servos pull its joints
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vitruvian.couple import JointCourse, JointTorques, PostureTarget, StretchReflex
from vitruvian.errors import InputError

Array = np.ndarray
ROUNDING = 1e-6  # by which an excitation may leave 0 to 1
COMMANDS = ("excitation", "reflex", "torque", "course", "posture", "root_force", "breath")


@dataclass
class Effort:
    """Where muscles or torques fell short at the last decision."""

    missing: float = 0.0  # largest torque that could not be given [N m]
    missing_at: int = -1  # its coordinate, as in `Body.coordinate_names`; -1 before the first decision
    share: float = 1.0  # of the coactivation asked for that fitted below full activation, least of all parts


@dataclass
class Beat:
    """Where in its rhythm a body is."""

    time: float  # [s] to which phase and rate belong
    phase: float  # cycles, counted up
    rate: float  # in force [1/s]
    jump: Array = field(
        default_factory=lambda: np.zeros(2)
    )  # largest leap of a wanted length [m] and rate [m/s] so far

    def phase_at(self, time: float) -> float:
        """Phase a little later, within a step."""
        return self.phase + self.rate * (time - self.time)


@dataclass
class BreathDrive:
    """Of a trunk that breathes, beside the muscles on its bones."""

    elements: Array  # activation of diaphragm and wall, 0 to 1, shape (n_elements,)
    glottis: float = 1.0  # how far it is open, 0 to 1
    bend: Array = field(
        default_factory=lambda: np.zeros(3)
    )  # spine forward, clavicles up, head forward, from rest [rad]

    def __post_init__(self) -> None:
        self.elements = np.asarray(self.elements, float)
        for name, value in (("elements", self.elements), ("glottis", np.asarray(self.glottis))):
            low, high = value.min(initial=0.0), value.max(initial=0.0)
            if not (low >= -ROUNDING and high <= 1.0 + ROUNDING):
                raise InputError(f"controls: {name} of the breath must be from 0 to 1, got {low:.4g} to {high:.4g}")


@dataclass
class Controls:
    """For one step."""

    excitation: Array | None = None  # of the muscles, 0 to 1, shape (n_muscles,)
    reflex: StretchReflex | None = None  # of some muscles, which then follow it and not the excitation
    torque: JointTorques | None = None  # on the joint coordinates; an array [N m or N] (n_v,) will do
    course: JointCourse | None = None  # joints led whatever force it takes; the root stays free
    posture: PostureTarget | None = None  # of the joints' servos
    root_force: Array | None = (
        None  # on the pelvis in its frame (moment, force) [N m, N], shape (6,): a fictitious hand
    )
    breath: BreathDrive | None = None  # of a trunk that breathes
    effort: Effort = field(default_factory=Effort)
    beat: Beat | None = None
    told: dict[str, Any] = field(default_factory=dict)  # whatever else a measure may want to see

    def __post_init__(self) -> None:
        if self.torque is not None and not isinstance(self.torque, JointTorques):
            self.torque = JointTorques(np.asarray(self.torque, float))
        if self.course is not None and not isinstance(self.course, JointCourse):
            raise InputError(f"controls: course must be a JointCourse, not {type(self.course).__name__}")
        if self.excitation is not None:
            self.excitation = np.asarray(self.excitation, float)
            low, high = self.excitation.min(initial=0.0), self.excitation.max(initial=0.0)
            if not (low >= -ROUNDING and high <= 1.0 + ROUNDING):  # also where a value is not a number
                raise InputError(f"controls: excitation must be from 0 to 1, got {low:.4g} to {high:.4g}")
        if self.root_force is not None:
            self.root_force = np.asarray(self.root_force, float)
            if self.root_force.shape != (6,) or not np.isfinite(self.root_force).all():
                raise InputError(f"controls: root_force must be six finite numbers, not {self.root_force}")

    @property
    def asked(self) -> tuple[str, ...]:
        """Names of the commands that are given."""
        return tuple([name for name in COMMANDS if getattr(self, name) is not None])


def honoured(
    controls: Controls | None,
    honours: Collection[str],
    who: str,
    *,
    n_muscles: int | None = None,
    n_v: int | None = None,
) -> Controls:
    """The controls, empty if there are none; an error for what `who` does not honour or for arrays of a wrong size."""
    if controls is None:
        return Controls()
    if not isinstance(controls, Controls):
        raise InputError(f"{who} takes Controls (vitruvian.control.controls), not {type(controls).__name__}")
    for name in controls.asked:
        if name not in honours:
            known = ", ".join(honours) or "nothing"
            raise InputError(f"{who} does not honour the control '{name}'; it honours: {known}")
    given, wanted = controls.excitation, (n_muscles,)
    if given is not None and n_muscles is not None and np.shape(given) != wanted:
        raise InputError(f"{who}: excitation has shape {np.shape(given)}, {n_muscles} muscles need {wanted}")
    if controls.reflex is not None and n_muscles is not None and controls.reflex.feedforward.shape != wanted:
        raise InputError(f"{who}: a reflex has {len(controls.reflex.feedforward)} muscles, not {n_muscles}")
    if controls.torque is not None and n_v is not None and np.shape(controls.torque.torque) != (n_v,):
        raise InputError(f"{who}: torque has shape {np.shape(controls.torque.torque)}, the joints need ({n_v},)")
    return controls
