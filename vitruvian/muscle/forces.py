"""Tension of all muscles in one call: the built-in laws in one kernel, then each law of one's own for its muscles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from vitruvian.muscle.elements import WIDTH, Element, tension_kernel
from vitruvian.muscle.laws import LawMuscles, law_muscles
from vitruvian.muscle.tendon import settled_fibres, stored_kernel

Array = np.ndarray


class Laws(Protocol):
    """What a set of muscles must tell about its force laws; `MuscleModel` and `ForceLaws` do."""

    @property
    def kind(self) -> Array:
        """Code of each muscle's law, shape (n,)."""

    @property
    def table(self) -> Array:
        """Its parameters, shape (n, WIDTH)."""

    @property
    def custom(self) -> tuple[LawMuscles, ...]:
        """Muscles with laws of one's own; empty for built-in laws alone."""


def fibre_lengths(laws: Laws, activation: Array, length: Array) -> Array:
    """Fibre lengths [m] (n_muscles,) of muscles at rest at path lengths [m]; 0 where a law has no fibre of its own."""
    out = np.zeros(len(laws.kind))
    settled_fibres(laws.kind, laws.table, activation, length, out)
    return out


def stored_energy(laws: Laws, length: Array, fibre: Array) -> Array:
    """Energy [J] in tendons and in passive fibres, shape (2, n_muscles), of muscles with fibre and tendon."""
    out = np.zeros((2, len(laws.kind)))
    stored_kernel(laws.kind, laws.table, length, fibre, out)
    return out


class ForceLaws(NamedTuple):
    """The force laws of muscles, laid out in arrays."""

    kind: Array
    table: Array
    custom: tuple[LawMuscles, ...]


def force_laws(names: Sequence[str], elements: Sequence[Element]) -> ForceLaws:
    """Lay out the laws of muscles; names are for the error about a law that cannot be one."""
    rows = [e.row() for e in elements]
    kind = np.array([k for k, _ in rows], dtype=np.int64)
    table = np.array([row for _, row in rows], dtype=float).reshape(-1, WIDTH)
    return ForceLaws(kind, table, law_muscles(names, elements))


@dataclass(frozen=True)
class Tension:
    """Force and slopes of every muscle, each shape (n_muscles,)."""

    force: Array  # [N], at least 0
    passive: Array  # force at zero activation [N]
    capacity: Array  # d force / d activation [N]
    stiffness: Array  # d force / d length [N/m], negative slopes as they are
    damping: Array  # d force / d rate [N s/m]


def tension(laws: Laws, activation: Array, length: Array, rate: Array) -> Tension:
    """Tension of all muscles at activation [1], length [m] and rate of lengthening [m/s], each shape (n_muscles,).

    An elastic tendon is taken as settled, and `capacity` is then the secant from rest to the activation."""
    out = np.empty((5, len(laws.kind)))
    tension_into(laws, activation, length, rate, out)
    return Tension(*out)


def tension_into(laws: Laws, activation: Array, length: Array, rate: Array, out: Array, settle: bool = True) -> None:
    """Fill out (5, n_muscles) with the rows of `Tension`; settle False leaves out elastic tendons."""
    tension_kernel(laws.kind, laws.table, activation, length, rate, out, settle)
    for group in laws.custom:
        group.fill(activation, length, rate, out)
