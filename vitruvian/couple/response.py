"""How bones answer impulses that come after their own step was assembled: dv = A⁻¹ p, and the mobility of links.

A = M + h D + h² K (`couple.step`) is symmetric and positive definite, so it is factored once (Cholesky) and then
answers for any impulse: the water's pressure is found together with the bones through J A⁻¹ Jᵀ, the mobility of links
whose twists are J v. Where joints are led on a course, their dv is given and only the six of the root are solved for.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from vitruvian.couple.books import Book
from vitruvian.couple.step import System
from vitruvian.errors import Diverged, InputError
from vitruvian.skeleton.cholesky import cholesky, solve_cholesky

Array = np.ndarray


class StepResponse:
    """A step's system, factored. It answers from copies of its own; booking its work needs the system's scratch."""

    def __init__(self, system: System, fixed: Array | None = None):
        """fixed: velocity changes of joints on a course (n_v,), None if all are free."""
        if len(system.step.free) < len(system.force):
            raise InputError("impulses after the step need all joint coordinates free; some are held")
        self.system, self.fixed, self._serial = system, fixed, system.serial
        self.place, self.full = system.step.place, system.matrix.copy()
        self.push = system.dt * system.force  # impulses of all forces [N m s], shape (n_v,)
        self.impulse = np.zeros_like(self.push) if system.impulse is None else system.impulse.copy()  # beside these
        self._mobility: Array | None = None
        n = len(self.full)
        self.factor = self.full.copy() if fixed is None else np.ascontiguousarray(self.full[n - 6 :, n - 6 :])
        if cholesky(self.factor) >= 0:
            raise Diverged("the body", "the step's matrix is not positive definite; take a smaller step")

    def book_work(self, book: Book, after: Array) -> None:
        """As `System.book_work`, with what leads joints on a course as drive."""
        if self.system.serial != self._serial:
            raise RuntimeError("a step's scratch was used again before its work was booked: give each body a stepper")
        self.system.book_work(book, after)
        if self.fixed is not None:
            gained, middle = after - self.system.v, 0.5 * (self.system.v + after)
            book.add_work("drive", float(self.needed(gained) @ middle))

    def step(self) -> Array:
        """Velocity change by all forces and impulses."""
        total = self.push + self.impulse
        if self.fixed is None:
            return self.response(total)
        return self.fixed + self.response(total - self.product(self.fixed))

    def needed(self, gained: Array) -> Array:
        """Impulses [N m s] (n_v,) that lead the joints on their course, once all others are known; none on the root."""
        out = self.product(gained) - self.push - self.impulse
        out[:6] = 0.0
        return out

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
