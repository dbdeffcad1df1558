"""Flesh follows bones that something else moves, feels forces on its skin, and hands them to the bones."""

import numpy as np
import pytest

from vitruvian.couple import Follower
from vitruvian.errors import InputError
from vitruvian.flesh import Drag, Loads, Potential, Settings, attach, box_tetrahedra, build_flesh, preset
from vitruvian.skeleton import bone_poses
from vitruvian.spatial import rotation_about, transform
from vitruvian.verify._flesh_limb import limb

SKIN = np.array([[0.1, 0.04, 0.0], [0.3, 0.04, 0.0], [0.3, 0.0, 0.04]])


def follower(settings=None):
    pair, q = limb()
    return Follower(pair.model, settings), pair.skeleton, q


def test_a_rigid_motion_moves_the_skin_rigidly():
    flesh, skeleton, q = follower(Settings(residual=1e-6, gap=1e-8))
    skin, state = flesh.skin(SKIN), flesh.start(bone_poses(skeleton, q))
    spin, speed, dt = 2.0, np.array([0.5, -0.2, 0.1]), 1.0 / 96.0
    for k in range(1, 4):
        move = transform(rotation_about((0, 0, 1), spin * k * dt), speed * k * dt)
        moved = flesh.follow(state, move @ bone_poses(skeleton, q), dt, skin=skin)
    assert moved.positions == pytest.approx(SKIN @ move[:3, :3].T + move[:3, 3], abs=1e-9)
    rigid = speed + np.cross([0.0, 0.0, spin], moved.positions - move[:3, 3])
    assert moved.velocities == pytest.approx(rigid, abs=spin**2 * dt * 0.5)  # differences look back half a step
    assert np.abs(moved.wrenches).max() < 1e-4


def test_forces_on_the_skin_reach_the_bones():
    flesh, skeleton, q = follower(Settings(residual=1e-7, gap=1e-9, tolerance=1e-3))
    skin, state = flesh.skin(SKIN), flesh.start(bone_poses(skeleton, q))
    push = np.array([[0.0, -2.0, 0.0], [0.0, 1.0, 0.5], [0.3, 0.0, -1.0]])
    moved = flesh.follow(state, bone_poses(skeleton, q), 0.01, skin=skin, skin_force=push)
    assert moved.wrenches[:, 3:].sum(axis=0) == pytest.approx(push.sum(axis=0), abs=1e-6)


def test_a_smooth_motion_costs_few_newton_steps_and_ends_where_a_fresh_balance_does():
    settings = Settings(residual=1e-3, gap=1e-7)
    flesh, skeleton, q = follower(settings)
    skin, state = flesh.skin(SKIN), flesh.start(bone_poses(skeleton, q))
    counts = []
    for k in range(1, 13):
        moved = flesh.follow(state, bone_poses(skeleton, q + 0.03 * k), 0.01, skin=skin)
        counts.append(moved.report.newton)
    assert np.mean(counts[-6:]) < np.mean(counts[:2])
    other = flesh.start(bone_poses(skeleton, q))
    for k in (4, 8, 12):
        flesh.settle(other, bone_poses(skeleton, q + 0.03 * k), Loads())
    balance = skin.positions(other.flesh.x)
    behind = np.abs(moved.positions - balance).max()
    assert 2e-6 < behind < 2e-4  # viscous tissue lags behind while it moves
    for _ in range(8):
        moved = flesh.follow(state, state.poses.copy(), 0.01, skin=skin)
    assert moved.positions == pytest.approx(balance, abs=2e-6)  # and arrives when the bones have come to rest


def test_viscous_forces_add_up_to_nothing_and_are_the_derivative_of_their_energy():
    flesh, _, _ = follower()
    model, rng = flesh.model, np.random.default_rng(1)
    rest = model.lattice.nodes
    x = rest + 1e-3 * rng.standard_normal(rest.shape)
    drag = Drag(flesh.viscosity, 0.7, rest)
    pressure, d, step = -model.moduli[:, 4], rng.standard_normal(x.shape), 1e-6
    with_it, without = (Potential(model, Loads(drag=g)) for g in (drag, None))
    force = with_it.evaluate(x, pressure).force - without.evaluate(x, pressure).force
    assert np.abs(force).max() > 0.1
    assert force.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-9)
    rise = with_it.evaluate(x + step * d, pressure).value - with_it.evaluate(x - step * d, pressure).value
    rise -= without.evaluate(x + step * d, pressure).value - without.evaluate(x - step * d, pressure).value
    assert rise / (2 * step) == pytest.approx(-np.sum(force * d), rel=1e-5)
    moved = (
        with_it.evaluate(x + np.array([0.01, 0.0, 0.0]), pressure).force
        - without.evaluate(x + np.array([0.01, 0.0, 0.0]), pressure).force
    )
    assert moved == pytest.approx(force, abs=1e-9)  # translation meets no resistance


def test_nonsense_is_refused_by_name():
    flesh, skeleton, q = follower()
    with pytest.raises(InputError, match="2 bones"):
        flesh.start(np.zeros((1, 4, 4)))
    state = flesh.start(bone_poses(skeleton, q))
    with pytest.raises(InputError, match="dt"):
        flesh.follow(state, state.poses, 0.0, skin=flesh.skin(SKIN))


def test_tetrahedra_follow_bones_as_cells_do():
    elements = box_tetrahedra((2, 2, 4), 0.05)
    poses = np.tile(np.eye(4), (1, 1, 1))
    inner = np.array([[0.05, 0.05, z] for z in (0.03, 0.1, 0.17)])
    tied = attach(elements, np.zeros(3, int), inner, np.full(3, 1e-3), poses)
    flesh = Follower(build_flesh(elements, preset("lee"), attachments=tied), Settings(residual=1e-6, gap=1e-8))
    corner = np.array([[0.1, 0.1, 0.2]])
    skin, state = flesh.skin(corner), flesh.start(poses)
    for k in range(1, 4):
        move = transform(rotation_about((0, 0, 1), 0.1 * k), np.array([0.02, 0.0, 0.01]) * k)
        moved = flesh.follow(state, move[None] @ poses, 0.01, skin=skin)
    assert moved.positions == pytest.approx(corner @ move[:3, :3].T + move[:3, 3], abs=1e-9)
