"""Tone: agonists and antagonists pull together, so that joints stiffen without moving (Lee 2008, 5.3.4).

    a_g gives the torque (5.5), a_n gives its opposite (5.6), a = (1 + g) a_g + g a_n (5.7): the same torque, more
    stiffness.

With one coactivation g for the whole body the added part g (a_g + a_n) has no torque at all. With a g per body part,
muscles that reach from one part to another leave some torque t over; a third solve of R y = -t, y >= 0 takes it back
exactly.

Muscles at most fully active (`upper`) leave only so much room. The added part has no torque at any scale, so it is
scaled down as a whole to the largest share that fits, and the share is reported: a muscle that already pulls with all
it has leaves none. Part by part, each part has its own share.

`by_region` is Lee's cheaper order of work: limbs and neck first, each alone, then the trunk carries what they leave
on it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from vitruvian.control.activation import Activations, ActivationSolver, TorqueMap
from vitruvian.errors import InputError

Array = np.ndarray


@dataclass
class Warm:
    """Multipliers of the last solves, to start the next from; shape (n_rows,) each, empty before the first."""

    agonist: Array = field(default_factory=lambda: np.zeros(0))
    antagonist: Array = field(default_factory=lambda: np.zeros(0))
    balance: Array = field(default_factory=lambda: np.zeros(0))
    limited: bool = False  # the muscles could not give the last torque
    share: float = 1.0  # of the coactivation asked for, at the last solve


@dataclass(frozen=True)
class Tone:
    """Activations with coactivation."""

    activation: Array  # shape (n_muscles,)
    agonist: Activations
    added: Array  # what coactivation added, shape (n_muscles,): no torque
    share: float = 1.0  # of the coactivation asked for that fits below the solver's `upper`: reached g = share * g


def activate(
    solver: ActivationSolver, R: TorqueMap, torque: Array, coactivation: Array | float, weight: Array, warm: Warm
) -> Tone:
    """Activations for `torque` [N m] (n_rows,) with coactivation g >= 0, a number or one per muscle (n_muscles,)."""
    gamma = np.broadcast_to(np.asarray(coactivation, dtype=float), weight.shape)
    if gamma.min(initial=0.0) < 0:
        raise InputError(f"coactivation must not be negative, got {gamma.min():g}")
    agonist = solver.solve(R, torque, weight, _start(warm.agonist), limited=warm.limited)
    warm.agonist, warm.limited = agonist.multiplier, not agonist.exact
    warm.share = 1.0
    if not gamma.any():
        return Tone(agonist.activation, agonist, np.zeros_like(weight))
    free = replace(solver, upper=None)  # the bound is kept below, on the sum
    antagonist = free.solve(R, -R.torques(agonist.activation), weight, _start(warm.antagonist))
    warm.antagonist = antagonist.multiplier
    added = gamma * (agonist.activation + antagonist.activation)
    left = R.torques(added)
    if np.abs(left).max() > 1e-9 * max(1.0, np.abs(torque).max()):
        balance = free.solve(R, -left, weight, _start(warm.balance))
        warm.balance = balance.multiplier
        added = added + balance.activation
    warm.share = _share(agonist.activation, added, solver.upper)
    added = warm.share * added
    return Tone(agonist.activation + added, agonist, added, warm.share)


def by_region(
    solver: ActivationSolver,
    R: TorqueMap,
    torque: Array,
    row_part: Array,
    coactivation: Array,
    weight: Array,
    warm: dict[int, Warm],
) -> Array:
    """Activations (n_muscles,) solved part by part; row_part: part of each coordinate (n_rows,), the trunk being 0.

    A muscle belongs to the limb that it touches, else to the trunk; coactivation g per part, shape (n_parts,).
    """
    dense = R.dense()
    owner = muscle_parts(R, row_part)
    activation = np.zeros(len(weight))
    for part in [*(p for p in np.unique(row_part) if p != 0), 0]:
        rows, mine = np.flatnonzero(row_part == part), np.flatnonzero(owner == part)
        wanted = torque[rows] - dense[rows] @ activation
        sub = TorqueMap.from_dense(dense[np.ix_(rows, mine)])
        part_solver = solver if solver.slack is None else replace(solver, slack=solver.slack[rows])
        tone = activate(
            part_solver, sub, wanted, float(coactivation[part]), weight[mine], warm.setdefault(int(part), Warm())
        )
        activation[mine] = tone.activation
    return activation


def muscle_parts(R: TorqueMap, row_part: Array) -> Array:
    """Part of each muscle, shape (n_muscles,): the last-numbered limb that it touches, 0 (the trunk) if none."""
    part = row_part[R.column]
    out = np.zeros(len(R.row_start) - 1, dtype=np.int64)
    np.maximum.at(out, np.repeat(np.arange(len(out)), np.diff(R.row_start)), part)
    return out


def _share(agonist: Array, added: Array, upper: float | None) -> float:
    """The largest c <= 1 with agonist + c added <= upper; both shape (n_muscles,)."""
    grows = added > 0
    if upper is None or not grows.any():
        return 1.0
    room = np.maximum(0.0, upper - agonist[grows])
    return float(min(1.0, (room / added[grows]).min()))


def _start(multiplier: Array) -> Array | None:
    return multiplier if multiplier.size else None
