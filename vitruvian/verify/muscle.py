"""Muscle: fibre, pennation and tendon, beside OpenSim, beside what is exact, and on the whole body.

The curves are De Groote's, so OpenSim's DeGrooteFregly2016Muscle must agree to rounding; Millard's and Thelen's have
other curves and stay near. Energy is kept by the forces (stored in tendons and passive fibres, worked by contraction).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from vitruvian.anatomy import Body, arm, human
from vitruvian.anatomy.architecture import architecture, posed, row_of
from vitruvian.control import HANGING, pose
from vitruvian.couple import BodyState, BodyStepper, Book
from vitruvian.muscle import FibreTendon, Tension, fibre_lengths, force_laws, lengths, stored_energy, tension
from vitruvian.muscle.tendon import end_kernel, fibre_rates, step_kernel
from vitruvian.skeleton import bone_poses, coordinate_rates, energy, forward_dynamics, normalized
from vitruvian.verify._muscle_peer import KINDS, OneMuscle, table
from vitruvian.verify.body import damping_power
from vitruvian.verify.book import Finding, claim, worst

Array = np.ndarray
CALF = FibreTendon(1000.0, 0.05, 0.25, float(np.radians(15.0)))
LEVELS, LENGTHS = (0.05, 0.5, 1.0), tuple(np.linspace(0.285, 0.34, 12))
POSES: tuple[Mapping[str, Any], ...] = (
    {},
    HANGING,
    {"hip": [-90, 0, 0], "knee": 90},
    {"hip": [-110, 0, 0], "knee": 100},
    {"hip": [-90, 0, 0]},
    {"arm": {"direction": [0.2, 0, 1]}},
    {"chest": [35, 0, 0], "head": [60, 0, 0]},
    {"head": [-45, 0, 0]},
    {"head": [0, 0, 60]},
    {"elbow": 120, "jaw": [20]},
)


def _one(muscle: FibreTendon, activation: float, length: float, rate: float = 0.0) -> Tension:
    return tension(force_laws(["muscle"], [muscle]), *(np.array([x]) for x in (activation, length, rate)))


@claim
def balance_equals_opensim() -> Finding:
    """Fibre and elastic tendon are in balance where OpenSim's DeGrooteFregly2016Muscle finds them."""
    theirs = table(OneMuscle(CALF).force, LEVELS, LENGTHS)
    ours = table(lambda a, l: float(_one(CALF, a, l).force[0]), LEVELS, LENGTHS)
    detail = "36 states, length 0.66 to 1.7 l0, activation 0.05 to 1"
    return Finding.error(np.abs(ours - theirs).max() / CALF.f_max, 1e-8, "F_max", detail)


@claim
def rigid_tendon_equals_opensim() -> Finding:
    """With a rigid tendon the force at any rate is that of OpenSim's DeGrooteFregly2016Muscle."""
    stiff = replace(CALF, tendon="rigid")
    peer = OneMuscle(stiff)
    off = [
        max(peer.force(a, l, v), 0.0) - float(_one(stiff, a, l, v).force[0])
        for a in LEVELS
        for l in (0.285, 0.3, 0.32)
        for v in (-0.45, -0.2, 0.0, 0.2, 0.45)
    ]
    return Finding.error(
        np.abs(off).max() / CALF.f_max,
        1e-8,
        "F_max",
        "45 states, rate to 0.9 v_max; theirs can push a little, ours not",
    )


@claim
def balance_is_near_millard_and_thelen() -> Finding:
    """In the working range the force is within a tenth of F_max of OpenSim's Millard and Thelen muscles."""
    where = [l for l in LENGTHS if 0.295 <= l <= 0.32]
    ours = table(lambda a, l: float(_one(CALF, a, l).force[0]), LEVELS, where)
    off = {kind: np.abs(ours - table(OneMuscle(CALF, kind).force, LEVELS, where)) / CALF.f_max for kind in KINDS[1:]}
    detail = ", ".join(f"{kind} mean {o.mean():.3f}, most {o.max():.3f}" for kind, o in off.items())
    return Finding.error(worst(o.mean() for o in off.values()), 0.1, "F_max", f"path 0.295 to 0.32 m; {detail}")


@claim
def isometric_ramp_equals_opensim() -> Finding:
    """A ramp of activation up and down at constant length gives the force of OpenSim, in steps of 1 ms."""
    soft = replace(CALF, damping=1e-6)  # OpenSim inverts its force-velocity curve without fibre damping
    ramp = ([0.0, 0.05, 0.15, 0.3, 0.4, 1.0], [0.05, 0.05, 1.0, 1.0, 0.1, 0.1])
    times, h = np.linspace(0.02, 0.6, 30), 1e-3
    theirs = OneMuscle(soft, KINDS[0], ramp).in_time(0.3, times)
    laws, length, still = force_laws(["muscle"], [soft]), np.array([0.3]), np.zeros(1)
    fibre = fibre_lengths(laws, np.array([0.05]), length)
    out, span, share = np.zeros((5, 1)), np.zeros(1), np.zeros(1)
    force = []
    for k in range(600):
        a = np.array([np.interp((k + 1) * h, *ramp)])
        step_kernel(laws.kind, laws.table, a, length, still, fibre, h, out, span, share)
        end_kernel(laws.kind, laws.table, still, out[0], span, share, fibre)
        force.append(out[0, 0])
    ours = np.interp(times, h * np.arange(1, 601), force)
    detail = f"largest force {theirs.max():.0f} N of {soft.f_max:.0f}; time constant of the rise about 60 ms"
    return Finding.error(np.abs(ours - theirs).max() / soft.f_max, 5e-3, "F_max", detail)


@claim
def a_stiff_tendon_is_a_rigid_one() -> Finding:
    """As the tendon's strain at F_max goes to zero the elastic muscle becomes the rigid one, in first order."""
    rigid = replace(CALF, tendon="rigid")
    wanted = table(lambda a, l: float(_one(rigid, a, l).force[0]), LEVELS, LENGTHS)

    def off(strain: float) -> float:
        stiff = replace(CALF, strain=strain)
        return float(np.abs(table(lambda a, l: float(_one(stiff, a, l).force[0]), LEVELS, LENGTHS) - wanted).max())

    errors = [off(1e-4), off(5e-5)]
    detail = f"largest difference {errors[1] / CALF.f_max:.1e} F_max at a strain of 5e-5"
    return Finding.within(errors[0] / errors[1], 1.9, 2.1, "1", detail)


@claim
def slopes_equal_differences() -> Finding:
    """Stiffness and damping of rigid and elastic muscles are the slopes of their force."""
    off, h = [], 1e-5
    for muscle in (CALF, replace(CALF, tendon="rigid")):
        for a in LEVELS:
            for l in LENGTHS:
                for v in (-0.2, 0.0, 0.2):
                    t = _one(muscle, a, l, v)
                    k = (_one(muscle, a, l + h, v).force[0] - _one(muscle, a, l - h, v).force[0]) / (2 * h)
                    d = (_one(muscle, a, l, v + h).force[0] - _one(muscle, a, l, v - h).force[0]) / (2 * h)
                    off += [(t.stiffness[0] - k) / (1e5), (t.damping[0] - d) / 1e4]
    return Finding.error(worst(off), 1e-4, "1", "of 1e5 N/m and 1e4 N s/m; 216 states")


@claim
def fibres_and_tendons_keep_energy() -> Finding:
    """Bones, tendons, passive fibres: energy changes by the work of contraction and dampers alone."""
    body = arm("left", muscles="elastic")
    stepper = BodyStepper(body.skeleton, body.muscles)
    state = body.at_rest(pose(body, {"left elbow": 40}))
    a = np.random.default_rng(1).uniform(0.2, 0.5, body.muscles.n_muscles)
    start, work, flow = _total(body, state.q, state.v, state.fibre), 0.0, 0.0
    for _ in range(3000):
        w, f = _rk4(body, stepper, state, a, 2.5e-5)
        work, flow = work + w, flow + f
    gained = _total(body, state.q, state.v, state.fibre) - start
    stored = stored_energy(body.muscles, lengths(body.muscles, bone_poses(body.skeleton, state.q)), state.fibre)
    end = f"in tendons {stored[0].sum():.2f} J, in passive fibres {stored[1].sum():.2f} J at the end"
    detail = f"{flow:.2f} J turned over in 0.075 s of an arm; {end}"
    return Finding.error((gained - work) / flow, 1e-6, "1", detail)


@claim
def the_step_books_contraction() -> Finding:
    """What contraction works in steps goes to bones, tendons and passive fibres; the rest shrinks with the step."""
    body = arm("left", muscles="elastic")
    stepper = BodyStepper(body.skeleton, body.muscles)
    a = np.random.default_rng(1).uniform(0.2, 0.5, body.muscles.n_muscles)
    left = []
    for n in (200, 400):
        state, book = body.at_rest(pose(body, {"left elbow": 40})), Book.open(("drive", "contraction"))
        before = _stored(body, state.q, state.fibre)
        for _ in range(n):
            state.q, state.v = stepper.step(state.q, state.v, a, 0.2 / n, book=book, fibre=state.fibre)
        kept = _stored(body, state.q, state.fibre) - before
        left.append((book.work["contraction"] - book.work["drive"] - kept) / book.work["contraction"])
    detail = f"1 ms: {left[0]:.1%} of the contraction's work is the step's own loss, 0.5 ms: {left[1]:.1%}"
    return Finding.within(left[0] / left[1], 1.6, 2.4, "1", detail)


@claim
def no_muscle_pulls_more_than_its_fibres_can() -> Finding:
    """In ten poses no muscle of the body has more active force at full activation than F_max."""
    body = human(muscles="elastic")
    n = body.muscles.n_muscles
    most, who = 0.0, ""
    for words in POSES:
        L = lengths(body.muscles, bone_poses(body.skeleton, pose(body, words)))
        active = tension(body.muscles, np.ones(n), L, np.zeros(n))
        share = (active.force - active.passive) / body.muscles.f_max
        if share.max() > most:
            most, who = float(share.max()), body.muscles.names[int(share.argmax())]
    return Finding.within(most, 0.9, 1.01, "F_max", f"{who}; the documents' linear law lets mylohyoid reach 6 F_max")


@claim
def every_fibre_is_optimal_in_its_pose() -> Finding:
    """Fully active in the pose that the table names, every fibre has its optimal length."""
    body, rows = human(muscles="elastic"), architecture()
    n, off = body.muscles.n_muscles, []
    by_row = [row_of(name, rows) for name in body.muscles.names]
    for words in {r.pose for r in by_row}:
        q = posed(body.skeleton, body.default_q, words)
        fibre = fibre_lengths(body.muscles, np.ones(n), lengths(body.muscles, bone_poses(body.skeleton, q)))
        off += [
            float(fibre[m] / e.fibre_length - 1.0)  # type: ignore[attr-defined]
            for m, e in enumerate(body.muscles.elements)
            if by_row[m].pose == words
        ]
    return Finding.error(worst(off), 1e-6, "1", f"{n} muscles, {len(rows)} rows of published or family figures")


def _total(body: Body, q: Array, v: Array, fibre: Array) -> float:
    return energy(body.skeleton, q, v).total + _stored(body, q, fibre)


def _stored(body: Body, q: Array, fibre: Array) -> float:
    return float(stored_energy(body.muscles, lengths(body.muscles, bone_poses(body.skeleton, q)), fibre).sum())


def _rk4(body: Body, stepper: BodyStepper, state: BodyState, a: Array, h: float) -> tuple[float, float]:
    """One Runge-Kutta step of bones and fibres; the work of contraction and dampers, and the energy turned over [J]."""
    s, m = body.skeleton, body.muscles
    at = [state.q, state.v, state.fibre]
    sums, rates = [np.zeros_like(x) for x in at], [np.zeros_like(x) for x in at]
    work, flow, speed = 0.0, 0.0, np.zeros(m.n_muscles)
    for share, weight in ((0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)):
        q, v, fibre = (x + share * h * r for x, r in zip(at, rates))
        terms = stepper.assemble(q, v, a, 0.0, fibre=fibre)
        fibre_rates(m.kind, m.table, a, stepper.found.length, fibre, speed)
        pull, passive = stepper.found.tension[0], stepper.found.tension[1]
        cos = stepper.found.span / fibre
        contraction = -float(((pull - passive) / cos) @ speed)
        rates = [coordinate_rates(s, q, v), forward_dynamics(s, q, v, terms.force + terms.bias), speed.copy()]
        loss = damping_power(stepper, q, v)  # overwrites the terms
        sums = [x + weight * r for x, r in zip(sums, rates)]
        work, flow = work + weight * (contraction + loss), flow + weight * (abs(contraction) + abs(loss))
    state.q = normalized(s, at[0] + h / 6.0 * sums[0])
    state.v, state.fibre = at[1] + h / 6.0 * sums[1], at[2] + h / 6.0 * sums[2]
    return h / 6.0 * work, h / 6.0 * flow
