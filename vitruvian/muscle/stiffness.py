"""What muscles add to the stiffness and damping of the joints (Lee 2008, appendix A).

    K_J = P diag(k) P^T,  D_J = P diag(d) P^T,  k = df/dl, d = df/dl'.

Coactivation leaves the torque and raises k, so it stiffens; this is what tone is. A negative slope (a stretched
`CurvedHill`) is left out, since an implicit step needs a positive matrix; the force itself is unchanged by that.
"""

from __future__ import annotations

import numpy as np

from vitruvian.muscle import kernels
from vitruvian.muscle.forces import Tension
from vitruvian.muscle.paths import MomentArms

Array = np.ndarray


def joint_stiffness(arms: MomentArms, slope: Tension) -> Array:
    """K_J [N m/rad], shape (n_v, n_v), symmetric, not negative."""
    return _congruence(arms, np.maximum(slope.stiffness, 0.0))


def joint_damping(arms: MomentArms, slope: Tension) -> Array:
    """D_J [N m s/rad], shape (n_v, n_v), symmetric, not negative."""
    return _congruence(arms, np.maximum(slope.damping, 0.0))


def _congruence(arms: MomentArms, weight: Array) -> Array:
    model = arms.model
    out = np.zeros((model.n_v, model.n_v))
    kernels.add_products(model.row_start, model.column, arms.data, weight, np.arange(model.n_v), out)
    return out + np.tril(out, -1).T
