"""Bones and flesh exchange equal and opposite forces, and the pull's Jacobian is its derivative."""

import numpy as np
import pytest

from vitruvian.couple import BoneFlesh, Inertial
from vitruvian.errors import InputError
from vitruvian.flesh import Loads, Settings, embed, tissue_volume
from vitruvian.skeleton import Inertia, SkeletonBuilder, bone_poses, centroidal_momentum, joints
from vitruvian.verify._flesh_limb import limb

TIGHT = Settings(residual=1e-8, gap=1e-9, tolerance=1e-3, krylov=2000, newton=60)


def test_flesh_follows_a_right_angle_and_keeps_its_volume():
    pair, q = limb()
    state = pair.start(q)
    for angle in np.deg2rad([30.0, 60.0, 90.0]):
        state.bones.q[:] = angle
        assert pair.settle(state, Loads()).balanced
    assert tissue_volume(pair.model.lattice, state.flesh.x) == pytest.approx(pair.model.volume, rel=0.01)
    # flesh resists bending: the pull on the hinge is against the angle
    assert pair.pull(state.flesh, state.bones.q)[0] < 0.0


def test_jacobian_of_the_pull_equals_finite_differences():
    pair, q = limb(settings=TIGHT)
    state = pair.start(q, np.array([0.4]))
    pair.settle(state, Loads())
    exact = pair.pull_derivative(state.flesh, state.bones.q, Loads(), tolerance=1e-7)
    found = []
    for sign in (1.0, -1.0):
        other = pair.start(q, np.array([0.4]))
        pair.settle(other, Loads())
        other.bones.q[:] = 0.4 + sign * 1e-4
        pair.settle(other, Loads())
        found.append(pair.pull(other.flesh, other.bones.q)[0])
    assert exact[0, 0] == pytest.approx((found[0] - found[1]) / 2e-4, rel=1e-4)


def test_a_push_on_the_skin_turns_the_joint_with_its_moment():
    pair, q = limb(settings=TIGHT)
    skin = embed(pair.model.lattice, np.array([[0.35, 0.0, 0.04], [0.3, 0.04, 0.0]]))
    force = np.array([[0.0, 2.0, 0.0], [0.0, -1.0, 0.5]])
    state = pair.start(q)
    pair.settle(state, Loads(force=skin.nodal_forces(force)))
    poses = bone_poses(pair.skeleton, state.bones.q)
    wrench = pair.model.attachments.bone_wrenches(state.flesh.x, poses)
    total = sum(poses[i, :3, :3] @ wrench[i, 3:] for i in range(2))
    moment = sum(
        poses[i, :3, :3] @ wrench[i, :3] + np.cross(poses[i, :3, 3], poses[i, :3, :3] @ wrench[i, 3:]) for i in range(2)
    )
    where = skin.positions(state.flesh.x)
    assert total == pytest.approx(force.sum(axis=0), rel=1e-6, abs=1e-6)
    assert moment == pytest.approx(np.cross(where, force).sum(axis=0), rel=1e-6, abs=1e-6)


def test_free_flight_keeps_the_momentum_of_bones_and_flesh():
    pair, q = limb(root=joints.Free(), settings=TIGHT)
    n = pair.skeleton.n_v
    velocity = np.zeros(n)
    velocity[3:6] = [0.4, -0.3, 0.6]
    state = pair.start(q, v=velocity)
    state.flesh.v[:] = [0.4, -0.3, 0.6]
    swing = np.clip(state.flesh.x[:, 0] - 0.2, 0.0, None)  # the lower half starts to flex
    state.bones.v[6] = 0.5
    state.flesh.v[:, 1] += 0.5 * swing

    def momentum():
        return (
            centroidal_momentum(pair.skeleton, state.bones.q, state.bones.v)[3:] + pair.model.node_mass @ state.flesh.v
        )

    before = momentum()
    for _ in range(4):
        pair.step(state, 1e-3, Loads(), inertial=Inertial(stiffness_damping=1e-3), iterations=8)
    assert momentum() == pytest.approx(before, rel=1e-7)


def test_a_stiff_push_takes_large_steps_without_exploding():
    pair, q = limb(settings=Settings(residual=1e-3))
    skin = embed(pair.model.lattice, np.array([[0.4, 0.0, 0.0]]))
    state = pair.start(q)
    load = Loads(force=skin.nodal_forces(np.array([[0.0, 5.0, 0.0]])))
    angles = []
    for _ in range(20):
        pair.step(state, 1.0 / 60.0, load)
        angles.append(state.bones.q[0])
    assert np.isfinite(angles).all()
    assert 0.0 < angles[-1] < 1.5
    assert abs(state.bones.v[0]) < 10.0


def test_flesh_for_another_skeleton_is_refused():
    pair, _ = limb()
    builder = SkeletonBuilder()
    builder.add_bone("one", joint=joints.Fixed(), inertia=Inertia.sphere(1.0, 0.1))
    with pytest.raises(InputError, match="2 bones"):
        BoneFlesh(builder.build(), pair.model)
    assert pair.inertia_shares().sum() == pytest.approx(pair.model.mass)
