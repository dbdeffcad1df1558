"""Drives a face: action units → activations that lag → balance of the tissue in its modes; jaw and lids follow.

    driver = FaceDriver(make_face())
    own = driver.start()
    driver.step(own, {"AU12": 0.8}, dt, gaze=eyes.angle, shut=lids(eyes, time))

Activation follows what is asked with a time constant of LAG, the jaw with JAW_LAG. Tissue is light and well damped, so
that at 30 frames a second it is taken to be in balance in every frame: each step starts from the last one's modes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from vitruvian.anatomy.face import Face, upper_lid
from vitruvian.control.face.units import effort
from vitruvian.errors import InputError

Array = np.ndarray
LAG, JAW_LAG, LID_LAG = 0.06, 0.09, 0.04  # [s]
EVALUATIONS = 3  # of the potential in a frame, at most
STILL = 2e-4  # activations that change less since the last balance ask for no new one


@dataclass
class FaceState:
    """What changes of a face."""

    q: Array  # modes
    compliance: Array  # of the modes as last found (`flesh.subspace`)
    activation: Array = field(default_factory=lambda: np.zeros(44))  # of the muscles
    jaw: float = 0.0  # [rad]
    lids: Array = field(default_factory=lambda: np.zeros((2, 2)))  # asked by units: upper, lower of each eye
    gaze: Array = field(default_factory=lambda: np.zeros((2, 2)))  # yaw, pitch of each eye [rad]
    shut: Array = field(default_factory=lambda: np.zeros(2))  # by blinks, 0 to 1
    balanced: Array = field(default_factory=lambda: np.zeros(44))  # activation that q belongs to

    @property
    def lid_positions(self) -> Array:
        """Upper and lower lid of each eye, 0 open to 1 shut, shape (2, 2)."""
        out = np.empty((2, 2))
        for k in range(2):
            upper = upper_lid(float(self.shut[k]), float(self.lids[k, 0]), float(self.gaze[k, 1]))
            # a lid that is shut by a blink is not raised from below as well
            out[k] = upper, float(self.lids[k, 1]) * (1.0 - max(upper, 0.0))
        return out


class FaceDriver:
    """Moves a `FaceState`; keeps nothing itself, so one driver serves several heads with one face."""

    def __init__(self, face: Face, *, evaluations: int = EVALUATIONS) -> None:
        self.face, self.evaluations = face, evaluations

    def start(self) -> FaceState:
        """At rest."""
        return FaceState(np.zeros(self.face.n_modes), self.face.subspace.inverse.copy())

    def step(
        self,
        state: FaceState,
        units: Mapping[str, float],
        dt: float,
        *,
        gaze: Array | None = None,
        shut: float | Array = 0.0,
    ) -> None:
        """Move on by dt [s], in place.

        gaze: yaw and pitch of the left and right eye [rad] (2, 2); shut: lids by a blink, 0 to 1."""
        if not dt > 0.0:
            raise InputError(f"face: a step must last longer than 0 s, not {dt}")
        asked = effort(units)
        near = {lag: 1.0 - np.exp(-dt / lag) for lag in (LAG, JAW_LAG, LID_LAG)}
        state.activation = state.activation + near[LAG] * (asked.activation - state.activation)
        state.jaw += float(near[JAW_LAG] * (asked.jaw - state.jaw))
        state.lids = state.lids + near[LID_LAG] * (asked.lids - state.lids)
        state.gaze = np.zeros((2, 2)) if gaze is None else np.asarray(gaze, float).copy()
        state.shut = np.broadcast_to(np.asarray(shut, float), (2,)).copy()
        self.balance(state, self.evaluations)

    def balance(self, state: FaceState, evaluations: int) -> float:
        """Bring the modes to balance with the state's activation; what is left of the force, relative."""
        if np.abs(state.activation - state.balanced).max() < STILL:
            return 0.0
        q, compliance = state.q.copy(), state.compliance.copy()
        report = self.face.subspace.solve(q, state.activation, compliance, evaluations=evaluations)
        state.q, state.compliance, state.balanced = q, compliance, state.activation.copy()
        return report.left

    def settled(self, units: Mapping[str, float], evaluations: int = 60) -> FaceState:
        """The face when it has held these units for long."""
        state, asked = self.start(), effort(units)
        state.lids, state.jaw = asked.lids, asked.jaw
        for part in (0.35, 0.7, 1.0):
            state.activation = part * asked.activation
            self.balance(state, evaluations)
        return state
