"""Gains of the stretch reflex (Lee 2008, eq. 4.1) and the strains that it is asked to keep.

The body itself closes the loop in every step (`couple.stretch_reflex`). Appendix A: beside the intrinsic stiffness
k_max a of an active muscle the reflex adds s k_p F_l / l0, both N/m.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba as nb
import numpy as np

from vitruvian.anatomy import Body
from vitruvian.couple.stretch_reflex import reflexed
from vitruvian.muscle import kernels
from vitruvian.skeleton.evaluate import evaluate_joints
from vitruvian.skeleton.kinematics import locate

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
        _reflex(feedforward, strain - wanted, rate - wanted_rate, gain, self.k_p, self.k_v, self.most, out)
        return out


class Spindles:
    """Strains of the muscles of one body, and where its bones are; holds scratch memory, no state."""

    def __init__(self, body: Body):
        s, m = body.skeleton, body.muscles
        self.skeleton, self.muscles = s, m
        self._work = s.new_workspace()
        self._twists = np.empty((s.n_v, 6))
        self._points, self._lines = np.empty_like(m.local), np.empty((len(m.segment_start) - 1, 6))
        self.poses = np.empty((s.n_bones, 4, 4))  # of the bones at the latest q

    def strain(self, q: Array) -> Array:
        """Strain in a pose, (n_muscles,)."""
        s, m, w = self.skeleton, self.muscles, self._work
        out = np.empty(m.n_muscles)
        _strain(
            s.topology, s.bodies, s.params, s.custom_rows(q), q, s.still, w.rows, w.dofs, w.hessians, w.scratch,
            self.poses, self._twists, m.offsets, m.bone, m.local, m.wraps, m.carriers, self._points, self._lines,
            m.rest_length, out,
        )  # fmt: skip
        return out


@nb.njit(cache=True)
def _reflex(feedforward, strain, slip, gain, k_p, k_v, most, out):
    for i in range(len(out)):
        out[i] = reflexed(feedforward[i], strain[i], slip[i], gain, k_p, k_v, most)


@nb.njit(cache=True)
def _strain(
    topology, bodies, params, custom, q, still, rows, dofs, hessians, scratch, poses, twists, offsets, bone, local,
    wraps, carriers, points, lines, rest, out,
):  # fmt: skip
    """Strains at q into out, poses of the bones into poses."""
    evaluate_joints(topology, bodies, params, custom, q, still, rows, dofs, hessians, scratch)
    locate(topology, rows, dofs, poses, twists)
    kernels.path_lines(offsets, bone, local, wraps, carriers, poses, points, lines, out)
    for m in range(len(out)):
        out[m] = out[m] / rest[m] - 1.0
