"""A joint of the user's own: any scleronomic constraint given by transform, Jacobian and Hessian (Lee 2008, 6.2.1).

The functions are plain Python and run once per evaluation, before the kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vitruvian.errors import InputError
from vitruvian.skeleton.joints.base import CUSTOM, Array, Joint, check_finite
from vitruvian.spatial import inverse, log_se3

ROW = 12 + 36 + 216  # G, S, ∂S/∂q as the kernels read them


@dataclass(frozen=True)
class Custom(Joint):
    """n_dof coordinates; transform(q) -> (4, 4); jacobian(q) -> (6, n), columns s_i = (G⁻¹ ∂G/∂q_i)ˇ;
    hessian(q) -> (n, n, 6) with hessian[i, j] = ∂s_i/∂q_j. `start`: coordinates of the fresh skeleton."""

    n_dof: int
    transform: Callable[[Array], Array]
    jacobian: Callable[[Array], Array]
    hessian: Callable[[Array], Array]
    start: tuple[float, ...] | None = None

    code = CUSTOM

    @property
    def n_v(self) -> int:  # type: ignore[override]
        return self.n_dof

    def zero(self) -> Array:
        return np.zeros(self.n_dof) if self.start is None else np.array(self.start, dtype=float)

    def row(self, q: Array) -> Array:
        """G, S, ∂S/∂q at q as one flat row, shape (ROW,)."""
        n = self.n_dof
        row = np.zeros(ROW)
        T = np.asarray(self.transform(q), dtype=float)
        row[:9], row[9:12] = T[:3, :3].ravel(), T[:3, 3]
        row[12 : 12 + 6 * n] = np.asarray(self.jacobian(q), dtype=float).T.ravel()
        row[48:].reshape(6, 6, 6)[:n, :n] = self.hessian(q)
        return row

    def check(self, bone: str) -> None:
        if not 1 <= self.n_dof <= 6:
            raise InputError(f"bone '{bone}': a joint has 1 to 6 degrees of freedom, not {self.n_dof}")
        q, n, step = self.zero(), self.n_dof, 1e-5
        check_finite(q, f"bone '{bone}': joint start")
        if q.shape != (n,):
            raise InputError(f"bone '{bone}': joint start needs {n} numbers, got the shape {q.shape}")
        for name, function, shape in (
            ("transform", self.transform, (4, 4)),
            ("jacobian", self.jacobian, (6, n)),
            ("hessian", self.hessian, (n, n, 6)),
        ):
            value = _value(function, q, f"bone '{bone}': joint {name}")
            if value.shape != shape:
                raise InputError(f"bone '{bone}': joint {name} has the shape {value.shape}, not {shape}")
            check_finite(value, f"bone '{bone}': joint {name}")
        S, H = (_value(f, q, f"bone '{bone}': joint") for f in (self.jacobian, self.hessian))
        if np.linalg.svd(S, compute_uv=False)[-1] < 1e-9:
            raise InputError(f"bone '{bone}': the Jacobian of the joint loses rank at its start")
        for j in range(n):
            up, down = q.copy(), q.copy()
            up[j] += step
            down[j] -= step
            ends = [_value(self.transform, x, f"bone '{bone}': joint transform") for x in (down, up)]
            twist = log_se3(inverse(ends[0]) @ ends[1]) / (2.0 * step)
            if np.abs(twist - S[:, j]).max() > 1e-5 * (1.0 + np.abs(S).max()):
                raise InputError(f"bone '{bone}': column {j} of the joint Jacobian disagrees with the joint transform")
            ends = [_value(self.jacobian, x, f"bone '{bone}': joint jacobian") for x in (down, up)]
            slope = (ends[1] - ends[0]) / (2.0 * step)
            if np.abs(slope - H[:, j].T).max() > 1e-5 * (1.0 + np.abs(H).max()):
                raise InputError(
                    f"bone '{bone}': the joint Hessian disagrees with the slope of its Jacobian along q_{j}"
                )


def _value(function: Callable[[Array], Array], q: Array, what: str) -> Array:
    """function(q) as doubles; whatever it raises becomes an InputError that says `what` and why."""
    try:
        return np.asarray(function(q.copy()), dtype=float)
    except Exception as error:  # the user's own code: anything may come
        raise InputError(f"{what} cannot be evaluated at q = {q}: {type(error).__name__}: {error}") from error
