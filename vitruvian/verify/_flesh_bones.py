"""Flesh and bones: equal and opposite forces, momentum, volume in motion, bones inside the skin."""

from __future__ import annotations

from typing import Any

import numpy as np

from vitruvian.anatomy import body_skin, human
from vitruvian.anatomy.skin import bones_outside, world_bones
from vitruvian.couple import BoneFlesh, BoneFleshState, Inertial
from vitruvian.couple.bone_flesh import world_momenta
from vitruvian.flesh import (
    FleshSolver,
    FleshState,
    Loads,
    Potential,
    Settings,
    attach,
    box_lattice,
    build_flesh,
    embed,
    lattice_from_level_set,
    neo_hookean,
    preset,
    rest_state,
)
from vitruvian.skeleton import bone_poses, centroidal_momentum, joints
from vitruvian.verify._flesh_common import (
    TIGHT_LIMB,
)
from vitruvian.verify._flesh_limb import limb
from vitruvian.verify.book import Finding, claim, worst


@claim
def attachment_forces_balance_the_skin() -> Finding:
    """At equilibrium the springs pull on the bones with the force and torque that act on the skin, relative."""
    skin, force, total = _pushed_limb()
    push, moment = force.sum(axis=0), np.cross(skin, force).sum(axis=0)
    errors = [
        float(np.linalg.norm(total[1] - push) / np.linalg.norm(push)),
        float(np.linalg.norm(total[0] - moment) / np.linalg.norm(moment)),
    ]
    return Finding.error(worst(errors), 1e-6, detail="a limb of two bones, 20 N on a patch of its skin")


@claim
def attachment_jacobian_is_the_derivative_of_the_pull() -> Finding:
    """Central differences of the flesh's pull on a flexed hinge against Si's appendix B, relative."""
    pair, q = limb(settings=TIGHT_LIMB)
    state = pair.start(q, np.array([0.4]))
    exact = pair.pull_derivative(state.flesh, state.bones.q, Loads(), tolerance=1e-7)[0, 0]
    pulls = []
    for sign in (1.0, -1.0):
        state = pair.start(q, np.array([0.4]))
        state.bones.q[:] = 0.4 + sign * 1e-4
        pair.settle(state, Loads())
        pulls.append(pair.pull(state.flesh, state.bones.q)[0])
    found = (pulls[0] - pulls[1]) / 2e-4
    return Finding.error(abs(exact / found - 1.0), 1e-4, detail=f"hinge at 23 degrees, {exact:.4f} N m/rad")


@claim
def free_flight_keeps_momentum() -> Finding:
    """Linear momentum of bones and dynamic flesh that swing in free flight, relative change over 10 steps."""
    pair, q = limb(joints.Free(), TIGHT_LIMB)
    velocity = np.zeros(pair.skeleton.n_v)
    velocity[3:6], velocity[6] = [0.4, -0.3, 0.6], 0.5
    state = pair.start(q, v=velocity)
    state.flesh.v[:] = [0.4, -0.3, 0.6]
    state.flesh.v[:, 1] += 0.5 * np.clip(state.flesh.x[:, 0] - 0.2, 0.0, None)

    def momentum() -> np.ndarray:
        bones = centroidal_momentum(pair.skeleton, state.bones.q, state.bones.v)[3:]
        return bones + pair.model.node_mass @ state.flesh.v

    before = momentum()
    for _ in range(10):
        pair.step(state, 1e-3, Loads(), inertial=Inertial(stiffness_damping=1e-3), iterations=8)
    error = np.linalg.norm(momentum() - before) / np.linalg.norm(before)
    return Finding.error(float(error), 1e-6, detail="two bones of 0.4 kg, 2.3 kg of flesh, 1 ms steps")


@claim
def free_flight_keeps_angular_momentum() -> Finding:
    """Linear and angular momentum of bones and dynamic flesh that tumble and swing, energy-momentum steps, relative."""
    errors = []
    for integrator in ("energy-momentum", "backward-euler"):
        pair, q = limb(joints.Free(), TIGHT_LIMB)
        velocity = np.zeros(pair.skeleton.n_v)
        velocity[:3], velocity[3:6], velocity[6] = [3.0, 1.0, 2.0], [0.4, -0.3, 0.6], 0.5
        state = pair.start(q, v=velocity)
        state.flesh.v[:] = velocity[3:6] + np.cross(velocity[:3], state.flesh.x)
        state.flesh.v[:, 1] += 0.5 * np.clip(state.flesh.x[:, 0] - 0.2, 0.0, None)

        def momentum(pair: BoneFlesh = pair, state: BoneFleshState = state) -> np.ndarray:
            bones = world_momenta(pair.skeleton, state.bones.q, state.bones.v).sum(axis=0)
            push = pair.model.node_mass[:, None] * state.flesh.v
            return bones + np.concatenate([np.cross(state.flesh.x, push).sum(axis=0), push.sum(axis=0)])

        before = momentum()
        for _ in range(10):
            pair.step(state, 2e-3, Loads(), inertial=Inertial(), integrator=integrator, iterations=8)
        change = momentum() - before
        errors.append([float(np.linalg.norm(change[i : i + 3]) / np.linalg.norm(before[i : i + 3])) for i in (0, 3)])
    (spin, push), (lost, _) = errors
    detail = f"spin {spin:.1e}, push {push:.1e} over 10 steps of 2 ms at 3.7 rad/s; backward Euler loses {lost:.1e}"
    return Finding.error(worst([spin, push]), 1e-6, detail=detail)


@claim
def free_spin_keeps_angular_momentum() -> Finding:
    """Angular momentum of flesh that spins and rings freely, energy-momentum steps, relative change over 50 steps."""
    lattice = box_lattice((2, 2, 6), 0.02, origin=(-0.02, -0.02, -0.06))
    model = build_flesh(lattice, neo_hookean(5e4, 0.45))

    def spin(state: FleshState) -> np.ndarray:
        return (model.node_mass[:, None] * np.cross(state.x, state.v)).sum(axis=0)

    errors = []
    for integrator in ("energy-momentum", "backward-euler"):
        state = rest_state(model)
        state.v[:] = np.cross([4.0, 1.0, 2.0], state.x) + 0.1 * np.sin(60.0 * state.x[:, [1, 2, 0]])
        before = spin(state)
        solver = FleshSolver(model)
        for _ in range(50):
            solver.step(state, Loads(), 2e-3, integrator=integrator)
        errors.append(float(np.linalg.norm(spin(state) - before) / np.linalg.norm(before)))
    return Finding.error(
        errors[0], 1e-8, detail=f"default settings, 2 ms at 4.6 rad/s; backward Euler loses {errors[1]:.2e}"
    )


@claim
def multigrid_iterations_do_not_grow() -> Finding:
    """Iterations for 1e-4 on a fleshed limb, cells of 20 mm against 10 mm and 5 mm: largest over smallest."""
    counts, plain = [], []
    for spacing in (0.02, 0.01, 0.005):
        pair, q = limb(settings=Settings(multigrid=True), spacing=spacing)
        state, model = pair.start(q), pair.model
        held = Loads(targets=model.attachments.targets(bone_poses(pair.skeleton, q + 0.05)))
        potential, newton = Potential(model, held), pair.solver.newton
        now = potential.evaluate(state.flesh.x, state.flesh.pressure)
        newton.assemble(potential, state.flesh.x, state.flesh.pressure, now, False)
        counts.append(newton.solve(now.force, 1e-4)[0])
        other = FleshSolver(model, Settings(multigrid=False, krylov=4000)).newton
        other.assemble(potential, state.flesh.x, state.flesh.pressure, now, False)
        plain.append(other.solve(now.force, 1e-4)[0])
    return Finding.within(
        max(counts) / min(counts), 1.0, 1.5, detail=f"multigrid {counts}, diagonal blocks {plain} iterations"
    )


@claim
def biceps_keeps_the_volume_of_the_flesh() -> Finding:
    """Volume of the arm's flesh over the scene `biceps`: contraction and flexion to 110 degrees, largest change."""
    from vitruvian.scenes.biceps import scene

    world = scene.build({name: p.default for name, p in scene.parameters.items()})
    world.start()
    simulation: Any = world.simulation
    volumes = [float(np.asarray(world.observe().signals["volume"]))]
    frames = round(scene.seconds * world.frame_rate)
    for _ in range(frames):
        world.advance(1.0 / world.frame_rate)
        volumes.append(float(np.asarray(world.observe().signals["volume"])))
    errors = [abs(v / simulation.flesh.model.volume - 1.0) for v in volumes]
    cells = simulation.flesh.model.lattice.n_cells
    return Finding.error(worst(errors), 0.01, detail=f"{cells} cells, {frames} frames")


@claim
def every_bone_is_inside_the_skin() -> Finding:
    """How far the bone that comes nearest to breaking the skin lies under it, at the grid of 5 mm."""
    body = human()
    out = bones_outside(body_skin(body), world_bones(body))
    nearest = list(out)[int(np.argmax(list(out.values())))]  # argmax stops at a NaN
    return Finding.within(out[nearest], -1.0, 0.0, "m", detail=f"{len(out)} bones; nearest: {nearest}")


def _pushed_limb() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Skin points, forces on them, and the summed (moment, force) of the attachments on both bones in the world."""
    rng = np.random.default_rng(6)
    length, radius, bone_radius, h = 0.24, 0.045, 0.012, 0.02
    lattice = lattice_from_level_set(
        lambda p: np.maximum(np.hypot(p[:, 0], p[:, 1]) - radius, np.abs(p[:, 2]) - length / 2),
        [-0.06, -0.06, -0.14],
        [0.06, 0.06, 0.14],
        h,
    )
    angle = rng.uniform(0.0, 2.0 * np.pi, 400)
    points = np.stack([bone_radius * np.cos(angle), bone_radius * np.sin(angle), rng.uniform(-0.11, 0.11, 400)], axis=1)
    poses = np.stack([np.eye(4), np.eye(4)])
    poses[0, 2, 3], poses[1, 2, 3] = -0.06, 0.06
    area = np.full(400, 2.0 * np.pi * bone_radius * 0.22 / 400)
    tied = attach(lattice, (points[:, 2] > 0.0).astype(int), points, area, poses)
    model = build_flesh(lattice, preset("si-paper"), attachments=tied)
    skin = np.stack([np.full(60, radius), rng.uniform(-0.01, 0.01, 60), rng.uniform(-0.05, 0.0, 60)], axis=1)
    force = np.tile([-0.3, 0.1, 0.05], (60, 1))
    where = embed(lattice, skin)
    state = rest_state(model)
    settings = Settings(residual=1e-7, gap=1e-9, tolerance=1e-2, newton=60)
    loads = Loads(targets=tied.targets(poses), force=where.nodal_forces(force))
    FleshSolver(model, settings).equilibrium(state, loads)
    wrench = np.zeros((2, 3))
    for bone, local in enumerate(tied.bone_wrenches(state.x, poses)):
        pull = poses[bone, :3, :3] @ local[3:]
        wrench += [poses[bone, :3, :3] @ local[:3] + np.cross(poses[bone, :3, 3], pull), pull]
    return where.positions(state.x), force, wrench
