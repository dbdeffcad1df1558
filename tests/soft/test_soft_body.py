"""Posed flesh and its steps."""

import numpy as np
import pytest
from numba import get_num_threads, set_num_threads
from numba.core.config import NUMBA_NUM_THREADS
from scipy.spatial.transform import Rotation

from vitruvian.anatomy.characters import character, soft_body
from vitruvian.couple.soft_explicit import Damping, subtract_product
from vitruvian.couple.soft_fixed import settle_fixed
from vitruvian.errors import Diverged, InputError
from vitruvian.flesh.posed.blocks import A, scratch
from vitruvian.flesh.posed.forces import damped_forces, elastic_energy, elastic_forces
from vitruvian.flesh.posed.ground import Ground
from vitruvian.flesh.posed.model import CHUNK
from vitruvian.flesh.posed.polar import polar
from vitruvian.flesh.posed.shapes import LEAST
from vitruvian.flesh.posed.skinning import add_pose_damping
from vitruvian.flesh.posed.stiffness import add_elastic
from vitruvian.flesh.rotation import rotation_of
from vitruvian.scenes.kick_momentum import kick
from vitruvian.skeleton import bone_poses


@pytest.fixture(scope="module")
def mascot():
    return character("mascot")


def shaken(who, size, seed):
    nodes = who.tetrahedra.nodes
    return nodes + size * np.random.default_rng(seed).normal(size=nodes.shape)


def test_rotations_are_those_of_the_singular_values():
    rng = np.random.default_rng(0)
    matrices = np.concatenate([rng.normal(size=(300, 3, 3)), np.eye(3)[None], 0.2 * np.diag([1.0, 2.0, -0.5])[None]])
    found, w = np.empty_like(matrices), scratch()
    for first in range(0, len(matrices), CHUNK):
        some = matrices[first : first + CHUNK]
        w[A : A + 9, : len(some)] = some.reshape(-1, 9).T
        polar(w.reshape(-1))
        found[first : first + CHUNK] = w[A : A + 9, : len(some)].T.reshape(-1, 3, 3)
    true = np.array([rotation_of(m) for m in matrices])
    s = np.linalg.svd(matrices, compute_uv=False)
    clear = s[:, 1] + np.sign(np.linalg.det(matrices)) * s[:, 2] > 0.2 * s[:, 0]  # elsewhere two rotations are as good
    assert clear.mean() > 0.6
    assert (np.linalg.det(matrices[clear]) < 0.0).sum() > 30
    np.testing.assert_allclose(found[clear], true[clear], atol=1e-9)


def test_forces_are_the_gradient(mascot):
    flesh, x, pose = soft_body(mascot).flesh, shaken(mascot, 0.01, 1), shaken(mascot, 0.01, 2)
    force, way = np.zeros_like(x), np.random.default_rng(3).normal(size=x.shape)
    elastic_forces(flesh, x, pose, force)
    slope = (elastic_energy(flesh, x + 1e-6 * way, pose) - elastic_energy(flesh, x - 1e-6 * way, pose)) / 2e-6
    np.testing.assert_allclose((force * way).sum(), -slope, rtol=1e-7)
    np.testing.assert_allclose(force.sum(axis=0), 0.0, atol=1e-8)
    np.testing.assert_allclose(np.cross(x, force).sum(axis=0), 0.0, atol=1e-8)


def test_stiffness_is_the_derivative_at_rest_and_lets_turns_be(mascot):
    flesh, x = soft_body(mascot).flesh, mascot.tetrahedra.nodes
    matrix, force, way = np.zeros((len(flesh.column), 3, 3)), np.zeros_like(x), shaken(mascot, 1.0, 4) - x
    add_elastic(flesh, x, x, 1.0, force, matrix)
    ahead, behind, product = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
    elastic_forces(flesh, x + 1e-6 * way, x, ahead)
    elastic_forces(flesh, x - 1e-6 * way, x, behind)
    subtract_product(flesh, matrix, way, product)
    np.testing.assert_allclose(product, (ahead - behind) / 2e-6, atol=1e-6 * np.abs(product).max())
    turn = np.zeros_like(x)
    subtract_product(flesh, matrix, np.cross([0.3, -1.0, 0.5], x), turn)
    assert np.abs(turn).max() < 1e-9 * np.abs(product).max()


def test_posed_flesh_is_at_rest_where_its_reference_is_not_crushed(mascot):
    body = soft_body(mascot)
    motion, _, _ = kick(mascot, 0.0)
    pose, force = body.carried(motion.sample(0.7)[0]), np.zeros_like(mascot.tetrahedra.nodes)
    elastic_forces(body.flesh, pose @ Rotation.from_rotvec([1.0, 2.0, 0.5]).as_matrix().T, pose, force)
    corners = mascot.tetrahedra.element_nodes
    volume, whole = (np.linalg.det(x[corners[:, 1:]] - x[corners[:, :1]]) for x in (pose, mascot.tetrahedra.nodes))
    crushed = np.unique(corners[volume < LEAST * whole])
    assert 0 < len(crushed) < 100
    assert np.abs(np.delete(force, crushed, axis=0)).max() < 1e-9
    assert np.abs(force[crushed]).max() > 1.0  # these push back


def test_pose_damping_makes_no_momentum(mascot):
    body = soft_body(mascot)
    x, u = shaken(mascot, 0.02, 5), np.random.default_rng(6).normal(size=mascot.tetrahedra.nodes.shape)
    poses = bone_poses(mascot.skeleton, mascot.bind_q)
    twists = np.random.default_rng(7).normal(size=(len(poses), 6))
    force, wrench, direction = np.zeros_like(x), np.zeros((len(poses), 6)), np.zeros_like(x)
    add_pose_damping(body.flesh, poses, twists, 10.0, x, u, body.carried(mascot.bind_q), force, wrench, direction)
    total = np.concatenate([np.cross(x, force).sum(axis=0), force.sum(axis=0)]) + wrench.sum(axis=0)
    assert np.abs(force).max() > 0.1
    np.testing.assert_allclose(total, 0.0, atol=1e-9)


def test_forces_and_damping_are_the_same_together_and_on_two_threads(mascot):
    flesh, poses = soft_body(mascot).flesh, bone_poses(mascot.skeleton, mascot.bind_q)
    x, pose, u = (
        shaken(mascot, 0.01, 8),
        shaken(mascot, 0.01, 9),
        np.random.default_rng(10).normal(size=(len(flesh.mass), 3)),
    )
    twists = np.random.default_rng(11).normal(size=(len(poses), 6))

    def together(threads):
        force, wrench, direction = np.zeros_like(x), np.zeros((len(poses), 6)), np.zeros_like(x)
        before = get_num_threads()
        set_num_threads(min(threads, NUMBA_NUM_THREADS))
        damped_forces(flesh, poses, twists, 10.0, x, u, pose, force, wrench, direction)
        set_num_threads(before)
        return force, wrench, direction

    force, wrench, direction = np.zeros_like(x), np.zeros((len(poses), 6)), np.zeros_like(x)
    elastic_forces(flesh, x, pose, force)
    add_pose_damping(flesh, poses, twists, 10.0, x, u, pose, force, wrench, direction)
    for found, apart in zip(together(1), (force, wrench, direction)):
        np.testing.assert_allclose(found, apart, atol=1e-12 * np.abs(apart).max())
    for one, two in zip(together(1), together(2)):
        np.testing.assert_array_equal(one, two)


def test_nodes_fixed_in_bones_are_where_those_are_after_either_step(mascot):
    for implicit in (False, True):
        body = soft_body(mascot)
        state = body.start(mascot.bind_q, np.random.default_rng(12).normal(size=mascot.skeleton.n_v))
        for _ in range(5):
            body.step(state, mascot.bind_q, 0.0 * state.v, 0.0005, implicit=implicit)
        x, u = state.x.copy(), state.u.copy()
        settle_fixed(body.flesh, body.bones, state.q, state.v, x, u)
        np.testing.assert_allclose(state.x, x, atol=1e-14)
        np.testing.assert_allclose(state.u, u, atol=1e-13)


@pytest.mark.parametrize(("implicit", "dt", "steps"), [(True, 0.004, 12), (False, 0.0005, 60)])
def test_a_kick_in_empty_space_keeps_momentum(mascot, implicit, dt, steps):
    motion, q, v = kick(mascot, 1.0)
    body = soft_body(mascot, ground=None, gravity=(0.0, 0.0, 0.0), damping=Damping(pose=10.0))
    state = body.start(q, v)
    before = body.momentum(state)
    for n in range(steps):
        body.step(state, *motion.sample((n + 1) * dt), dt, implicit=implicit)
    after = body.momentum(state)
    assert np.linalg.norm(after[:3] - before[:3]) < 2e-3 * np.linalg.norm(before[:3])
    assert np.linalg.norm(after[3:] - before[3:]) < 1e-6 * mascot.mass


def test_both_steps_fall_and_land_alike(mascot):
    ends = []
    for implicit, dt in ((True, 0.002), (False, 0.0005)):
        body = soft_body(mascot)
        q = mascot.bind_q.copy()
        q[2] += 0.01
        state = body.start(q)
        for _ in range(round(0.08 / dt)):
            body.step(state, q, np.zeros(mascot.skeleton.n_v), dt, implicit=implicit)
        ends.append((state.x.copy(), state.ground[5]))
    assert np.sqrt(np.mean((ends[0][0] - ends[1][0]) ** 2)) < 5e-4
    assert ends[0][1] > 100.0


def test_the_same_bits_every_time(mascot):
    found = []
    for _ in range(2):
        body = soft_body(mascot)
        state = body.start(mascot.bind_q)
        for _ in range(3):
            body.step(state, mascot.bind_q, np.zeros(mascot.skeleton.n_v), 0.004, implicit=True)
        found.append(state.x.copy())
    np.testing.assert_array_equal(*found)


def test_too_large_a_step_is_said(mascot):
    body, hard = soft_body(mascot, young=1e8), np.zeros(mascot.skeleton.n_v)
    state = body.start(mascot.bind_q)
    state.x[body.flesh.bone < 0] += 0.01

    def run():
        for _ in range(200):
            body.step(state, mascot.bind_q, hard, 0.002)

    with pytest.raises(Diverged):
        run()


def test_bad_numbers_are_refused(mascot):
    with pytest.raises(InputError, match="Young"):
        soft_body(mascot, young=-1.0)


def test_friction_holds_a_foot_and_lets_it_slide(mascot):
    """On ice a push moves the whole; on grip it does not."""
    slid = {}
    for friction in (0.0, 0.9):
        body = soft_body(mascot, ground=Ground(friction=friction))
        state = body.start(mascot.bind_q)
        push = np.zeros((mascot.skeleton.n_bones, 6))
        push[0, 3:] = (60.0, 0.0, 0.0)
        push[0, :3] = np.cross([0.0, 0.0, 0.1], push[0, 3:])
        for _ in range(40):
            body.step(state, mascot.bind_q, np.zeros(mascot.skeleton.n_v), 0.004, implicit=True, push=push)
        slid[friction] = state.slip
    assert slid[0.9] < 5e-4 < slid[0.0]
