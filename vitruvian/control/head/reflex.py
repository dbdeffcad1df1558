"""The stretch reflex (Lee 2008, eq. 4.1), every step:

    a = clip(a_f + s (k_p (e - e_d) + k_v sat_m(e' - e_d')), 0, 1),   e = (l - l0)/l0,

a_f: feedforward from above; e_d, e_d': wanted strain and its rate; s: gain from above. Appendix A: beside the intrinsic
stiffness k_max a of an active muscle it adds s k_p F_l / l0, both N/m.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba as nb
import numpy as np

from vitruvian.anatomy import Body
from vitruvian.couple import BodyStepper, MuscleLines
from vitruvian.couple.muscle_pull import muscle_geometry
from vitruvian.muscle import lengths
from vitruvian.skeleton import bone_poses

Array = np.ndarray


@dataclass(frozen=True)
class Reflex:
    """Gains of the reflex."""

    k_p: float = 8.0
    k_v: float = 0.05  # [s]
    most: float = 2.0  # m [1/s], where the rate saturates

    def activation(
        self, feedforward: Array, strain: Array, rate: Array, wanted: Array, wanted_rate: Array, gain: float
    ) -> Array:
        """Activations (n_muscles,); all arrays of that shape, rates in 1/s."""
        out = np.empty_like(feedforward)
        _reflex(feedforward, strain, rate, wanted, wanted_rate, gain, self.k_p, self.k_v, self.most, out)
        return out


class Spindles:
    """Strain and strain rate of the muscles of one body."""

    def __init__(self, body: Body, stepper: BodyStepper):
        """stepper: a twin, whose scratch is used."""
        self.body, self._bones = body, stepper.bones
        self._lines = MuscleLines(stepper.bones, body.muscles)
        self.rest = body.muscles.rest_length

    def sense(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Strain and strain rate [1/s] at coordinates and velocities, each (n_muscles,)."""
        system = self._bones.assemble(q, v, 1e-3)
        found = self._lines.results
        muscle_geometry(self._lines.paths, found, system.poses, system.screws, v)
        return found.length / self.rest - 1.0, found.rate / self.rest

    def strain(self, q: Array) -> Array:
        """Strain in a pose, (n_muscles,)."""
        return lengths(self.body.muscles, bone_poses(self.body.skeleton, q)) / self.rest - 1.0


@nb.njit(cache=True)
def _reflex(feedforward, strain, rate, wanted, wanted_rate, gain, k_p, k_v, most, out):
    for i in range(len(out)):
        slip = min(max(rate[i] - wanted_rate[i], -most), most)
        a = feedforward[i] + gain * (k_p * (strain[i] - wanted[i]) + k_v * slip)
        out[i] = min(max(a, 0.0), 1.0)
