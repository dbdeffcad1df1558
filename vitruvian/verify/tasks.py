"""Control by tasks (Si 2013, chapter 5): momentum, the water's force by part, the program, capsules."""

from __future__ import annotations

import numpy as np

from vitruvian.control.tasks import Program, look
from vitruvian.couple import BoneStep
from vitruvian.couple.wrenches import joint_forces_of
from vitruvian.skeleton import bone_poses, centroidal_momentum, centroidal_momentum_matrix, integrate
from vitruvian.verify import _tasks_limbs, _tasks_water
from vitruvian.verify._tasks_common import capsules, moving, swimmer
from vitruvian.verify.book import Finding, claim, worst

PROGRAMS = 300


@claim
def momentum_matrix_times_velocity_is_momentum() -> Finding:
    """Momentum from the root's rows of the mass matrix against the sum over bones, 20 poses: relative error."""
    body, _ = swimmer()
    step, errors, other = BoneStep(body.skeleton), [], []
    for seed in range(20):
        q, v = moving(seed)
        _, _, _, A = look(step, q, v)
        whole = centroidal_momentum(body.skeleton, q, v)
        errors.append(float(np.abs(A @ v - whole).max() / np.abs(whole).max()))
        B = centroidal_momentum_matrix(body.skeleton, q)
        other.append(float(np.abs(A - B).max() / np.abs(B).max()))
    return Finding.error(worst(errors), 1e-10, "relative", f"against the matrix over bones {worst(other):.1e}")


@claim
def rate_of_momentum_is_the_external_force() -> Finding:
    """d/dt (A v) along the motion, by central differences, against weight and random wrenches on the links."""
    body, skin = swimmer()
    s = body.skeleton
    step, errors, h = BoneStep(s), [], 1e-6
    for seed in range(5):
        q, v = moving(seed)
        rng = np.random.default_rng(seed)
        wrench = np.zeros((s.n_bones, 6))
        wrench[skin.bones] = 5.0 * rng.standard_normal((len(skin.bones), 6))
        system, M, centre, _ = look(step, q, v)
        limbs = np.array([s.names[b].startswith(("Hu", "Fe", "Tfp")) for b in s.dof_bone])
        inner = 10.0 * limbs * rng.standard_normal(s.n_v)  # torques of joints change nothing
        a = np.linalg.solve(M, joint_forces_of(system, wrench) - system.bias + inner)
        R, x = system.poses[:, :3, :3], system.poses[:, :3, 3]
        moment, force = (np.einsum("nij,nj->ni", R, wrench[:, k : k + 3]) for k in (0, 3))
        outer = np.concatenate(
            [(moment + np.cross(x - centre, force)).sum(axis=0), force.sum(axis=0) + s.mass * s.gravity]
        )
        rate = np.zeros(6)
        for sign in (1.0, -1.0):
            there = integrate(s, q, v + 0.5 * sign * h * a, sign * h)
            rate += sign * look(step, there, v)[3] @ (v + sign * h * a) / (2.0 * h)
        errors.append(float(np.abs(rate - outer).max() / np.abs(outer).max()))
    return Finding.error(worst(errors), 1e-6, "relative", f"5 poses, steps of {h:g} s to either side")


@claim
def bounded_program_meets_its_optimality_conditions() -> Finding:
    """Largest violation in parts of the largest term of the gradient; random programs of the size of a swimmer's."""
    rng, errors, steps, failed = np.random.default_rng(0), [], [], 0
    for _ in range(PROGRAMS):
        n, m = 103, int(rng.integers(3, 40))
        low = -rng.uniform(0.0, 2.0, n)
        program = Program(
            10.0 ** rng.uniform(-3.0, 1.0, n), rng.standard_normal(n), low, low + rng.uniform(1e-4, 4.0, n),
            rng.standard_normal((m, n)) * 10.0 ** rng.uniform(-2.0, 0.0, (m, 1)), 3.0 * rng.standard_normal(m),
            10.0 ** rng.uniform(-2.0, 3.0, m), rng.random(m) < 0.5,
        )  # fmt: skip
        found = program.solve()
        failed += not found.converged
        steps.append(found.steps)
        errors.append(program.optimality(found.x))
    detail = (
        f"{PROGRAMS} programs, 103 velocities, 3 to 40 rows, half of them from one side; {np.mean(steps):.0f} Newton "
    )
    return Finding.error(worst(errors), 1e-8, "", detail + f"steps in the mean, {failed} stopped early")


@claim
def program_is_no_worse_than_piqp() -> Finding:
    """How much more our solutions cost than an interior-point solver's (piqp), rows from both sides."""
    return _tasks_water.beside_piqp()


@claim
def water_force_is_linearised_right() -> Finding:
    """Change of the water's wrenches on a skin that moves rigidly with its links against central differences."""
    return _tasks_water.linearised()


@claim
def lift_changes_with_the_pose_as_told() -> Finding:
    """What calm water's lift and its moment about the centre of mass gain by joint velocities, against differences."""
    return _tasks_water.lifted()


@claim
def force_fit_foresees_the_next_step() -> Finding:
    """Simulated water: rms error of the force foreseen by the fit, the worst of arms' and legs' ends."""
    return _tasks_water.fitted()


@claim
def momentum_foreseen_is_the_momentum_got() -> Finding:
    """Correlation of the change of momentum that the governing equation foresees with the one got; a turn to prone."""
    return _tasks_water.foreseen()


@claim
def capsules_contain_their_skin() -> Finding:
    """Largest distance of a vertex of the skin outside the capsule of its part, at rest; 20 capsules."""
    body, skin = swimmer()
    held = capsules()
    poses = bone_poses(body.skeleton, body.default_q)
    outside, count = [], 0
    for k, numbers in enumerate(held.vertices):
        T = poses[held.bones[k]]
        a, b = (T[:3, :3] @ e + T[:3, 3] for e in held.ends[k])
        x, d = skin.rest[numbers], b - a
        along = np.clip((x - a) @ d / max(d @ d, 1e-12), 0.0, 1.0)
        outside.append(float((np.linalg.norm(x - a - along[:, None] * d, axis=1) - held.radius[k]).max()))
        count += len(numbers)
    detail = f"{len(held.names)} capsules, {count} of {len(skin.rest)} vertices, {len(held.pairs)} pairs kept apart"
    return Finding.error(max(0.0, worst([max(outside)])), 1e-6, "m", detail)


@claim
def likelihood_of_limbs_is_that_of_normal_distributions() -> Finding:
    """ln p of a small model against scipy's normal distributions, one column after the other: relative error."""
    return _tasks_limbs.beside_scipy()


@claim
def gradients_of_learning_are_right() -> Finding:
    """Gradients of ln p and of the connectivity prior against central differences."""
    return _tasks_limbs.gradients()


@claim
def gradient_of_the_latent_step_is_right() -> Finding:
    """Gradient of (5.19) by the latent points of four limbs against central differences, the shipped models."""
    return _tasks_limbs.latent()


@claim
def shipped_limbs_know_their_poses() -> Finding:
    """rms angle between the poses of the shipped models at their points and the captured ones; the worst limb."""
    return _tasks_limbs.learned()
