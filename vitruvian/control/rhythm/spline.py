"""Closed cubic B-splines through periodic data: values, first and second derivatives, continuous across the seam.

s(x) = sum_i P_i N_i,4(x),   N periodic with period 1          (Si 2013, appendix C; de Boor 2001, chapter X)

With as many controls as samples the knots lie at the samples and the spline passes through them; with fewer, evenly
spaced knots and least squares smooth the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.interpolate import BSpline

from vitruvian.errors import InputError
from vitruvian.spatial import periodic_knots
from vitruvian.spatial.bspline import wrap_controls

Array = np.ndarray
ORDER = 4  # cubic
FEWEST = 4  # samples or controls: with fewer, periodic basis functions overlap themselves


@dataclass(frozen=True)
class PeriodicSpline:
    """A closed curve over phase, period 1."""

    breaks: Array  # ascending, breaks[-1] = breaks[0] + 1, shape (m + 1,)
    controls: Array  # shape (m, k)

    @classmethod
    def fit(cls, phase: Array, values: Array, controls: int | None = None) -> PeriodicSpline:
        """Fit values (n, k) at ascending phases (n,) in [0, 1)."""
        x, y = np.asarray(phase, dtype=float), np.asarray(values, dtype=float)
        m = len(x) if controls is None else controls
        if not FEWEST <= m <= len(x):
            raise InputError(f"a periodic spline needs {FEWEST} to {len(x)} controls, got {m}")
        breaks = np.append(x, x[0] + 1.0) if m == len(x) else np.linspace(0.0, 1.0, m + 1)
        basis = BSpline.design_matrix(_wrapped(x, breaks), periodic_knots(breaks, ORDER), ORDER - 1).toarray()
        closed = basis[:, :m].copy()
        closed[:, : ORDER - 1] += basis[:, m:]
        return cls(breaks, np.linalg.lstsq(closed, y, rcond=None)[0])

    def __call__(self, phase: float | Array, derivative: int = 0) -> Array:
        """Values, or d^n/dphase^n, at phases of any shape; shape (*phase, k)."""
        return self._derivatives[derivative](_wrapped(np.asarray(phase, dtype=float), self.breaks))

    @cached_property
    def _derivatives(self) -> tuple[BSpline, ...]:
        value = BSpline(periodic_knots(self.breaks, ORDER), wrap_controls(self.controls, ORDER), ORDER - 1)
        return value, value.derivative(1), value.derivative(2)


def _wrapped(x: Array, breaks: Array) -> Array:
    return breaks[0] + np.mod(x - breaks[0], 1.0)
