"""A cycle that is the same on both sides, and feedback that keeps a character in it.

Half a cycle is one step: one leg bears (stance), the other is led to where it will (swing), until it comes down. In
the second half sides are swapped and mirrored. At every instant the character is compared with the cycle: lean, its
rate, velocity of the centre of mass, where that is over the bearing foot, each about the axis across (sagittal) and the
axis ahead (lateral); height and its rate; heading and its rate. Targets of the servos are turned by

    offset_of_the_window + K e

as in Yin & al. 2007 (SIMBICON) and Liu & al. 2012; of K only entries that a person can name are there (`ROWS`).
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numba import njit

from vitruvian.control.search.actors import RigidActor
from vitruvian.control.search.mirror import mirrored
from vitruvian.control.search.reference import Reference
from vitruvian.couple.rigid_stand_in import rigid_step
from vitruvian.couple.soft_bones import bone_momentum, locate
from vitruvian.errors import InputError
from vitruvian.flesh.posed.ground import TOUCHING
from vitruvian.skeleton import Skeleton, difference, integrate
from vitruvian.skeleton.coordinates import move

Array = np.ndarray
LEAN, ROLL, HEIGHT, HEADING = slice(0, 4), slice(4, 8), slice(8, 10), slice(10, 12)  # of the errors
ERRORS = 12
WEIGHT = 9.81  # [N/kg]
ARMS = ("upper_arm", "forearm", "hand")
LIMBS = ("stance thigh", "swing thigh", "stance foot", "swing foot", "chest", "stance shank", "swing shank")
ROWS = (  # limb, its axis (x across, y ahead, z up), errors that turn it
    *((limb, axis, errors) for limb in range(5) for axis, errors in ((0, LEAN), (1, ROLL))),
    *((limb, 0, LEAN) for limb in (5, 6)),
    *((limb, 0, HEIGHT) for limb in (2, 5, 6)),
    *((limb, 2, HEADING) for limb in (0, 1, 4)),
)
COUNT = sum(e.stop - e.start for _, _, e in ROWS)  # gains
TURNED = (*((limb, axis) for limb in range(5) for axis in (0, 1)), (5, 0), (6, 0))  # what offsets turn


class Cycle(NamedTuple):
    """A cycle as kernels want it, one row for each step of time; the first half is the left foot's stance."""

    targets: Array  # (n, n_q) of the servos
    rates: Array  # (n, n_v)
    speed: Array  # of the centre of mass [m/s] (n, 3)
    over: Array  # that over the bearing foot's end [m] (n, 2)
    swing: Array  # the other foot's end from there [m] (n, 3)
    height: Array  # of it [m] (n,)
    places: Array  # first velocity coordinate of each of `LIMBS` in either half, (2, 7)
    feet: Array  # bones of the left and the right foot (2,)
    tips: Array  # their ends in their frames [m] (2, 3)
    chest: int  # its bone
    step: float  # [s]
    start: float  # where in the reference it begins [s]

    @property
    def seconds(self) -> float:
        """Once through, two steps of a walk or run [s]."""
        return self.step * len(self.targets)


def cycle_of(
    actor: RigidActor,
    reference: Reference,
    step: float = 0.004,
    *,
    mixed: Reference | None = None,
    legs: float = 0.0,
) -> Cycle:
    """The symmetric part of a motion that loops, from where the left foot begins to be the lower one.

    mixed: another such motion. Arms are taken from it, and `legs` (0 to 1) of the way to it goes all the rest."""
    half = max(4, round(0.5 * reference.seconds / step))
    n, h = 2 * half, 0.5 * reference.seconds / half
    q, start = _even_cycle(actor, reference, half)
    s = reference.skeleton
    if mixed is not None:
        share = np.full(s.n_v, legs)
        for k, name in enumerate(s.names):
            if name[:-2] in ARMS:
                share[s.v_start[k] : s.v_start[k + 1]] = 1.0
        other = _even_cycle(actor, mixed, half)[0]
        q = np.array([integrate(s, a, share * difference(s, a, b)) for a, b in zip(q, other)])
    rates = np.array([difference(s, a, b) for a, b in pairwise(q)]) / h
    stands = [actor.stand(actor.begin(a, v)) for a, v in zip(q, rates)]
    bearing = [2 if i < half else 3 for i in range(n)]
    names = [[limb_name(limb, second) for limb in LIMBS] for second in (False, True)]
    return Cycle(
        q[:n],
        rates,
        np.array([a.velocity for a in stands]),
        np.array([(a.centre - a.ends[b])[:2] for a, b in zip(stands, bearing)]),
        np.array([a.ends[5 - b] - a.centre for a, b in zip(stands, bearing)]),
        np.array([a.centre[2] for a in stands]),
        np.array([[s.v_start[s.index(name)] for name in row] for row in names]),
        np.array(actor.ends.bones[2:4]),
        np.array(actor.ends.local[2:4]),
        s.index("chest"),
        h,
        start,
    )


def _even_cycle(actor: RigidActor, reference: Reference, half: int) -> tuple[Array, float]:
    """Poses (2 half + 1, n_q), the same on both sides, from the place (0, 0) on; where in the motion they begin [s]."""
    if not reference.loop:
        raise InputError("a cycle needs a motion that closes on itself")
    s, n, h = reference.skeleton, 2 * half, 0.5 * reference.seconds / half
    plain = [reference.sample(i * h)[0] for i in range(n)]
    feet = np.array([actor.ends.at(q)[2:4, 2] for q in plain])
    lower = feet[:, 1] - feet[:, 0]
    first = int(np.argmax([np.roll(lower, -k)[:half].sum() for k in range(n)]))
    way = reference.way
    q = np.empty((n + 1, s.n_q))
    for i in range(n + 1):
        one, other = (reference.sample((first + i + k) * h)[0] for k in (0, half))
        other[:3] -= 0.5 * way
        other = mirrored(s, other)
        q[i] = integrate(s, one, difference(s, one, other), 0.5)
        q[i, :3] = 0.5 * (one[:3] + other[:3])
    q[:, :2] -= q[0, :2]
    return q, first * h


def limb_name(limb: str, second: bool) -> str:
    """The bone that a limb is in the first or second half."""
    if " " not in limb:
        return limb
    role, bone = limb.split()
    return bone + ("_l" if (role == "stance") != second else "_r")


def whole_offsets(skeleton: Skeleton, half: Array) -> Array:
    """Offsets (2 n, n_v) of a cycle from those of its first half, (n, 12) over `TURNED`."""
    n = len(half)
    out = np.zeros((2 * n, skeleton.n_v))
    for second in (False, True):
        for c, (limb, axis) in enumerate(TURNED):
            at = skeleton.v_start[skeleton.index(limb_name(LIMBS[limb], second))] + axis
            out[n * second : n * (1 + second), at] = half[:, c] * (-1.0 if second and axis == 1 else 1.0)
    return out


@njit(cache=True)
def errors(cycle, i, q, v, poses, centre, speed, out):
    """How far a character is from row i of the cycle, into out (ERRORS,)."""
    w = cycle.targets[i]
    a, b, c, d = w[3], -w[4], -w[5], -w[6]
    e, f, g, k = q[3], q[4], q[5], q[6]
    real = a * e - b * f - c * g - d * k
    sign = 2.0 if real >= 0.0 else -2.0
    rate = cycle.rates[i]
    second = 1 if 2 * i >= len(cycle.targets) else 0
    T, p = poses[cycle.feet[second]], cycle.tips[second]
    way = np.empty(3)
    way[0] = sign * (a * f + b * e + c * k - d * g)
    way[1] = sign * (a * g - b * k + c * e + d * f)
    way[2] = sign * (a * k + b * g - c * f + d * e)
    for s in range(2):
        foot = T[1 - s, 0] * p[0] + T[1 - s, 1] * p[1] + T[1 - s, 2] * p[2] + T[1 - s, 3]
        ahead = 1.0 if s == 1 else -1.0
        out[4 * s] = way[s]
        out[4 * s + 1] = 0.1 * (v[s] - rate[s])
        out[4 * s + 2] = ahead * 0.3 * (speed[1 - s] - cycle.speed[i, 1 - s])
        out[4 * s + 3] = ahead * 3.0 * (centre[1 - s] - foot - cycle.over[i, 1 - s])
    out[8] = 3.0 * (centre[2] - cycle.height[i])
    out[9] = 0.3 * (speed[2] - cycle.speed[i, 2])
    out[10] = way[2]
    out[11] = 0.1 * (v[2] - rate[2])


ROW_TABLE = np.array([(limb, axis, e.start, e.stop) for limb, axis, e in ROWS])


@njit(cache=True)
def respond(cycle, i, gains, error, table, out):
    """Add what the feedback turns the targets by to out (n_v,)."""
    second = 1 if 2 * i >= len(cycle.targets) else 0
    g = 0
    for r in range(len(table)):
        total = 0.0
        for e in range(table[r, 2], table[r, 3]):
            total += gains[g] * error[e]
            g += 1
        out[cycle.places[second, table[r, 0]] + table[r, 1]] += total


@njit(cache=True)
def distance(error):
    """How far that is: lean, roll and heading [rad], speed [m/s] and height, weighed; `FELL` or more is a fall."""
    if abs(error[0]) + abs(error[4]) > 1.4 or error[8] < -0.7:
        return FELL
    return (
        2.0 * np.sqrt(error[0] ** 2 + error[4] ** 2 + error[10] ** 2)
        + 4.0 * np.sqrt(error[2] ** 2 + error[6] ** 2)
        + 2.0 * abs(error[8])
    )


@njit(cache=True)
def astray(cycle, i, poses, centre):
    """How far [m] the foot in the air is from where the cycle has it, seen from the centre of mass."""
    first = 1 if 2 * i >= len(cycle.targets) else 0
    T, p, far = poses[cycle.feet[1 - first]], cycle.tips[1 - first], 0.0
    for a in range(3):
        far += (T[a, 0] * p[0] + T[a, 1] * p[1] + T[a, 2] * p[2] + T[a, 3] - centre[a] - cycle.swing[i, a]) ** 2
    return np.sqrt(far)


FELL = 12.0
ASTRAY = 6.0  # [1/m]
SWUNG = 0.5  # of a half: before that a foot that is down has not left yet
LANDED = 0.25  # of a sole on the ground: the foot is down
EFFORT = 0.3  # a radian of correction counts as that much distance


@njit(cache=True)
def next_target(topology, cycle, i, offsets, gains, table, error, out):
    """Target (n_q,) of the servos at the end of row i's step, by offsets (m, n_v) of the cycle and feedback.

    Returns how far that is from the cycle's own [rad], summed over joints."""
    turn = offsets[i * len(offsets) // len(cycle.targets)].copy()
    respond(cycle, i, gains, error, table, turn)
    move(topology, cycle.targets[(i + 1) % len(cycle.targets)], turn, 1.0, out)
    return np.abs(turn).sum()


@njit(cache=True)
def next_row(cycle, i, feet, anchor):
    """The row after i: a half ends as its swing foot comes down, and not before."""
    n = len(cycle.targets)
    half = n // 2
    if i % half >= SWUNG * half:
        swing, down = 1 if i < half else 0, 0.0
        for k in range(len(feet.points)):
            if feet.foot[k] == swing and anchor[feet.points[k], TOUCHING] > 0.0:
                down += feet.share[k]
        if down >= LANDED:
            return half if i < half else 0
        if i % half == half - 1:
            return i
    return (i + 1) % n


@njit(cache=True)
def shove(t, forces, gap, wind):
    """Force [N] (3,) on the chest at step t. See `rigid_cycles`."""
    f = wind.copy()
    if len(forces) > 0 and 5 * (t % gap) >= 4 * gap:
        f += forces[(t // gap) % len(forces)]
    return f


@njit(cache=True)
def rigid_cycles(
    cycle,
    offsets,
    gains,
    table,
    bones,
    soles,
    feet,
    ground,
    q,
    v,
    anchor,
    kp,
    kd,
    push,
    wrench,
    blocks,
    steps,
    forces,
    gap,
    wind,
    sliding,
):
    """Step a rigid character through cycles, in place; returns how many steps it stayed up and the mean distance.

    forces [N] (m, 3): on the chest for a fifth of each `gap` of steps, one after the other; wind [N] (3,): all the
    time; sliding [s/m]: what the speed of soles that slide under its weight counts."""
    momentum, inertia, error, slid = np.zeros(6), np.zeros(10), np.zeros(ERRORS), np.zeros(2)
    target, total, h, i = np.empty(len(q)), 0.0, cycle.step, 0
    for t in range(steps):
        locate(bones, q, v)
        bone_momentum(bones, momentum, inertia)
        centre, speed = inertia[1:4] / inertia[0], momentum[3:6] / inertia[0]
        errors(cycle, i, q, v, bones.poses, centre, speed, error)
        far = distance(error)
        if not far < FELL:
            return t, total / max(t, 1)
        total += far + ASTRAY * astray(cycle, i, bones.poses, centre)
        total += EFFORT * next_target(bones.topology, cycle, i, offsets, gains, table, error, target)
        f = shove(t, forces, gap, wind)
        push[cycle.chest, :3] = np.cross(bones.poses[cycle.chest, :3, 3], f)
        push[cycle.chest, 3:] = f
        rate = cycle.rates[i]
        if rigid_step(bones, soles, ground, q, v, anchor, target, rate, kp, kd, push, wrench, blocks, slid, h) >= 0:
            return t, total / max(t, 1)
        total += sliding * slid[0] / (inertia[0] * WEIGHT * h)
        i = next_row(cycle, i, feet, anchor)
    return steps, total / steps
