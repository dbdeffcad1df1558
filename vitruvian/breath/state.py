"""What changes about a trunk that breathes: plain arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitruvian.breath.model import ATMOSPHERE, Cavities, Lungs

Array = np.ndarray


@dataclass
class BreathState:
    """Points of the belly and the diaphragm, and the air in the lungs."""

    x: Array  # free points, then the tendon's middle [m], (p + 1, 3)
    v: Array  # [m/s], (p + 1, 3)
    activation: Array  # of the elements, (e,)
    air: Array  # amount of gas p V [Pa m³], volume [m³], flow in [m³/s], breathed in so far [m³], (4,)
    glottis: Array  # how far it is open, 0 to 1, (1,)
    belly: Array  # pressure over the atmosphere [Pa] and volume [m³] at the latest step, (2,)
    peaks: Array  # largest flow so far, in and out [m³/s], (2,)

    @property
    def volume(self) -> float:
        """Of the lungs [m³]."""
        return float(self.air[1])

    @property
    def flow(self) -> float:
        """Into the lungs [m³/s]."""
        return float(self.air[2])

    @property
    def pressure(self) -> float:
        """In the lungs, over the atmosphere [Pa]."""
        return float(self.air[0] / self.air[1] - ATMOSPHERE)


def at_rest(cavities: Cavities, lungs: Lungs, moved: Array | None = None) -> BreathState:
    """Muscles off, nothing flows; moved: where the trunk has been carried from the default pose, (4, 4)."""
    v = lungs.rest_volume
    T = np.eye(4) if moved is None else moved
    return BreathState(
        x=cavities.rest @ T[:3, :3].T + T[:3, 3],
        v=np.zeros_like(cavities.rest),
        activation=np.zeros(cavities.n_elements),
        air=np.array([ATMOSPHERE * v, v, 0.0, 0.0]),
        glottis=np.ones(1),
        belly=np.array([0.0, cavities.belly_volume]),
        peaks=np.zeros(2),
    )
