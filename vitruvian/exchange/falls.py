"""Does an exported body move as ours? One second of fall, passive or with a twitch, here and in the other program.

The body is let go in a pose, that of the tables (arms out) unless told; its pelvis should be fixed. `twitch` names
muscles that are fully excited for the first tenth of a second. The result is the largest distance [m] between a bone
here and there at the end. Both need the program in question (`peers` extra).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vitruvian.couple import BodyStepper
from vitruvian.exchange.mjcf import qpos_from_q
from vitruvian.exchange.osim import TO_OPENSIM
from vitruvian.exchange.osim_coordinates import coordinate_names, coordinate_values
from vitruvian.exchange.peers import mujoco_model, opensim_model
from vitruvian.muscle import ActivationDynamics
from vitruvian.skeleton import bone_poses

if TYPE_CHECKING:
    from vitruvian.anatomy import Body

Array = np.ndarray
STEP = 0.0005  # [s] of ours; half a millisecond is within 1 mm of none
TWITCH = 0.1  # [s]


def our_fall(body: Body, seconds: float, twitch: Sequence[str] = (), pose: Array | None = None) -> Array:
    """Where our bones are at the end [m], shape (n_bones, 3)."""
    stepper, state = BodyStepper(body.skeleton, body.muscles), body.at_rest(pose)
    q, v, activation, fibre = state.q, state.v, state.activation, state.fibre
    dynamics, on = ActivationDynamics(), _excited(body, twitch)
    for k in range(round(seconds / STEP)):
        activation = dynamics.step(activation, on * (k * STEP < TWITCH), STEP)
        q, v = stepper.step(q, v, activation, STEP, fibre=fibre)
    return np.asarray(bone_poses(body.skeleton, q)[:, :3, 3])


def mjcf_fall(
    body: Body, seconds: float = 1.0, twitch: Sequence[str] = (), *, pose: Array | None = None, step: float = 0.0005
) -> float:
    """Largest distance [m] of a bone from where it is in MuJoCo, which takes steps of `step` [s]; pose: joint
    coordinates (n_q,) to begin with."""
    mujoco, model, data = mujoco_model(body, step)
    data.qpos[:] = qpos_from_q(body, body.default_q if pose is None else pose)
    on = _excited(body, twitch)
    for k in range(round(seconds / step)):
        data.ctrl[: len(on)] = on * (k * step < TWITCH)
        mujoco.mj_step(model, data)
    mujoco.mj_kinematics(model, data)
    theirs = data.xpos[[model.body(name).id for name in body.skeleton.names]]
    return _apart(theirs, our_fall(body, seconds, twitch, pose))


def osim_fall(body: Body, seconds: float = 1.0, twitch: Sequence[str] = (), *, pose: Array | None = None) -> float:
    """Largest distance [m] of a bone from where it is in OpenSim; pose: joint coordinates (n_q,). With all muscles of
    a body a second takes OpenSim minutes. A twitch needs muscles with fibre and tendon, whose law OpenSim has."""
    opensim, model, state = opensim_model(body)
    if twitch:
        state = _excite(opensim, model, twitch, seconds)
    skeleton = body.skeleton
    coordinates = model.getCoordinateSet()
    start = body.default_q if pose is None else pose
    for name, value in zip(coordinate_names(skeleton), coordinate_values(skeleton, start)):
        coordinates.get(name).setValue(state, float(value), False)
    if body.muscles.n_muscles:
        model.equilibrateMuscles(state)
    manager = opensim.Manager(model)
    manager.setIntegratorMethod(opensim.Manager.IntegratorMethod_SemiExplicitEuler2)
    manager.setIntegratorAccuracy(1e-3)
    manager.setIntegratorMaximumStepSize(1e-3)
    manager.initialize(state)
    state = manager.integrate(seconds)
    model.realizePosition(state)
    bodies = model.getBodySet()
    found = [bodies.get(name).getPositionInGround(state) for name in skeleton.names]
    theirs = np.array([[place.get(k) for k in range(3)] for place in found]) @ TO_OPENSIM
    return _apart(theirs, our_fall(body, seconds, twitch, pose))


def _excite(opensim: Any, model: Any, names: Sequence[str], seconds: float) -> Any:
    """A controller in OpenSim's model that gives these muscles the activation of a twitch here; the model's new state.
    OpenSim's own lag is left out: it mixes the time constants of on and off."""
    controller, muscles = opensim.PrescribedController(), model.getMuscles()
    for m in range(muscles.getSize()):
        muscles.get(m).set_ignore_activation_dynamics(True)
    course, dynamics, activation = [0.0], ActivationDynamics(), np.zeros(1)
    for k in range(round(seconds / STEP)):
        activation = dynamics.step(activation, np.array([float(k * STEP < TWITCH)]), STEP)
        course.append(float(activation[0]))
    for name in names:
        given = opensim.PiecewiseLinearFunction()
        for k, value in enumerate(course):
            given.addPoint(k * STEP, value)
        controller.addActuator(muscles.get(name))
        controller.prescribeControlForActuator(name, given)
    model.addController(controller)
    return model.initSystem()


def _excited(body: Body, names: Sequence[str]) -> Array:
    on = np.zeros(body.muscles.n_muscles)
    for name in names:
        on[body.muscles.index(name)] = 1.0
    return on


def _apart(theirs: Array, ours: Array) -> float:
    return float(np.linalg.norm(theirs - ours, axis=1).max())
