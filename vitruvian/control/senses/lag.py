"""What is felt follows what is there with a lag, d f~/dt = (f - f~)/lag (Lee 2008, eq. 5.8).

Without a lag any push is met perfectly in the same instant, which no living body does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

Array = np.ndarray


class Sensed(Protocol):
    """What a controller may read of a body's state; `couple.state.BodyState` has it."""

    q: Array
    v: Array
    activation: Array
    load: Array  # inertia held by each bone, shape (n_bones, 10)
    wrench: Array  # what pushed each bone in the last step, in its frame (moment, force), shape (n_bones, 6)


@dataclass
class Felt:
    """A quantity as felt: it follows the real one with a lag, and is nothing without any sense of it."""

    value: Array
    fresh: bool = True  # until first felt

    def feel(self, real: Array, lag: float | None, dt: float) -> Array:
        """The felt value after dt [s]; lag [s], 0 for none, None for a body that does not feel it at all."""
        if lag is not None:
            share = 1.0 if lag == 0 or self.fresh else 1.0 - np.exp(-dt / lag)
            self.value += share * (real - self.value)
            self.fresh = False
        return self.value
