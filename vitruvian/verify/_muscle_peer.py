"""One muscle between the ground and a slider in OpenSim: its forces in balance, at a rate, and in time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from vitruvian.errors import MissingExtra
from vitruvian.muscle import FibreTendon

Array = np.ndarray
KINDS = ("DeGrooteFregly2016Muscle", "Millard2012EquilibriumMuscle", "Thelen2003Muscle")


class OneMuscle:
    """The same muscle in OpenSim; kind: the name of its class there."""

    def __init__(
        self, muscle: FibreTendon, kind: str = KINDS[0], ramp: tuple[Sequence[float], Sequence[float]] | None = None
    ):
        """ramp: times [s] and activations, joined by straight lines."""
        self.o = o = opensim()
        self.model = model = o.Model()
        model.setGravity(o.Vec3(0))
        body = o.Body("slider", 1.0, o.Vec3(0), o.Inertia(1))
        model.addBody(body)
        joint = o.SliderJoint("joint", model.getGround(), body)
        model.addJoint(joint)
        m = getattr(o, kind)()
        m.setName("muscle")
        m.set_max_isometric_force(muscle.f_max)
        m.set_optimal_fiber_length(muscle.fibre_length)
        m.set_tendon_slack_length(muscle.slack_length)
        m.set_pennation_angle_at_optimal(muscle.pennation)
        m.set_max_contraction_velocity(muscle.fastest)
        m.set_ignore_tendon_compliance(muscle.tendon == "rigid")
        m.set_ignore_activation_dynamics(kind != KINDS[2])  # Thelen's has no such switch
        if kind == KINDS[0]:
            m.set_fiber_damping(muscle.damping)
            m.set_tendon_strain_at_one_norm_force(muscle.strain)
            m.set_tendon_compliance_dynamics_mode("explicit")
        m.addNewPathPoint("a", model.getGround(), o.Vec3(0))
        m.addNewPathPoint("b", body, o.Vec3(0))
        model.addForce(m)
        if ramp is not None:
            brain = o.PrescribedController()
            brain.addActuator(m)
            line = o.PiecewiseLinearFunction()
            for t, a in zip(*ramp):
                line.addPoint(float(t), float(a))
            brain.prescribeControlForActuator("muscle", line)
            model.addController(brain)
        self.state = model.initSystem()
        self.muscle = model.getMuscles().get(0)
        self.coordinate = model.getCoordinateSet().get(0)

    def force(self, activation: float, length: float, rate: float = 0.0) -> float:
        """Tension [N] with fibre and tendon in balance."""
        self._place(length, rate)
        self.model.realizeVelocity(self.state)
        if self.muscle.get_ignore_activation_dynamics():
            self.model.setControls(self.state, self.o.Vector(1, float(activation)))
        else:
            self.muscle.setActivation(self.state, float(activation))
        if self.muscle.get_ignore_tendon_compliance() is False:
            self.model.equilibrateMuscles(self.state)
        self.model.realizeDynamics(self.state)
        return float(self.muscle.getTendonForce(self.state))

    def in_time(self, length: float, times: Array) -> Array:
        """Tension [N] at times [s] under the ramp, at a length that stays."""
        self._place(length, 0.0)
        self.coordinate.setLocked(self.state, True)
        self.model.equilibrateMuscles(self.state)
        manager = self.o.Manager(self.model)
        manager.setIntegratorAccuracy(1e-8)
        manager.initialize(self.state)
        out = []
        for t in times:
            state = manager.integrate(float(t))
            self.model.realizeDynamics(state)
            out.append(float(self.muscle.getTendonForce(state)))
        return np.array(out)

    def _place(self, length: float, rate: float) -> None:
        self.coordinate.setValue(self.state, float(length), False)
        self.coordinate.setSpeedValue(self.state, float(rate))


def opensim() -> Any:
    try:
        import opensim as found
    except ImportError:
        raise MissingExtra("OpenSim", "pip install opensim") from None
    found.Logger.setLevelString("Error")
    return found


def table(peer: Callable[[float, float], float], activations: Sequence[float], lengths: Sequence[float]) -> Array:
    """Forces [N] over activations and lengths, shape (n, m)."""
    return np.array([[peer(a, l) for l in lengths] for a in activations])
