"""Forces behind a motion: joint moments, muscle activations and forces, joint reactions, frame by frame.

Net joint moments are those of inverse dynamics (Newton-Euler) with the ground's forces. Static optimisation gives the
least activations that, with what joints and muscles do passively, explain them,

    min ½ Σ a² + ½ Σ (r / r₀)²   with   R a + r = torque,  0 <= a <= 1,

by the dual Newton method of `control.activation`: the moment r of a reserve at each coordinate is the price of what
the muscles cannot give, r₀ = 1 N m, and is reported. Stops of joints that muscles drive do not push here: a pose found
beyond a range is an error of the fit, not a load. The reaction of a joint is the force that inverse dynamics sends
through it less what muscles pull across it, -Σ t ∂l/∂x for a shift x of everything beyond the joint: what cartilage
carries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control import ActivationSolver, InverseDynamics
from vitruvian.control.activation import Activations
from vitruvian.control.inverse import Demand
from vitruvian.couple import BodyState, BodyStepper
from vitruvian.measured.ground import GroundForce
from vitruvian.measured.smooth import Course
from vitruvian.muscle import lengths
from vitruvian.skeleton import Skeleton, bone_poses, inverse_dynamics
from vitruvian.skeleton.evaluate import F as FORCE
from vitruvian.spatial import exp_se3, inverse

Array = np.ndarray
RESERVE = 1.0  # r₀ [N m]
ROUNDS, PROPORTION = 5, 0.005  # solves at most; error of a muscle's force that ends them, in parts of its largest
TINY = 1e-6  # [m, rad] step of a difference
JOINTS = ("Fe_l", "Fe_r", "Tfp_l", "Tfp_r", "Fo_l", "Fo_r", "Hu_l", "Hu_r", "Ul_l", "Ul_r", "L5")  # whose reactions
STEP = 1e-3  # [s] of the implicit step whose matrix the torques are found with
Progress = Callable[[float, float], None]


@dataclass(frozen=True, eq=False)
class Forces:
    """What was found, f frames."""

    moment: Array  # net generalised forces [N m, N], (f, n_v); the first six are what is left on the pelvis
    activation: Array  # (f, n_muscles)
    force: Array  # of muscles [N], (f, n_muscles)
    reserve: Array  # moments that muscles cannot give [N m], (f, n_v)
    reaction: Array  # force that a parent exerts on its child through the joint [N], world axes, (f, len(JOINTS), 3)


def length_slopes(body: Body, poses: Array, moved: Array, twist: Array) -> Array:
    """How muscles lengthen [m per unit] when the bones in `moved` (bool, n_bones) go together along a world twist
    (angular, linear at the origin), (n_muscles,). By central differences of the paths' own lengths, so that whatever a
    path does (points, obstacles, riders) counts."""
    there, back = poses.copy(), poses.copy()
    if twist[:3].any():
        step = exp_se3(TINY * twist)
        there[moved] = step @ poses[moved]
        back[moved] = inverse(step) @ poses[moved]
    else:
        there[moved, :3, 3] += TINY * twist[3:]
        back[moved, :3, 3] -= TINY * twist[3:]
    return (lengths(body.muscles, there) - lengths(body.muscles, back)) / (2.0 * TINY)


def muscle_pull(body: Body, poses: Array, bone: int, force: Array) -> Array:
    """Force [N] in world axes (3,) with which tensions (n_muscles,) pull a bone and all beyond it."""
    moved = body.skeleton.supports[:, body.skeleton.v_start[bone]]
    out = np.zeros(3)
    for k in range(3):
        twist = np.zeros(6)
        twist[3 + k] = 1.0
        out[k] = -float(force @ length_slopes(body, poses, moved, twist))
    return out


def without_stops(body: Body) -> Skeleton:
    """The body's skeleton with no ends to the ranges of what muscles drive."""
    s = body.skeleton
    low, high = np.where(body.driven, -np.inf, s.forces.low), np.where(body.driven, np.inf, s.forces.high)
    return replace(s, forces=replace(s.forces, low=low, high=high))


def found_forces(
    body: Body, course: Course, ground: GroundForce, progress: Progress | None = None, *, muscles: bool = True
) -> Forces:
    """Moments, muscles and reactions of a motion under the ground's forces; without `muscles` only the moments, the
    rest zero."""
    s, frames = body.skeleton, len(course.q)
    stepper = BodyStepper(without_stops(body), body.muscles, held=np.zeros(s.n_v, dtype=bool))
    hybrid = InverseDynamics(body, stepper)
    solver = ActivationSolver(slack=np.full(len(hybrid.driven), RESERVE**2), tolerance=1e-6)
    n = body.muscles.n_muscles
    moment, reserve = np.empty((frames, s.n_v)), np.zeros((frames, s.n_v))
    activation, force = np.zeros((frames, n)), np.zeros((frames, n))
    reaction = np.zeros((frames, len(JOINTS), 3))
    joints = [s.index(bone) for bone in JOINTS]
    start, work = None, s.new_workspace()
    for f in range(frames):
        q, v, a = course.q[f], course.v[f], course.a[f]
        poses = bone_poses(s, q)
        wrench = ground.wrenches(body, poses, f)
        moment[f] = inverse_dynamics(s, q, v, a, wrench, workspace=work)
        carried = [poses[i, :3, :3] @ work.rows[i, FORCE + 3 : FORCE + 6] for i in joints]
        if progress is not None:
            progress(f + 1, frames)
        if not muscles:
            continue
        state = body.at_rest(q)
        state.v[:], state.wrench[:] = v, wrench
        demand = hybrid.demand(state, a, STEP)
        found, force[f] = _explained(solver, demand, stepper, state, body.muscles.weight, start)
        start = found.multiplier
        activation[f], reserve[f, hybrid.driven] = found.activation, -found.residual
        for k, i in enumerate(joints):
            reaction[f, k] = carried[k] - muscle_pull(body, poses, i, force[f])
    return Forces(moment, activation, force, reserve, reaction)


def _explained(
    solver: ActivationSolver, demand: Demand, stepper: BodyStepper, state: BodyState, weight: Array, start: Array | None
) -> tuple[Activations, Array]:
    """Activations, and the muscles' forces [N] (n_muscles,). Where force is not in proportion to activation, each
    muscle's share per activation is corrected by what it really gives, and solved again."""
    R, muscle = demand.map, np.repeat(np.arange(len(weight)), np.diff(demand.map.row_start))
    slope = stepper.found.tension[2].copy()
    size = np.ones(len(weight))
    for _ in range(ROUNDS):
        found = solver.solve(replace(R, value=R.value * size[muscle]), demand.torque, weight, start)
        stepper.assemble(state.q, state.v, found.activation, STEP)
        force, passive = stepper.found.tension[0].copy(), stepper.found.tension[1]
        told = slope * size * found.activation
        wrong = np.abs(force - passive - told) > PROPORTION * np.maximum(slope, 1.0)
        if not wrong.any():
            break
        active = (found.activation > 1e-3) & (slope > 1e-6)
        size[active] = ((force - passive) / np.maximum(slope * found.activation, 1e-9))[active]
        start = found.multiplier
    return found, force
