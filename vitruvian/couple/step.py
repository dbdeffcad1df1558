"""The one step of bones, whatever acts on them: linear-implicit, with contributors.

    A dv = h (f - h K v),   A = M + h D + h² K,   v <- v + dv,   q <- q (+) h v        (backward Euler, linearised once)

Bones bring the mass matrix M, their weight, joint springs and stops. Everything else is a contributor (muscle, torque,
contact, load, flesh, still water): it adds its force f - h K v and its h D + h² K, and after the step tells the impulse
that the step really applied, so that work can be booked. Explicit steps need 0.1 ms or less (Lee 2008, 5.3.1); this one
is stable at 1 to 10 ms. The stiff part -h K v costs nothing extra. Controllers think with the same matrix (5.4), so
that what they predict is what the step does.

    step = BoneStep(skeleton)
    system = step.assemble(q, v, dt, [MusclePull(lines, activation), Wrenches(push)])
    q, v = step.solve(system)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numba as nb
import numpy as np

from vitruvian.couple.books import Book
from vitruvian.errors import Diverged, InputError
from vitruvian.skeleton import Skeleton, world_tree
from vitruvian.skeleton.cholesky import cholesky, solve_cholesky
from vitruvian.skeleton.coordinates import move
from vitruvian.skeleton.evaluate import CODE, NV, Q0, V0
from vitruvian.skeleton.joints.base import BALL, FREE
from vitruvian.skeleton.passive import joint_forces, rotation_vector_between

Array = np.ndarray


class Contributor(Protocol):
    """Something that acts on bones within one step; made for the step, or free of state."""

    @property
    def account(self) -> str:
        """The account of `couple.books` in which its work is booked; "" for none (springs that store it)."""
        ...

    def add(self, system: System) -> None:
        """Add f - h K v to `system.force` (or an impulse to `system.impulse`) and h D + h² K to `system.matrix`."""
        ...

    def work(self, system: System, gained: Array, middle: Array) -> float:
        """Work [J] that it did in the step: gained, middle: change and mean of the velocities (n_v,)."""
        ...


class Resolver(Protocol):
    """A contributor whose impulses depend on the velocity at the step's end, not linearly (contact)."""

    def resolve(self, matrix: Array, right: Array, dt: float) -> Array:
        """dv (n_free,) of A dv = right + its own impulses; A (n_free, n_free) by its lower triangle."""
        ...


@dataclass(eq=False)
class System:
    """A dv = h force + impulse at (q, v): the scratch of one step, read by contributors and controllers."""

    step: BoneStep
    poses: Array  # bone to world, shape (n_bones, 4, 4)
    screws: Array  # twist of the bones beyond a coordinate per unit of its velocity, world axes at the origin, (n_v, 6)
    force: Array  # f - h K v [N m, N], shape (n_v,)
    matrix: Array  # A, lower triangle, coordinate c at row step.place[c], shape (n_free, n_free)
    damping: Array  # of the joints, of stops that are met too [N m s], shape (n_v,)
    bias: Array  # force that holds all accelerations at zero: weight and velocity terms [N m, N], shape (n_v,)
    impulse: Array | None = None  # on top of h force [N m s, N s], shape (n_v,)
    resolver: Resolver | None = None  # touches that depend on the step's end; None if nothing is near
    q: Array = field(default_factory=lambda: np.zeros(0))
    v: Array = field(default_factory=lambda: np.zeros(0))
    dt: float = 0.0  # h [s]
    contributors: tuple[Contributor, ...] = ()
    serial: int = 0  # counts the assemblies in this scratch

    def add_diagonal(self, values: Array) -> None:
        """Add values (n_v,) to the diagonal of A; held coordinates are left out."""
        free = self.step.free
        at = self.step.place[free]
        self.matrix[at, at] += values[free]

    def add_matrix(self, values: Array) -> None:
        """Add a symmetric matrix (n_v, n_v) to A; held coordinates are left out."""
        free = self.step.free
        at = self.step.place[free]
        self.matrix[np.ix_(at, at)] += values[np.ix_(free, free)]

    def full_matrix(self) -> Array:
        """A in the order of the joint coordinates, shape (n_v, n_v); held ones are empty. Before it is solved."""
        out = np.zeros((len(self.force), len(self.force)))
        _unfold(self.matrix, self.step.place, self.step.held, out)
        return out

    def settle(self, after: Array, book: Book | None = None) -> None:
        """Let contributors with a memory (fibre lengths) take the step, by a method `settle(system, gained, book)`;
        after: the velocities at its end (n_v,); book: for work within them, which bones do not see."""
        for one in self.contributors:
            settle = getattr(one, "settle", None)
            if settle is not None:
                settle(self, after - self.v, book)

    def book_work(self, book: Book, after: Array) -> None:
        """Book the work of the joints' damping and of every contributor; after: the velocities at the end of the
        step (n_v,).

        All impulses of a step work along the mean of its first and last velocity, whatever their order in it."""
        gained, middle = after - self.v, 0.5 * (self.v + after)
        book.add_work("joints", -float(self.dt * (self.damping * after) @ middle))
        for one in self.contributors:
            if one.account in book.work:
                book.add_work(one.account, one.work(self, gained, middle))


class Tree(NamedTuple):
    """What kernels know of the bones."""

    topology: Array
    bodies: Array
    params: Array
    gravity: Array
    place: Array  # row of each velocity coordinate in the matrix, -1 if it is held


class Joints(NamedTuple):
    """Springs, dampers and stops, each shape (n_v,); see `skeleton.model.JointForces`."""

    neutral: Array
    stiffness: Array
    damping: Array
    low: Array
    high: Array
    limit_stiffness: Array
    limit_damping: Array


class TreeScratch(NamedTuple):
    rows: Array
    dofs: Array
    hessians: Array
    scratch: Array
    moving: Array
    composite: Array
    bias: Array


class BoneStep:
    """The step for one skeleton; holds scratch memory, no state."""

    def __init__(self, skeleton: Skeleton, *, held: Array | None = None):
        """held: joint coordinates kept still (a fixed pelvis), bool, shape (n_v,)."""
        s = self.skeleton = skeleton
        self.held = np.zeros(s.n_v, dtype=bool) if held is None else np.asarray(held, dtype=bool)
        if self.held.shape != (s.n_v,):
            raise InputError(f"held must name each of {s.n_v} joint coordinates, not have shape {self.held.shape}")
        self.free = np.flatnonzero(~self.held)
        self.place = np.full(s.n_v, -1, dtype=np.int64)
        self.place[self.free[::-1]] = np.arange(len(self.free))  # leaves first: see skeleton.cholesky
        self.tree = Tree(s.topology, s.bodies, s.params, s.gravity, self.place)
        f = s.forces
        self.joints = Joints(s.neutral, f.stiffness, f.damping, f.low, f.high, f.limit_stiffness, f.limit_damping)
        self.own_inertia = np.ascontiguousarray(s.bodies[:, 12:22])
        w = s.new_workspace()
        self._scratch = TreeScratch(
            w.rows,
            w.dofs,
            w.hessians,
            w.scratch,
            moving=np.zeros((s.n_bones, world_tree.MOVING_WIDTH)),
            composite=np.zeros((s.n_bones, 10)),
            bias=np.zeros(s.n_v),
        )
        n = len(self.free)
        self.system = System(
            self, np.zeros((s.n_bones, 4, 4)), np.zeros((s.n_v, 6)), np.zeros(s.n_v), np.zeros((n, n)), np.zeros(s.n_v),
            self._scratch.bias,
        )  # fmt: skip
        self._right = np.zeros(n)

    def assemble(
        self, q: Array, v: Array, dt: float, contributors: Iterable[Contributor] = (), *, load: Array | None = None
    ) -> System:
        """The system at (q, v) for a step of dt [s]; it is this object's scratch, good until the next call.

        load: inertia held by each bone (mass, m com, moments about the bone's origin), shape (n_bones, 10)."""
        w = self.system
        w.q, w.v, w.dt, w.impulse, w.resolver, w.contributors = q, v, dt, None, None, tuple(contributors)
        w.serial += 1
        inertia = self.own_inertia if load is None else self.own_inertia + load
        custom = self.skeleton.custom_rows(q)
        bone_terms(
            self.tree, self.joints, self._scratch, custom, inertia, q, v, dt,
            w.poses, w.screws, w.force, w.matrix, w.damping,
        )  # fmt: skip
        for one in w.contributors:
            one.add(w)
        return w

    def solve(self, system: System) -> tuple[Array, Array]:
        """(q, v) after the step; the matrix is overwritten by its factor."""
        q, v = np.empty_like(system.q), np.empty_like(system.v)
        impulse = np.zeros(0) if system.impulse is None else system.impulse
        right_side(self.tree, system.force, impulse, system.dt, self._right)
        if system.resolver is not None:
            gained = system.resolver.resolve(system.matrix, self._right, system.dt)
            if late_stops(
                self.tree, self.joints, system.q, system.v, system.dt, gained, system.matrix, self._right
            ):  # a blow drives a joint to its stop within the step
                gained = system.resolver.resolve(system.matrix, self._right, system.dt)
            end_step(self.tree, gained, system.q, system.v, system.dt, q, v)
            return q, v
        bad = solve_step(self.tree, system.matrix, self._right, system.q, system.v, system.dt, q, v)
        if bad >= 0:
            raise Diverged(self.bone_at(bad), "the step's matrix is not positive definite")
        return q, v

    def bone_at(self, row: int) -> str:
        """The bone whose joint has the coordinate at a row of the matrix."""
        return str(self.skeleton.names[self.skeleton.dof_bone[self.free[::-1][row]]])


# --- kernels -------------------------------------------------------------------------------------------------------


@nb.njit(cache=True)
def bone_terms(tree, joints, scratch, custom, inertia, q, v, h, poses, screws, force, matrix, damping):
    """Poses and screws at (q, v); force = weight, velocity terms and joints; matrix = M and the joints' h D + h² K."""
    w = scratch
    world_tree.forward(
        tree.topology, tree.bodies, tree.params, custom, inertia, tree.gravity, q, v,
        w.rows, w.dofs, w.hessians, w.scratch, poses, screws, w.moving, w.composite,
    )  # fmt: skip
    world_tree.backward(tree.topology, screws, w.moving, w.composite, w.bias)
    matrix[:] = 0.0
    world_tree.mass_matrix(tree.topology, screws, w.composite, tree.place, matrix)
    for c in range(len(v)):
        force[c] = -w.bias[c]
    joint_terms(tree, joints, q, v, h, force, matrix, damping)


@nb.njit(cache=True)
def joint_terms(tree, joints, q, v, h, force, matrix, damping):
    """Springs, dampers and stops of the joints: force += τ - h k v, diagonal += h d + h² k; damping: d, stops' too."""
    j = joints
    none = np.zeros((0, 0))
    joint_forces(
        tree.topology, q, v, j.neutral, j.stiffness, j.damping, j.low, j.high, j.limit_stiffness, j.limit_damping,
        force, none, none,
    )  # fmt: skip
    damping[:] = 0.0
    y = np.empty(3)
    for i in range(tree.topology.shape[0]):
        code, q0, v0 = tree.topology[i, CODE], tree.topology[i, Q0], tree.topology[i, V0]
        if code == FREE:
            continue  # the root floats: no springs there
        if code == BALL:
            rotation_vector_between(j.neutral, q, q0, y)
        for c in range(tree.topology[i, NV]):
            at = v0 + c
            y_c = y[c] if code == BALL else q[q0 + c]
            k, d = j.stiffness[at], j.damping[at]
            soon = y_c + h * v[at]
            if y_c > j.high[at] or y_c < j.low[at]:
                k += j.limit_stiffness[at]
                d += j.limit_damping[at]
            elif soon > j.high[at] or soon < j.low[at]:  # met within the step: stop at the end of the range
                k += j.limit_stiffness[at]
                force[at] -= j.limit_stiffness[at] * (y_c - (j.high[at] if soon > j.high[at] else j.low[at]))
            force[at] -= h * k * v[at]
            damping[at] = d
            if tree.place[at] >= 0:
                matrix[tree.place[at], tree.place[at]] += h * d + h * h * k


@nb.njit(cache=True)
def late_stops(tree, joints, q, v, h, gained, matrix, right):
    """Add stops that `joint_terms` did not foresee and the velocities gained would run through; returns how many."""
    j, y, count = joints, np.empty(3), 0
    for i in range(tree.topology.shape[0]):
        code, q0, v0 = tree.topology[i, CODE], tree.topology[i, Q0], tree.topology[i, V0]
        if code == FREE:
            continue
        if code == BALL:
            rotation_vector_between(j.neutral, q, q0, y)
        for c in range(tree.topology[i, NV]):
            at = v0 + c
            row = tree.place[at]
            now = y[c] if code == BALL else q[q0 + c]
            soon = now + h * v[at]
            if row < 0 or min(now, soon) < j.low[at] or max(now, soon) > j.high[at]:
                continue
            then = now + h * (v[at] + gained[row])
            if then > j.high[at] or then < j.low[at]:
                k = j.limit_stiffness[at]
                right[row] -= h * k * (soon - (j.high[at] if then > j.high[at] else j.low[at]))
                matrix[row, row] += h * h * k
                count += 1
    return count


@nb.njit(cache=True)
def right_side(tree, force, impulse, h, right):
    """h f and the impulse, by rows of the matrix."""
    place = tree.place
    for c in range(len(force)):
        if place[c] >= 0:
            right[place[c]] = h * force[c]
            if len(impulse):
                right[place[c]] += impulse[c]


@nb.njit(cache=True)
def solve_step(tree, matrix, right, q, v, h, q_new, v_new):
    """Factor the matrix, take the step; returns -1, or the first row that is not positive."""
    bad = cholesky(matrix)
    if bad >= 0:
        return bad
    solve_cholesky(matrix, right)
    end_step(tree, right, q, v, h, q_new, v_new)
    return -1


@nb.njit(cache=True)
def _unfold(lower: Array, place: Array, held: Array, out: Array) -> None:
    """A symmetric matrix from its lower triangle, coordinate c at row place[c], in the order of coordinates."""
    for i in range(len(out)):
        if held[i]:
            continue
        for j in range(i + 1):
            if not held[j]:
                a, b = place[i], place[j]
                value = lower[a, b] if a >= b else lower[b, a]
                out[i, j] = value
                out[j, i] = value


@nb.njit(cache=True)
def end_step(tree, gained, q, v, h, q_new, v_new):
    """Velocities gain `gained` (by rows of the matrix), coordinates move with the new velocities."""
    place = tree.place
    for c in range(len(v)):
        v_new[c] = v[c] + (gained[place[c]] if place[c] >= 0 else 0.0)
    move(tree.topology, q, v_new, h, q_new)
