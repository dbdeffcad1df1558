"""Skeleton timings: recursive dynamics beside Pinocchio and MuJoCo, spline joints beside hinges, Lee's own figures."""

from __future__ import annotations

import numpy as np

from vitruvian.benchmarks.suite import Timing, interleaved, timing
from vitruvian.skeleton import (
    Inertia,
    Skeleton,
    SkeletonBuilder,
    SkeletonState,
    forward_dynamics,
    inverse_dynamics,
    joints,
    mass_matrix,
    step_backward_euler,
    step_forward_euler,
)
from vitruvian.skeleton.peers import mujoco_twin, pinocchio_twin
from vitruvian.skeleton.samples import humanlike_tree, random_curve, random_state

BODY = "75 bones, 163 DOF: free root, 39 ball, 5 universal and 30 revolute joints"
LEE = "Lee 2008, 2.6 GHz Core 2 (published)"


@timing
def aba_of_a_human_body() -> Timing:
    """Forward dynamics of a human-like tree against Pinocchio's ABA and MuJoCo's mj_forward."""
    tree = humanlike_tree()
    rng = np.random.default_rng(0)
    q, v = random_state(tree, rng)
    tau, work = rng.normal(size=tree.n_v), tree.new_workspace()
    pin, muj = pinocchio_twin(tree), mujoco_twin(tree)
    theirs = (pin.model, pin.data, pin.q(q), pin.v(v), pin.v(tau))
    muj.set(q, v, tau)
    return _timing(
        {
            "ours": lambda: forward_dynamics(tree, q, v, tau, workspace=work),
            "pinocchio": lambda: pin.pin.aba(*theirs),
            "mujoco": lambda: muj.mujoco.mj_forward(muj.model, muj.data),
        },
        BODY,
    )


@timing
def rnea_of_a_human_body() -> Timing:
    """Inverse dynamics of the same tree against Pinocchio's RNEA."""
    tree = humanlike_tree()
    rng = np.random.default_rng(0)
    q, v = random_state(tree, rng)
    a = rng.normal(size=tree.n_v)
    pin = pinocchio_twin(tree)
    theirs = (pin.model, pin.data, pin.q(q), pin.v(v), pin.v(a))
    return _timing({"ours": lambda: inverse_dynamics(tree, q, v, a), "pinocchio": lambda: pin.pin.rnea(*theirs)}, BODY)


@timing
def mass_matrix_of_a_human_body() -> Timing:
    """Mass matrix of the same tree against Pinocchio's CRBA."""
    tree = humanlike_tree()
    q, _ = random_state(tree, np.random.default_rng(0))
    pin = pinocchio_twin(tree)
    theirs = (pin.model, pin.data, pin.q(q))
    return _timing({"ours": lambda: mass_matrix(tree, q), "pinocchio": lambda: pin.pin.crba(*theirs)}, BODY)


@timing
def implicit_step_of_a_human_body() -> Timing:
    """One linear-implicit step of the same tree with dense derivatives of its forces, as muscles give them."""
    tree = humanlike_tree()
    rng = np.random.default_rng(0)
    q, v = random_state(tree, rng)
    state = SkeletonState(q, 0.01 * v)
    K = rng.normal(size=(tree.n_v, tree.n_v))
    K = -K @ K.T
    start = state.copy()

    def step() -> None:
        state.q[:], state.v[:] = start.q, start.v
        step_backward_euler(tree, state, 0.001, lambda q, v: (np.zeros(tree.n_v), K, 0.1 * K))

    return _timing({"ours": step}, BODY)


@timing
def spline_joints_beside_hinges() -> Timing:
    """Forward dynamics of the human-shaped tree with cubic spline joints only, against the same tree with hinges."""
    spline, hinge = _same_tree(spline=True), _same_tree(spline=False)
    rng = np.random.default_rng(0)
    q, v = rng.uniform(0.0, 6.0, spline.n_q), rng.normal(size=spline.n_v)
    tau = np.zeros(spline.n_v)
    return _timing(
        {
            "ours": lambda: forward_dynamics(spline, q, v, tau),
            "the same tree with hinges": lambda: forward_dynamics(hinge, q, v, tau),
        },
        f"{spline.n_bones} bones, 1 DOF each",
    )


@timing
def knee_step() -> Timing:
    """One forward Euler step of the knee, beside Lee's 6 ms for a 1-DOF system."""
    from vitruvian.scenes.knee import build_knee, knee_of, scene

    knee = knee_of({name: parameter.default for name, parameter in scene.parameters.items()})
    return _step(build_knee(knee), 0.006)


@timing
def letters_step() -> Timing:
    """One forward Euler step of a chain of eight letters, beside Lee's 49 ms for his 8-DOF chain."""
    from vitruvian.scenes.letters import build_letters

    return _step(build_letters("VITRUVIA"), 0.049)


def _timing(runs: dict, detail: str) -> Timing:
    best = interleaved(runs, repeats=200, least_seconds=5e-4)  # short bursts find the quiet moments of a busy machine
    return Timing(best.pop("ours"), best, detail)


def _step(skeleton: Skeleton, published: float) -> Timing:
    state = SkeletonState.at_rest(skeleton)
    start = state.copy()

    def step() -> None:
        state.q[:], state.v[:] = start.q, start.v
        step_forward_euler(skeleton, state, 0.001)

    seconds = interleaved({"ours": step}, repeats=50, least_seconds=5e-4)["ours"]
    return Timing(seconds, {LEE: published}, f"{skeleton.n_bones} bones, {skeleton.n_v} DOF")


def _same_tree(*, spline: bool) -> Skeleton:
    """The branching of a human body with one kind of joint throughout."""
    body = humanlike_tree()
    curve = random_curve(np.random.default_rng(1), periodic=True)
    builder = SkeletonBuilder()
    for i, name in enumerate(body.names):
        builder.add_bone(
            name,
            parent=None if body.parent[i] < 0 else body.names[body.parent[i]],
            joint=curve if spline else joints.Revolute((0.0, 0.6, 0.8)),
            placement=body.bodies[i, 9:12],
            inertia=Inertia.box(1.0, (0.1, 0.2, 0.3)),
        )
    return builder.build()
