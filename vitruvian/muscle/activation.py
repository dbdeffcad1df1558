"""How muscle activation follows the nerve's excitation: a first-order lag, faster on than off.

    a' = (u - a)/t,  t = t_on (0.5 + 1.5 a) if u > a, else t_off/(0.5 + 1.5 a)      (Winters 1995; Thelen 2003)

A step uses the exact solution at a frozen time constant, so that activation stays between 0 and u for any step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba as nb
import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class ActivationDynamics:
    """Time constants [s]; Thelen 2003 gives 15 and 50 ms for young adults."""

    on: float = 0.015
    off: float = 0.050

    def step(self, activation: Array, excitation: Array, dt: float) -> Array:
        """Activation after dt [s]; both shape (n_muscles,)."""
        out = np.empty_like(activation)
        _step(activation, excitation, dt, self.on, self.off, out)
        return out

    def excitation_for(self, activation: Array, wanted: Array, dt: float) -> Array:
        """Excitation, 0 to 1, that brings activation closest to `wanted` after dt [s]; all shape (n_muscles,)."""
        pace = 0.5 + 1.5 * activation
        lag = np.where(wanted > activation, self.on * pace, self.off / pace)
        return np.clip(activation + (wanted - activation) / (1.0 - np.exp(-dt / lag)), 0.0, 1.0)


@nb.njit(cache=True)
def _step(activation: Array, excitation: Array, dt: float, on: float, off: float, out: Array) -> None:
    for i in range(len(out)):
        out[i] = lagged(activation[i], excitation[i], dt, on, off)


@nb.njit(cache=True, inline="always")
def lagged(a: float, u: float, dt: float, on: float, off: float) -> float:
    """Activation of one muscle after dt [s] at excitation u."""
    pace = 0.5 + 1.5 * a
    lag = on * pace if u > a else off / pace
    return float(a + (u - a) * (1.0 - np.exp(-dt / lag)))
