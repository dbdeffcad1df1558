"""Who is tried in a search: a character rigid on its bones, or soft. One interface, so that a search need not know.

An actor can begin in a pose, go on for a while under targets along a reference motion, and tell how it stands. Its
state is a flat array, so that samples can be kept, sent and stored.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numba import njit

from vitruvian.anatomy.characters import Character, soft_body
from vitruvian.control.search.reference import Reference
from vitruvian.couple.rigid_stand_in import Soles, rigid_step
from vitruvian.couple.soft_bones import bones_of
from vitruvian.errors import Diverged
from vitruvian.flesh.posed.ground import Ground
from vitruvian.skeleton import bone_poses, bone_velocities
from vitruvian.skeleton.coordinates import move

Array = np.ndarray


@dataclass(frozen=True)
class Stand:
    """How a character stands, for costs and senses; world axes."""

    q: Array
    v: Array
    centre: Array  # of mass [m] (3,)
    velocity: Array  # of it [m/s] (3,)
    ends: Array  # hands, feet and head [m] (5, 3): hands, feet, head


class Actor(Protocol):
    """See above."""

    def begin(self, q: Array, v: Array) -> Array:
        """A state in that pose."""
        ...

    def go(self, state: Array, reference: Reference, start: float, span: float, seconds: float, offset: Array) -> Array:
        """`seconds` on while the reference goes from `start` on by `span` [s], targets turned by `offset` (n_v,)."""
        ...

    def stand(self, state: Array) -> Stand:
        """How it stands."""
        ...


FLAT = 0.004  # of the height: what is lower belongs to a sole
ENDS = ("hand_l", "hand_r", "foot_l", "foot_r", "head")


class _Ends:
    """Places of hands, feet and head: the far ends of those bones."""

    def __init__(self, who: Character) -> None:
        self.skeleton = who.skeleton
        bind = bone_poses(who.skeleton, who.bind_q)
        self.bones = [who.skeleton.index(name) for name in ENDS]
        tips = {b.name: np.asarray(b.tip) for b in who.bones}
        self.local = [bind[k, :3, :3].T @ (tips[n] - bind[k, :3, 3]) for k, n in zip(self.bones, ENDS)]

    def at(self, q: Array) -> Array:
        poses = bone_poses(self.skeleton, q)
        return np.array([poses[k, :3, :3] @ p + poses[k, :3, 3] for k, p in zip(self.bones, self.local)])


class RigidActor:
    """Flesh rigid on the bones, 2 to 4 ms a step."""

    def __init__(self, who: Character, *, step: float = 0.004, ground: Ground = Ground(), per_bone: int = 10) -> None:  # noqa: B008
        self.who, self.step, self.ground = who, step, ground
        self.skeleton, self.gains = who.rigid, who.gains
        self.soles = sole_points(who, per_bone)
        self.feet = feet_of(who, self.soles.bone, np.full(len(self.soles.bone), True))
        self.ends = _Ends(who)
        self._kept()

    def _kept(self) -> None:
        self.bones = bones_of(self.skeleton)
        n = self.skeleton.n_bones
        self.room = np.zeros((n, 6)), np.zeros((n, 6, 6))
        self.still = np.zeros((n, 6))

    def other(self, ground: float, servos: float) -> RigidActor:
        """The same with ground and servos so many times as strong."""
        found = copy(self)
        stiffness, damping = (ground * a for a in (self.ground.stiffness, self.ground.damping))
        found.ground = self.ground._replace(stiffness=stiffness, damping=damping)
        kp, kd = self.gains
        found.gains = servos * kp, servos * kd
        return found

    def begin(self, q: Array, v: Array) -> Array:
        return np.concatenate([q, v, np.zeros(3 * len(self.soles.bone))])

    def go(self, state: Array, reference: Reference, start: float, span: float, seconds: float, offset: Array) -> Array:
        s = self.skeleton
        state = state.copy()
        q, v = state[: s.n_q], state[s.n_q : s.n_q + s.n_v]
        anchor = state[s.n_q + s.n_v :].reshape(-1, 3)
        count = max(1, round(seconds / self.step))
        targets, rates = course(reference, start, span, count, seconds, offset)
        kp, kd = self.gains
        done = _rigid_run(
            self.bones,
            self.soles,
            self.ground,
            q,
            v,
            anchor,
            targets,
            rates,
            kp,
            kd,
            self.still,
            *self.room,
            seconds / count,
        )
        if not done or not np.isfinite(v).all() or np.abs(v).max() > 300.0:
            state[:] = np.nan
        return state

    def stand(self, state: Array) -> Stand:
        s = self.skeleton
        q, v = state[: s.n_q], state[s.n_q : s.n_q + s.n_v]
        poses, twists = bone_poses(s, q), bone_velocities(s, q, v)
        m = s.masses
        centres = np.einsum("nij,nj->ni", poses[:, :3, :3], s.coms) + poses[:, :3, 3]
        speeds = np.einsum("nij,nj->ni", poses[:, :3, :3], twists[:, 3:] + np.cross(twists[:, :3], s.coms))
        return Stand(q, v, m @ centres / m.sum(), m @ speeds / m.sum(), self.ends.at(q))


class SoftActor:
    """The soft character, in implicit steps."""

    def __init__(
        self, who: Character, *, step: float = 0.004, young: float | None = None, tolerance: float = 1e-2
    ) -> None:
        self.who, self.step, self.young, self.tolerance = who, step, young, tolerance
        self.ends = _Ends(who)

    @cached_property
    def body(self):
        return soft_body(self.who, young=self.young)

    @cached_property
    def feet(self) -> Feet:
        return soft_feet(self.who)

    def __getstate__(self) -> dict:
        return {k: v for k, v in self.__dict__.items() if k not in ("body", "feet")}

    def begin(self, q: Array, v: Array) -> Array:
        return self._flat(self.body.start(q, v))

    def _flat(self, state) -> Array:  # type: ignore[no-untyped-def]
        return np.concatenate(
            [
                state.q,
                state.v,
                state.x.ravel(),
                state.u.ravel(),
                state.anchor.ravel(),
                state.du.ravel(),
                state.dv,
                [state.slip],
            ]
        )

    def unpacked(self, flat: Array):  # type: ignore[no-untyped-def]
        state = self.body.start(self.who.bind_q)
        at = 0
        for name in ("q", "v", "x", "u", "anchor", "du", "dv"):
            old = getattr(state, name)
            old[:] = flat[at : at + old.size].reshape(old.shape)
            at += old.size
        state.slip = float(flat[at])
        return state

    def go(self, state: Array, reference: Reference, start: float, span: float, seconds: float, offset: Array) -> Array:
        own = self.unpacked(state)
        count = max(1, round(seconds / self.step))
        targets, rates = course(reference, start, span, count, seconds, offset)
        try:
            for n in range(count):
                self.body.step(own, targets[n], rates[n], seconds / count, implicit=True, tolerance=self.tolerance)
        except Diverged:
            return np.full_like(state, np.nan)
        return self._flat(own)

    def stand(self, state: Array) -> Stand:
        s = self.who.skeleton
        q, v = state[: s.n_q], state[s.n_q : s.n_q + s.n_v]
        m = self.body.flesh.mass
        n, at = 3 * len(m), s.n_q + s.n_v
        x, u = state[at : at + n].reshape(-1, 3), state[at + n : at + 2 * n].reshape(-1, 3)
        return Stand(q, v, m @ x / m.sum(), m @ u / m.sum(), self.ends.at(q))


def course(
    reference: Reference, start: float, span: float, count: int, seconds: float, offset: Array
) -> tuple[Array, Array]:
    """Targets (count, n_q) and their rates (count, n_v) along the reference, turned by `offset`."""
    s = reference.skeleton
    targets, rates = np.empty((count, s.n_q)), np.empty((count, s.n_v))
    first = start / reference.period
    if reference.loop:
        first = first % (len(reference.q) - 1)
    _course(
        s.topology,
        reference.q,
        reference.steps,
        reference.loop,
        first,
        span / reference.period / count,
        offset,
        targets,
        rates,
    )
    rates *= span / seconds / reference.period
    return targets, rates


@njit(cache=True)
def _course(topology, q, steps, loop, first, each, offset, targets, rates):
    plain = np.empty(q.shape[1])
    n = len(steps)
    for i in range(len(targets)):
        at = first + each * (i + 1)
        if loop:
            at = at % n
        k = min(max(int(np.floor(at)), 0), n - 1)
        move(topology, q[k], steps[k], min(max(at - k, 0.0), 1.0), plain)
        move(topology, plain, offset, 1.0, targets[i])
        if loop or 0.0 <= at <= n:
            rates[i] = steps[k]
        else:
            rates[i] = 0.0


@njit(cache=True)
def _rigid_run(bones, soles, ground, q, v, anchor, targets, rates, k, d, push, wrench, blocks, h):
    slid = np.empty(2)
    for n in range(len(targets)):
        t, r = targets[n], rates[n]
        if rigid_step(bones, soles, ground, q, v, anchor, t, r, k, d, push, wrench, blocks, slid, h) >= 0:
            return False
    return True


class Feet(NamedTuple):
    """Points of the soles that tell whether a foot is down."""

    points: Array  # rows of a state's anchors (m,)
    foot: Array  # 0: left, 1: right (m,)
    share: Array  # of that foot's sole (m,)


def feet_of(who: Character, bone: Array, flat: Array, area: Array | None = None) -> Feet:
    """Of points on bones (n,), those that are `flat` (n,) on a foot; area: theirs, alike without it."""
    points, foot, share = [], [], []
    for k, name in enumerate(ENDS[2:4]):
        own = np.flatnonzero((bone == who.skeleton.index(name)) & flat)
        each = np.ones(len(own)) if area is None else area[own]
        points.append(own)
        foot.append(np.full(len(own), k))
        share.append(each / each.sum())
    return Feet(*(np.concatenate(a) for a in (points, foot, share)))


def soft_feet(who: Character) -> Feet:
    """Those of a soft body's skin."""
    from vitruvian.anatomy.characters.body import skin_areas

    return feet_of(who, skin_owners(who), _flat(who), skin_areas(who))


def skin_owners(who: Character) -> Array:
    """The bone that holds each point of the skin most, (n_skin,)."""
    return np.asarray(np.asarray(who.skin.matrix[: who.n_skin] @ who.weights).argmax(axis=1))


def _flat(who: Character) -> Array:
    """Whether a point of the skin is as low as a sole when the character stands, (n_skin,)."""
    return np.asarray(who.vertices[: who.n_skin, 2] < FLAT * float(who.vertices[:, 2].max()))


def sole_points(who: Character, per_bone: int) -> Soles:
    """Points of the skin spread over each bone, those farthest apart first; together they have the skin's area."""
    from vitruvian.anatomy.characters.body import skin_areas

    owner, low = skin_owners(who), _flat(who)
    area, bind = skin_areas(who), bone_poses(who.skeleton, who.bind_q)
    bone, at, share = [], [], []
    for k in range(len(who.bones)):
        own = np.flatnonzero(owner == k)
        if not len(own):
            continue
        flat = own[low[own]]
        if len(flat) >= per_bone:  # a foot stands on its sole
            own = flat
        points = who.vertices[own]
        chosen = [int(points[:, 2].argmin())]
        far = np.linalg.norm(points - points[chosen[0]], axis=1)
        for _ in range(min(per_bone, len(own)) - 1):
            chosen.append(int(far.argmax()))
            far = np.minimum(far, np.linalg.norm(points - points[chosen[-1]], axis=1))
        bone += [k] * len(chosen)
        at += list((points[chosen] - bind[k, :3, 3]) @ bind[k, :3, :3])
        share += [area[own].sum() / len(chosen)] * len(chosen)
    return Soles(np.array(bone), np.array(at), np.array(share))
