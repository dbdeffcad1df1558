"""A soft body: posed flesh around a skeleton with servos, stepped explicitly or implicitly, both ways coupled.

body = SoftBody(skeleton, flesh, stiffness, damping)
state = body.start(q)
body.step(state, target, rate, 0.0005)                     # Liu & al. 2013
body.step(state, target, rate, 0.004, implicit=True)       # the same motion, eight times the step
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitruvian.couple.soft_bones import bones_of
from vitruvian.couple.soft_explicit import Damping, Room, explicit_step
from vitruvian.couple.soft_fixed import carry_velocities, settle_fixed
from vitruvian.couple.soft_implicit import implicit_step
from vitruvian.errors import Diverged, InputError
from vitruvian.flesh.posed.ground import Ground
from vitruvian.flesh.posed.model import PosedFlesh
from vitruvian.flesh.posed.skinning import carried
from vitruvian.flesh.posed.touching import Touching, meetings, never_touching
from vitruvian.skeleton import Skeleton, bone_poses
from vitruvian.skeleton.joints import Free

Array = np.ndarray
TOLERANCE = 1e-3  # of an implicit step's linear system, in its preconditioned norm
MOST = 400  # iterations
FASTEST = 1e3  # [m/s, rad/s] what moves faster has diverged


@dataclass
class SoftState:
    """All that changes."""

    q: Array  # joint coordinates (n_q,)
    v: Array  # joint velocities (n_v,)
    x: Array  # nodes [m] (n_nodes, 3); those fixed in bones are where the bones are
    u: Array  # their velocities [m/s]
    anchor: Array  # of the skin's points on the ground: x, y, touching (n_skin, 3)
    du: Array  # change of velocities in the last implicit step (n_nodes, 3)
    dv: Array  # (n_v,)
    ground: Array  # wrench of the ground on the whole at the world's origin [N m, N] (6,)
    slip: float  # how far what touches the ground has slid on it, by load [m]
    iterations: int  # of the last implicit step


class SoftBody:
    """Holds buffers, never state."""

    def __init__(
        self,
        skeleton: Skeleton,
        flesh: PosedFlesh,
        stiffness: Array,
        damping: Array,
        *,
        ground: Ground | None = None,
        flesh_damping: Damping | None = None,
        gravity: tuple[float, float, float] | None = None,
        touch: Touching | None = None,
    ) -> None:
        """stiffness, damping: kp [N m/rad] and kd [N m s/rad] of the servos, (n_v,). ground: None for none.
        gravity [m/s²]: the skeleton's own without it. touch: for skin that meets itself."""
        if not isinstance(skeleton.joints[0], Free):
            raise InputError("soft body: the root of its skeleton must be free")
        if flesh.carrier.max() >= skeleton.n_bones:
            raise InputError(f"soft body: flesh for more than {skeleton.n_bones} bones")
        self.skeleton, self.flesh = skeleton, flesh
        self.touch = never_touching() if touch is None else touch
        self.stiffness, self.damping = (np.ascontiguousarray(a, float) for a in (stiffness, damping))
        self.ground = Ground(present=False) if ground is None else ground
        self.flesh_damping = Damping(pose=10.0) if flesh_damping is None else flesh_damping
        self.bones = bones_of(skeleton)
        if gravity is not None:
            self.bones.gravity[:] = gravity
        n, m = len(flesh.mass), skeleton.n_bones
        self.room = Room(
            np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((m, 6)), np.zeros(8),
            np.zeros((len(flesh.column), 3, 3)), np.zeros(len(flesh.skin_area), np.int64),
            np.zeros((len(flesh.skin_area), 2), np.int64), np.zeros((len(flesh.skin_area), 8)),
        )  # fmt: skip
        self.still = np.zeros((m, 6))

    def start(self, q: Array, v: Array | None = None) -> SoftState:
        """Flesh as its pose carries it, and moving along."""
        s = self.skeleton
        state = SoftState(
            np.array(q, float), np.zeros(s.n_v) if v is None else np.array(v, float), self.carried(q),
            np.zeros((len(self.flesh.mass), 3)), np.zeros((len(self.flesh.skin_nodes), 3)),
            np.zeros((len(self.flesh.mass), 3)), np.zeros(s.n_v), np.zeros(6), 0.0, 0,
        )  # fmt: skip
        if state.v.any():
            carry_velocities(self.flesh, self.bones, state.q, state.v, state.u)
        settle_fixed(self.flesh, self.bones, state.q, state.v, state.x, state.u)
        return state

    def carried(self, q: Array) -> Array:
        """The reference shape [m] of a pose, (n_nodes, 3)."""
        out = np.empty((len(self.flesh.mass), 3))
        carried(self.flesh, bone_poses(self.skeleton, q), out)
        return out

    def step(
        self,
        state: SoftState,
        target: Array,
        rate: Array,
        dt: float,
        *,
        implicit: bool = False,
        push: Array | None = None,
        tolerance: float = TOLERANCE,
    ) -> None:
        """Flesh and bones dt [s] on. target (n_q,), rate (n_v,): of the servos; push: wrenches on bones (moment about
        the world's origin, force), (n_bones, 6)."""
        given = self.still if push is None else np.ascontiguousarray(push, float)
        arguments = (self.flesh, self.bones, self.ground, self.touch, self.flesh_damping, self.room)
        servo = (np.ascontiguousarray(target), np.ascontiguousarray(rate), self.stiffness, self.damping, given, dt)
        if implicit:
            found = implicit_step(
                *arguments,
                state.q,
                state.v,
                state.x,
                state.u,
                state.anchor,
                state.du,
                state.dv,
                *servo,
                tolerance,
                MOST,
            )
            state.iterations = int(found)
            bad = found < 0
            settle_fixed(self.flesh, self.bones, state.q, state.v, state.x, state.u)
        else:
            bad = explicit_step(*arguments, state.q, state.v, state.x, state.u, state.anchor, *servo) >= 0
        total = self.room.total
        state.ground[:] = total[:6]
        state.slip += float(total[6] / total[7]) if total[7] > 0.0 else 0.0
        fastest = np.abs(state.v).max()
        if bad or not (fastest < FASTEST and np.abs(state.u).max() < FASTEST):
            raise Diverged("a soft body", "its bones and flesh came apart; a smaller step may do")

    def momentum(self, state: SoftState) -> Array:
        """(angular about the common centre of mass, linear) of bones and flesh in world axes, (6,)."""
        m, x, u = self.flesh.mass, state.x, state.u  # fixed nodes are what bones weigh
        centre = m @ x / m.sum()
        spin = np.cross(x - centre, m[:, None] * u).sum(axis=0)
        return np.concatenate([spin, m @ u])

    def centre(self, state: SoftState) -> Array:
        """Centre of mass [m], (3,)."""
        return np.asarray(self.flesh.mass @ state.x / self.flesh.mass.sum())

    def overlap(self, state: SoftState) -> tuple[int, float]:
        """How many points of the skin are in other flesh, and the deepest [m]; (0, 0) without self-contact."""
        if not self.touch.present:
            return 0, 0.0
        count = meetings(self.flesh, self.touch, state.x, self.room.pair, self.room.grip)
        return int(count), float(-self.room.grip[:count, 7].min(initial=0.0))
