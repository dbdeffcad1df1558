"""ABA, RNEA, CRBA and hybrid dynamics against each other, against Lagrange, and against Pinocchio and MuJoCo."""

import numpy as np
import pytest

from vitruvian.skeleton import (
    Inertia,
    SkeletonBuilder,
    bone_poses,
    bone_velocities,
    centre_of_mass,
    centroidal_momentum,
    centroidal_momentum_matrix,
    energy,
    forward_dynamics,
    hybrid_dynamics,
    integrate,
    inverse_dynamics,
    joints,
    mass_matrix,
)
from vitruvian.skeleton.peers import mujoco_twin, pinocchio_twin
from vitruvian.skeleton.samples import (
    EVERY_JOINT,
    LOWER_PAIRS,
    humanlike_tree,
    random_inertia,
    random_state,
    random_surface,
    random_tree,
)
from vitruvian.spatial import exp_se3


def every_joint_tree(seed=0, n=32):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, list(EVERY_JOINT.values()), n)
    return (tree, *random_state(tree, rng), rng)


def relative(a, b):
    return np.abs(a - b).max() / np.abs(b).max()


def test_inverse_dynamics_undoes_forward_dynamics_with_every_joint():
    tree, q, v, rng = every_joint_tree()
    tau, wrenches = rng.normal(size=tree.n_v), rng.normal(size=(tree.n_bones, 6))
    a = forward_dynamics(tree, q, v, tau, wrenches)
    assert relative(inverse_dynamics(tree, q, v, a, wrenches), tau) < 1e-10


def test_mass_matrix_is_inverse_dynamics_column_by_column():
    tree, q, _, _ = every_joint_tree(1)
    nothing = np.zeros(tree.n_v)
    rest = inverse_dynamics(tree, q, nothing, nothing)
    columns = np.array([inverse_dynamics(tree, q, nothing, e) - rest for e in np.eye(tree.n_v)]).T
    assert np.allclose(mass_matrix(tree, q), columns, atol=1e-11 * np.abs(columns).max())


def test_kinetic_energy_is_half_v_m_v():
    tree, q, v, _ = every_joint_tree(2)
    assert energy(tree, q, v).kinetic == pytest.approx(0.5 * v @ mass_matrix(tree, q) @ v, rel=1e-12)


def test_power_of_the_forces_is_the_rate_of_energy():
    """This ties the bias forces (Hessians of the joints) to the energy, without any other library."""
    tree, q, v, rng = every_joint_tree(3)
    tau = rng.normal(size=tree.n_v)
    a = forward_dynamics(tree, q, v, tau)
    e = 1e-5

    def total(t):
        return energy(tree, integrate(tree, q, v + 0.5 * t * a, t), v + t * a).total

    assert (total(e) - total(-e)) / (2 * e) == pytest.approx(tau @ v, abs=1e-7 * energy(tree, q, v).kinetic)


def test_a_wrench_does_the_work_of_its_bone_twist():
    tree, q, v, rng = every_joint_tree(4)
    nothing = np.zeros(tree.n_v)
    wrenches = rng.normal(size=(tree.n_bones, 6))
    without = inverse_dynamics(tree, q, nothing, nothing)
    pushed = inverse_dynamics(tree, q, nothing, nothing, wrenches)
    assert (without - pushed) @ v == pytest.approx((wrenches * bone_velocities(tree, q, v)).sum(), rel=1e-10)


def test_hybrid_dynamics_keeps_what_is_given_and_solves_the_rest():
    tree, q, v, rng = every_joint_tree(5)
    given = rng.random(tree.n_v) < 0.5
    tau, a = rng.normal(size=(2, tree.n_v))
    forces, accelerations = hybrid_dynamics(tree, q, v, given, tau, a)
    assert np.array_equal(accelerations[given], a[given])
    assert np.array_equal(forces[~given], tau[~given])
    assert relative(inverse_dynamics(tree, q, v, accelerations), forces) < 1e-10
    nobody, everybody = np.zeros(tree.n_v, bool), np.ones(tree.n_v, bool)
    assert relative(hybrid_dynamics(tree, q, v, nobody, tau, a)[1], forward_dynamics(tree, q, v, tau)) < 1e-9
    assert relative(hybrid_dynamics(tree, q, v, everybody, tau, a)[0], inverse_dynamics(tree, q, v, a)) < 1e-12


def test_centroidal_momentum_matrix_gives_momentum_and_mass():
    tree, q, v, _ = every_joint_tree(6)
    A = centroidal_momentum_matrix(tree, q)
    h = centroidal_momentum(tree, q, v)
    assert np.allclose(A @ v, h, atol=1e-11 * np.abs(h).max())
    e = 1e-6
    speed = (centre_of_mass(tree, integrate(tree, q, v, e)) - centre_of_mass(tree, integrate(tree, q, v, -e))) / (2 * e)
    assert np.allclose(h[3:], tree.mass * speed, atol=1e-6 * np.abs(h).max())


def test_dynamics_with_a_moving_surface_follow_from_the_motion_of_its_points():
    """A bone on a moving surface obeys d'Alembert: sum of (force - m a) over virtual motions vanishes."""
    rng = np.random.default_rng(7)
    builder = SkeletonBuilder()
    joint = random_surface(rng, 2, moving=True)
    builder.add_bone("bone", joint=joint, placement=exp_se3(rng.normal(size=6)), inertia=random_inertia(rng))
    still = builder.build()
    rates, accelerations = rng.normal(size=(2, *joint.controls.shape))

    def at(t):
        controls = joint.controls + t * rates + 0.5 * t * t * accelerations
        return still.with_moving_surfaces({"bone": (controls, rates + t * accelerations, accelerations)})

    q, v = np.array([0.4, 0.6]), np.array([0.7, -0.3])
    a = forward_dynamics(at(0.0), q, v, np.zeros(2))
    # momentum of the bone in the world, differentiated along the true motion, against gravity alone
    e, h = 1e-4, []
    for s in (-e, e):
        h.append(centroidal_momentum(at(s), q + s * v + 0.5 * s * s * a, v + s * a))
    rate = (h[1] - h[0]) / (2 * e)
    rate[3:] -= still.mass * still.gravity  # what is left is the force of constraint on the centre of mass
    from vitruvian.skeleton import frame_jacobian

    J = frame_jacobian(at(0.0), q, 0, world=True)
    centre = centre_of_mass(at(0.0), q) - bone_poses(at(0.0), q)[0, :3, 3]
    J[3:] += np.cross(J[:3].T, centre).T
    assert np.abs(J.T @ rate).max() < 2e-6 * np.abs(rate).max()


@pytest.mark.parametrize("free_root", [False, True])
def test_pinocchio_agrees(free_root):
    pytest.importorskip("pinocchio")
    rng = np.random.default_rng(8)
    kinds = {**LOWER_PAIRS, "helical": EVERY_JOINT["helical"], "free": EVERY_JOINT["free"]}
    tree = random_tree(rng, list(kinds.values()), 27, free_root=free_root)
    q, v = random_state(tree, rng)
    tau, given = rng.normal(size=(2, tree.n_v))
    twin = pinocchio_twin(tree)
    x, y = twin.q(q), twin.v(v)
    theirs = twin.ours(twin.pin.aba(twin.model, twin.data, x, y, twin.v(tau)))
    assert relative(forward_dynamics(tree, q, v, tau), theirs) < 1e-9
    theirs = twin.ours(twin.pin.rnea(twin.model, twin.data, x, y, twin.v(given)))
    assert relative(inverse_dynamics(tree, q, v, given), theirs) < 1e-10
    assert relative(mass_matrix(tree, q), twin.our_matrix(twin.pin.crba(twin.model, twin.data, x))) < 1e-10


def test_mujoco_agrees():
    pytest.importorskip("mujoco")
    rng = np.random.default_rng(9)
    tree = random_tree(rng, list(LOWER_PAIRS.values()), 24, free_root=True)
    q, v = random_state(tree, rng)
    tau = rng.normal(size=tree.n_v)
    twin = mujoco_twin(tree)
    twin.set(q, v, tau)
    twin.mujoco.mj_forward(twin.model, twin.data)
    assert relative(forward_dynamics(tree, q, v, tau), twin.acceleration(q, v, twin.data.qacc)) < 1e-9


def test_human_like_tree_has_the_size_of_the_published_body():
    tree = humanlike_tree()
    assert (tree.n_bones, tree.n_v) == (75, 163)


def test_double_pendulum_equals_its_textbook_equation():
    """Two point masses on massless rods (tiny inertia about the rod's axis is never excited)."""
    m, l = (1.3, 0.7), (0.8, 0.5)
    builder = SkeletonBuilder((0.0, 0.0, -9.81))
    hinge = joints.Revolute((0.0, 1.0, 0.0))
    point = np.zeros((3, 3))
    builder.add_bone("upper", joint=hinge, inertia=Inertia(m[0], (0.0, 0.0, -l[0]), point))
    builder.add_bone(
        "lower",
        parent="upper",
        joint=hinge,
        placement=(0.0, 0.0, -l[0]),
        inertia=Inertia(m[1], (0.0, 0.0, -l[1]), point),
    )
    tree = builder.build()
    q, v = np.array([0.4, -1.1]), np.array([0.9, 1.7])
    # absolute angles a, b from the vertical
    a, b, da, db = q[0], q[0] + q[1], v[0], v[0] + v[1]
    M = np.array(
        [
            [(m[0] + m[1]) * l[0] ** 2, m[1] * l[0] * l[1] * np.cos(a - b)],
            [m[1] * l[0] * l[1] * np.cos(a - b), m[1] * l[1] ** 2],
        ]
    )
    f = np.array(
        [
            -m[1] * l[0] * l[1] * np.sin(a - b) * db**2 - (m[0] + m[1]) * 9.81 * l[0] * np.sin(a),
            m[1] * l[0] * l[1] * np.sin(a - b) * da**2 - m[1] * 9.81 * l[1] * np.sin(b),
        ]
    )
    dda, ddb = np.linalg.solve(M, f)
    assert np.allclose(forward_dynamics(tree, q, v, np.zeros(2)), [dda, ddb - dda], rtol=1e-12)
