"""Claims of the chapter `skeleton`: what slides on closed wires keeps its energy and bears large explicit steps."""

from __future__ import annotations

import numpy as np

from vitruvian.skeleton import (
    Inertia,
    Skeleton,
    SkeletonBuilder,
    SkeletonState,
    bone_poses,
    energy,
    integrate,
    joints,
    step_forward_euler,
    step_rk4,
)
from vitruvian.spatial import transform
from vitruvian.verify.book import Finding, claim, worst

Array = np.ndarray


@claim
def beads_keep_their_energy() -> Finding:
    """Beads on a spinning flower-shaped wire without friction keep their energy for 10 s."""
    from vitruvian.scenes.beads import BEAD_MASS, build_beads, start_beads

    skeleton = build_beads()
    state = SkeletonState(*start_beads(skeleton))
    heights = [bone_poses(skeleton, [0.0, *np.full(skeleton.n_q - 1, x)])[1, 2, 3] for x in np.linspace(0.0, 4.0, 400)]
    scale = (skeleton.n_q - 1) * BEAD_MASS * 9.81 * float(np.ptp(heights))
    start = energy(skeleton, state.q, state.v).total
    errors: list[float] = []
    for step in range(5_000):
        step_rk4(skeleton, state, 0.002)
        if step % 10 == 9:
            errors.append(abs(energy(skeleton, state.q, state.v).total - start) / scale)
    detail = f"of the energy that the beads' fall can give ({scale:.3g} J); RK4, 2 ms"
    return Finding.error(worst(errors), 1e-3, detail=detail)


@claim
def globe_bears_steps_of_20_ms() -> Finding:
    """`globe`, wires respaced naturally in the inertia metric, bears Lee's explicit Euler steps of 20 ms for 10 s."""
    from vitruvian.scenes.globe import PLANE_MASS, RADIUS, build_globe

    skeleton = _naturally_spaced(build_globe(controls=400), 400)
    speeds = np.concatenate([[0.6], np.full(skeleton.n_v - 1, 0.6)])
    scale = (skeleton.n_v - 1) * PLANE_MASS * 9.81 * 2.0 * RADIUS
    return _large_steps(skeleton, skeleton.neutral_q(), speeds, 0.02, scale)


@claim
def beads_bear_steps_of_100_ms() -> Finding:
    """`beads`, wire respaced naturally in the inertia metric, bears Lee's explicit Euler steps of 100 ms for 10 s."""
    from vitruvian.scenes.beads import BEAD_MASS, DEPTH, RADIUS, build_beads

    skeleton = _naturally_spaced(build_beads(controls=1000), 600)
    beads = skeleton.n_q - 1
    length = skeleton.joints[1].spline.domain[1]  # type: ignore[attr-defined]
    q = np.array([0.0, *(length * (np.arange(beads) / beads + 0.013))])
    scale = beads * BEAD_MASS * 9.81 * 2.0 * RADIUS * (1.0 + DEPTH)
    return _large_steps(skeleton, q, np.array([2.0, *np.zeros(beads)]), 0.1, scale)


def _naturally_spaced(skeleton: Skeleton, n: int) -> Skeleton:
    """The same mechanism with every closed curve spaced so that ‖s(q)‖ = 1 in the metric of the bone's inertia.

    That is Lee's natural parameterisation (6.4.1), with the metric that he recommends for dynamics. The kinetic energy
    of a sliding bone then no longer depends on where it is, so no velocity-squared force is left that a large explicit
    step could overshoot. Spaced by arc length both mechanisms do blow up at these steps, at once or for some starts."""
    from vitruvian.spatial.curves import closed_spline

    builder = SkeletonBuilder(skeleton.gravity)
    for i, (name, joint, b) in enumerate(zip(skeleton.names, skeleton.joints, skeleton.bodies)):
        xx, xy, xz, yy, yz, zz = b[16:22]
        c = skeleton.coms[i]
        about_com = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) - b[12] * (
            (c @ c) * np.eye(3) - np.outer(c, c)
        )
        if isinstance(joint, joints.CurveSpline):
            x = np.linspace(*joint.spline.domain, 20 * n + 1)
            s = np.array([joint.spline.evaluate(a)[1] for a in x])
            spin = np.einsum("ni,ij,nj->n", s[:, :3], about_com, s[:, :3])
            centre = s[:, 3:] + np.cross(s[:, :3], c)
            speed = np.sqrt(spin / b[12] + (centre * centre).sum(axis=1))
            length = np.concatenate([[0.0], np.cumsum(0.5 * (speed[1:] + speed[:-1]) * np.diff(x))])
            places = np.interp(length[-1] * np.arange(n) / n, length, x)
            frames = np.array([joint.spline(a) for a in places])
            joint = joints.CurveSpline(closed_spline(frames, float(length[-1])))
        builder.add_bone(
            name,
            parent=None if skeleton.parent[i] < 0 else skeleton.names[skeleton.parent[i]],
            joint=joint,
            placement=transform(b[:9].reshape(3, 3), b[9:12]),
            inertia=Inertia(float(b[12]), c, about_com),
        )
    return builder.build()


def _large_steps(skeleton: Skeleton, q: Array, v: Array, dt: float, scale: float) -> Finding:
    """Largest kinetic energy on the way, in units of what gravity can give; of order one if nothing explodes.

    The worst of ten starts whose coordinates differ by a thousandth, because the motion is chaotic."""
    starts = 10
    errors: list[float] = []
    for seed in range(starts):
        nudge = 1e-3 * np.random.default_rng(seed).normal(size=skeleton.n_v)
        state = SkeletonState(integrate(skeleton, q, nudge), v.copy())
        for _ in range(round(10.0 / dt)):
            step_forward_euler(skeleton, state, dt)
            errors.append(energy(skeleton, state.q, state.v).kinetic / scale)
    detail = f"largest kinetic energy / ({scale:.3g} J), worst of {starts} starts, no friction, inertia-natural spacing"
    return Finding.within(worst(errors), 0.0, 3.0, detail=detail)
