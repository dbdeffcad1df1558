"""Claims of the chapter `skeleton`: the four recursions against Pinocchio and MuJoCo (the `peers` extra)."""

from __future__ import annotations

import numpy as np

from vitruvian.skeleton import Skeleton, forward_dynamics, hybrid_dynamics, inverse_dynamics, mass_matrix
from vitruvian.skeleton.peers import mujoco_twin, pinocchio_twin
from vitruvian.skeleton.samples import EVERY_JOINT, LOWER_PAIRS
from vitruvian.verify._skeleton_common import Array, relative, trees, worst_of
from vitruvian.verify.book import Finding, claim, worst

PINOCCHIO_JOINTS = {**LOWER_PAIRS, "helical": EVERY_JOINT["helical"], "free": EVERY_JOINT["free"]}


@claim
def aba_equals_pinocchio() -> Finding:
    """Forward dynamics of random trees of every shared joint equals Pinocchio's ABA."""
    errors = []
    for tree, q, v, (tau, _) in trees(PINOCCHIO_JOINTS, 18):
        twin = pinocchio_twin(tree)
        theirs = twin.ours(twin.pin.aba(twin.model, twin.data, twin.q(q), twin.v(v), twin.v(tau)))
        errors.append(relative(forward_dynamics(tree, q, v, tau), theirs))
    return worst_of(errors, 1e-9, "trees of 18 bones, 9 kinds of joint")


@claim
def rnea_equals_pinocchio() -> Finding:
    """Inverse dynamics of random trees of every shared joint equals Pinocchio's RNEA."""
    errors = []
    for tree, q, v, (a, _) in trees(PINOCCHIO_JOINTS, 18):
        twin = pinocchio_twin(tree)
        theirs = twin.ours(twin.pin.rnea(twin.model, twin.data, twin.q(q), twin.v(v), twin.v(a)))
        errors.append(relative(inverse_dynamics(tree, q, v, a), theirs))
    return worst_of(errors, 1e-9, "trees of 18 bones, 9 kinds of joint")


@claim
def crba_equals_pinocchio() -> Finding:
    """The mass matrix of random trees of every shared joint equals Pinocchio's CRBA."""
    errors = []
    for tree, q, _, _ in trees(PINOCCHIO_JOINTS, 18):
        twin = pinocchio_twin(tree)
        theirs = twin.our_matrix(twin.pin.crba(twin.model, twin.data, twin.q(q)))
        errors.append(relative(mass_matrix(tree, q), theirs))
    return worst_of(errors, 1e-9, "trees of 18 bones, 9 kinds of joint")


@claim
def hybrid_equals_pinocchio() -> Finding:
    """Hybrid dynamics equals the block solution of Pinocchio's mass matrix and bias force."""
    errors = []
    for k, (tree, q, v, (tau, a)) in enumerate(trees(PINOCCHIO_JOINTS, 18)):
        twin = pinocchio_twin(tree)
        x, y = twin.q(q), twin.v(v)
        M = twin.our_matrix(twin.pin.crba(twin.model, twin.data, x))
        bias = twin.ours(twin.pin.rnea(twin.model, twin.data, x, y, np.zeros(tree.n_v)))
        errors.append(_hybrid_error(tree, q, v, tau, a, M, bias, k))
    return worst_of(errors, 1e-9, "trees of 18 bones, half of the velocities prescribed")


@claim
def aba_equals_mujoco() -> Finding:
    """Forward dynamics of random trees of every shared joint equals MuJoCo's."""
    errors = []
    for tree, q, v, (tau, _) in trees(LOWER_PAIRS, 18):
        twin = mujoco_twin(tree)
        twin.set(q, v, tau)
        twin.mujoco.mj_forward(twin.model, twin.data)
        errors.append(relative(forward_dynamics(tree, q, v, tau), twin.acceleration(q, v, twin.data.qacc)))
    return worst_of(errors, 1e-9, "trees of 18 bones, 8 kinds of joint")


@claim
def rnea_equals_mujoco() -> Finding:
    """Inverse dynamics of random trees of every shared joint equals MuJoCo's."""
    errors = []
    for tree, q, v, (a, _) in trees(LOWER_PAIRS, 18):
        twin = mujoco_twin(tree)
        twin.set(q, v)
        twin.data.qacc[:] = twin.theirs(q, v, a)
        twin.mujoco.mj_inverse(twin.model, twin.data)
        theirs = twin.velocity_map(q).T @ twin.data.qfrc_inverse
        errors.append(relative(inverse_dynamics(tree, q, v, a), theirs))
    return worst_of(errors, 1e-9, "trees of 18 bones, 8 kinds of joint")


@claim
def crba_equals_mujoco() -> Finding:
    """The mass matrix of random trees of every shared joint equals MuJoCo's."""
    return worst_of(
        [relative(mass_matrix(tree, q), _mujoco_matrix(tree, q, v)[0]) for tree, q, v, _ in trees(LOWER_PAIRS, 18)],
        1e-9,
        "trees of 18 bones, 8 kinds of joint",
    )


@claim
def hybrid_equals_mujoco() -> Finding:
    """Hybrid dynamics equals the block solution of MuJoCo's mass matrix and bias force."""
    errors = []
    for k, (tree, q, v, (tau, a)) in enumerate(trees(LOWER_PAIRS, 18)):
        errors.append(_hybrid_error(tree, q, v, tau, a, *_mujoco_matrix(tree, q, v), k))
    return worst_of(errors, 1e-9, "trees of 18 bones, half of the velocities prescribed")


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
    return worst([relative(ours[0], force), relative(ours[1], acceleration)])
