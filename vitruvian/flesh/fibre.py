"""Tension of muscle fibres in the flesh: Hill's force–length curve along the fibre direction.

With λ = ‖F w‖ the stretch along the fibre and r = λ / λ_opt, the nominal fibre stress is

    T(λ, a) = σ_max/λ_opt (a f_active(r) + f_passive(r))            (Lee 2008, section 5.2.3; Si & al. 2014, eq. 9)

with the curves of Blemker, Pinsky and Delp 2005 (after Zajac 1989). There is no force–velocity term: it would be
hidden by the Rayleigh damping of the tissue (Si 2013, section 3.2.2.1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from vitruvian.flesh.checks import number

PASSIVE_SCALE = 0.05  # Blemker 2005, P1
PASSIVE_EXPONENT = 6.6  # Blemker 2005, P2
PASSIVE_LINEAR = 1.4  # Blemker 2005, λ*: beyond this multiple of the optimal stretch the passive curve is a line


@dataclass(frozen=True)
class Fibre:
    """Muscle fibre constants."""

    peak_stress: float = 0.3e6  # σ_max [Pa]
    optimal_stretch: float = 1.4  # λ_opt, stretch at which the active force peaks

    def __post_init__(self) -> None:
        number("muscle fibre", "peak_stress [Pa]", self.peak_stress, least=0.0)
        number("muscle fibre", "optimal_stretch", self.optimal_stretch, above=0.0)


@njit(cache=True)
def fibre_tension(stretch, activation, peak, optimal):
    """(energy density [J/m³], tension dψ/dλ [Pa], slope dT/dλ [Pa]) of fibres at `stretch`."""
    r = stretch / optimal
    active, slope, work = _active(r)
    passive, passive_slope, passive_work = _passive(r)
    scale = peak / optimal
    return (
        peak * (activation * work + passive_work),
        scale * (activation * active + passive),
        scale / optimal * (activation * slope + passive_slope),
    )


@njit(cache=True)
def _active(r):
    """Active force, slope and integral from r = 0 at normalised length r."""
    if r <= 0.4 or r >= 1.6:
        return 0.0, 0.0, (0.0 if r <= 0.4 else _active_work(1.6))
    if r < 0.6:
        return 9.0 * (r - 0.4) ** 2, 18.0 * (r - 0.4), _active_work(r)
    if r <= 1.4:
        return 1.0 - 4.0 * (1.0 - r) ** 2, 8.0 * (1.0 - r), _active_work(r)
    return 9.0 * (r - 1.6) ** 2, 18.0 * (r - 1.6), _active_work(r)


@njit(cache=True)
def _active_work(r):
    work = 3.0 * (min(r, 0.6) - 0.4) ** 3
    if r > 0.6:
        s = min(r, 1.4)
        work += (s - 0.6) - 4.0 / 3.0 * ((s - 1.0) ** 3 + 0.4**3)
    if r > 1.4:
        work += 3.0 * ((r - 1.6) ** 3 + 0.2**3)
    return work


@njit(cache=True)
def _passive(r):
    """Passive force, slope and integral: an exponential toe, then its tangent."""
    if r <= 1.0:
        return 0.0, 0.0, 0.0
    s = min(r, PASSIVE_LINEAR)
    grown = np.exp(PASSIVE_EXPONENT * (s - 1.0))
    force = PASSIVE_SCALE * (grown - 1.0)
    slope = PASSIVE_SCALE * PASSIVE_EXPONENT * grown
    work = PASSIVE_SCALE * ((grown - 1.0) / PASSIVE_EXPONENT - (s - 1.0))
    if r > PASSIVE_LINEAR:
        d = r - PASSIVE_LINEAR
        work += force * d + 0.5 * slope * d * d
        force += slope * d
    return force, slope, work
