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
NOT_POSITIVE = "the step's matrix is not positive definite"


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
        self.scratch = TreeScratch(
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
            self.scratch.bias,
        )  # fmt: skip
        self.right = np.zeros(n)

    def assemble(
        self, q: Array, v: Array, dt: float, contributors: Iterable[Contributor] = (), *, load: Array | None = None
    ) -> System:
        """The system at (q, v) for a step of dt [s]; it is this object's scratch, good until the next call.

        load: inertia held by each bone (mass, m com, moments about the bone's origin), shape (n_bones, 10)."""
        w = self.begin(q, v, dt, tuple(contributors))
        custom = self.skeleton.custom_rows(q)
        bone_terms(
            self.tree, self.joints, self.scratch, custom, self.inertia(load), q, v, dt,
            w.poses, w.screws, w.force, w.matrix, w.damping,
        )  # fmt: skip
        for one in w.contributors:
            one.add(w)
        return w

    def begin(self, q: Array, v: Array, dt: float, contributors: tuple[Contributor, ...] = ()) -> System:
        """The scratch of a step that begins."""
        w = self.system
        w.q, w.v, w.dt, w.impulse, w.resolver, w.contributors = q, v, dt, None, None, contributors
        w.serial += 1
        return w

    def inertia(self, load: Array | None) -> Array:
        """Of the bones with what they hold, (n_bones, 10)."""
        return self.own_inertia if load is None else self.own_inertia + load

    def solve(self, system: System) -> tuple[Array, Array]:
        """(q, v) after the step; the matrix is overwritten by its factor."""
        q, v = np.empty_like(system.q), np.empty_like(system.v)
        impulse = np.zeros(0) if system.impulse is None else system.impulse
        right_side(self.tree, system.force, impulse, system.dt, self.right)
        if system.resolver is not None:
            gained = system.resolver.resolve(system.matrix, self.right, system.dt)
            if late_stops(
                self.tree, self.joints, system.q, system.v, system.dt, gained, system.matrix, self.right
            ):  # a blow drives a joint to its stop within the step
                gained = system.resolver.resolve(system.matrix, self.right, system.dt)
            end_step(self.tree, gained, system.q, system.v, system.dt, q, v)
            return q, v
        bad = solve_step(self.tree, system.matrix, self.right, system.q, system.v, system.dt, q, v)
        if bad >= 0:
            raise Diverged(self.bone_at(bad), NOT_POSITIVE)
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
    """Springs, dampers and stops of the joints, which act on y(q), with ẏ = G v: force += τ - h Gᵀ k G v, matrix +=
    h d + h² Gᵀ k G; damping: d, stops' too."""
    j = joints
    none = np.zeros((0, 0))
    joint_forces(
        tree.topology, q, v, j.neutral, j.stiffness, j.damping, j.low, j.high, j.limit_stiffness, j.limit_damping,
        force, none, none,
    )  # fmt: skip
    damping[:] = 0.0
    y, y_rate, k = np.empty(3), np.empty(3), np.empty(3)
    G = np.eye(3)
    for i in range(tree.topology.shape[0]):
        code, q0, v0, nv = tree.topology[i, CODE], tree.topology[i, Q0], tree.topology[i, V0], tree.topology[i, NV]
        if code == FREE:
            continue  # the root floats: no springs there
        _stop_coordinates(j, code, q, q0, nv, y, G)
        for c in range(nv):
            at = v0 + c
            k[c], d = j.stiffness[at], j.damping[at]
            y_rate[c] = v[at] if code != BALL else G[c, 0] * v[v0] + G[c, 1] * v[v0 + 1] + G[c, 2] * v[v0 + 2]
            soon = y[c] + h * y_rate[c]
            if y[c] > j.high[at] or y[c] < j.low[at]:
                k[c] += j.limit_stiffness[at]
                d += j.limit_damping[at]
            elif soon > j.high[at] or soon < j.low[at]:  # met within the step: stop at the end of the range
                k[c] += j.limit_stiffness[at]
                gap = y[c] - (j.high[at] if soon > j.high[at] else j.low[at])
                _along(code, G, c, v0, -j.limit_stiffness[at] * gap, force)
            _along(code, G, c, v0, -h * k[c] * y_rate[c], force)
            damping[at] = d
            if tree.place[at] >= 0:
                matrix[tree.place[at], tree.place[at]] += h * d
        _add_stiffness(tree, code, G, v0, nv, h, k, matrix)


@nb.njit(cache=True)
def _stop_coordinates(j, code, q, q0, nv, y, G):
    """Coordinates y (n,) of a joint in which its springs and stops are given, and for a ball G = dy/dv = J_r(y)⁻¹."""
    if code != BALL:
        for c in range(nv):
            y[c] = q[q0 + c]
        return
    rotation_vector_between(j.neutral, q, q0, y)
    t2 = y[0] * y[0] + y[1] * y[1] + y[2] * y[2]
    half = 0.5 * np.sqrt(t2)
    kappa = 1.0 / 12.0 + t2 / 720.0 if t2 < 1e-3 else (1.0 - half * np.cos(half) / np.sin(half)) / t2
    for a in range(3):
        for b in range(3):
            G[a, b] = kappa * y[a] * y[b]
        G[a, a] += 1.0 - kappa * t2
        G[a, (a + 1) % 3] -= 0.5 * y[(a + 2) % 3]
        G[a, (a + 2) % 3] += 0.5 * y[(a + 1) % 3]


@nb.njit(cache=True)
def _along(code, G, c, v0, value, force):
    """Add a force `value` on the coordinate y_c of a joint."""
    if code != BALL:
        force[v0 + c] += value
    else:
        for a in range(3):
            force[v0 + a] += G[c, a] * value


@nb.njit(cache=True)
def _add_stiffness(tree, code, G, v0, nv, h, k, matrix):
    """matrix += h² Gᵀ k G."""
    for a in range(nv):
        row = tree.place[v0 + a]
        if row < 0:
            continue
        if code != BALL:
            matrix[row, row] += h * h * k[a]
            continue
        for b in range(nv):
            column = tree.place[v0 + b]
            if 0 <= column <= row:
                matrix[row, column] += (
                    h * h * (G[0, a] * k[0] * G[0, b] + G[1, a] * k[1] * G[1, b] + G[2, a] * k[2] * G[2, b])
                )


@nb.njit(cache=True)
def late_stops(tree, joints, q, v, h, gained, matrix, right):
    """Add stops that `joint_terms` did not foresee and the velocities gained would run through; returns how many."""
    j, y, k, count = joints, np.empty(3), np.empty(3), 0
    rate, gain, G = np.empty(3), np.empty(3), np.eye(3)
    for i in range(tree.topology.shape[0]):
        code, q0, v0, nv = tree.topology[i, CODE], tree.topology[i, Q0], tree.topology[i, V0], tree.topology[i, NV]
        if code == FREE:
            continue
        _stop_coordinates(j, code, q, q0, nv, y, G)
        for c in range(nv):
            rate[c], gain[c] = v[v0 + c], gained[tree.place[v0 + c]] if tree.place[v0 + c] >= 0 else 0.0
        if code == BALL:
            rate, gain = G @ rate, G @ gain
        found = 0
        for c in range(nv):
            at = v0 + c
            k[c] = 0.0
            soon = y[c] + h * rate[c]
            if tree.place[at] < 0 or min(y[c], soon) < j.low[at] or max(y[c], soon) > j.high[at]:
                continue
            then = soon + h * gain[c]
            if then > j.high[at] or then < j.low[at]:
                k[c] = j.limit_stiffness[at]
                push = -h * k[c] * (soon - (j.high[at] if then > j.high[at] else j.low[at]))
                for a in range(nv):
                    share = G[c, a] if code == BALL else (1.0 if a == c else 0.0)
                    if tree.place[v0 + a] >= 0:
                        right[tree.place[v0 + a]] += push * share
                found += 1
        if found:
            _add_stiffness(tree, code, G, v0, nv, h, k, matrix)
            count += found
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
