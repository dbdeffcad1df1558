"""A task: parts of the body keep apart (Si 2013, 5.21-5.23, as rows from one side).

    n · (J_2 - J_1) x  ≥  -(gap - margin) / τ             for pairs of capsules that could break it a time T ahead

A limb follows what is wanted with a lag of about T, so τ is three times that, and a pair that closes at 3 m/s has its
row from half a metre on. The documents ask every near pair for a velocity that grows exponentially with the overlap,
which also draws pairs together; a row from one side is idle until they would meet.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitruvian.control.tasks.capsules import Capsules
from vitruvian.control.tasks.gather import Gathered
from vitruvian.control.tasks.now import Now

Array = np.ndarray


@dataclass
class Apart:
    """See the head of this file."""

    capsules: Capsules
    weight: float = 3000.0
    margin: float = 0.04  # [m]
    settle: float = 0.15  # τ [s]
    sudden: float = 1.0  # [m/s] by which two parts may close faster a time T ahead
    fastest: float = 1.0  # [m/s]
    name: str = "apart"

    def add(self, now: Now, gathered: Gathered, memory: dict[str, Array]) -> None:
        gap, points, normal = self.capsules.near(now.poses)
        a, b = self.capsules.bones[self.capsules.pairs].T
        closing = -(normal * (now.velocities(b, points[:, 1]) - now.velocities(a, points[:, 0]))).sum(axis=1)
        close = np.flatnonzero(gap - self.margin < self.settle * (np.maximum(closing, 0.0) + self.sudden))
        if not len(close):
            return
        rows = np.empty((len(close), len(now.v)))
        for k, p in enumerate(close):
            a, b = self.capsules.bones[self.capsules.pairs[p]]
            rows[k] = normal[p] @ (now.moving(b, points[p, 1]) - now.moving(a, points[p, 0]))
        rate = np.minimum(-(gap[close] - self.margin) / self.settle, self.fastest)
        gathered.want(rows, rate, self.weight, at_least=True)
