"""From wanted lengths to activations that act together: all joints by one choice of all muscles.

Eq. 4.9 of Si 2013 lets every muscle pull alone. On a real body that is loose where muscles of unlike strength share a
joint: the hip has 170 N m of outward and 16 N m of inward rotators, so whoever extends it also turns it out, and no
gain heals that. A trunk under 4.9 gives way by 34 degrees under the pull of a butterfly, and a swimmer has nothing else
to push off from. Here the lengths say which pose is wanted and how it moves (`decode`), and the muscles are then chosen
together to get there:

    a* = a^ + k_p (q^ (-) q) + k_v (v^ - v)                                 asked of limbs, spine, head and ribs
    A dv = h (f - P c a)                                                    the implicit step, everything else free
    min (R a - t)^T S (R a - t) + e |a|^2,   0 <= a <= 1
    R = -T A^-1 P c,   t = T (a* - A^-1 f),   S = (T A^-1 T^T)^-1           T picks the coordinates that are asked

S is the inertia that they meet with the rest free (Gauss's principle of least constraint: where strength is lacking,
heavy parts lag and light ones are still led). The pelvis is not asked for anything: it moves as it does. Ribs are asked
to stay: the first carries the clavicle, and the girdle's muscles would pull it, and the hand with it, off by 10 cm. The
minimum is found by descent along one activation after the other from those of the last step: 846 bounded unknowns
take 1 to 5 ms, and a search that is cut short has still come down. Lee 2008, 5.3, is the model for the middle line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numba as nb
import numpy as np

from vitruvian.anatomy import Body
from vitruvian.couple import BodyStepper, Contributor
from vitruvian.errors import Diverged
from vitruvian.skeleton.cholesky import cholesky, solve_cholesky

Array = np.ndarray
LIMBS = tuple(
    f"{bone}_{side}"
    for bones in (("Cla", "Hu", "Ul", "Rad", "Ha"), ("Fe", "Tfp", "Fo"))
    for side in "lr"
    for bone in bones
)
SPINE = (*(f"{part}{i}" for part, n in (("L", 5), ("T", 12), ("C", 7)) for i in range(n, 0, -1)), "Sku")
RIBS = "Rb"
SWEEPS = 120  # of the search for activations, at most
CLOSE = 2e-3  # largest change of an activation in a sweep, at which the search ends


@dataclass(frozen=True)
class BalanceGains:
    """Of limbs, spine, head and ribs."""

    stiffness: float = 1600.0  # k_p [1/s^2]
    damping: float = 80.0  # k_v [1/s]
    softness: float = 1.0  # e [N m rad/s^2]: effort that is given up to spare activation


class BodyBalance:
    """Activations of all muscles of one body; holds scratch memory, no state."""

    def __init__(self, body: Body, gains: BalanceGains | None = None):
        self.body, self.gains = body, gains or BalanceGains()
        s = body.skeleton
        self.stepper = BodyStepper(s, body.muscles)
        ribs = [bone for bone in s.names if bone.startswith(RIBS)]
        asked = [np.arange(s.n_v)[s.v_slice(bone)] for bone in (*LIMBS, *SPINE, *ribs) if bone in s.names]
        self.rows = np.concatenate(asked)
        self.names = tuple(body.coordinate_names[i] for i in self.rows)

    def activations(
        self,
        q: Array,
        v: Array,
        activation: Array,
        acceleration: Array,
        dt: float,
        *,
        load: Array | None = None,
        wrench: Array | None = None,
        others: Sequence[Contributor] = (),
        rows: Array | None = None,
    ) -> tuple[Array, Array]:
        """Activations (n_muscles,), and the torque [N m] (n,) that the n coordinates asked for lack.

        activation: of the last step; the search begins there, and their stiffness and damping are expected of the
        step. acceleration: a* [rad/s^2] (n,). others: what else acts, such as water with its damping. rows: the
        coordinates asked for (n,), of `self.rows`; None: all of those."""
        s, m = self.stepper, self.body.muscles
        rows = self.rows if rows is None else rows
        work = s.assemble(q, v, activation, dt, others, load=load, active=False)
        force = work.force + (0.0 if wrench is None else s.wrench_forces(wrench))
        k = len(rows)
        R, t, G = np.empty((m.n_muscles, k)), np.empty(k), np.empty((k, k))
        ok = _condense(
            work.matrix.copy(), s.place, rows, force, acceleration, m.row_start, m.column, s.found.arms,
            s.found.tension[2], R, t, G,
        )  # fmt: skip
        if not ok:
            raise Diverged("muscle control", "the step's matrix is not positive definite")
        found, left = np.clip(activation, 0.0, 1.0), np.empty(k)
        _descend(R, t, self.gains.softness, SWEEPS, CLOSE, found, left)
        return found, _back(G, left)


@nb.njit(cache=True)
def _condense(
    A: Array,
    place: Array,
    rows: Array,
    force: Array,
    a: Array,
    row_start: Array,
    column: Array,
    arms: Array,
    capacity: Array,
    R: Array,
    t: Array,
    G: Array,
) -> bool:
    """Fill G with the factor of T A^-1 T^T, and G^-1 times R as rows of muscles (n_muscles, n_rows), t (n_rows,)."""
    k, n = len(rows), len(A)
    if cholesky(A) >= 0:
        return False
    Y = np.empty((n, k))  # A^-1 T^T, in the order of the joint coordinates
    x = np.empty(n)
    for i in range(k):
        x[:] = 0.0
        x[place[rows[i]]] = 1.0
        solve_cholesky(A, x)
        for j in range(n):
            Y[j, i] = x[place[j]]
    for i in range(k):
        t[i] = a[i]
        for l in range(i + 1):
            G[i, l] = Y[rows[i], l]
    if cholesky(G) >= 0:
        return False
    for j in range(n):
        _forward(G, Y[j])
    _forward(G, t)
    for j in range(n):
        for i in range(k):
            t[i] -= Y[j, i] * force[j]
    R[:] = 0.0
    for m in range(len(capacity)):
        for e in range(row_start[m], row_start[m + 1]):
            f = -capacity[m] * arms[e]
            for i in range(k):
                R[m, i] += f * Y[column[e], i]
    return True


@nb.njit(cache=True)
def _descend(R: Array, t: Array, softness: float, sweeps: int, close: float, a: Array, left: Array) -> int:
    """min |R^T a - t|^2 + softness |a|^2, 0 <= a <= 1, from a; R (n, k). Fills a and left = R^T a - t; returns the
    number of sweeps. After each sweep over all, four go over those between their bounds only; to and fro, so that no
    side of the body comes first."""
    n, k = R.shape
    square = np.empty(n)
    left[:] = -t
    for i in range(n):
        square[i] = softness
        for j in range(k):
            square[i] += R[i, j] * R[i, j]
            left[j] += R[i, j] * a[i]
    for sweep in range(sweeps):
        whole = sweep % 5 == 0
        most = 0.0
        for at in range(n):
            i = at if sweep % 2 == 0 else n - 1 - at
            if not whole and (a[i] == 0.0 or a[i] == 1.0):
                continue
            row = R[i]
            slope = softness * a[i]
            for j in range(k):
                slope += row[j] * left[j]
            new = min(max(a[i] - slope / square[i], 0.0), 1.0)
            step = new - a[i]
            if step != 0.0:
                a[i] = new
                for j in range(k):
                    left[j] += row[j] * step
                most = max(most, abs(step))
        if whole and most <= close:
            return sweep + 1
    return sweeps


@nb.njit(cache=True)
def _forward(L: Array, x: Array) -> None:
    """x <- L^-1 x."""
    for i in range(len(x)):
        total = x[i]
        for j in range(i):
            total -= L[i, j] * x[j]
        x[i] = total / L[i, i]


@nb.njit(cache=True)
def _back(L: Array, x: Array) -> Array:
    """L^-T x."""
    y = x.copy()
    for i in range(len(y) - 1, -1, -1):
        y[i] /= L[i, i]
        for j in range(i):
            y[j] -= L[i, j] * y[i]
    return y
