"""Where momentum and energy went: one book for every system, by account.

Accounts are opened once, so that a saved book always has the same pages. Work is booked as the implicit step applied
each force, along the mean of the step's first and last velocity.

    drive    muscles or torques on the joints        joints   damping of the joints, stops included (negative)
    push     given forces on bones                   water    the water on the body, usually negative
    links    damping of cartilages                   weight   gravity (impulse only: its work is the body's energy)
    contact  ground, objects, the body on itself     step     lost by the step itself (negative as a rule)

The step is implicit: it moves the bones with the velocity of its end and takes forces there, which loses energy in
proportion to its length (backward Euler). `step` is what the bones' energy, springs included, has changed by beyond the
work of all that acts, so that the accounts of work on bones close on it.

    contraction   of fibres with elastic tendons: no work on bones, but what drives tendons, passive fibres and bones
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

Array = np.ndarray


@dataclass
class Book:
    """Sums since time 0; world axes."""

    work: dict[str, float] = field(default_factory=dict)  # given to the bones [J]
    impulse: dict[str, Array] = field(default_factory=dict)  # [N s], shape (3,)
    spin: dict[str, Array] = field(
        default_factory=dict
    )  # impulse's moment about the world's origin [N m s], shape (3,)

    @classmethod
    def open(cls, work: Iterable[str], impulse: Iterable[str] = (), spin: Iterable[str] = ()) -> Book:
        """A book with these accounts, all empty."""
        return cls(
            dict.fromkeys(work, 0.0), {name: np.zeros(3) for name in impulse}, {name: np.zeros(3) for name in spin}
        )

    def add_work(self, account: str, joules: float) -> None:
        """Book work; an account that was not opened is not kept."""
        if account in self.work:
            self.work[account] += joules

    def on_bones(self) -> float:
        """Sum of the accounts of work on the bones [J]."""
        return sum(joules for account, joules in self.work.items() if account not in ("contraction", "step"))

    def add_impulse(self, account: str, impulse: Array, spin: Array | None = None) -> None:
        """Book an impulse [N s] (3,) and its moment about the world's origin [N m s] (3,)."""
        if account in self.impulse:
            self.impulse[account] = self.impulse[account] + impulse
        if spin is not None and account in self.spin:
            self.spin[account] = self.spin[account] + spin
