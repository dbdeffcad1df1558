"""Force laws of one's own: a function of activation, length and rate, written for many muscles at once.

    @ForceLaw
    def gaussian(activation, length, rate, f_max, rest_length, width=0.45):
        return activation * f_max * np.exp(-(((length / rest_length - 1.0) / width) ** 2))

    element = gaussian(f_max=500.0, rest_length=0.2)            # for MuscleBuilder.add_muscle or Body.with_muscle

How the slopes enter a step of h seconds (`couple`): with k = df/dl and d = df/dl' a muscle pulls with
f + h max(k, 0) l' and adds P (h max(d, 0) + h² max(k, 0)) Pᵀ to the step's matrix. A negative slope (a muscle that
weakens as it is stretched) would make the matrix indefinite: it is taken explicitly, its force unchanged.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np

from vitruvian.errors import InputError, unknown_name
from vitruvian.muscle.elements import CUSTOM, WIDTH

Array = np.ndarray
FIRST = ("f_max", "rest_length")  # parameters that every law has
STEP = float(np.finfo(float).eps ** (1 / 3))  # of numeric slopes: activation 6e-6, length 6e-6 l0, rate 6e-6 l0/s
_ROWS = ("force", "passive force", "slope in activation", "slope in length", "slope in rate")


@dataclass(frozen=True)
class ForceLaw:
    """A law f(activation, length, rate, f_max, rest_length, ...) -> force; call it with its parameters for an element.

    The function gets arrays of one shape (n,), activation [1], length [m], rate of lengthening [m/s] and every
    parameter, in NumPy or compiled by Numba, and each muscle's answer must depend on its own numbers alone. It has no
    memory. It returns the force [N], never negative, or (force, passive, capacity, stiffness, damping) as in `Tension`;
    slopes that it leaves out are central differences with `STEP`, for eight times the work, and at a kink the mean of
    both sides. Controllers count on force = passive + capacity x activation, which holds for laws linear in activation.
    """

    function: Callable[..., Array | tuple[Array, ...]]
    name: str = ""  # the function's, if left out
    parameters: tuple[str, ...] = field(init=False, repr=False, compare=False)  # f_max, rest_length, its own
    defaults: dict[str, float] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        arguments = list(inspect.signature(self.function).parameters.values())
        names = tuple(a.name for a in arguments)
        object.__setattr__(self, "name", self.name or self.function.__name__)
        if len(names) < 5 or names[3:5] != FIRST or any(a.kind != a.POSITIONAL_OR_KEYWORD for a in arguments):
            raise InputError(
                f"force law '{self.name}' needs the arguments (activation, length, rate, f_max, rest_length, ...), "
                f"got ({', '.join(names)})"
            )
        object.__setattr__(self, "parameters", names[3:])
        object.__setattr__(self, "defaults", {a.name: a.default for a in arguments[3:] if a.default is not a.empty})

    def __call__(self, **parameters: float) -> LawElement:
        """An element of this law: f_max [N], rest_length [m] and the law's own parameters."""
        for name in parameters:
            if name not in self.parameters:
                raise unknown_name(f"parameter of force law '{self.name}'", name, self.parameters)
        given = self.defaults | parameters
        missing = [name for name in self.parameters if name not in given]
        if missing:
            raise InputError(f"force law '{self.name}' needs {', '.join(missing)}")
        for name, value in given.items():
            if not (isinstance(value, int | float | np.number) and np.isfinite(value)):
                raise InputError(f"force law '{self.name}': {name} must be a finite number, got {value!r}")
        return LawElement(self, tuple(float(given[name]) for name in self.parameters))

    def differences(self, parameters: Array, activation: Array, length: Array, rate: Array) -> Array:
        """Force, passive force and numeric slopes, shape (5, n); parameters: one row each, shape (k, n)."""
        # eight states in one call: here, not activated, and on both sides in activation, length and rate
        a, l, v = (np.tile(x, (8, 1)) for x in (activation, length, rate))
        near = STEP * parameters[FIRST.index("rest_length")]
        a[1] = 0.0
        a[2] = np.minimum(activation + STEP, np.maximum(activation, 1.0))  # not beyond 0 and 1
        a[3] = np.maximum(activation - STEP, np.minimum(activation, 0.0))
        l[4], l[5] = length + near, np.maximum(length - near, 0.0)
        v[6], v[7] = rate + near, rate - near
        found = self.function(a.ravel(), l.ravel(), v.ravel(), *np.tile(parameters, (1, 8)))
        f = np.asarray(found).reshape(8, len(activation))
        slopes = [(f[k] - f[k + 1]) / (x[k] - x[k + 1]) for x, k in ((a, 2), (l, 4), (v, 6))]
        return np.array([f[0], f[1], *slopes])


@dataclass(frozen=True)
class LawElement:
    """A muscle with a force law of one's own."""

    law: ForceLaw
    values: tuple[float, ...]  # in the order of law.parameters

    @property
    def f_max(self) -> float:
        """[N]"""
        return self.values[0]

    @property
    def rest_length(self) -> float:
        """[m]"""
        return self.values[1]

    def row(self) -> tuple[int, tuple[float, ...]]:
        return CUSTOM, (*self.values[:2], *(0.0,) * (WIDTH - 2))

    def stronger(self, factor: float) -> LawElement:
        """F_max times `factor`; a law whose passive force shall grow with it counts that in parts of f_max."""
        return replace(self, values=(factor * self.f_max, *self.values[1:]))


@dataclass(frozen=True)
class LawMuscles:
    """All muscles of a model that share one law."""

    law: ForceLaw
    muscles: Array  # their indices, shape (k,)
    parameters: Array  # one row for each parameter of the law, shape (n_parameters, k)
    sloped: bool  # whether the law gives its slopes

    def fill(self, activation: Array, length: Array, rate: Array, out: Array) -> None:
        """Write these muscles' columns of out (5, n_muscles); the other arguments have shape (n_muscles,)."""
        at = self.muscles
        if self.sloped:
            out[:, at] = self.law.function(activation[at], length[at], rate[at], *self.parameters)
        else:
            out[:, at] = self.law.differences(self.parameters, activation[at], length[at], rate[at])


def law_muscles(names: Sequence[str], elements: Sequence[object]) -> tuple[LawMuscles, ...]:
    """Muscles with laws of their own, by law in order of appearance; each law is tried out and refused if it cannot
    be one."""
    by_law: dict[ForceLaw, list[int]] = {}
    for i, e in enumerate(elements):
        if isinstance(e, LawElement):
            by_law.setdefault(e.law, []).append(i)
    found = []
    for law, at in by_law.items():
        parameters = np.array([elements[i].values for i in at]).T.copy()  # type: ignore[attr-defined]
        sloped = _try_out(law, parameters, [names[i] for i in at])
        found.append(LawMuscles(law, np.array(at, dtype=np.int64), parameters, sloped))
    return tuple(found)


def _try_out(law: ForceLaw, parameters: Array, names: Sequence[str]) -> bool:
    """Evaluate in 27 states: off, half and fully active, short, at rest and long, shortening, still and lengthening;
    an error for a law that cannot be one, otherwise whether it gives its slopes."""
    k = len(names)
    states = np.array(list(product((0.0, 0.5, 1.0), (0.6, 1.0, 1.4), (-1.0, 0.0, 1.0))))
    parameters = np.tile(parameters, (1, len(states)))
    a, l, v = np.repeat(states.T, k, axis=1)
    l, v = l * parameters[1], v * parameters[1]
    n = len(a)
    with np.errstate(all="ignore"):
        found = law.function(a, l, v, *parameters)
        sloped = isinstance(found, tuple)
        shapes = [np.shape(x) for x in (found if sloped else (found,))]
        if shapes not in ([(n,)], [(n,)] * 5):
            raise InputError(
                f"muscle '{names[0]}': force law '{law.name}' must return the force, shape ({n},) for {n} muscles, or "
                f"five arrays of that shape; it returned {', '.join(map(str, shapes))}"
            )
        out = np.array(found) if sloped else law.differences(parameters, a, l, v)

    def refuse(bad: Array, values: Array, what: str) -> None:
        if bad.any():
            i = int(np.flatnonzero(bad)[0])
            raise InputError(
                f"muscle '{names[i % k]}': force law '{law.name}' gives {values[i]:g} {what} at activation {a[i]:g}, "
                f"length {l[i]:g} m, rate {v[i]:g} m/s"
            )

    for values, what in zip(out, _ROWS):
        refuse(~np.isfinite(values), values, f"as {what}")
    refuse(out[0] < 0.0, out[0], "N, but a muscle cannot push,")
    refuse((a == 0.0) & ~np.isclose(out[0], out[1]), out[1], "N as passive force, which differs from its force")
    return sloped
