"""Skeleton: recursive dynamics against Pinocchio, MuJoCo, finite differences and conservation laws.

M(q) q̈ + c(q, q̇) = τ + Σ Jᵀ f_e for trees of any joints (Lee 2008, chapter 6 and appendix B). Errors are relative to the
largest entry of the reference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter

import numpy as np
from numba import njit

from vitruvian.skeleton import (
    Inertia,
    Skeleton,
    SkeletonBuilder,
    SkeletonState,
    bone_poses,
    centroidal_momentum,
    energy,
    forward_dynamics,
    hybrid_dynamics,
    integrate,
    inverse_dynamics,
    joint_transforms,
    joints,
    mass_matrix,
    passive_derivatives,
    passive_forces,
    step_forward_euler,
    step_rk4,
)
from vitruvian.skeleton.aba import aba
from vitruvian.skeleton.evaluate import S, evaluate_joints, joint_hessian
from vitruvian.skeleton.peers import mujoco_twin, pinocchio_twin
from vitruvian.skeleton.samples import (
    EVERY_JOINT,
    LOWER_PAIRS,
    random_chain,
    random_curve,
    random_inertia,
    random_state,
    random_surface,
    random_tree,
)
from vitruvian.spatial import exp_se3, inverse, log_se3, rotation_about, transform
from vitruvian.verify.book import Finding, claim

Array = np.ndarray
PINOCCHIO_JOINTS = {**LOWER_PAIRS, "helical": EVERY_JOINT["helical"], "free": EVERY_JOINT["free"]}
SPLINES = ("curve", "closed curve", "surface 1", "surface 2", "surface 3")
TREES = 20


def _trees(makers: dict, n_bones: int, *, free_roots: bool = True) -> Iterator[tuple[Skeleton, Array, Array, Array]]:
    """Random trees with random states and two random vectors each."""
    for seed in range(TREES):
        rng = np.random.default_rng(seed)
        tree = random_tree(rng, list(makers.values()), n_bones, free_root=free_roots and seed % 2 == 1)
        yield (tree, *random_state(tree, rng), rng.normal(size=(2, tree.n_v)))


def _relative(ours: Array, theirs: Array) -> float:
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


def _worst(errors: list[float], tolerance: float, what: str) -> Finding:
    return Finding.error(max(errors), tolerance, detail=f"worst of {len(errors)} {what}")


@claim
def aba_equals_pinocchio() -> Finding:
    """Forward dynamics of random trees of every shared joint equals Pinocchio's ABA."""
    errors = []
    for tree, q, v, (tau, _) in _trees(PINOCCHIO_JOINTS, 18):
        twin = pinocchio_twin(tree)
        theirs = twin.ours(twin.pin.aba(twin.model, twin.data, twin.q(q), twin.v(v), twin.v(tau)))
        errors.append(_relative(forward_dynamics(tree, q, v, tau), theirs))
    return _worst(errors, 1e-9, "trees of 18 bones, 9 kinds of joint")


@claim
def rnea_equals_pinocchio() -> Finding:
    """Inverse dynamics of random trees of every shared joint equals Pinocchio's RNEA."""
    errors = []
    for tree, q, v, (a, _) in _trees(PINOCCHIO_JOINTS, 18):
        twin = pinocchio_twin(tree)
        theirs = twin.ours(twin.pin.rnea(twin.model, twin.data, twin.q(q), twin.v(v), twin.v(a)))
        errors.append(_relative(inverse_dynamics(tree, q, v, a), theirs))
    return _worst(errors, 1e-9, "trees of 18 bones, 9 kinds of joint")


@claim
def crba_equals_pinocchio() -> Finding:
    """The mass matrix of random trees of every shared joint equals Pinocchio's CRBA."""
    errors = []
    for tree, q, _, _ in _trees(PINOCCHIO_JOINTS, 18):
        twin = pinocchio_twin(tree)
        theirs = twin.our_matrix(twin.pin.crba(twin.model, twin.data, twin.q(q)))
        errors.append(_relative(mass_matrix(tree, q), theirs))
    return _worst(errors, 1e-9, "trees of 18 bones, 9 kinds of joint")


@claim
def hybrid_equals_pinocchio() -> Finding:
    """Hybrid dynamics equals the block solution of Pinocchio's mass matrix and bias force."""
    errors = []
    for k, (tree, q, v, (tau, a)) in enumerate(_trees(PINOCCHIO_JOINTS, 18)):
        twin = pinocchio_twin(tree)
        x, y = twin.q(q), twin.v(v)
        M = twin.our_matrix(twin.pin.crba(twin.model, twin.data, x))
        bias = twin.ours(twin.pin.rnea(twin.model, twin.data, x, y, np.zeros(tree.n_v)))
        errors.append(_hybrid_error(tree, q, v, tau, a, M, bias, k))
    return _worst(errors, 1e-9, "trees of 18 bones, half of the velocities prescribed")


@claim
def aba_equals_mujoco() -> Finding:
    """Forward dynamics of random trees of every shared joint equals MuJoCo's."""
    errors = []
    for tree, q, v, (tau, _) in _trees(LOWER_PAIRS, 18):
        twin = mujoco_twin(tree)
        twin.set(q, v, tau)
        twin.mujoco.mj_forward(twin.model, twin.data)
        errors.append(_relative(forward_dynamics(tree, q, v, tau), twin.acceleration(q, v, twin.data.qacc)))
    return _worst(errors, 1e-9, "trees of 18 bones, 8 kinds of joint")


@claim
def rnea_equals_mujoco() -> Finding:
    """Inverse dynamics of random trees of every shared joint equals MuJoCo's."""
    errors = []
    for tree, q, v, (a, _) in _trees(LOWER_PAIRS, 18):
        twin = mujoco_twin(tree)
        twin.set(q, v)
        twin.data.qacc[:] = twin.theirs(q, v, a)
        twin.mujoco.mj_inverse(twin.model, twin.data)
        theirs = twin.velocity_map(q).T @ twin.data.qfrc_inverse
        errors.append(_relative(inverse_dynamics(tree, q, v, a), theirs))
    return _worst(errors, 1e-9, "trees of 18 bones, 8 kinds of joint")


@claim
def crba_equals_mujoco() -> Finding:
    """The mass matrix of random trees of every shared joint equals MuJoCo's."""
    return _worst(
        [_relative(mass_matrix(tree, q), _mujoco_matrix(tree, q, v)[0]) for tree, q, v, _ in _trees(LOWER_PAIRS, 18)],
        1e-9,
        "trees of 18 bones, 8 kinds of joint",
    )


@claim
def hybrid_equals_mujoco() -> Finding:
    """Hybrid dynamics equals the block solution of MuJoCo's mass matrix and bias force."""
    errors = []
    for k, (tree, q, v, (tau, a)) in enumerate(_trees(LOWER_PAIRS, 18)):
        errors.append(_hybrid_error(tree, q, v, tau, a, *_mujoco_matrix(tree, q, v), k))
    return _worst(errors, 1e-9, "trees of 18 bones, half of the velocities prescribed")


@claim
def rnea_undoes_aba_with_spline_joints() -> Finding:
    """RNEA(ABA(τ)) = τ for trees of every joint, spline joints of 1, 2 and 3 DOF among them, with external wrenches."""
    errors = []
    for tree, q, v, (tau, _) in _trees(EVERY_JOINT, 24):
        wrenches = np.random.default_rng(tree.n_v).normal(size=(tree.n_bones, 6))
        a = forward_dynamics(tree, q, v, tau, wrenches)
        errors.append(_relative(inverse_dynamics(tree, q, v, a, wrenches), tau))
    return _worst(errors, 1e-10, f"trees of 24 bones, {len(EVERY_JOINT)} kinds of joint")


@claim
def spline_jacobian_is_the_slope_of_its_transform() -> Finding:
    """The Jacobian of spline joints equals central differences of the joint transform."""
    errors = []
    for skeleton, q in _spline_joints():
        ours, step = _jacobian(skeleton, q), 1e-5
        for k, direction in enumerate(np.eye(skeleton.n_v)):
            down, up = (joint_transforms(skeleton, q + s * step * direction)[0] for s in (-1.0, 1.0))
            slope = log_se3(inverse(down) @ up) / (2.0 * step)
            errors.append(_relative(ours[k], slope))
    return _worst(errors, 1e-6, "columns")


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
            errors.append(_relative(hessian[:n, k], slope))
    return _worst(errors, 1e-6, "derivatives")


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
        errors.append(_relative(ours, hinges))
        errors.append(_relative(bone_poses(chains[0], q), bone_poses(chains[1], q)))
    return _worst(errors, 1e-9, "accelerations and poses of a six-bone chain")


@claim
def momentum_of_a_floating_tree_is_kept() -> Finding:
    """Linear and angular momentum of a free-floating tree with internal springs and forces stay for 10 s."""
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
    worst = 0.0
    for step in range(10_000):
        time = 0.001 * step
        step_rk4(tree, state, 0.001, push * np.sin(3.0 * time))
        if step % 50 == 49:
            worst = max(worst, _relative(centroidal_momentum(tree, state.q, state.v), start))
    return Finding.error(worst, 1e-9, detail=f"{tree.n_bones} bones, {tree.n_v} DOF, RK4 with steps of 1 ms")


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
    errors = [_relative(ours, np.array(n).T / (2 * step)) for ours, n in ((dq, by_q), (dv, by_v))]
    return _worst(errors, 1e-6, f"matrices, {tree.n_v} DOF")


@claim
def cost_per_body_is_flat() -> Finding:
    """Forward dynamics costs the same per bone from 10 to 1,000 bones (ratio of the dearest to the cheapest)."""
    return _flatness(lambda rng: joints.Ball())


@claim
def cost_per_body_is_flat_with_spline_joints() -> Finding:
    """The same with curve spline joints: they do not raise the complexity beyond O(n), as Lee reports."""
    return _flatness(lambda rng: random_curve(rng, periodic=True))


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
    size = 0.0
    for k in range(500):
        t = k * dt
        before = power(t, state)
        middle = state.copy()
        later = partial(_after, at, t)
        step_rk4(at(t), middle, 0.5 * dt, moving=later)
        step_rk4(at(t), state, dt, moving=later)
        work += dt / 6.0 * (before + 4.0 * power(t + 0.5 * dt, middle) + power(t + dt, state))
        size = max(size, energy(at(t + dt), state.q, state.v).kinetic)
    gained = energy(at(500 * dt), state.q, state.v).total - start
    return Finding.error((gained - work) / size, 1e-8, detail=f"work {work:.4g} J, largest kinetic energy {size:.4g} J")


def _after(at: Callable[[float], Skeleton], start: float, elapsed: float) -> Skeleton:
    return at(start + elapsed)


@claim
def beads_keep_their_energy() -> Finding:
    """Beads on a spinning flower-shaped wire without friction keep their energy for 10 s."""
    from vitruvian.scenes.beads import BEAD_MASS, build_beads, start_beads

    skeleton = build_beads()
    state = SkeletonState(*start_beads(skeleton))
    heights = [bone_poses(skeleton, [0.0, *np.full(skeleton.n_q - 1, x)])[1, 2, 3] for x in np.linspace(0.0, 4.0, 400)]
    scale = (skeleton.n_q - 1) * BEAD_MASS * 9.81 * (max(heights) - min(heights))
    start, worst = energy(skeleton, state.q, state.v).total, 0.0
    for step in range(5_000):
        step_rk4(skeleton, state, 0.002)
        if step % 10 == 9:
            worst = max(worst, abs(energy(skeleton, state.q, state.v).total - start) / scale)
    return Finding.error(worst, 1e-3, detail=f"of the energy that the beads' fall can give ({scale:.3g} J); RK4, 2 ms")


@claim
def globe_bears_steps_of_20_ms() -> Finding:
    """With forward Euler and steps of 20 ms, as Lee reports, `globe` does not blow up in 10 s."""
    from vitruvian.scenes.globe import PLANE_MASS, RADIUS, build_globe

    skeleton = _naturally_spaced(build_globe(controls=400), 400)
    speeds = np.concatenate([[0.6], np.full(skeleton.n_v - 1, 0.6)])
    scale = (skeleton.n_v - 1) * PLANE_MASS * 9.81 * 2.0 * RADIUS
    return _large_steps(skeleton, skeleton.neutral_q(), speeds, 0.02, scale)


@claim
def beads_bear_steps_of_100_ms() -> Finding:
    """With forward Euler and steps of 100 ms, as Lee reports, `beads` does not blow up in 10 s."""
    from vitruvian.scenes.beads import BEAD_MASS, DEPTH, RADIUS, build_beads

    skeleton = _naturally_spaced(build_beads(controls=1000), 600)
    beads = skeleton.n_q - 1
    length = skeleton.joints[1].spline.domain[1]  # type: ignore[attr-defined]
    q = np.array([0.0, *(length * (np.arange(beads) / beads + 0.013))])
    scale = beads * BEAD_MASS * 9.81 * 2.0 * RADIUS * (1.0 + DEPTH)
    return _large_steps(skeleton, q, np.array([2.0, *np.zeros(beads)]), 0.1, scale)


def _naturally_spaced(skeleton: Skeleton, n: int) -> Skeleton:
    """The same mechanism with every closed curve spaced so that ‖s(q)‖ = 1 in the metric of the bone's inertia.

    That is Lee's natural parameterisation (6.4.1), with the metric that he recommends for dynamics. The kinetic energy
    of a sliding bone then no longer depends on where it is, so no velocity-squared force is left that a large explicit
    step could overshoot. Spaced by arc length both mechanisms do blow up at these steps, at once or for some starts."""
    from vitruvian.scenes._curves import closed_spline

    builder = SkeletonBuilder(skeleton.gravity)
    for i, (name, joint, b) in enumerate(zip(skeleton.names, skeleton.joints, skeleton.bodies)):
        xx, xy, xz, yy, yz, zz = b[16:22]
        c = skeleton.coms[i]
        about_com = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) - b[12] * (
            (c @ c) * np.eye(3) - np.outer(c, c)
        )
        if isinstance(joint, joints.CurveSpline):
            x = np.linspace(*joint.spline.domain, 20 * n + 1)
            s = np.array([joint.spline.evaluate(a)[1] for a in x])
            spin = np.einsum("ni,ij,nj->n", s[:, :3], about_com, s[:, :3])
            centre = s[:, 3:] + np.cross(s[:, :3], c)
            speed = np.sqrt(spin / b[12] + (centre * centre).sum(axis=1))
            length = np.concatenate([[0.0], np.cumsum(0.5 * (speed[1:] + speed[:-1]) * np.diff(x))])
            places = np.interp(length[-1] * np.arange(n) / n, length, x)
            frames = np.array([joint.spline(a) for a in places])
            joint = joints.CurveSpline(closed_spline(frames, float(length[-1])))
        builder.add_bone(
            name,
            parent=None if skeleton.parent[i] < 0 else skeleton.names[skeleton.parent[i]],
            joint=joint,
            placement=transform(b[:9].reshape(3, 3), b[9:12]),
            inertia=Inertia(float(b[12]), c, about_com),
        )
    return builder.build()


def _large_steps(skeleton: Skeleton, q: Array, v: Array, dt: float, scale: float) -> Finding:
    """Largest kinetic energy on the way, in units of what gravity can give; of order one if nothing explodes.

    The worst of ten starts whose coordinates differ by a thousandth, because the motion is chaotic."""
    worst, starts = 0.0, 10
    for seed in range(starts):
        nudge = 1e-3 * np.random.default_rng(seed).normal(size=skeleton.n_v)
        state = SkeletonState(integrate(skeleton, q, nudge), v.copy())
        for _ in range(round(10.0 / dt)):
            step_forward_euler(skeleton, state, dt)
            worst = max(worst, energy(skeleton, state.q, state.v).kinetic / scale)
    detail = f"largest kinetic energy / ({scale:.3g} J), worst of {starts} starts, no friction, inertia-natural spacing"
    return Finding.within(worst, 0.0, 10.0, detail=detail)


def _flatness(make: Callable[[np.random.Generator], joints.Joint]) -> Finding:
    """Cost per bone of chains of several sizes in a compiled loop, so that calls from Python do not count."""
    sizes = (10, 30, 100, 300, 1000)
    runs = {}
    for n in sizes:
        chain = random_chain(n, make)
        q, v = random_state(chain, np.random.default_rng(n))
        work = chain.new_workspace()
        arrays = (chain.topology, chain.bodies, chain.params, chain.custom_rows(q), chain.gravity, q, 0.1 * v)
        runs[n] = (2_000 // n, *arrays, np.zeros(chain.n_v), work.rows, work.dofs, work.hessians, work.scratch)
        _repeat(1, *runs[n][1:])
    best = dict.fromkeys(sizes, np.inf)
    for _ in range(200):  # turn by turn and in short bursts, so that all sizes meet the same noise and quiet moments
        for n, arguments in runs.items():
            start = perf_counter()
            _repeat(*arguments)
            best[n] = min(best[n], (perf_counter() - start) / arguments[0] / n)
    costs = ", ".join(f"{n}: {1e9 * cost:.0f} ns" for n, cost in best.items())
    return Finding.within(max(best.values()) / min(best.values()), 1.0, 1.5, detail=f"per bone, {costs}")


@njit(cache=True)
def _repeat(times, topology, bodies, params, custom, gravity, q, v, tau, rows, dofs, hessians, scratch):
    out, no_wrenches = np.empty(len(v)), np.empty((0, 6))
    for _ in range(times):
        evaluate_joints(topology, bodies, params, custom, q, v, rows, dofs, hessians, scratch)
        aba(topology, bodies, gravity, tau, no_wrenches, rows, dofs, out)


def _mujoco_matrix(tree: Skeleton, q: Array, v: Array) -> tuple[Array, Array]:
    """MuJoCo's mass matrix and bias force in our coordinates."""
    twin = mujoco_twin(tree)
    twin.set(q, v)
    twin.mujoco.mj_forward(twin.model, twin.data)
    M = np.zeros((tree.n_v, tree.n_v))
    twin.mujoco.mj_fullM(twin.model, twin.data, M)
    B = twin.velocity_map(q)
    ours = B.T @ M @ B
    # where our velocities turn with the body, M q̈ = τ - c changes by M (q̈_theirs - B q̈_ours)
    turning = B.T @ twin.theirs(q, v, np.zeros(tree.n_v))
    return ours, B.T @ twin.data.qfrc_bias + ours @ turning


def _hybrid_error(tree: Skeleton, q: Array, v: Array, tau: Array, a: Array, M: Array, bias: Array, seed: int) -> float:
    """Our hybrid dynamics against the block solution with somebody else's M and bias."""
    given = np.random.default_rng(seed).random(tree.n_v) < 0.5
    acceleration = np.where(given, a, 0.0)
    free = ~given
    rest = tau[free] - bias[free] - M[np.ix_(free, given)] @ a[given]
    acceleration[free] = np.linalg.solve(M[np.ix_(free, free)], rest)
    force = np.where(given, M @ acceleration + bias, tau)
    ours = hybrid_dynamics(tree, q, v, given, tau, a)
    return max(_relative(ours[0], force), _relative(ours[1], acceleration))


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
