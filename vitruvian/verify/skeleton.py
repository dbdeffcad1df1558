"""Skeleton: recursive dynamics against Pinocchio, MuJoCo, finite differences and conservation laws.

M(q) q̈ + c(q, q̇) = τ + Σ Jᵀ f_e for trees of any joints (Lee 2008, chapter 6 and appendix B). Errors are relative to the
largest entry of the reference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from vitruvian.skeleton import (
    Inertia,
    Skeleton,
    SkeletonBuilder,
    SkeletonState,
    bone_poses,
    centroidal_momentum,
    energy,
    forward_dynamics,
    integrate,
    inverse_dynamics,
    joint_transforms,
    joints,
    passive_derivatives,
    passive_forces,
    step_rk4,
)
from vitruvian.skeleton.evaluate import S, joint_hessian
from vitruvian.skeleton.samples import (
    EVERY_JOINT,
    random_inertia,
    random_state,
    random_surface,
)
from vitruvian.spatial import exp_se3, inverse, log_se3, rotation_about, transform
from vitruvian.verify._skeleton_common import Array, relative, trees, worst_of
from vitruvian.verify._skeleton_cost import cost_per_body_is_flat, cost_per_body_is_flat_with_spline_joints
from vitruvian.verify._skeleton_peers import (
    aba_equals_mujoco,
    aba_equals_pinocchio,
    crba_equals_mujoco,
    crba_equals_pinocchio,
    hybrid_equals_mujoco,
    hybrid_equals_pinocchio,
    rnea_equals_mujoco,
    rnea_equals_pinocchio,
)
from vitruvian.verify._skeleton_steps import (
    beads_bear_steps_of_100_ms,
    beads_keep_their_energy,
    globe_bears_steps_of_20_ms,
)
from vitruvian.verify.book import Finding, claim, worst

__all__ = [
    "aba_equals_mujoco",
    "aba_equals_pinocchio",
    "beads_bear_steps_of_100_ms",
    "beads_keep_their_energy",
    "cost_per_body_is_flat",
    "cost_per_body_is_flat_with_spline_joints",
    "crba_equals_mujoco",
    "crba_equals_pinocchio",
    "globe_bears_steps_of_20_ms",
    "hybrid_equals_mujoco",
    "hybrid_equals_pinocchio",
    "rnea_equals_mujoco",
    "rnea_equals_pinocchio",
]

SPLINES = ("curve", "closed curve", "surface 1", "surface 2", "surface 3")


@claim
def rnea_undoes_aba_with_spline_joints() -> Finding:
    """RNEA(ABA(τ)) = τ for trees of every joint, spline joints of 1, 2 and 3 DOF among them, with external wrenches."""
    errors = []
    for tree, q, v, (tau, _) in trees(EVERY_JOINT, 24):
        wrenches = np.random.default_rng(tree.n_v).normal(size=(tree.n_bones, 6))
        a = forward_dynamics(tree, q, v, tau, wrenches)
        errors.append(relative(inverse_dynamics(tree, q, v, a, wrenches), tau))
    return worst_of(errors, 1e-10, f"trees of 24 bones, {len(EVERY_JOINT)} kinds of joint")


@claim
def spline_jacobian_is_the_slope_of_its_transform() -> Finding:
    """The Jacobian of spline joints equals central differences of the joint transform."""
    errors = []
    for skeleton, q in _spline_joints():
        ours, step = _jacobian(skeleton, q), 1e-5
        for k, direction in enumerate(np.eye(skeleton.n_v)):
            down, up = (joint_transforms(skeleton, q + s * step * direction)[0] for s in (-1.0, 1.0))
            slope = log_se3(inverse(down) @ up) / (2.0 * step)
            errors.append(relative(ours[k], slope))
    return worst_of(errors, 1e-6, "columns")


@claim
def spline_hessian_is_the_slope_of_its_jacobian() -> Finding:
    """The Hessian of spline joints equals central differences of the joint Jacobian."""
    errors = []
    for skeleton, q in _spline_joints():
        n, step = skeleton.n_v, 1e-5
        hessian = np.empty((7, 7, 6))
        joint_hessian(
            skeleton.topology,
            skeleton.params,
            skeleton.custom_rows(q),
            q,
            0,
            np.empty(12),
            np.empty((7, 6)),
            hessian,
            np.empty(1000),
        )
        for k, direction in enumerate(np.eye(n)):
            slope = (_jacobian(skeleton, q + step * direction) - _jacobian(skeleton, q - step * direction)) / (2 * step)
            errors.append(relative(hessian[:n, k], slope))
    return worst_of(errors, 1e-6, "derivatives")


@claim
def spline_on_one_axis_is_a_hinge() -> Finding:
    """A chain with spline joints whose control frames share an axis moves as the same chain with hinges does."""
    axis = np.array([0.48, 0.6, 0.64])
    # Control frames at the Greville points of the angle make the spline reproduce the angle itself (linear precision).
    breaks = np.linspace(-2.0, 2.0, 9)
    knots = np.concatenate([np.full(3, -2.0), breaks, np.full(3, 2.0)])
    angles = [knots[j + 1 : j + 4].mean() for j in range(len(knots) - 4)]
    spline = joints.CurveSpline([transform(rotation_about(axis, a)) for a in angles], breaks)
    rng = np.random.default_rng(0)
    chains = []
    inertias, places = [random_inertia(rng) for _ in range(6)], [exp_se3(0.4 * rng.normal(size=6)) for _ in range(6)]
    for joint in (spline, joints.Revolute(axis)):
        builder = SkeletonBuilder()
        for i in range(6):
            parent = f"bone{i - 1}" if i else None
            builder.add_bone(
                f"bone{i}", parent=parent, joint=joint, placement=places[i], inertia=inertias[i], neutral=[0.0]
            )
        chains.append(builder.build())
    errors = []
    for _ in range(50):
        q, v, tau = rng.uniform(-1.9, 1.9, 6), rng.normal(size=6), rng.normal(size=6)
        ours, hinges = (forward_dynamics(chain, q, v, tau) for chain in chains)
        errors.append(relative(ours, hinges))
        errors.append(relative(bone_poses(chains[0], q), bone_poses(chains[1], q)))
    return worst_of(errors, 1e-9, "accelerations and poses of a six-bone chain")


@claim
def momentum_of_a_floating_tree_is_kept() -> Finding:
    """Linear and angular momentum of a floating tree with inner springs and forces stay for 10 s, each to its scale."""
    rng = np.random.default_rng(1)
    builder = SkeletonBuilder((0.0, 0.0, 0.0))
    for i, kind in enumerate(("free", "ball", "revolute", "closed curve", "universal", "ball", "elliptic")):
        joint = EVERY_JOINT[kind](rng)
        builder.add_bone(
            f"bone{i}",
            parent=f"bone{int(rng.integers(0, i))}" if i else None,
            joint=joint,
            placement=exp_se3(0.3 * rng.normal(size=6)),
            inertia=Inertia.box(1.0, rng.uniform(0.2, 0.5, 3)),
            stiffness=2.0 if i else 0.0,
            damping=0.05 if i else 0.0,
        )
    builder.add_spring("tie", "bone3", (0.1, 0.0, 0.0), "bone6", (0.0, 0.1, 0.0), 5.0, 0.1)
    tree = builder.build()
    state = SkeletonState(
        integrate(tree, tree.neutral, 0.3 * rng.normal(size=tree.n_v)), 0.5 * rng.normal(size=tree.n_v)
    )
    push = 0.3 * rng.normal(size=tree.n_v)
    push[:6] = 0.0  # forces between bones only
    start = centroidal_momentum(tree, state.q, state.v)
    errors: list[float] = []
    for step in range(10_000):
        time = 0.001 * step
        step_rk4(tree, state, 0.001, push * np.sin(3.0 * time))
        if step % 50 == 49:
            now = centroidal_momentum(tree, state.q, state.v)
            errors += [relative(now[:3], start[:3]), relative(now[3:], start[3:])]
    size = f"{tree.n_bones} bones, {tree.n_v} DOF, RK4 with steps of 1 ms"
    return Finding.error(
        worst(errors), 1e-9, detail=f"{size}; angular {worst(errors[::2]):.1e}, linear {worst(errors[1::2]):.1e}"
    )


@claim
def passive_derivatives_are_exact() -> Finding:
    """dτ/dq and dτ/dv of joint springs, limits and springs between bones equal central differences."""
    rng = np.random.default_rng(2)
    builder = SkeletonBuilder()
    for i, make in enumerate([EVERY_JOINT["free"], *EVERY_JOINT.values()]):
        joint = make(rng)
        builder.add_bone(
            f"bone{i}",
            parent=f"bone{int(rng.integers(max(0, i - 4), i))}" if i else None,
            joint=joint,
            placement=exp_se3(0.4 * rng.normal(size=6)),
            inertia=random_inertia(rng),
            stiffness=rng.uniform(1.0, 3.0, joint.n_v),
            damping=0.2,
            limits=(-0.1, 0.1),
            limit_stiffness=2.0,
            limit_damping=0.3,
        )
    builder.add_spring("tie", "bone5", (0.1, 0.2, 0.3), "bone12", (0.0, 0.3, -0.1), 10.0, 2.0, 0.1)
    tree = builder.build()
    q, v = integrate(tree, tree.neutral, 0.7 * rng.normal(size=tree.n_v)), rng.normal(size=tree.n_v)
    _, dq, dv = passive_derivatives(tree, q, v)
    step, sides = 1e-6, np.eye(tree.n_v)
    by_q = [
        passive_forces(tree, integrate(tree, q, d, step), v) - passive_forces(tree, integrate(tree, q, d, -step), v)
        for d in sides
    ]
    by_v = [passive_forces(tree, q, v + step * d) - passive_forces(tree, q, v - step * d) for d in sides]
    errors = [relative(ours, np.array(n).T / (2 * step)) for ours, n in ((dq, by_q), (dv, by_v))]
    return worst_of(errors, 1e-6, f"matrices, {tree.n_v} DOF")


@claim
def moving_surface_does_the_work_it_should() -> Finding:
    """On a surface that deforms, the energy gained by a sliding body equals the work of the surface's own motion."""
    rng = np.random.default_rng(4)
    joint = random_surface(rng, 2, moving=True)
    builder = SkeletonBuilder()
    builder.add_bone("ball", joint=joint, inertia=Inertia.sphere(1.0, 0.1))
    still = builder.build()
    shape = 0.05 * rng.normal(size=joint.controls.shape)

    def at(t: float) -> Skeleton:
        values = joint.controls + np.sin(5 * t) * shape
        return still.with_moving_surfaces({"ball": (values, 5 * np.cos(5 * t) * shape, -25 * np.sin(5 * t) * shape)})

    def power(t: float, state: SkeletonState) -> float:
        from vitruvian.skeleton.evaluate import F, U

        now = at(t)
        a = forward_dynamics(now, state.q, state.v, np.zeros(2))
        inverse_dynamics(now, state.q, state.v, a)  # leaves the force through the joint in the workspace
        wrench = now.workspace.rows[0, F : F + 6].copy()
        forward_dynamics(now, state.q, np.zeros(2), np.zeros(2))
        return float(wrench @ now.workspace.rows[0, U : U + 6])  # at rest on the surface, u is the drift alone

    state = SkeletonState(np.array([0.5, 0.5]), np.zeros(2))
    dt, work = 0.0005, 0.0
    start = energy(at(0.0), state.q, state.v).total
    sizes = []
    for k in range(500):
        t = k * dt
        before = power(t, state)
        middle = state.copy()
        later = partial(_after, at, t)
        step_rk4(at(t), middle, 0.5 * dt, moving=later)
        step_rk4(at(t), state, dt, moving=later)
        work += dt / 6.0 * (before + 4.0 * power(t + 0.5 * dt, middle) + power(t + dt, state))
        sizes.append(energy(at(t + dt), state.q, state.v).kinetic)
    size = worst(sizes)
    gained = energy(at(500 * dt), state.q, state.v).total - start
    return Finding.error((gained - work) / size, 1e-8, detail=f"work {work:.4g} J, largest kinetic energy {size:.4g} J")


def _after(at: Callable[[float], Skeleton], start: float, elapsed: float) -> Skeleton:
    return at(start + elapsed)


def _spline_joints() -> Iterator[tuple[Skeleton, Array]]:
    for kind in SPLINES:
        for seed in range(8):
            rng = np.random.default_rng(seed)
            builder = SkeletonBuilder()
            builder.add_bone("bone", joint=EVERY_JOINT[kind](rng), inertia=random_inertia(rng))
            skeleton = builder.build()
            yield skeleton, random_state(skeleton, rng)[0]


def _jacobian(skeleton: Skeleton, q: Array) -> Array:
    joint_transforms(skeleton, q)
    return skeleton.workspace.dofs[:, S : S + 6].copy()
