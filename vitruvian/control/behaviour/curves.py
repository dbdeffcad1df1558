"""Curves over time for muscle groups, and behaviours made of them.

    value(t) = share(t) (mean + amplitude shape((t - start) / period + phase)),   0 before start and after end

    sine       sin 2 π u            half     max(0, sin 2 π u)       wave   (1 - cos 2 π u) / 2, from 0 to 1
    square     1 in the first half of a period, else 0               sawtooth   rises from 0 to 1 in a period
    keys       straight lines between (time, value), or with smooth = true least-jerk ones

`ease` [s] fades a curve in and out; the share is 1 within `windows` (start, end, ease), which `within` and `blend`
set, and 0 outside. Curves of one group add up. Behaviours are sums of curves, so that they compose: a + b, later(),
times(), blend().

The face takes part by its expressions ("joy") and action units ("AU26", "LAU12"; see `control.face.units`), 0 to 1.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from vitruvian.control.face import action_units, expressions
from vitruvian.errors import InputError, unknown_name

Array = np.ndarray
SHAPES = ("sine", "half", "wave", "square", "sawtooth", "keys")
MUSCLES = (
    "diaphragm",
    "abdomen",
    "upper rectus",
    "middle rectus",
    "lower rectus",
    "rectus",
    "external oblique",
    "internal oblique",
    "obliques",
    "transversus",
    "external intercostals",
    "lower external intercostals",
    "internal intercostals",
    "scalenes",
)
OTHERS = {  # and their limits [1, degrees]
    "closure": (0.0, 1.0), "spine": (-25.0, 25.0), "clavicles": (-10.0, 20.0), "head": (-25.0, 25.0),
}  # fmt: skip
GROUPS = (*MUSCLES, *OTHERS)
SAMPLES = 200  # a second, at which sums are checked


def of_face(group: str) -> bool:
    """Whether a group is an expression or an action unit of the face, of one side (LAU12) or both."""
    return group in expressions() or (group[1:] if group[:1] in ("L", "R") else group) in action_units()


@dataclass(frozen=True)
class Curve:
    """One group over time."""

    group: str
    shape: str = "keys"
    amplitude: float = 1.0
    mean: float = 0.0
    period: float = 1.0  # [s]
    phase: float = 0.0  # periods
    start: float = 0.0  # [s]
    end: float = float("inf")
    ease: float = 0.0  # [s]
    keys: tuple[tuple[float, float], ...] = ()  # time from `start` [s], value
    smooth: bool = False
    windows: tuple[tuple[float, float, float], ...] = ()  # start, end, ease [s]; outside of one the curve is 0

    def __post_init__(self) -> None:
        if self.group not in GROUPS and not of_face(self.group):
            raise unknown_name("group", self.group, (*GROUPS, *expressions()))
        if self.shape not in SHAPES:
            raise unknown_name("shape", self.shape, SHAPES)
        for name in ("amplitude", "mean", "period", "phase", "start", "ease"):
            if not np.isfinite(getattr(self, name)):
                raise InputError(f"{name} must be a finite number")
        if not self.period > 0.0:
            raise InputError(f"period must be positive, got {self.period:g} s")
        if not self.end > self.start:
            raise InputError(f"it ends at {self.end:g} s, before it starts at {self.start:g} s")
        if self.ease < 0.0:
            raise InputError(f"ease must not be negative, got {self.ease:g} s")
        for start, end, ease in self.windows:
            if not end > start or not 0.0 <= ease < np.inf:
                raise InputError(f"windows are start, end and ease, got {start:g} s, {end:g} s, {ease:g} s")
        if self.shape == "keys":
            times = [t for t, _ in self.keys]
            if not times:
                raise InputError(f"keys are missing; or give another shape: {', '.join(SHAPES[:-1])}")
            if not np.isfinite(self.keys).all() or any(b <= a for a, b in itertools.pairwise(times)):
                raise InputError("keys must be pairs of time and value, times ascending")
        low, high = self.limits
        if self.group not in OTHERS:
            for value in self._extremes:
                if not low - 1e-9 <= value <= high + 1e-9:
                    what = "an intensity" if of_face(self.group) else "an activation"
                    raise InputError(f"{self.group} reaches {value:g}; {what} is from 0 to 1")

    @property
    def limits(self) -> tuple[float, float]:
        return OTHERS.get(self.group, (0.0, 1.0))

    @property
    def _extremes(self) -> list[float]:
        if self.shape == "keys":
            return [self.mean + self.amplitude * v for _, v in self.keys]
        if self.shape == "sine":
            return [self.mean - abs(self.amplitude), self.mean + abs(self.amplitude)]
        return [self.mean, self.mean + self.amplitude]

    @property
    def stop(self) -> float:
        """When it has nothing more to say [s]."""
        last = self.keys[-1] if self.shape == "keys" else None
        ends = [self.end, *(end for _, end, _ in self.windows)]
        return min([*ends, self.start + last[0]] if last is not None and last[1] == 0.0 else ends)

    def at(self, time: float) -> float:
        """Its value at `time` [s]."""
        if not self.start <= time < self.end:
            return 0.0
        since = time - self.start
        value = self.mean + self.amplitude * self._shape(since)
        if self.ease > 0.0:
            value *= _smooth(min(since / self.ease, (self.end - time) / self.ease, 1.0))
        for start, end, ease in self.windows:
            if not start <= time < end:
                return 0.0
            value *= _smooth(min(time - start, end - time) / ease) if ease > 0.0 else 1.0
        return value

    def _shape(self, since: float) -> float:
        if self.shape == "keys":
            return self._keyed(since)
        u = since / self.period + self.phase
        turn = 2.0 * np.pi * u
        if self.shape == "sine":
            return float(np.sin(turn))
        if self.shape == "half":
            return max(0.0, float(np.sin(turn)))
        if self.shape == "wave":
            return 0.5 - 0.5 * float(np.cos(turn))
        part = u - np.floor(u)
        return float(part) if self.shape == "sawtooth" else float(part < 0.5)

    def _keyed(self, since: float) -> float:
        times = [t for t, _ in self.keys]
        if since <= times[0]:
            return self.keys[0][1]
        if since >= times[-1]:
            return self.keys[-1][1]
        k = int(np.searchsorted(times, since, "right")) - 1
        (t0, a), (t1, b) = self.keys[k], self.keys[k + 1]
        u = (since - t0) / (t1 - t0)
        return a + (b - a) * (_smooth(u) if self.smooth else u)


@dataclass(frozen=True)
class Behaviour:
    """Curves that act together."""

    name: str
    curves: tuple[Curve, ...]
    about: str = ""
    marks: dict[str, tuple[float, ...]] = field(default_factory=dict)  # instants to be judged at [s], by name

    def at(self, time: float) -> dict[str, float]:
        """Sum of each group's curves; groups without a curve are left out."""
        out: dict[str, float] = {}
        for c in self.curves:
            out[c.group] = out.get(c.group, 0.0) + c.at(time)
        return out

    @property
    def seconds(self) -> float:
        """When the last curve ends [s]; infinite if one never does."""
        return max((c.stop for c in self.curves), default=0.0)

    def check(self, seconds: float) -> Behaviour:
        """Itself; an error if within `seconds` a sum leaves its limits."""
        for time in np.arange(0.0, min(seconds, 120.0), 1.0 / SAMPLES):
            for group, value in self.at(float(time)).items():
                low, high = OTHERS.get(group, (0.0, 1.0))
                if not low - 1e-6 <= value <= high + 1e-6:
                    beyond = f"reaches {value:.3g} at {time:.3g} s, beyond {low:g} to {high:g}"
                    raise InputError(f"behaviour '{self.name}': {group} {beyond}")
        return self

    def __add__(self, other: Behaviour) -> Behaviour:
        return Behaviour(f"{self.name} + {other.name}", self.curves + other.curves)

    def later(self, seconds: float) -> Behaviour:
        """The same, `seconds` later."""
        return replace(
            self,
            curves=tuple(_moved(c, seconds) for c in self.curves),
            marks={k: tuple(t + seconds for t in v) for k, v in self.marks.items()},
        )

    def times(self, factor: float, groups: Iterable[str] = MUSCLES) -> Behaviour:
        """Curves of these groups, by default the muscles, times `factor`."""
        chosen = set(groups)
        return replace(
            self,
            curves=tuple(
                replace(c, amplitude=factor * c.amplitude, mean=factor * c.mean) if c.group in chosen else c
                for c in self.curves
            ),
        )

    def within(self, start: float, end: float, ease: float = 0.0) -> Behaviour:
        """Only from `start` to `end` [s], faded in and out within `ease` [s]."""
        kept = (c for c in self.curves if c.start < end and c.end > start)
        return replace(self, curves=tuple(replace(c, windows=(*c.windows, (start, end, ease))) for c in kept))


def blend(first: Behaviour, second: Behaviour, time: float, seconds: float) -> Behaviour:
    """`first` until `time` [s], then `second`, passing over within `seconds`."""
    half = 0.5 * seconds
    before = first.within(-float("inf"), time + half, seconds)
    after = second.within(time - half, float("inf"), seconds)
    return replace(before + after, name=f"{first.name} to {second.name}")


def _moved(c: Curve, by: float) -> Curve:
    windows = tuple((start + by, end + by, ease) for start, end, ease in c.windows)
    return replace(c, start=c.start + by, end=c.end + by, windows=windows)


def _smooth(u: float) -> float:
    u = min(max(u, 0.0), 1.0)
    return u * u * u * (10.0 + u * (6.0 * u - 15.0))
