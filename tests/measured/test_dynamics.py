import numpy as np

from vitruvian.anatomy import human
from vitruvian.measured.dynamics import JOINTS, length_slopes, muscle_pull, without_stops
from vitruvian.muscle import moment_arms
from vitruvian.skeleton import bone_poses, inverse_dynamics, world_twists


def test_slopes_of_lengths_are_the_moment_arms(walk):
    body, q = walk.body, walk.course.q[7]
    s = body.skeleton
    poses, screws = world_twists(s, q)
    arms = moment_arms(body.muscles, poses, screws)[1].dense()
    for bone in ("Tfp_l", "Fe_r", "Hu_l"):
        k = s.v_slice(bone).start
        slopes = length_slopes(body, poses, s.supports[:, k], screws[k])
        assert np.abs(slopes - arms[:, k]).max() < 1e-7


def test_muscles_pull_a_limb_along_their_lines():
    """A muscle that pulls the shank straight up to the pelvis presses the knee by its tension."""
    body = human().without_muscles(*{name[:3] for name in human().muscles.names})
    body = body.with_muscle("rope", [("Pel", (0.1, 0.0, 0.0)), ("Tfp_l", (0.0, 0.0, -0.1))], pcsa=1e-3)
    poses = bone_poses(body.skeleton, body.default_q)
    a = poses[body.skeleton.index("Pel")] @ (0.1, 0.0, 0.0, 1.0)
    b = poses[body.skeleton.index("Tfp_l")] @ (0.0, 0.0, -0.1, 1.0)
    along = (a - b)[:3] / np.linalg.norm(a - b)
    pull = muscle_pull(body, poses, body.skeleton.index("Tfp_l"), np.array([200.0]))
    assert np.allclose(pull, 200.0 * along, atol=1e-4)


def test_muscles_and_reserves_give_the_moments_of_the_limbs(walk):
    """Net moment = muscles + what the joint does passively + reserve; limbs have small springs and dampers."""
    from vitruvian.couple import BodyStepper

    body, course, forces = walk.body, walk.course, walk.forces
    s = body.skeleton
    stepper = BodyStepper(without_stops(body), body.muscles, held=np.zeros(s.n_v, dtype=bool))
    for f in (3, 20, 40):
        q, v, a = course.q[f], course.v[f], course.a[f]
        system = stepper.assemble(q, v, forces.activation[f], 1e-9)
        poses = bone_poses(s, q)
        ground = stepper.wrench_forces(walk.ground.wrenches(body, poses, f))
        # force of everything that acts, less the inertia, must leave only the reserve
        inertia = inverse_dynamics(s, q, v, a) - inverse_dynamics(s, q, v, np.zeros(s.n_v))
        for bone in ("Tfp_l", "Tfp_r", "Fo_l", "Ul_r"):
            k = s.v_slice(bone).start
            left = inertia[k] - system.force[k] - ground[k]
            assert abs(left - forces.reserve[f, k]) < 1.0  # N m, the implicit step's share


def test_activations_are_between_nothing_and_everything(walk):
    a = walk.forces.activation
    assert a.min() >= 0.0
    assert a.max() <= 1.0
    assert a.shape == (len(walk.course.time), walk.body.muscles.n_muscles)


def test_the_walk_is_a_walk(walk):
    m = walk.metrics
    assert m["residual_rms_rad"] < np.radians(5.0)
    assert m["residual_rms_m"] < 0.01
    assert 0.8 < m["speed_m_per_s"] < 1.8
    names = {p.band.quantity: p for p in walk.peaks}
    for name in ("ankle plantarflexion moment", "knee extension moment", "hip extension moment", "hip flexion moment"):
        assert names[name].within, (name, names[name])


def test_reactions_at_the_ankle_balance_the_foot(walk):
    """In stance the ankle carries at least the ground's force: muscles only add to it."""
    g = walk.ground
    stance = np.flatnonzero(g.force[:, 0, 2] > 400.0)
    reaction = np.linalg.norm(walk.forces.reaction[:, JOINTS.index("Fo_l")], axis=1)
    assert (reaction[stance] > 0.9 * np.linalg.norm(g.force[stance, 0], axis=1)).all()


def test_stops_do_not_load_muscles(walk):
    """Arms that swing need little: half of a triceps at most (all of it, if stops pushed)."""
    names = walk.body.muscles.names
    triceps = [k for k, name in enumerate(names) if name.startswith("triceps_brachii")]
    assert walk.forces.activation[:, triceps].max() < 0.5
