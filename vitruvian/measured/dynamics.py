"""Forces behind a motion: joint moments, muscle activations and forces, joint reactions, frame by frame.

Net joint moments are those of inverse dynamics (Newton-Euler) with the ground's forces. Static optimisation gives the
least activations that, with what joints and muscles do passively, explain them,

    min ½ Σ a² + ½ Σ (r / r₀)²   with   R a + r = torque,  0 <= a <= 1,

by the dual Newton method of `control.activation`: the moment r of a reserve at each coordinate is the price of what the
muscles cannot give, r₀ = 1 N m, and is reported. Reactions of joints are the forces that remain when every muscle pulls
at the points of its path: what cartilage carries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control import ActivationSolver, InverseDynamics
from vitruvian.couple import BodyStepper
from vitruvian.measured.ground import GroundForce
from vitruvian.measured.smooth import Course
from vitruvian.muscle import path_points
from vitruvian.skeleton import bone_poses, inverse_dynamics
from vitruvian.skeleton.evaluate import F as FORCE

Array = np.ndarray
RESERVE = 1.0  # r₀ [N m]
STEP = 1e-3  # [s] of the implicit step whose matrix the torques are found with
Progress = Callable[[float, float], None]


@dataclass(frozen=True, eq=False)
class Forces:
    """What was found, f frames."""

    moment: Array  # net generalised forces [N m, N], (f, n_v); the first six are what is left on the pelvis
    activation: Array  # (f, n_muscles)
    force: Array  # of muscles [N], (f, n_muscles)
    reserve: Array  # moments that muscles cannot give [N m], (f, n_v)
    reaction: Array  # on each bone at its joint to the parent [N m, N], in its own frame, (f, n_bones, 6)


def muscle_wrenches(body: Body, poses: Array, force: Array) -> Array:
    """(moment, force) of muscle tensions [N] (n_muscles,) on each bone in its own frame, (n_bones, 6)."""
    m = body.muscles
    x = path_points(m, poses)
    starts = np.delete(np.arange(len(x)), m.offsets[1:] - 1)
    along = x[starts + 1] - x[starts]
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-12)
    pull = along * np.repeat(force, np.diff(m.offsets) - 1)[:, None]
    total = np.zeros((len(x), 3))
    total[starts] += pull
    total[starts + 1] -= pull
    R, at = poses[m.bone, :3, :3], poses[m.bone, :3, 3]
    own = np.einsum("pji,pj->pi", R, total)
    arm = np.einsum("pji,pj->pi", R, x - at)
    out = np.zeros((body.n_bones, 6))
    np.add.at(out, m.bone, np.concatenate([np.cross(arm, own), own], axis=1))
    return out


def found_forces(
    body: Body, course: Course, ground: GroundForce, progress: Progress | None = None, *, muscles: bool = True
) -> Forces:
    """Moments, muscles and reactions of a motion under the ground's forces; without `muscles` only the moments, the
    rest zero."""
    s, frames = body.skeleton, len(course.q)
    stepper = BodyStepper(s, body.muscles, held=np.zeros(s.n_v, dtype=bool))
    inverse = InverseDynamics(body, stepper)
    solver = ActivationSolver(slack=np.full(len(inverse.driven), RESERVE**2), tolerance=1e-6)
    n = body.muscles.n_muscles
    moment, reserve = np.empty((frames, s.n_v)), np.zeros((frames, s.n_v))
    activation, force = np.zeros((frames, n)), np.zeros((frames, n))
    reaction = np.zeros((frames, s.n_bones, 6))
    start, work = None, s.new_workspace()
    for f in range(frames):
        q, v, a = course.q[f], course.v[f], course.a[f]
        poses = bone_poses(s, q)
        wrench = ground.wrenches(body, poses, f)
        moment[f] = inverse_dynamics(s, q, v, a, wrench)
        if progress is not None:
            progress(f + 1, frames)
        if not muscles:
            continue
        state = body.at_rest(q)
        state.v[:], state.wrench[:] = v, wrench
        demand = inverse.demand(state, a, STEP)
        found = solver.solve(demand.map, demand.torque, body.muscles.weight, start)
        start = found.multiplier
        activation[f], reserve[f, inverse.driven] = found.activation, -found.residual
        stepper.assemble(q, v, found.activation, STEP)
        force[f] = stepper.found.tension[0]
        inverse_dynamics(s, q, v, a, wrench + muscle_wrenches(body, poses, force[f]), workspace=work)
        reaction[f] = work.rows[:, FORCE : FORCE + 6]
    return Forces(moment, activation, force, reserve, reaction)
