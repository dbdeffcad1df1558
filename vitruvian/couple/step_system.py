"""The linear system A dv = p of one sub-step of a body in water, with all joints free or led on a course.

A = M + h D + h^2 K is symmetric and positive definite, so it is factored once (Cholesky) and then answers for any
impulse: the response dv = A^-1 p, and the mobility J A^-1 J^T of links whose twists are J v. Where joints are led,
their dv is given and only the six of the pelvis are solved for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from vitruvian.errors import Diverged
from vitruvian.muscle.linear import cholesky, solve_cholesky

Array = np.ndarray


class StepSystem:
    """The system of one sub-step, factored, and what was put into it."""

    def __init__(
        self, matrix: Array, place: Array, push: Array, drive: Array, soft: Array, dt: float, fixed: Array | None,
        before: Array, work: Any,
    ):  # fmt: skip
        """matrix: lower triangle in the stepper's order; push: impulses of all forces but the water's; drive: of these,
        the torques', which give way by `soft` [N m s] times the velocity gained (so in the matrix); fixed: velocity
        changes of joints on a course, None if all are free."""
        self.place, self.push, self.drive, self.soft = place, push, drive, soft
        self.dt, self.fixed = dt, fixed
        self.before, self.work = before.copy(), work
        self.impulse = np.zeros_like(before)
        self.water = np.zeros_like(before)  # of these, what the water really gave [N m s]
        self._mobility: Array | None = None
        self.full = matrix
        n = len(matrix)
        if fixed is None:
            self.factor = matrix.copy()
        else:
            self.factor = np.ascontiguousarray(matrix[n - 6 :, n - 6 :])
        if cholesky(self.factor) >= 0:
            raise Diverged("the body", "the step's matrix is not positive definite; take a smaller step")

    def step(self, p: Array) -> Array:
        """Velocity change by all forces and by impulses p (n_v,) of the water."""
        if self.fixed is None:
            return self.response(self.push + p)
        return self.fixed + self.response(self.push + p - self.product(self.fixed))

    def response(self, p: Array) -> Array:
        """Velocity change by generalized impulses p (n_v,)."""
        out = np.zeros_like(p)
        if self.fixed is None:
            x = np.empty_like(p)
            x[self.place] = p
            solve_cholesky(self.factor, x)
            out[:] = x[self.place]
        else:
            x = p[:6][::-1].copy()
            solve_cholesky(self.factor, x)
            out[:6] = x[::-1]
        return out

    def product(self, x: Array) -> Array:
        """A x, shape (n_v,)."""
        y = np.empty_like(x)
        y[self.place] = x
        z = np.zeros_like(x)
        _symmetric(self.full, y, z)
        return np.asarray(z[self.place])

    def mobility(self, jacobian: Array) -> Array:
        """J A^-1 J^T, shape (6 links, 6 links)."""
        if self._mobility is None:
            if self.fixed is None:
                columns = np.empty((jacobian.shape[1], jacobian.shape[0]))
                columns[self.place] = jacobian.T
            else:
                columns = np.ascontiguousarray(jacobian.T[:6][::-1])
            self._mobility = np.zeros((jacobian.shape[0],) * 2)
            _mobility(self.factor, columns, self._mobility)
        return self._mobility


# --- kernels -------------------------------------------------------------------------------------------------------


@njit(cache=True)
def _mobility(L, columns, out):
    """out = Y^T Y with L Y = columns; columns are overwritten."""
    n, m = columns.shape
    for i in range(n):
        row = columns[i]
        for j in range(i):
            f = L[i, j]
            if f != 0.0:
                other = columns[j]
                for k in range(m):
                    row[k] -= f * other[k]
        f = 1.0 / L[i, i]
        for k in range(m):
            row[k] *= f
    for i in range(n):
        row = columns[i]
        for a in range(m):
            f = row[a]
            if f != 0.0:
                line = out[a]
                for k in range(a + 1):
                    line[k] += f * row[k]
    for a in range(m):
        for k in range(a):
            out[k, a] = out[a, k]


@njit(cache=True)
def _symmetric(lower, x, out):
    """out = A x with A given by its lower triangle."""
    for i in range(len(x)):
        row = lower[i]
        s = row[i] * x[i]
        for j in range(i):
            s += row[j] * x[j]
            out[j] += row[j] * x[i]
        out[i] += s
