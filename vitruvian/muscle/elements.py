"""What a muscle's line pulls with: four force laws behind one interface; `laws` adds those of one's own.

`LinearHill` (Lee 2008, 3.2 and 5.1.2), with strain e = (l - l0)/l0:

    f = a F_l F_v + f_P,  F_l = max(0, k_max (l - l_m)),  F_v = max(0, 1 + min(l', 0)/v_m),
    f_P = max(0, k_s (exp(k_c e) - 1) + k_d e'), at most F_max.

`CurvedHill` (DiLorenzo 2009, 4.2), with s = l/l0:

    f = a F_max F_l F_v + f_P,  F_l = 1 - ((s - 1)/w)^2,  F_v = (b - a_h |v|)/(b + |v|) with v = l'/v_max, each in 0..1,
    f_P = max(0, k_PE exp(10 (s - 1))/exp(5) + b_PE l'/l0).

`SpringMuscle` (DiLorenzo 2009, 4.1): f = max(0, a k_ac (l - r l0) + k_pe (l - l0) + b l').

`FibreTendon`: fibre, pennation and tendon, elastic or rigid; curves in `fibre`, the balance of both in `tendon`.

Tension, never push. Each law also gives its slope in activation (`capacity`), length (`stiffness`) and rate
(`damping`), which the implicit step and the activation solve need.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace
from typing import Protocol, Self

import numba as nb
import numpy as np

from vitruvian.errors import InputError, unknown_name
from vitruvian.muscle.fibre import active_length, passive_fibre
from vitruvian.muscle.tendon import ELASTIC, RIGID, rigid_pull, still_pull

Array = np.ndarray
SPECIFIC_TENSION = 0.3e6  # [Pa], Lee and Si: 0.3 MPa (Persad 2024: 0.27 MPa, mean of 96 human values)
WIDTH = 9  # columns of the parameter table
_LINEAR, _CURVED, _SPRING, CUSTOM = 0, 1, 2, 3  # 4 and 5: rigid and elastic tendons
TENDONS = ("elastic", "rigid")


class Element(Protocol):
    """One muscle's force law with its numbers."""

    @property
    def f_max(self) -> float:
        """Active force at rest length, full activation [N]."""

    @property
    def rest_length(self) -> float:
        """[m]"""

    def row(self) -> tuple[int, tuple[float, ...]]:
        """Code of the law, and the muscle's row in the parameter table (WIDTH,), which begins with F_max and l0."""

    def stronger(self, factor: float) -> Self:
        """The same muscle with `factor` times the cross-section."""


@dataclass(frozen=True)
class LinearHill:
    """Lee's linearised Hill element."""

    f_max: float  # [N] active force at rest length, full activation
    rest_length: float  # l0 [m]
    minimum: float = 0.3  # l_m / l0 (Lee 5.1.2)
    fastest: float = 8.0  # v_m / l0 [1/s] (Lee 3.2)
    k_s: float = 0.005  # / F_max; with 0.02 the hips cannot reach a seat
    k_c: float = 6.0  # (Lee 5.1.2)
    k_d: float = 0.05  # / F_max [s]
    passive: bool = True

    @classmethod
    def from_pcsa(cls, pcsa: float, rest_length: float, *, strength: float = 1.0, passive: bool = True) -> LinearHill:
        """F_max = strength x 0.3 MPa x PCSA [m^2]; `strength` corrects small printed areas."""
        if not pcsa > 0:
            raise InputError(f"PCSA must be positive, got {pcsa:g} m^2")
        if not strength > 0:
            raise InputError(f"strength must be positive, got {strength:g}")
        return cls(strength * SPECIFIC_TENSION * pcsa, rest_length, passive=passive)

    def row(self) -> tuple[int, tuple[float, ...]]:
        f, l = self.f_max, self.rest_length
        on = float(self.passive)
        k_max = f / ((1.0 - self.minimum) * l)
        return _LINEAR, (
            f,
            l,
            k_max,
            self.minimum * l,
            self.fastest * l,
            on * self.k_s * f,
            self.k_c,
            on * self.k_d * f,
            0.0,
        )

    def stronger(self, factor: float) -> LinearHill:
        return replace(self, f_max=factor * self.f_max)  # passive force is counted in parts of F_max


@dataclass(frozen=True)
class CurvedHill:
    """DiLorenzo's Hill element with parabolic force-length and hyperbolic force-velocity curves."""

    f_max: float  # [N]
    rest_length: float  # [m]
    k_pe: float  # [N]
    b_pe: float  # [N s]
    v_max: float  # [m/s]
    width: float = 0.5  # the muscle pulls from 0.5 to 1.5 rest lengths
    a_hill: float = 0.25
    b_hill: float = 0.25
    holds: bool = False  # keeps its force while it is stretched; as printed (|v|) it weakens, and light bones jitter

    def row(self) -> tuple[int, tuple[float, ...]]:
        return _CURVED, tuple(float(x) for x in astuple(self))

    def stronger(self, factor: float) -> CurvedHill:
        return replace(self, f_max=factor * self.f_max, k_pe=factor * self.k_pe, b_pe=factor * self.b_pe)


@dataclass(frozen=True)
class SpringMuscle:
    """DiLorenzo's spring element; activation pulls towards the fraction `ratio` of the rest length.

    With `shortens` activation is the contraction itself: α is 1 and r(t) = 1 - activation while it is above 0."""

    rest_length: float  # [m]
    k_active: float  # [N/m]
    k_passive: float  # [N/m]
    damping: float  # [N s/m]
    ratio: float = 0.0
    shortens: bool = False

    @property
    def f_max(self) -> float:
        """Active force at rest length [N]."""
        return self.k_active * (1.0 - self.ratio) * self.rest_length

    def row(self) -> tuple[int, tuple[float, ...]]:
        return _SPRING, (
            self.f_max,
            self.rest_length,
            self.k_active,
            self.k_passive,
            self.damping,
            self.ratio,
            float(self.shortens),
            0.0,
            0.0,
        )

    def stronger(self, factor: float) -> SpringMuscle:
        return replace(
            self,
            k_active=factor * self.k_active,
            k_passive=factor * self.k_passive,
            damping=factor * self.damping,
        )


@dataclass(frozen=True)
class FibreTendon:
    """Fibre at an angle to its tendon, which stretches ("elastic") or not ("rigid"); see `fibre` and `tendon`."""

    f_max: float  # [N] active force of the fibre at l0
    fibre_length: float  # l0 [m]
    slack_length: float  # of the tendon [m]
    pennation: float = 0.0  # of the fibre at l0 [rad]
    tendon: str = "elastic"
    fastest: float = 10.0  # v_max / l0 [1/s]
    strain: float = 0.049  # of the tendon at F_max
    damping: float = 0.01  # beta: viscosity of the fibre, / F_max at v_max
    passive: bool = True

    def __post_init__(self) -> None:
        if self.tendon not in TENDONS:
            raise unknown_name("tendon", self.tendon, TENDONS)
        for name in ("f_max", "fibre_length", "slack_length", "fastest", "strain", "damping"):
            if not (np.isfinite(value := getattr(self, name)) and value > 0):
                raise InputError(f"a muscle's {name} must be positive, got {value:g}")
        if not 0 <= self.pennation < np.radians(60):
            raise InputError(f"pennation must be between 0 and 60 degrees, got {np.degrees(self.pennation):g}")

    @classmethod
    def along(
        cls, f_max: float, path_length: float, fibre_length: float, pennation: float = 0.0, tendon: str = "elastic",
        **others: float,
    ) -> FibreTendon:  # fmt: skip
        """The muscle whose fully active fibre is at l0 when its path is `path_length` [m]; the tendon is the rest."""
        unit = cls(f_max, fibre_length, 1.0, pennation, tendon, **others)  # type: ignore[arg-type]
        rest = path_length - fibre_length * np.cos(pennation)
        if not rest > 0:
            raise InputError(
                f"a fibre of {1e3 * fibre_length:.3g} mm leaves no tendon on a path of {1e3 * path_length:.3g} mm"
            )
        return replace(unit, slack_length=float(rest / unit._stretch))

    @property
    def _stretch(self) -> float:
        """Tendon over slack length when the fibre is fully active at l0."""
        if self.tendon == "rigid":
            return 1.0
        f = np.cos(self.pennation) * (active_length(1.0)[0] + float(self.passive) * passive_fibre(1.0)[0])
        return float(1.0 + self.strain * np.log1p(f / 0.2) / np.log(6.0))

    @property
    def rest_length(self) -> float:
        """Path length at which the fully active fibre is at l0 [m]."""
        return float(self.fibre_length * np.cos(self.pennation) + self._stretch * self.slack_length)

    def row(self) -> tuple[int, tuple[float, ...]]:
        return ELASTIC if self.tendon == "elastic" else RIGID, (
            self.f_max,
            self.rest_length,
            self.fibre_length,
            self.fibre_length * float(np.sin(self.pennation)),
            self.slack_length,
            self.fastest * self.fibre_length,
            float(np.log(6.0) / self.strain),
            self.damping,
            float(self.passive),
        )

    def stronger(self, factor: float) -> FibreTendon:
        return replace(self, f_max=factor * self.f_max)  # tendon and passive fibre are counted in parts of F_max


@nb.njit(cache=True)
def tension_kernel(
    kind: Array, table: Array, activation: Array, length: Array, rate: Array, out: Array, settle: bool = True
) -> None:
    """Fill out (5, n): force, passive, capacity, stiffness, damping. Muscles with a law of their own get NaN here and
    their numbers from `forces.tension_into`. settle False leaves out elastic tendons, which then have a memory."""
    for m in range(len(kind)):
        if kind[m] == 5 and not settle:
            continue
        p = table[m]
        if kind[m] == 0:
            f = _linear(p, activation[m], length[m], rate[m])
        elif kind[m] == 1:
            f = _curved(p, activation[m], length[m], rate[m])
        elif kind[m] == 2:
            f = _spring(p, activation[m], length[m], rate[m])
        elif kind[m] == 4:
            f = rigid_pull(p, activation[m], length[m], rate[m])
        elif kind[m] == 5:
            f = still_pull(p, activation[m], length[m], rate[m])
        else:
            f = (np.nan, np.nan, np.nan, np.nan, np.nan)
        out[0, m], out[1, m], out[2, m], out[3, m], out[4, m] = f


@nb.njit(cache=True, inline="always")
def _linear(p: Array, a: float, l: float, rate: float) -> tuple[float, float, float, float, float]:
    f_max, l0, k_max, l_m, v_m, k_s, k_c, k_d = p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]
    F_l, k_l = 0.0, 0.0
    if l > l_m:
        F_l, k_l = k_max * (l - l_m), k_max
    F_v, d_v = 1.0, 0.0
    if rate < 0.0:
        F_v, d_v = 1.0 + rate / v_m, 1.0 / v_m
        if F_v < 0.0:
            F_v, d_v = 0.0, 0.0
    passive, k_p, d_p = 0.0, 0.0, 0.0
    if k_s > 0.0:
        grown = k_s * np.exp(min(k_c * (l - l0) / l0, 50.0))
        passive = grown - k_s + k_d * rate / l0
        if passive <= 0.0:
            passive = 0.0
        elif passive >= f_max:
            passive = f_max
        else:
            k_p, d_p = grown * k_c / l0, k_d / l0
    capacity = F_l * F_v
    return a * capacity + passive, passive, capacity, a * k_l * F_v + k_p, a * F_l * d_v + d_p


@nb.njit(cache=True, inline="always")
def _curved(p: Array, a: float, l: float, rate: float) -> tuple[float, float, float, float, float]:
    f_max, l0, k_pe, b_pe, v_max, w, a_h, b_h = p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]
    s = l / l0
    x = (s - 1.0) / w
    F_l, k_l = 1.0 - x * x, -2.0 * x / (w * l0)
    if F_l <= 0.0:
        F_l, k_l = 0.0, 0.0
    v = abs(rate) / v_max
    F_v = (b_h - a_h * v) / (b_h + v)
    d_v = -b_h * (1.0 + a_h) / ((b_h + v) * (b_h + v)) / v_max
    if rate < 0.0:
        d_v = -d_v
    elif rate == 0.0:
        d_v = 0.0
    if rate > 0.0 and p[8] > 0.0:
        F_v, d_v = 1.0, 0.0
    if F_v <= 0.0:
        F_v, d_v = 0.0, 0.0
    grown = k_pe * np.exp(min(10.0 * (s - 1.0) - 5.0, 50.0))
    passive, k_p, d_p = grown + b_pe * rate / l0, 10.0 * grown / l0, b_pe / l0
    if passive <= 0.0:
        passive, k_p, d_p = 0.0, 0.0, 0.0
    capacity = f_max * F_l * F_v
    return a * capacity + passive, passive, capacity, a * f_max * k_l * F_v + k_p, a * f_max * F_l * d_v + d_p


@nb.njit(cache=True, inline="always")
def _spring(p: Array, a: float, l: float, rate: float) -> tuple[float, float, float, float, float]:
    l0, k_ac, k_pe, b, r = p[1], p[2], p[3], p[4], p[5]
    at_rest = k_pe * (l - l0) + b * rate
    if p[6] > 0.0 and a > 0.0:
        force = k_ac * (l - (1.0 - a) * l0) + at_rest
        passive = max(0.0, at_rest)
        return (force, passive, k_ac * l0, k_ac + k_pe, b) if force > 0.0 else (0.0, passive, 0.0, 0.0, 0.0)
    force = a * k_ac * (l - r * l0) + at_rest
    passive = max(0.0, at_rest)
    if force <= 0.0:
        return 0.0, passive, 0.0, 0.0, 0.0
    return force, passive, k_ac * (l - r * l0), a * k_ac + k_pe, b
