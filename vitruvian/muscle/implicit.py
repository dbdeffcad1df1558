"""One linear-implicit step of bones under muscles, springs, stops, loads and contacts.

    (M + h D + h^2 K) dv = h (f - h K v),   v <- v + dv,   q <- q (+) h v          (backward Euler, linearised once)

K and D are the stiffness and damping of joints, cartilage springs, contacts and muscles (Lee 2008, appendix A). The
explicit scheme of Lee 5.3.1 needs steps of 0.1 ms or less; this one is stable at 1 to 10 ms. The stiff part -h K v
costs nothing extra: it is a muscle's force f + h k l', a joint's torque less h k v. The same matrix serves the
controller's inverse dynamics (5.4), so that what it predicts is what the step does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from vitruvian.errors import Diverged, InputError
from vitruvian.muscle import implicit_kernels as kernels
from vitruvian.muscle.model import MuscleModel
from vitruvian.muscle.tree import MOVING_WIDTH
from vitruvian.skeleton import Skeleton

Array = np.ndarray


@dataclass(frozen=True)
class Contacts:
    """Points of bones that a level ground carries: a damped spring upwards, friction up to mu times its force."""

    bones: tuple[str, ...] = ()
    points: Array = field(default_factory=lambda: np.zeros((0, 3)))  # [m] in the bones' frames, shape (n, 3)
    radius: Array | float = 0.0  # of the ball about each point that touches [m], a number or shape (n,)
    height: float = 0.0  # of the ground [m]
    stiffness: float = 3e4  # [N/m] a point
    damping: float = 300.0  # [N s/m]
    friction: float = 0.9
    grip: float = 300.0  # [N s/m] tangential, until it slips


class TreeArrays(NamedTuple):
    topology: Array
    bodies: Array
    params: Array
    gravity: Array
    neutral: Array
    stiffness: Array
    damping: Array
    low: Array
    high: Array
    limit_stiffness: Array
    limit_damping: Array
    place: Array  # row of each velocity coordinate in the matrix, -1 if it is held


class PathArrays(NamedTuple):
    kind: Array
    table: Array
    offsets: Array
    bone: Array
    local: Array
    row_start: Array
    column: Array
    row: Array  # place of each column in the matrix
    segment_start: Array
    segment_entry: Array
    segment_sign: Array


class LinkArrays(NamedTuple):
    """Springs between two bones and contacts with the ground: points, numbers, and the coordinates that matter."""

    bones: Array  # (n, 2)
    points: Array  # (n, 2, 3)
    numbers: Array  # (n, 3): stiffness, damping, rest length; contacts: stiffness, damping, height
    start: Array  # (n + 1,)
    column: Array
    sign: Array
    n_springs: int  # the rest are contacts
    friction: float
    grip: float


class Work(NamedTuple):
    """Scratch of one call; the outputs below are read after it."""

    rows: Array
    dofs: Array
    hessians: Array
    scratch: Array
    poses: Array  # (n_bones, 4, 4)
    screws: Array  # (n_v, 6)
    moving: Array
    composite: Array
    points: Array  # path points (p, 3)
    lines: Array
    length: Array  # (n_muscles,)
    rate: Array  # (n_muscles,)
    tension: Array  # (5, n_muscles): force, passive, capacity, stiffness, damping
    arms: Array  # moment arms (z,)
    pull: Array  # (n_muscles,)
    weight: Array  # (n_muscles,)
    force: Array  # generalised force (n_v,)
    damping: Array  # of the joints, of stops that are met too [N m s] (n_v,)
    bias: Array  # (n_v,)
    matrix: Array  # lower triangle (n_free, n_free)
    right: Array  # (n_free,)
    link_rows: Array
    link_force: Array  # (n_links, 3) force on the second end, world axes [N]


class BodyStepper:
    """The implicit step for one skeleton with muscles; holds scratch memory, no state."""

    def __init__(
        self, skeleton: Skeleton, muscles: MuscleModel, *, held: Array | None = None, contacts: Contacts | None = None
    ):
        """held: joint coordinates kept still (a fixed pelvis), bool, shape (n_v,)."""
        if muscles.n_v != skeleton.n_v:
            raise InputError(f"muscles were built for {muscles.n_v} joint coordinates, the skeleton has {skeleton.n_v}")
        self.skeleton, self.muscles = skeleton, muscles
        self.contacts = contacts or Contacts()
        self.held = np.zeros(skeleton.n_v, dtype=bool) if held is None else np.asarray(held, dtype=bool)
        free = np.flatnonzero(~self.held)
        self.free = free
        place = np.full(skeleton.n_v, -1, dtype=np.int64)
        place[free[::-1]] = np.arange(len(free))  # leaves first: see muscle.linear
        self.place = place
        f = skeleton.forces
        self.tree = TreeArrays(
            skeleton.topology,
            skeleton.bodies,
            skeleton.params,
            skeleton.gravity,
            skeleton.neutral,
            f.stiffness,
            f.damping,
            f.low,
            f.high,
            f.limit_stiffness,
            f.limit_damping,
            place,
        )
        m = muscles
        self.paths = PathArrays(
            m.kind,
            m.table,
            m.offsets,
            m.bone,
            m.local,
            m.row_start,
            m.column,
            place[m.column],
            m.segment_start,
            m.segment_entry,
            m.segment_sign,
        )
        self.links = _links(skeleton, self.contacts)
        self.own_inertia = np.ascontiguousarray(skeleton.bodies[:, 12:22])
        self.work = self._new_work()

    def assemble(
        self, q: Array, v: Array, activation: Array, dt: float, *, load: Array | None = None, active: bool = True
    ) -> Work:
        """Matrix M + h D + h^2 K and force f - h K v at (q, v); with `active` False without the muscles' active force.

        load: inertia held by each bone (mass, m com, moments about the bone's origin), shape (n_bones, 10).
        """
        inertia = self.own_inertia if load is None else self.own_inertia + load
        kernels.assemble(
            self.tree,
            self.paths,
            self.links,
            self.work,
            self.skeleton.custom_rows(q),
            inertia,
            q,
            v,
            activation,
            dt,
            active,
        )
        return self.work

    def step(
        self,
        q: Array,
        v: Array,
        activation: Array,
        dt: float,
        *,
        load: Array | None = None,
        wrench: Array | None = None,
        torque: Array | None = None,
    ) -> tuple[Array, Array]:
        """(q, v) after dt [s]. wrench: on each bone in its own frame (moment, force), shape (n_bones, 6); torque: on
        the joint coordinates [N m or N], shape (n_v,)."""
        work = self.assemble(q, v, activation, dt, load=load)
        force = work.force
        if torque is not None:
            force += torque
        if wrench is not None:
            force += self.wrench_forces(wrench)
        q_new, v_new = np.empty_like(q), np.empty_like(v)
        bad = kernels.solve(self.tree, work, q, v, dt, q_new, v_new)
        if bad >= 0:
            bone = self.skeleton.names[self.skeleton.dof_bone[self.free[::-1][bad]]]
            raise Diverged(bone, "the step's matrix is not positive definite")
        return q_new, v_new

    def wrench_forces(self, wrench: Array) -> Array:
        """Generalised force (n_v,) of wrenches on bones in their own frames (n_bones, 6), in the last pose."""
        out = np.zeros(self.skeleton.n_v)
        kernels.wrench_forces(self.tree.topology, self.work.poses, self.work.screws, wrench, out)
        return out

    def full_matrix(self) -> Array:
        """The assembled matrix in the order of the joint coordinates, shape (n_v, n_v); held ones are empty."""
        low = np.tril(self.work.matrix)
        full = low + np.tril(low, -1).T
        out = np.zeros((self.skeleton.n_v, self.skeleton.n_v))
        at = self.place[self.free]
        out[np.ix_(self.free, self.free)] = full[np.ix_(at, at)]
        return out

    def _new_work(self) -> Work:
        s, m = self.skeleton, self.muscles
        n, k, v = s.n_bones, m.n_muscles, s.n_v
        scratch = s.new_workspace()
        free = len(self.free)
        return Work(
            rows=scratch.rows,
            dofs=scratch.dofs,
            hessians=scratch.hessians,
            scratch=scratch.scratch,
            poses=np.zeros((n, 4, 4)),
            screws=np.zeros((v, 6)),
            moving=np.zeros((n, MOVING_WIDTH)),
            composite=np.zeros((n, 10)),
            points=np.zeros_like(m.local),
            lines=np.zeros((len(m.segment_start) - 1, 6)),
            length=np.zeros(k),
            rate=np.zeros(k),
            tension=np.zeros((5, k)),
            arms=np.zeros(len(m.column)),
            pull=np.zeros(k),
            weight=np.zeros(k),
            force=np.zeros(v),
            damping=np.zeros(v),
            bias=np.zeros(v),
            matrix=np.zeros((free, free)),
            right=np.zeros(free),
            link_rows=np.zeros((max(1, int(np.diff(self.links.start).max(initial=1))), 3)),
            link_force=np.zeros((len(self.links.bones), 3)),
        )


def _links(skeleton: Skeleton, contacts: Contacts) -> LinkArrays:
    springs = skeleton.springs
    n = len(springs)
    bones = [tuple(b) for b in springs.bones] + [(-1, skeleton.index(b)) for b in contacts.bones]
    points = np.zeros((len(bones), 2, 3))
    points[:n] = springs.points if n else 0.0
    if contacts.bones:
        points[n:, 1] = contacts.points
    numbers = np.zeros((len(bones), 3))
    if n:
        numbers[:n] = np.column_stack([springs.stiffness, springs.damping, springs.rest_length])
    numbers[n:] = [contacts.stiffness, contacts.damping, contacts.height]
    numbers[n:, 2] += contacts.radius
    start, column, sign = [0], [], []
    moved = np.concatenate([skeleton.supports, np.zeros((1, skeleton.n_v), dtype=bool)])  # bone -1 is the world
    for a, b in bones:
        far, near = np.flatnonzero(moved[b] & ~moved[a]), np.flatnonzero(moved[a] & ~moved[b])
        column += [*far, *near]
        sign += [1.0] * len(far) + [-1.0] * len(near)
        start.append(len(column))
    return LinkArrays(
        np.array(bones, dtype=np.int64).reshape(-1, 2),
        points,
        numbers,
        np.array(start, dtype=np.int64),
        np.array(column, dtype=np.int64),
        np.array(sign),
        n,
        contacts.friction,
        contacts.grip,
    )
