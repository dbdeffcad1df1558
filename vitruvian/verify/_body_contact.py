"""Claims about contact and standing: falls, books of contact, balance, squat, jump. Found by the chapter `body`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from vitruvian.anatomy import body_contacts, human
from vitruvian.anatomy.tables import load_tables
from vitruvian.couple import BodyStepper, Book, Contacts, RoundCone, ball
from vitruvian.muscle import MuscleBuilder
from vitruvian.scenes import find
from vitruvian.scenes.collapse import STARTS, started
from vitruvian.skeleton import (
    Inertia,
    Skeleton,
    SkeletonBuilder,
    beyond_range,
    bone_poses,
    centre_of_mass,
    coordinate_rates,
    energy,
    forward_dynamics,
    normalized,
)
from vitruvian.skeleton.joints import Free, Revolute
from vitruvian.systems.body import ACCOUNTS, LOST
from vitruvian.verify.book import Claim, Finding, claim, worst
from vitruvian.world import scene_parameters

Array = np.ndarray
DT = 1.0 / 480.0
SECONDS = 1.5  # that a fall is watched


@dataclass(frozen=True)
class Fall:
    """What was met in a passive fall, the worst of every step."""

    ground: float  # [m] deep
    itself: float  # [m] deep
    beyond: float  # [rad] of a joint beyond its range
    work: dict[str, float]  # [J] by account
    gained: float  # energy of the bones at the end less that of the beginning [J]


@lru_cache(maxsize=12)
def _fall(start: str, dt: float = DT) -> Fall:
    body = human()
    s, contacts = body.skeleton, body_contacts(body)
    stepper = BodyStepper(s, body.muscles, contacts=contacts)
    q, v = started(body, start, contacts)
    off, book = np.zeros(body.muscles.n_muscles), Book.open([*ACCOUNTS, *LOST])
    first = energy(s, q, v).total
    found = []
    for _ in range(round(SECONDS / dt)):
        q, v = stepper.step(q, v, off, dt, book=book)
        depths = stepper.contact.depth(bone_poses(s, q))
        found.append((max(depths[0], 0.0), max(depths[1], 0.0), float(beyond_range(s, q).max())))
    ground, itself, beyond = (worst(values) for values in zip(*found))
    return Fall(ground, itself, beyond, book.work, energy(s, q, v).total - first)


def _stays_out(what: str, text: str, *starts: str) -> Claim:
    def measure() -> Finding:
        falls = [_fall(start) for start in starts]
        deep = max(max(fall.ground, fall.itself) for fall in falls)
        beyond = np.degrees(max(fall.beyond for fall in falls))
        return Finding.error(1e3 * deep, 5.0, "mm", f"joints {beyond:.1f}° beyond their range at most")

    return Claim(
        f"body/{what}-stays-out-of-the-ground",
        f"{text} is at no step deeper than 5 mm in the ground or itself.",
        measure,
    )


falling_upright_stays_out_of_the_ground = _stays_out(
    "falling-upright", "A passive body let go standing and 0.5 m in the air", "standing", "dropped"
)
falling_over_stays_out_of_the_ground = _stays_out(
    "falling-over", "A passive body that falls over forwards and backwards", "forward", "backward"
)
lying_stays_out_of_the_ground = _stays_out("lying", "A passive body laid down prone and supine", "prone", "supine")


@claim
def joints_stop_within_three_degrees() -> Finding:
    """In all six falls no joint is ever more than 3° beyond its range."""
    beyond = {start: np.degrees(_fall(start).beyond) for start in STARTS}
    return Finding.error(worst(beyond.values()), 3.0, "°", f"worst {max(beyond, key=lambda k: beyond[k])}")


@claim
def books_of_a_fall_close() -> Finding:
    """Over a whole passive fall the bones' energy changes by what the accounts say, "lost by the step" among them."""
    found, lost = [], []
    for start in STARTS:
        fall = _fall(start)
        turned = sum(abs(joules) for joules in fall.work.values())
        found.append(abs(fall.gained - sum(fall.work.values())) / turned)
        lost.append(f"{start} {fall.work['step']:.1f} of {turned:.0f} J")
    return Finding.error(worst(found), 1e-6, "1", f"lost by steps of 2.1 ms: {', '.join(lost)}")


@claim
def what_the_step_loses_halves_with_it() -> Finding:
    """The energy that the implicit step itself loses in a fall is halved with the step: it is the step's, no leak."""
    coarse, fine = (_fall("dropped", dt).work["step"] for dt in (0.5 * DT, 0.25 * DT))
    return Finding(coarse / fine, 2.0, 0.4, "1", f"{coarse:.1f} J at 1 ms, {fine:.1f} J at 0.5 ms")


@claim
def neutral_angles_lie_within_their_range() -> Finding:
    """Every joint's neutral angle lies within its own range."""
    rows = [row for rows in load_tables().coordinates.values() for row in rows]
    off = [max(0.0, r.low - r.neutral, r.neutral - r.high) for r in rows]
    return Finding.error(np.degrees(worst(off)), 1e-9, "°", f"{len(rows)} coordinates")


def _crawler() -> tuple[Skeleton, Contacts]:
    """A trunk with two legs that meet the ground and each other."""
    b = SkeletonBuilder()
    b.add_bone("trunk", joint=Free(), inertia=Inertia.box(5.0, (0.3, 0.1, 0.1)))
    for i, side in enumerate((-1.0, 1.0)):
        b.add_bone(
            f"leg {i}", parent="trunk", joint=Revolute((0, 1, 0)), placement=(0.15 * side, 0, 0),
            inertia=Inertia.box(1.0, (0.05, 0.05, 0.3), (0, 0, -0.15)),
        )  # fmt: skip
    shapes = [ball("trunk", (0, 0, 0), 0.06)]
    shapes += [RoundCone(f"leg {i}", (0, 0, -0.05), (0, 0, -0.3), (0.03, 0.02)) for i in range(2)]
    return b.build(), Contacts(tuple(shapes), pairs=np.array([[1, 2]]), stiffness=1e4, dissipation=2.0, creep=0.05)


@claim
def contact_energy_balances() -> Finding:
    """Energy less the work of contact stays while legs fall on the ground and on each other (Runge–Kutta, 20 µs)."""
    s, contacts = _crawler()
    stepper = BodyStepper(s, MuscleBuilder(s).build(), contacts=contacts)
    q, v = s.neutral_q(), np.zeros(s.n_v)
    q[2], v[0], v[6], v[7] = 0.33, 0.5, 3.0, -3.0
    start, h = energy(s, q, v).total, 2e-5

    def rates(q: Array, v: Array) -> tuple[Array, Array, float]:
        system = stepper.assemble(q, v, np.zeros(0), 0.0)
        bones, points, forces = stepper.contact.forces(system)
        push = np.zeros(s.n_v)
        for (a, b), x, f in zip(bones, points, forces):
            for bone, sign in ((b, 1.0), (a, -1.0)):
                if bone >= 0:
                    rows = np.cross(system.screws[:, :3], x) + system.screws[:, 3:]
                    push += sign * (rows * s.supports[bone][:, None]) @ f
        return coordinate_rates(s, q, v), forward_dynamics(s, q, v, push), float(push @ v)

    work = moved = 0.0
    off = []
    for _ in range(12000):
        q_sum, v_sum, power, flow = np.zeros_like(q), np.zeros_like(v), 0.0, 0.0
        dq, dv = np.zeros_like(q), np.zeros_like(v)
        for share, weight in ((0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)):
            dq, dv, p = rates(q + share * h * dq, v + share * h * dv)
            q_sum, v_sum, power, flow = (
                q_sum + weight * dq,
                v_sum + weight * dv,
                power + weight * p,
                flow + weight * abs(p),
            )
        q, v = normalized(s, q + h / 6.0 * q_sum), v + h / 6.0 * v_sum
        work, moved = work + h / 6.0 * power, moved + h / 6.0 * flow
        off.append(abs(energy(s, q, v).total - start - work))
    return Finding.error(worst(off) / moved, 1e-6, "1", f"{moved:.1f} J turned over in 0.24 s")


@claim
def steps_of_contact_are_booked() -> Finding:
    """What every step of a body that falls gains, ½ (v⁺ + v) M (v⁺ - v), is the work of all that acts in it."""
    s, contacts = _crawler()
    stepper = BodyStepper(s, MuscleBuilder(s).build(), contacts=contacts)
    q, v = s.neutral_q(), np.zeros(s.n_v)
    q[2], v[0], v[6], v[7] = 0.4, 0.5, 3.0, -3.0
    off, moved = [], 0.0
    for _ in range(480):
        book = Book.open(["contact", "joints"])
        system = stepper.assemble(q, v, np.zeros(0), DT)
        A = system.full_matrix()  # no springs or dampers: the mass matrix
        after_q, after = stepper.bones.solve(system)
        system.book_work(book, after)
        middle = 0.5 * (v + after)
        weight = -DT * float(system.bias @ middle)
        gained = float((after - v) @ A @ middle)
        off.append(abs(gained - weight - sum(book.work.values())))
        moved += abs(book.work["contact"])
        q, v = after_q, after
    return Finding.error(sum(off) / moved, 1e-6, "1", f"{moved:.1f} J of contact in 1 s")


@claim
def a_push_is_balanced() -> Finding:
    """Pushed on the chest by 200 N for 0.1 s, the standing body is back within 30 mm after 1.5 s, by muscles alone."""
    world: Any = find("balance").build(scene_parameters(find("balance"), "draft", {}))
    start = None
    while world.time < 2.5:
        world.advance(0.1)
        if start is None and world.time > 0.95:
            start = centre_of_mass(world.simulation.skeleton, world.state.q)
    assert start is not None
    off = centre_of_mass(world.simulation.skeleton, world.state.q) - start
    work = world.state.book.work["push"]
    return Finding.error(1e3 * float(np.linalg.norm(off)), 30.0, "mm", f"the push did {work:.1f} J of work")


@claim
def a_squat_needs_no_hand() -> Finding:
    """In a squat of 19 cm by muscles on true contact the centre of mass is within 20 mm of the height asked for."""
    world: Any = find("squat").build(scene_parameters(find("squat"), "draft", {}))
    off = []
    low = np.inf
    while world.time < 2.0:
        world.advance(0.1)
        height = float(centre_of_mass(world.simulation.skeleton, world.state.q)[2])
        goal = centre_of_mass(world.simulation.skeleton, world.controller.plan.motion.sample(world.time)[0])[2]
        off.append(abs(height - float(goal)))
        low = min(low, height)
    return Finding.error(1e3 * worst(off), 20.0, "mm", f"down to {low:.2f} m")


@claim
def a_jumper_flies_a_parabola() -> Finding:
    """In the air the centre of mass of a jumping body falls at 9.81 m/s²: no hand holds it (relative error)."""
    world: Any = find("jump").build(scene_parameters(find("jump"), "draft", {}))
    world.advance(0.93)
    s = world.simulation.skeleton
    times, heights = [], []
    for _ in range(9):
        world.advance(1 / 60)
        times.append(world.time)
        heights.append(float(centre_of_mass(s, world.state.q)[2]))
    fall = -2.0 * float(np.polyfit(times, heights, 2)[0])
    return Finding.error(abs(fall / 9.81 - 1.0), 1e-2, "1", f"{fall:.3f} m/s² over 0.15 s of flight")


@claim
def a_jumper_stands_again() -> Finding:
    """After its jump the body lands, brakes and stands at its first height, within 50 mm, and goes on standing."""
    world: Any = find("jump").build(scene_parameters(find("jump"), "draft", {}))
    world.start()
    s = world.simulation.skeleton
    before = centre_of_mass(s, world.state.q)[2]
    world.advance(2.4)
    after = centre_of_mass(s, world.state.q)[2]
    world.advance(1.0)  # one that tips is still high at 2.4 s
    later = centre_of_mass(s, world.state.q)[2]
    off = max(abs(float(x - before)) for x in (after, later))
    return Finding.error(
        1e3 * off, 50.0, "mm", f"centre of mass at {after:.3f} m after 2.4 s, {later:.3f} m after 3.4 s"
    )


@lru_cache(maxsize=1)
def _walk() -> tuple[Array, Array, Array]:
    """Of a walker in 7 s, or until it falls: instants [s], tilts of the head [rad], how often a foot had come down."""
    world: Any = find("walk").build(scene_parameters(find("walk"), "draft", {}))
    world.start()
    s = world.simulation.skeleton
    first = now = centre_of_mass(s, world.state.q)
    times, tilts, steps, stood = [], [], [0], None
    while world.time < 7.0 and now[2] > 0.8 * first[2]:
        world.advance(0.1)
        now = centre_of_mass(s, world.state.q)
        stands = [world.own.memory[f"{foot} stands"] for foot in ("Fo_l", "Fo_r")]
        steps.append(steps[-1] + sum(x > y for x, y in zip(stands, stood or stands)))
        stood = stands
        times.append(world.time)
        tilts.append(float(world.observe().signals["head_tilt"]))
    return np.array(times), np.array(tilts), np.array(steps[1:])


@claim
def a_walk_makes_ten_steps() -> Finding:
    """The captured walk by muscles on true contact makes ten steps or more in 7 s without falling."""
    times, _, steps = _walk()
    return Finding.within(steps[-1], 10.0, 16.0, "steps", f"upright for {times[-1]:.1f} s of 7")


@claim
def a_walker_holds_its_head_up() -> Finding:
    """In the captured walk by muscles the head is never more than 20 degrees from upright, in 7 s or until it falls."""
    times, tilts, _ = _walk()
    return Finding.error(
        np.degrees(worst(tilts)), 20.0, "°", f"mean {np.degrees(tilts.mean()):.1f}°, {times[-1]:.1f} s"
    )
