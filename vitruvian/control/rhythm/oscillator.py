"""The oscillator of a central pattern generator, one per muscle (Si 2013, eqs. 4.1-4.3, after Gams et al. 2009).

    z' = W (alpha (beta (g - y) - z) + r sum_i Psi_i w_i / sum_i Psi_i)          y' = W z
    Psi_i = exp(h (cos(P - c_i) - 1)),     P' = W

y is the wanted length, attracted to the baseline g and driven by the learned weights w; r is the amplitude, W the
frequency [rad/s] and P the phase of the muscle's group. With alpha = 4 beta the attraction is critically damped: a
wrong start fades as exp(-4 P). The system is linear in (y, z, g, r): weights learned on signals scaled to -0.5..0.5
give lengths in metres when r is the range and g the middle.

Each group's frequency follows its target smoothly, W' = (W* - W) / t_W, because y' = W z: a jump of W would be a jump
of the length's rate. W and P are exact over a step, y and z take one Runge-Kutta step of fourth order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba as nb
import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class Oscillator:
    """Constants of Si 2013, section 4.2, but for N: his 25 kernels leave up to 6 % of a few muscles' range, see
    docs/rhythm.md; `SI_OSCILLATOR` has them."""

    alpha: float = 8.0
    beta: float = 2.0
    kernels: int = 40  # N
    width: float = 2.5  # h = width N
    settling: float = 0.5  # [s] t_W, ours: Si asks only that W be continuous

    @property
    def sharpness(self) -> float:
        """h of the kernels."""
        return self.width * self.kernels

    @property
    def centres(self) -> Array:
        """c_i [rad], shape (N,)."""
        return 2.0 * np.pi * np.arange(self.kernels) / self.kernels

    def basis(self, phase: float | Array) -> Array:
        """Psi at phases [rad] of any shape, shape (*phase, N)."""
        return np.exp(self.sharpness * (np.cos(np.asarray(phase)[..., None] - self.centres) - 1.0))

    def mixture(self, phase: float | Array) -> Array:
        """Psi_i / sum Psi at phases [rad] of any shape, shape (*phase, N)."""
        psi = self.basis(phase)
        return psi / psi.sum(axis=-1, keepdims=True)


SI_OSCILLATOR = Oscillator(kernels=25)


@nb.njit(cache=True)
def advance(
    alpha: float,
    beta: float,
    mix: Array,  # Psi_i / sum Psi at the beginning, middle and end of the step, shape (3, n_groups, N)
    frequency: Array,  # W [rad/s] at the same instants, shape (3, n_groups)
    group: Array,  # of each muscle, shape (n,)
    pattern: Array,  # which weights each muscle uses, shape (n,)
    weights: Array,  # w, shape (n_patterns, n, N)
    r: Array,  # shape (n,)
    g: Array,  # shape (n,)
    dt: float,
    y: Array,  # shape (n,), advanced in place
    z: Array,  # shape (n,), advanced in place
) -> None:
    """One Runge-Kutta step of all muscles."""
    drive, stage = np.empty(3), np.array([0, 1, 1, 2])
    reach, share = np.array([0.0, 0.5, 0.5, 1.0]), np.array([1.0, 2.0, 2.0, 1.0])
    for m in range(len(y)):
        w, k = weights[pattern[m], m], group[m]
        for s in range(3):
            total = 0.0
            for i in range(len(w)):
                total += mix[s, k, i] * w[i]
            drive[s] = r[m] * total
        dy, dz, sum_y, sum_z = 0.0, 0.0, 0.0, 0.0
        for s in range(4):
            W, at = frequency[stage[s], k], reach[s] * dt
            yy, zz = y[m] + at * dy, z[m] + at * dz
            dy = W * zz
            dz = W * (alpha * (beta * (g[m] - yy) - zz) + drive[stage[s]])
            sum_y += share[s] * dy
            sum_z += share[s] * dz
        y[m] += dt * sum_y / 6.0
        z[m] += dt * sum_z / 6.0
