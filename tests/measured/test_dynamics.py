import numpy as np

from vitruvian.measured.dynamics import muscle_wrenches
from vitruvian.muscle import moment_arms
from vitruvian.skeleton import bone_poses, inverse_dynamics, world_twists


def test_wrenches_of_muscles_turn_joints_as_their_moment_arms_say(walk):
    body, q = walk.body, walk.course.q[7]
    s = body.skeleton
    poses, screws = world_twists(s, q)
    force = np.random.default_rng(0).uniform(0.0, 100.0, body.muscles.n_muscles)
    still = np.zeros(s.n_v)
    wrench = muscle_wrenches(body, poses, force)
    torque = inverse_dynamics(s, q, still, still) - inverse_dynamics(s, q, still, still, wrench)
    expected = moment_arms(body.muscles, poses, screws)[1].torques(force)
    assert np.abs(torque - expected).max() < 1e-6


def test_muscles_and_reserves_give_the_moments_of_the_limbs(walk):
    """Net moment = muscles + what the joint does passively + reserve; limbs have small springs and dampers."""
    from vitruvian.couple import BodyStepper

    body, course, forces = walk.body, walk.course, walk.forces
    s = body.skeleton
    stepper = BodyStepper(s, body.muscles, held=np.zeros(s.n_v, dtype=bool))
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
    assert a.shape == (len(walk.course.time), 846)


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
    body, g = walk.body, walk.ground
    stance = np.flatnonzero(g.force[:, 0, 2] > 400.0)
    reaction = np.linalg.norm(walk.forces.reaction[:, body.skeleton.index("Fo_l"), 3:], axis=1)
    assert (reaction[stance] > 0.9 * np.linalg.norm(g.force[stance, 0], axis=1)).all()
