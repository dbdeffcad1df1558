"""What line muscles do to bones within a step.

    f = -P t,   K = P diag(k) Pᵀ,   D = P diag(d) Pᵀ,      k = ∂t/∂l,  d = ∂t/∂l'        (Lee 2008, appendix A)

with the moment arms P = ∂l/∂q and the tension t of every muscle. The stiff part of the force is t + h k l'. A negative
slope is taken explicitly, since an implicit step needs a positive matrix.

A muscle with an elastic tendon has a memory, its fibre's length. Given that, fibre and tendon are balanced at the end
of the step (`muscle.tendon`): t is the tension where the path ends at its present rate, k its slope there, and D = 0,
since the fibre's viscosity is in k already. Without it the tendon counts as settled, which is how controllers think.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numba as nb
import numpy as np

from vitruvian.couple.books import Book
from vitruvian.couple.step import BoneStep, System
from vitruvian.couple.stretch_reflex import NO_REFLEX, StretchReflex, reflex_terms
from vitruvian.errors import InputError
from vitruvian.muscle import MuscleModel, fibre_lengths, kernels, lengths, tension_into
from vitruvian.muscle.elements import tension_kernel
from vitruvian.muscle.tendon import ELASTIC, end_kernel, step_kernel
from vitruvian.muscle.wrapping import Carriers, Wraps
from vitruvian.skeleton import Skeleton, bone_poses
from vitruvian.skeleton.cholesky import add_outer

Array = np.ndarray


class Paths(NamedTuple):
    """Where the lines run and which coordinates they cross; see `muscle.model`. Unsigned where loops look up much: an
    index that may be negative costs a comparison."""

    offsets: Array
    bone: Array
    local: Array
    row_start: Array
    column: Array
    row: Array  # place of each column in the matrix
    segment_start: Array
    segment_entry: Array
    segment_sign: Array
    wraps: Wraps
    carriers: Carriers


class Laws(NamedTuple):
    """How the muscles pull; see `muscle.elements`."""

    kind: Array
    table: Array
    rest: Array  # l0 [m], shape (n_muscles,)


class MuscleResults(NamedTuple):
    """What the latest step found, read by controllers."""

    points: Array  # path points [m], shape (p, 3)
    lines: Array
    arms: Array  # ∂l/∂q [m], in the order of the model's columns
    length: Array  # [m], shape (n_muscles,)
    rate: Array  # [m/s], shape (n_muscles,)
    tension: Array  # force, passive, capacity, stiffness, damping; shape (5, n_muscles)
    pull: Array  # t + h k l' [N], shape (n_muscles,)
    weight: Array  # h d + h² k [N s], shape (n_muscles,)
    answer: Array  # of activation to the rate at the step's end, by reflex, times h [s²/m], shape (n_muscles,)
    span: Array  # of elastic muscles: what their fibres span at the end of the step at its first rate [m], (n_muscles,)
    share: Array  # and how much of a change of length they take, (n_muscles,)


class MuscleLines:
    """The muscles of one body on one step's bones; holds scratch memory, no state."""

    def __init__(self, step: BoneStep, muscles: MuscleModel):
        if muscles.n_v != step.skeleton.n_v:
            raise InputError(
                f"muscles were built for {muscles.n_v} joint coordinates, the skeleton has {step.skeleton.n_v}"
            )
        m = self.model = muscles
        self.elastic = bool(m.elastic.any())
        self.paths = Paths(
            m.offsets,
            m.bone,
            m.local,
            m.row_start,
            m.column.astype(np.uint32),
            step.place[m.column].astype(np.int32),
            m.segment_start,
            m.segment_entry.astype(np.uint32),
            m.segment_sign,
            m.wraps,
            m.carriers,
        )
        self.laws = Laws(m.kind, m.table, m.rest_length)
        k = m.n_muscles
        self.results = MuscleResults(
            points=np.zeros_like(m.local),
            lines=np.zeros((len(m.segment_start) - 1, 6)),
            arms=np.zeros(len(m.column)),
            length=np.zeros(k),
            rate=np.zeros(k),
            tension=np.zeros((5, k)),
            pull=np.zeros(k),
            weight=np.zeros(k),
            answer=np.zeros(k),
            span=np.zeros(k),
            share=np.zeros(k),
        )


@dataclass(frozen=True, eq=False)
class MusclePull:
    """All muscles at an activation (n_muscles,); active False: passive force alone, as stiff as the activation says.

    fibre: lengths [m] (n_muscles,) of the fibres of elastic muscles, which `settle` moves on; None: tendons settled.
    reflex: sets the activation of its muscles, in place."""

    lines: MuscleLines
    activation: Array
    active: bool = True
    account: str = "drive"
    fibre: Array | None = None
    reflex: StretchReflex = NO_REFLEX

    @property
    def _remembers(self) -> bool:
        return self.fibre is not None and self.active and self.lines.elastic

    def add(self, system: System) -> None:
        m, paths, r, h = self.lines.model, self.lines.paths, self.lines.results, system.dt
        remembers = self._remembers
        if not m.custom and not remembers:  # all in one call
            muscle_terms(
                paths, r, self.lines.laws, self.reflex, system.poses, system.screws, system.v,
                self.activation, h, self.active, system.force, system.matrix,
            )  # fmt: skip
            return
        muscle_geometry(paths, r, system.poses, system.screws, system.v)
        reflex_terms(self.reflex, m.rest_length, r.length, r.rate, h, self.activation, r.answer)
        tension_into(m, self.activation, r.length, r.rate, r.tension, not remembers)
        if remembers:
            step_kernel(m.kind, m.table, self.activation, r.length, r.rate, self.fibre, h, r.tension, r.span, r.share)
        add_pull(paths, r, self.reflex, h, self.active, m.kind, remembers, system.force, system.matrix)

    def settle(self, system: System, gained: Array, book: Book | None) -> None:
        """Fibres to where the step brings them, and their work into the account "contraction"; gained: change of the
        velocities (n_v,)."""
        if self._remembers and self.fibre is not None and system.dt > 0.0:
            m, r, h = self.lines.model, self.lines.results, system.dt
            rate = self._rates(gained)
            work = end_kernel(m.kind, m.table, h * rate, r.pull + r.weight * rate / h, r.span, r.share, self.fibre)
            if book is not None:
                book.add_work("contraction", work)

    def impulses(self, system: System, gained: Array) -> Array:
        """Tension that the step applied, times its time [N s], (n_muscles,): more where a muscle lengthened."""
        r = self.lines.results
        return system.dt * r.pull + r.weight * self._rates(gained)

    def work(self, system: System, gained: Array, middle: Array) -> float:
        return -float(self.impulses(system, gained) @ self._rates(middle))

    def _rates(self, v: Array) -> Array:
        """Lengthening [m/s] of each muscle at velocities v (n_v,)."""
        out = np.zeros(self.lines.model.n_muscles)
        kernels.rates(self.lines.paths.row_start, self.lines.paths.column, self.lines.results.arms, v, out)
        return out


def resting_fibres(skeleton: Skeleton, muscles: MuscleModel, q: Array) -> Array:
    """Fibre lengths [m] (n_muscles,) of muscles that are off in a pose at rest; 0 for muscles without a fibre."""
    off = np.zeros(muscles.n_muscles)
    if not muscles.elastic.any():
        return off
    return fibre_lengths(muscles, off, lengths(muscles, bone_poses(skeleton, q)))


# --- kernels -------------------------------------------------------------------------------------------------------


@nb.njit(cache=True)
def muscle_terms(paths, r, laws, reflex, poses, screws, v, activation, h, active, force, matrix):
    """Lengths, arms, reflexes and tensions at the present pose; force -= P pull, matrix += P diag(weight) Pᵀ."""
    muscle_geometry(paths, r, poses, screws, v)
    reflex_terms(reflex, laws.rest, r.length, r.rate, h, activation, r.answer)
    tension_kernel(laws.kind, laws.table, activation, r.length, r.rate, r.tension)
    add_pull(paths, r, reflex, h, active, laws.kind, False, force, matrix)


@nb.njit(cache=True)
def muscle_geometry(paths, r, poses, screws, v):
    p = paths
    kernels.path_lines(p.offsets, p.bone, p.local, p.wraps, p.carriers, poses, r.points, r.lines, r.length)
    r.arms[:] = 0.0
    kernels.moment_arms(p.segment_start, p.segment_entry, p.segment_sign, p.column, r.lines, screws, r.arms)
    kernels.rates(p.row_start, p.column, r.arms, v, r.rate)


@nb.njit(cache=True)
def add_pull(paths, r, reflex, h, active, kind, remembers, force, matrix):
    """force -= P pull, matrix += P diag(weight) Pᵀ; remembers: elastic muscles' tension is that of the step's end. The
    tension that a reflex gives is that at the rates it has guessed, brought back to the present ones."""
    t = r.tension
    for m in range(len(r.pull)):
        k = max(t[3, m], 0.0)
        ahead = 0.0 if remembers and kind[m] == ELASTIC else h * k * r.rate[m]
        r.pull[m] = (t[0, m] if active else t[1, m]) + ahead
        r.weight[m] = h * max(t[4, m], 0.0) + h * h * k
        if r.answer[m] > 0.0 and not (remembers and kind[m] == ELASTIC):  # which have no capacity of their own
            r.weight[m] += r.answer[m] * t[2, m]
            if active and len(reflex.guess):
                r.pull[m] += r.answer[m] / h * t[2, m] * (r.rate[m] - reflex.guess[m])
    kernels.add_torques(paths.row_start, paths.column, r.arms, r.pull, force)
    _add_products(paths.row_start, paths.row, r.arms, r.weight, matrix)


@nb.njit(cache=True)
def _add_products(row_start, row, arms, weight, out):
    """Lower triangle of out += P diag(weight) Pᵀ. Rows descend within a muscle, since leaves come first."""
    longest = 0
    for m in range(len(weight)):
        longest = max(longest, row_start[m + 1] - row_start[m])
    x, at = np.empty(longest), np.empty(longest, np.uint32)
    for m in range(len(weight)):
        if weight[m] == 0.0:
            continue
        n = 0
        for k in range(row_start[m], row_start[m + 1]):
            if row[k] >= 0 and arms[k] != 0.0:
                x[n], at[n] = arms[k], row[k]
                n += 1
        add_outer(weight[m], x, at, n, out)
