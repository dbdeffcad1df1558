"""Multigrid: a preconditioner whose iterations hardly grow when elements get smaller.

One V-cycle: smoothing by a Chebyshev polynomial of the block-Jacobi iteration (Adams, Brezina, Hu and Tuminaro 2003),
the residual carried to the next coarser elements (`Elements.coarser`) and solved for there in the same way, and the
same smoothing. Coarse matrices are Galerkin products Pᵀ A P, so that springs to bone, contact and held nodes are in
them. Symmetric, in float32, every sum in a fixed order. After Zhu, Sifakis, Teran and Brandt 2010, with the virtual
nodes of `lattice.coarsen`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit, prange
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from vitruvian.flesh.elements import Coarser
from vitruvian.flesh.model import FleshModel
from vitruvian.flesh.pattern import Pattern

SWEEPS = 8  # on the coarsest level
DEGREE = 2  # of the smoother's polynomial
RANGE = 4.0  # the smoother damps eigenvalues of D⁻¹A from the largest down to the largest over this
POWER, SAFETY = 8, 1.1  # iterations for the largest eigenvalue, and what they may miss of it
CHUNK = 128  # rows per task
# Work between two assemblies, in products of matrix and vector. As timed in whole balances and time steps: blocks of
# 8³ to 20³ cells, bars of 6×6×12 to 6×6×30, steps of 1 to 30 ms, the whole body at 20 and 10 mm
SOLVES = 3.0  # linear solves to a tenth for which one matrix lasts
PLAIN, PER_ELEMENT = 0.82, 2.7  # of an iteration with diagonal blocks, and how many a solve takes per element of reach
SETUP, CYCLES, CYCLE = 22.0, 2.6, 7.0  # of coarser matrices; V-cycles that a solve takes, and the work of each


@dataclass
class Level:
    """One level: its matrix, its smoother, and how the next coarser one hangs on it."""

    start: np.ndarray
    column: np.ndarray
    diagonal: np.ndarray
    data: np.ndarray  # (n_blocks, 9) float32
    inverse: np.ndarray  # of the diagonal blocks, times the damping, (n, 9) float32
    up: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None  # P by rows
    down: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None  # Pᵀ by rows

    def __post_init__(self) -> None:
        n = len(self.diagonal)
        self.solution, self.right, self.rest, self.direction = (np.zeros((n, 3), np.float32) for _ in range(4))


def multigrid_pays(elements: float) -> bool:
    """Whether multigrid is estimated to be less work than diagonal blocks where loads travel so many elements.

    Diagonal blocks carry a load one element farther with each iteration, so their number grows with the elements that
    lie between the tissue and what holds it (`reach`), or with those that a wave crosses in a time step (`crossed`) if
    they are fewer; that of V-cycles does not.
    """
    return SOLVES * PLAIN * PER_ELEMENT * elements > SETUP + SOLVES * CYCLES * CYCLE


def reach(pattern: Pattern, held: np.ndarray) -> int:
    """Elements from the nodes that are held to the farthest one; of a free body, half its length."""
    n = len(pattern.diagonal)
    graph = csr_matrix((np.ones(len(pattern.column), np.int8), pattern.column, pattern.start), shape=(n, n))
    near = held if held.any() else np.arange(n) == 0
    steps = dijkstra(graph, indices=np.flatnonzero(near), unweighted=True, min_only=True)
    far = int(steps[np.isfinite(steps)].max())
    return far if held.any() else (far + 1) // 2


def crossed(model: FleshModel) -> float:
    """Elements that a pressure wave crosses in a second: √(M/ρ)/h, M = γ + 4/3 μ, as the matrix has it."""
    elements, elastic = model.elements, model.elasticity
    stiff = (elastic.penalty + 4.0 / 3.0 * elastic.shear) * elements.volume / elements.size**2
    return float(np.sqrt(np.sum(stiff) / np.sum(model.node_mass)))


class Multigrid:
    """The coarser levels of one body; `update` refills them from a matrix, `apply` is one V-cycle."""

    def __init__(
        self, coarser: Sequence[Coarser], start: np.ndarray, column: np.ndarray, diagonal: np.ndarray, fixed: np.ndarray
    ) -> None:
        """start, column, diagonal: of the finest level's `Pattern`; fixed: components held there, shape (n, 3)."""
        self.fixed = np.ascontiguousarray(fixed)
        self.levels = [Level(start, column, diagonal, np.zeros((0, 9), np.float32), _blocks(len(diagonal)))]
        for below in coarser:
            upper = self.levels[-1]
            upper.up, upper.down = _rows(below.ride), _rows(below.ride.T.tocsr())
            self.levels.append(_level(below))

    def update(self, data: np.ndarray) -> None:
        """New matrix on the finest level, shape (n_blocks, 9)."""
        self.levels[0].data = data
        for k, level in enumerate(self.levels):
            mask = self.fixed if k == 0 else np.zeros((len(level.diagonal), 3), bool)
            smoother(level.data, level.diagonal, mask, level.inverse)
            level.inverse *= np.float32(self._scale(level))
            if level.up is not None and level.down is not None:
                below = self.levels[k + 1]
                galerkin(
                    level.start,
                    level.column,
                    level.data,
                    mask,
                    *level.up,
                    *level.down,
                    below.start,
                    below.column,
                    below.data,
                )

    def apply(self, residual: np.ndarray, out: np.ndarray) -> None:
        """out = M⁻¹ residual, both (n, 3) float64."""
        top = self.levels[0]
        top.right[:] = residual
        self._cycle(0)
        out[:] = top.solution

    def _cycle(self, k: int) -> None:
        level = self.levels[k]
        x, b, r = level.solution, level.right, level.rest
        if level.down is None or level.up is None:
            self._smooth(level, SWEEPS, True)
            return
        below = self.levels[k + 1]
        self._smooth(level, DEGREE, True)
        remainder(level.start, level.column, level.data, x, b, r)
        if k == 0:
            hold(self.fixed, r)
        carry(*level.down, r, below.right)
        self._cycle(k + 1)
        add_carried(*level.up, below.solution, x)
        if k == 0:
            hold(self.fixed, x)
        self._smooth(level, DEGREE, False)

    def _smooth(self, level: Level, degree: int, zero: bool) -> None:
        """Chebyshev's polynomial in D⁻¹A over the upper part of its spectrum; from x = 0 if `zero`."""
        x, b, r, d = level.solution, level.right, level.rest, level.direction
        middle, half = 0.5 * (1.0 + 1.0 / RANGE), 0.5 * (1.0 - 1.0 / RANGE)
        rho, factor, keep = half / middle, 1.0 / middle, 0.0
        for turn in range(degree):
            if turn == 0 and zero:
                chebyshev(level.inverse, b, np.float32(0.0), np.float32(factor), d, x, True)
            else:
                remainder(level.start, level.column, level.data, x, b, r)
                chebyshev(level.inverse, r, np.float32(keep), np.float32(factor), d, x, False)
            after = 1.0 / (2.0 * middle / half - rho)
            keep, factor, rho = after * rho, 2.0 * after / half, after

    def _scale(self, level: Level) -> float:
        """One over the largest eigenvalue of D⁻¹A, by power iterations from a rough start."""
        n = len(level.diagonal)
        x, r = level.solution, level.rest
        x[:] = np.where(np.arange(3 * n).reshape(n, 3) * 2654435761 % 4294967296 < 2147483648, 1.0, -1.0)
        largest = 0.0
        for _ in range(POWER):
            product(level.start, level.column, level.data, x, r)
            chebyshev(level.inverse, r, np.float32(0.0), np.float32(1.0), r, x, True)
            largest = float(np.sqrt(np.sum(x * x)))
            if largest == 0.0:
                return 1.0
            x /= np.float32(largest)
        return 1.0 / (SAFETY * largest)


def _blocks(n: int) -> np.ndarray:
    return np.zeros((n, 9), np.float32)


def _rows(p: csr_matrix) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return p.indptr.astype(np.int64), p.indices.astype(np.int32), p.data.astype(np.float32)


def _level(coarser: Coarser) -> Level:
    n, corners = coarser.ride.shape[1], coarser.element_nodes
    keys = np.unique((corners[:, :, None] * n + corners[:, None, :]).ravel())
    start = np.searchsorted(keys // n, np.arange(n + 1)).astype(np.int64)
    diagonal = np.searchsorted(keys, np.arange(n) * (n + 1)).astype(np.int64)
    return Level(start, (keys % n).astype(np.int32), diagonal, np.zeros((len(keys), 9), np.float32), _blocks(n))


@njit(cache=True, parallel=True)
def galerkin(start, column, data, fixed, ps, pc, pw, ts, tc, tw, cs, cc, out):
    """Pᵀ A P into out. A: start, column, data; P by rows: ps, pc, pw; Pᵀ by rows: ts, tc, tw; out: cs, cc, out."""
    n, coarse = len(start) - 1, len(cs) - 1
    for chunk in prange((coarse + CHUNK - 1) // CHUNK):
        where = np.full(n, -1, np.int32)
        place = np.full(coarse, -1, np.int32)
        near = np.empty(4096, np.int32)
        total = np.zeros((4096, 9), np.float32)
        for row in range(chunk * CHUNK, min(chunk * CHUNK + CHUNK, coarse)):
            count = 0
            for t in range(ts[row], ts[row + 1]):
                i, w = tc[t], tw[t]
                for e in range(start[i], start[i + 1]):
                    j = column[e]
                    at = where[j]
                    if at < 0:
                        at = count
                        where[j] = count
                        near[count] = j
                        for k in range(9):
                            total[count, k] = 0.0
                        count += 1
                    for k in range(9):
                        total[at, k] += w * data[e, k]
                    if fixed[i, 0] or fixed[i, 1] or fixed[i, 2]:
                        for k in range(9):
                            if fixed[i, k // 3]:
                                total[at, k] -= w * data[e, k]
            for e in range(cs[row], cs[row + 1]):
                place[cc[e]] = e - cs[row]
                for k in range(9):
                    out[e, k] = 0.0
            for m in range(count):
                j = near[m]
                where[j] = -1
                for k in range(9):
                    if fixed[j, k % 3]:
                        total[m, k] = 0.0
                for t in range(ps[j], ps[j + 1]):
                    e = cs[row] + place[pc[t]]
                    for k in range(9):
                        out[e, k] += pw[t] * total[m, k]


@njit(cache=True, parallel=True)
def smoother(data, diagonal, fixed, out):
    """Inverses of the diagonal blocks into out (n, 9); zero rows and columns where a component is held."""
    for i in prange(len(diagonal)):
        d = diagonal[i]
        a, b, c = float(data[d, 0]), 0.5 * (data[d, 1] + data[d, 3]), 0.5 * (data[d, 2] + data[d, 6])
        e, f, g = float(data[d, 4]), 0.5 * (data[d, 5] + data[d, 7]), float(data[d, 8])
        if fixed[i, 0]:
            a, b, c = 1.0, 0.0, 0.0
        if fixed[i, 1]:
            b, e, f = 0.0, 1.0, 0.0
        if fixed[i, 2]:
            c, f, g = 0.0, 0.0, 1.0
        minor = a * e - b * b
        det = a * (e * g - f * f) + b * (c * f - b * g) + c * (b * f - c * e)
        for k in range(9):
            out[i, k] = 0.0
        if a > 0.0 and minor > 0.0 and det > 1e-9 * a * e * g:
            out[i, 0] = (e * g - f * f) / det
            out[i, 1] = (c * f - b * g) / det
            out[i, 2] = (b * f - c * e) / det
            out[i, 4] = (a * g - c * c) / det
            out[i, 5] = (b * c - a * f) / det
            out[i, 8] = minor / det
            out[i, 3], out[i, 6], out[i, 7] = out[i, 1], out[i, 2], out[i, 5]
        else:  # not definite: its largest entry on the diagonal keeps the smoother so
            size = max(abs(a), abs(e), abs(g))
            if size > 0.0:
                out[i, 0] = 1.0 / (a if a > 0.01 * size else size)
                out[i, 4] = 1.0 / (e if e > 0.01 * size else size)
                out[i, 8] = 1.0 / (g if g > 0.01 * size else size)
        for k in range(3):
            if fixed[i, k]:
                for l in range(3):
                    out[i, 3 * k + l] = 0.0
                    out[i, 3 * l + k] = 0.0


@njit(cache=True, parallel=True)
def chebyshev(inverse, r, keep, factor, d, x, zero):
    """d = keep d + factor D⁻¹ r, x += d; from nothing if zero."""
    for i in prange(len(r)):
        b0, b1, b2 = r[i, 0], r[i, 1], r[i, 2]
        for k in range(3):
            z = factor * (inverse[i, 3 * k] * b0 + inverse[i, 3 * k + 1] * b1 + inverse[i, 3 * k + 2] * b2)
            if zero:
                d[i, k] = z
                x[i, k] = z
            else:
                d[i, k] = keep * d[i, k] + z
                x[i, k] += d[i, k]


@njit(cache=True, parallel=True)
def product(start, column, data, x, out):
    """out = A x."""
    for i in prange(len(x)):
        s0, s1, s2 = np.float32(0.0), np.float32(0.0), np.float32(0.0)
        for e in range(start[i], start[i + 1]):
            j = column[e]
            s0 += data[e, 0] * x[j, 0] + data[e, 1] * x[j, 1] + data[e, 2] * x[j, 2]
            s1 += data[e, 3] * x[j, 0] + data[e, 4] * x[j, 1] + data[e, 5] * x[j, 2]
            s2 += data[e, 6] * x[j, 0] + data[e, 7] * x[j, 1] + data[e, 8] * x[j, 2]
        out[i, 0], out[i, 1], out[i, 2] = s0, s1, s2


@njit(cache=True, parallel=True)
def remainder(start, column, data, x, b, out):
    """out = b − A x."""
    for i in prange(len(x)):
        s0, s1, s2 = b[i, 0], b[i, 1], b[i, 2]
        for e in range(start[i], start[i + 1]):
            j = column[e]
            s0 -= data[e, 0] * x[j, 0] + data[e, 1] * x[j, 1] + data[e, 2] * x[j, 2]
            s1 -= data[e, 3] * x[j, 0] + data[e, 4] * x[j, 1] + data[e, 5] * x[j, 2]
            s2 -= data[e, 6] * x[j, 0] + data[e, 7] * x[j, 1] + data[e, 8] * x[j, 2]
        out[i, 0], out[i, 1], out[i, 2] = s0, s1, s2


@njit(cache=True, parallel=True)
def carry(start, column, weight, x, out):
    """out = P x for scalar weights by rows."""
    for i in prange(len(out)):
        s0, s1, s2 = np.float32(0.0), np.float32(0.0), np.float32(0.0)
        for e in range(start[i], start[i + 1]):
            j, w = column[e], weight[e]
            s0 += w * x[j, 0]
            s1 += w * x[j, 1]
            s2 += w * x[j, 2]
        out[i, 0], out[i, 1], out[i, 2] = s0, s1, s2


@njit(cache=True, parallel=True)
def add_carried(start, column, weight, x, out):
    """out += P x."""
    for i in prange(len(out)):
        for e in range(start[i], start[i + 1]):
            j, w = column[e], weight[e]
            out[i, 0] += w * x[j, 0]
            out[i, 1] += w * x[j, 1]
            out[i, 2] += w * x[j, 2]


@njit(cache=True)
def hold(fixed, x):
    for i in range(len(x)):
        for k in range(3):
            if fixed[i, k]:
                x[i, k] = 0.0
