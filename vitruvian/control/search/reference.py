"""A reference motion of a character: poses at a constant rate, once or over and over.

Between samples joints move along geodesics. A motion that loops closes on itself up to the way that its root goes,
which is added each time around.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from vitruvian.errors import InputError
from vitruvian.skeleton import Skeleton, difference, integrate

Array = np.ndarray


@dataclass(frozen=True)
class Reference:
    """Poses of a skeleton whose root is free."""

    skeleton: Skeleton
    period: float  # [s] between samples
    q: Array  # shape (f, n_q); where it loops, the last sample is the first one of the next time around
    loop: bool = False

    def __post_init__(self) -> None:
        if len(self.q) < 3 or self.q.shape[1] != self.skeleton.n_q or not self.period > 0.0:
            raise InputError(f"a reference needs three poses or more of {self.skeleton.n_q} coordinates")

    @property
    def seconds(self) -> float:
        """Once through [s]."""
        return self.period * (len(self.q) - 1)

    @property
    def way(self) -> Array:
        """How far a cycle goes [m], in the plane, shape (3,)."""
        return np.array([*(self.q[-1, :2] - self.q[0, :2]), 0.0])

    def sample(self, time: float) -> tuple[Array, Array]:
        """q (n_q,) and v (n_v,) at `time` [s]."""
        rounds = 0.0
        if self.loop:
            rounds = np.floor(time / self.seconds)
            time = time - rounds * self.seconds
        at = time / self.period
        k = int(np.clip(np.floor(at), 0, len(self.q) - 2))
        share = float(np.clip(at - k, 0.0, 1.0))
        q = integrate(self.skeleton, self.q[k], self.steps[k], share)
        q[:3] += rounds * self.way
        moving = self.loop or 0.0 <= at <= len(self.q) - 1
        return q, self.steps[k] / self.period if moving else np.zeros(self.skeleton.n_v)

    def mean_velocity(self, start: float, end: float) -> Array:
        """From one time [s] to another, (n_v,)."""
        return difference(self.skeleton, self.sample(start)[0], self.sample(end)[0]) / (end - start)

    @cached_property
    def steps(self) -> Array:
        """Way from each sample to the next, shape (f - 1, n_v)."""
        return np.array([difference(self.skeleton, a, b) for a, b in pairwise(self.q)])

    def slowed(self, factor: float) -> Reference:
        """The same in `factor` times the time."""
        return replace(self, period=self.period * factor)

    def closed(self, seconds: float) -> Reference:
        """A motion led back to its first pose in `seconds` after its end, smoothly, and over and over."""
        count = max(2, round(seconds / self.period))
        step = difference(self.skeleton, self.q[-1], self.q[0])
        u = np.arange(1, count + 1) / count
        back = [integrate(self.skeleton, self.q[-1], step, s * s * (3.0 - 2.0 * s)) for s in u]
        return replace(self, q=np.concatenate([self.q, back]), loop=True)

    def smoothed(self, width: float) -> Reference:
        """Jitter of up to `width` [s] taken out: binomial averages of neighbours along geodesics."""
        q, turns = self.q.copy(), max(0, round(2.0 * (width / self.period) ** 2))
        for _ in range(turns):
            new = q.copy()
            for k in range(len(q)):
                before, after = _neighbours(q, k, self)
                if before is None or after is None:
                    continue
                pull = difference(self.skeleton, q[k], before) + difference(self.skeleton, q[k], after)
                new[k] = integrate(self.skeleton, q[k], pull, 0.25)
            q = new
        return replace(self, q=q)

    def velocities(self) -> Array:
        """At each sample by central differences [rad/s, m/s], shape (f, n_v)."""
        ways = self.steps / self.period
        if self.loop:
            return 0.5 * (ways[np.r_[-1, 0 : len(ways)]] + ways[np.r_[0 : len(ways), 0]])
        return 0.5 * (ways[np.r_[0, 0 : len(ways)]] + ways[np.r_[0 : len(ways), -1]])


def _neighbours(q: Array, k: int, of: Reference) -> tuple[Array | None, Array | None]:
    last = len(q) - 1
    if 0 < k < last:
        return q[k - 1], q[k + 1]
    if not of.loop:
        return None, None
    before, after = q[last - 1].copy(), q[1].copy()
    way = np.array([*(q[-1, :2] - q[0, :2]), 0.0])
    if k == 0:
        before[:3] -= way
    else:
        after[:3] += way
    return before, after
