"""What changes about a body during a run: plain arrays, all there is to save."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from vitruvian.breath import BreathState
from vitruvian.couple.books import Book

Array = np.ndarray


@dataclass
class BodyState:
    """Bones, muscles, and what acts on them from outside; `anatomy.Body.at_rest` makes one."""

    q: Array  # joint coordinates [rad, m, quaternions], shape (n_q,)
    v: Array  # joint velocities [rad/s, m/s], shape (n_v,)
    activation: Array  # shape (n_muscles,)
    load: Array  # inertia of what each bone holds: mass, m com, moments about its origin, shape (n_bones, 10)
    wrench: Array  # external push on each bone, in its frame: (moment [N m], force [N]), shape (n_bones, 6)
    fibre: Array = field(
        default_factory=lambda: np.zeros(0)
    )  # lengths [m] of fibres with elastic tendons, (n_muscles,)
    book: Book = field(default_factory=Book)


@dataclass(kw_only=True)
class SwimmerState(BodyState):
    """A body in water; its `wrench` is that of the water (mean of the latest step) and of pushes."""

    push: Array  # of people and things on each bone, (moment, force) in its own frame, shape (n_bones, 6)
    water_force: Array  # mean generalized force of the water in the latest step [N m, N], shape (n_v,)
    link_force: Array  # the same as (moment, force) on each link about its origin, world axes, shape (links, 6)
    link_work: Array  # of the water on each link so far [J], shape (links,); their sum is the book's "water"


@dataclass(kw_only=True)
class TorsoState(BodyState):
    """A body whose trunk breathes."""

    breath: BreathState


def water_book() -> Book:
    """The accounts of a body in water."""
    return Book.open(("drive", "water", "push", "joints", "links"), ("water", "weight", "push"), ("water",))
