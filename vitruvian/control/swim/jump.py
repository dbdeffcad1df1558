"""How smoothly a rhythm is steered."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

Array = np.ndarray


@dataclass
class Jump:
    """What commands and reflexes did at once to the wanted muscle lengths: nothing, if these are smooth (C1)."""

    largest: Array = field(default_factory=lambda: np.zeros(2))  # so far, of any length [m] and any rate [m/s]

    def see(self, before: tuple[Array, Array], after: tuple[Array, Array]) -> None:
        """Lengths and rates, shape (n_muscles,) each, on both sides of the instant at which commands are given."""
        leaps = [float(np.abs(b - a).max(initial=0.0)) for a, b in zip(before, after)]
        self.largest = np.maximum(self.largest, leaps)
