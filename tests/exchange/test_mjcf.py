"""Exported MJCF: MuJoCo sees the same bones, masses and tendons; what it cannot hold is refused by name."""

from types import SimpleNamespace

import numpy as np
import pytest

from vitruvian.anatomy import arm, human, legs
from vitruvian.errors import InputError
from vitruvian.exchange import export_model, write_mjcf
from vitruvian.exchange.agreement import mjcf_agreement
from vitruvian.exchange.mjcf import qpos_from_q, velocity_map
from vitruvian.exchange.mjcf_riders import riders
from vitruvian.exchange.peers import mujoco_model
from vitruvian.exchange.written_cylinders import written_cylinders
from vitruvian.muscle import LinearHill, MuscleBuilder, carrier_poses, lengths
from vitruvian.skeleton import Inertia, SkeletonBuilder, bone_poses, integrate
from vitruvian.skeleton.joints import Ball, Cylindrical, Elliptic, Fixed, Free, Planar, Prismatic, Revolute, Universal
from vitruvian.spatial import rotation_about, transform

mujoco = pytest.importorskip("mujoco")


def chain(*joints, springs=False):
    """A branching chain with one bone per joint, each tilted in its parent, and a muscle from root to tip."""
    builder = SkeletonBuilder()
    last = None
    for k, joint in enumerate(joints):
        inertia = Inertia(1.0 + k, (0.01 * k, 0.02, -0.05), np.diag([0.02, 0.03, 0.04]))
        tilt = transform(rotation_about((0.6, 0.0, 0.8), 0.3 * k), (0.1, 0.02 * k, -0.2))
        parent = None if k == 0 else ("b0" if k == 3 else last)
        builder.add_bone(f"b{k}", parent=parent, joint=joint, placement=tilt, inertia=inertia)
        last = f"b{k}"
    if springs:
        builder.add_spring("s", "b0", (0.0, 0.1, 0.0), last, (0.0, 0.0, 0.1), 100.0, 1.0, 0.05)
    skeleton = builder.build()
    muscles = MuscleBuilder(skeleton)
    middle = f"b{len(joints) // 2}"
    points = [("b0", (0.0, 0.05, 0.0)), (middle, (0.03, 0.0, -0.1)), (last, (0.0, 0.02, -0.1))]
    muscles.add_muscle("m", points, LinearHill(100.0, 0.3))
    return SimpleNamespace(
        name="chain", skeleton=skeleton, muscles=muscles.build(), default_q=skeleton.neutral_q(), scale=1.0
    )


@pytest.fixture(scope="module")
def left_arm():
    return arm("left", paths="documents")


@pytest.mark.parametrize(
    "joints",
    [
        (Free(), Ball(), Revolute((0.0, 0.6, 0.8)), Universal((1.0, 0.0, 0.0), (0.0, 0.8, 0.6)), Fixed()),
        (Fixed(), Prismatic((0.0, 0.6, 0.8)), Cylindrical((0.6, 0.8, 0.0)), Planar((0.0, 0.6, 0.8)), Ball()),
    ],
)
def test_mujoco_agrees_for_every_joint_that_it_has(joints):
    found = mjcf_agreement(chain(*joints, springs=True), 10)
    assert max(found.values()) < 1e-12, found


def test_mujoco_agrees_for_the_arm(left_arm):
    found = mjcf_agreement(left_arm, 10)
    assert max(found.values()) < 1e-12, found


def test_whole_body_loads_runs_and_weighs_the_same(tmp_path):
    body = human(paths="documents")
    export_model(body, tmp_path / "human.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "human.xml"))
    assert (model.nv, model.ntendon) == (163, body.muscles.n_muscles + 18)
    assert model.nu > body.muscles.n_muscles  # behind the muscles: dampers, springs and stops that need no control
    assert model.body_mass.sum() == pytest.approx(body.skeleton.mass, abs=1e-12)
    data = mujoco.MjData(model)
    for _ in range(10):
        mujoco.mj_step(model, data)
    assert np.isfinite(data.qpos).all()
    assert np.abs(data.qvel).max() < 10.0


def test_muscle_pulls_with_f_max_at_rest_length(left_arm, tmp_path):
    """In the default pose every muscle has its rest length, where MuJoCo's curves are 1 as well."""
    write_mjcf(left_arm, tmp_path / "arm.xml", geoms="none")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "arm.xml"))
    data = mujoco.MjData(model)
    data.act[:] = 1.0
    mujoco.mj_forward(model, data)
    ids = [model.actuator(name).id for name in left_arm.muscles.names]
    assert np.allclose(-data.actuator_force[ids], left_arm.muscles.f_max, rtol=1e-6)


def test_meshes_lie_beside_the_file_and_load(left_arm, tmp_path):
    pytest.importorskip("myo_sim")
    write_mjcf(left_arm, tmp_path / "arm.xml", geoms="meshes")
    assert (tmp_path / "arm_bones" / "Hu_l.stl").exists()
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "arm.xml")).nmesh == left_arm.n_bones


def test_a_joint_that_mujoco_has_not_is_named_or_held(tmp_path):
    body = chain(Fixed(), Ball(), Elliptic(0.1, 0.05))
    with pytest.raises(InputError, match="Elliptic joint of bone 'b2'"):
        write_mjcf(body, tmp_path / "a.xml")
    write_mjcf(body, tmp_path / "a.xml", hold=True)
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "a.xml")).nv == 3


def test_a_free_joint_inside_the_tree_is_refused(tmp_path):
    with pytest.raises(InputError, match="bone 'b1' has a free joint"):
        write_mjcf(chain(Fixed(), Free()), tmp_path / "a.xml")


def test_unknown_geoms_are_refused(left_arm, tmp_path):
    with pytest.raises(InputError, match="geoms must be one of rods, meshes, none"):
        write_mjcf(left_arm, tmp_path / "a.xml", geoms="fur")


@pytest.mark.parametrize("part", ["legs", "arm"])
def test_frames_that_ride_on_bones_stand_where_ours_do(part):
    """Patella and scapula: bodies tied to the driver's joint, in value within 0.5 mm, and they stay under load."""
    body = legs() if part == "legs" else arm("left")
    mujoco, model, data = mujoco_model(body, 0.001)
    names = [r.carrier.name for r in riders(body)]
    assert names == (["Pat_l", "Pat_r"] if part == "legs" else ["Sca_l"])
    ids = [model.body(name).id for name in names]
    which = [[c.name for c in body.muscles.frames].index(name) for name in names]
    for q in _within_ranges(body, 6):
        data.qpos[:] = qpos_from_q(body, q)
        mujoco.mj_forward(model, data)
        ours = carrier_poses(body.muscles, bone_poses(body.skeleton, q))[which]
        assert np.abs(data.xpos[ids] - ours[:, :3, 3]).max() < 5e-4
        assert np.abs(data.xmat[ids].reshape(-1, 3, 3) - ours[:, :3, :3]).max() < 0.02
    data.qpos[:] = qpos_from_q(body, body.default_q)
    data.ctrl[: body.muscles.n_muscles] = 0.1
    off = []
    for _ in range(100):
        mujoco.mj_step(model, data)
        off.append(np.abs(data.efc_pos[: model.neq]).max())
    assert max(off) < 0.012  # [rad]: 0.5 mm of the patella


def test_velocities_of_riders_follow_their_drivers():
    body, h = legs(), 1e-6
    q = _within_ranges(body, 2)[1]
    v = np.random.default_rng(1).normal(size=body.skeleton.n_v)
    _, model, _ = mujoco_model(body, 0.001)
    before, after = (qpos_from_q(body, integrate(body.skeleton, q, s * h * v)) for s in (-1.0, 1.0))
    rates = np.zeros(model.nv)
    mujoco.mj_differentiatePos(model, rates, 2.0 * h, before, after)
    assert np.allclose(rates, velocity_map(body, q) @ v, atol=1e-6)


def test_cylinders_that_give_way_are_written_smaller():
    """The quadriceps' cylinder is wider than its end's distance allows: ours gives way, MuJoCo's would not count."""
    body = legs()
    radii, own = np.array([c.radius for c in written_cylinders(body)]), body.muscles.wraps.radius
    mine = body.muscles.wraps.muscle == body.muscles.index("vastus_03_l")
    share = radii[mine] / own[mine]
    assert len(share) == 1
    assert 0.8 < share[0] < 0.95
    assert (radii <= own).all()
    _, model, data = mujoco_model(body, 0.001)
    q = body.default_q.copy()
    q[body.skeleton.q_slice("Tfp_l")] = np.radians(100.0)
    data.qpos[:] = qpos_from_q(body, q)
    mujoco.mj_forward(model, data)
    ours = lengths(body.muscles, bone_poses(body.skeleton, q))[body.muscles.index("vastus_03_l")]
    assert abs(float(data.ten_length[model.tendon("vastus_03_l").id]) - ours) < 2e-3


@pytest.mark.parametrize(
    ("part", "joint", "angle", "muscle"),
    [("arm", "Ul_l", 140.0, "anconeus_01_l"), ("legs", "Tfp_l", 125.0, "gastrocnemius_02_l")],
)
def test_tendons_that_go_far_round_stay_on_their_cylinder(part, joint, angle, muscle):
    """With the side of our data MuJoCo takes such a way for one round the other side, and drops the cylinder: the
    anconeus was 24 mm short at the bent elbow."""
    body = legs() if part == "legs" else arm("left")
    _, model, data = mujoco_model(body, 0.001)
    q = body.default_q.copy()
    q[body.skeleton.q_slice(joint)] = np.radians(angle)
    data.qpos[:] = qpos_from_q(body, q)
    mujoco.mj_forward(model, data)
    ours = lengths(body.muscles, bone_poses(body.skeleton, q))[body.muscles.index(muscle)]
    assert abs(float(data.ten_length[model.tendon(muscle).id]) - ours) < 5e-4


def _within_ranges(body, count):
    s = body.skeleton
    low, high = (np.where(np.isfinite(x), x, 0.0) for x in (s.forces.low, s.forces.high))
    moves = np.random.default_rng(0).uniform(0.6 * low, 0.6 * high, (count, s.n_v))
    return [integrate(s, s.neutral_q(), move) for move in moves]
