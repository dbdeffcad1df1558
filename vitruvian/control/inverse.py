"""Which joint torques give wanted accelerations when some joints have no muscles (Lee 2008, 5.3.3).

Sternum and cartilages are passive: their torque is given (what ligaments do), their acceleration follows; everything
else has a wanted acceleration and needs a torque (hybrid dynamics, 5.4). It is solved with the matrix A = M + h D +
h^2 K of the implicit step,

    A_pp dv_p = h f_p - A_pm h a*,     torque = (A dv)_m / h - f_m,

so that the next step does what was asked. Muscles that end on passive bones pull there too: eliminating dv_p gives
their whole effect,

    R = -(P_m - A_mp A_pp^-1 P_p) diag(capacity),

where Lee leaves the second term out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numba as nb
import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control.activation import TorqueMap
from vitruvian.control.controls import Controls, Effort
from vitruvian.control.dual import add_rows
from vitruvian.couple import BodyState, BodyStepper, Contributor, JointTorques
from vitruvian.skeleton.cholesky import cholesky, solve_cholesky

Array = np.ndarray


def without_stops(body: Body) -> BodyStepper:
    """A stepper for torques, which do not fight stops: a joint that meets one is pushed back by it, and asked for
    nothing more."""
    s, none = body.skeleton, np.zeros(body.skeleton.n_v)
    loose = replace(s, forces=replace(s.forces, limit_stiffness=none, limit_damping=none))
    return BodyStepper(loose, body.muscles)


def torque_controls(body: Body, rows: Array, asked: Array, given: Array) -> Controls:
    """Torques [N m] (n,) on the coordinates `rows`, muscles at rest; and how far they fall short of what was asked."""
    full = np.zeros(body.skeleton.n_v)
    full[rows] = given
    lack = np.abs(given - asked)
    worst = int(np.argmax(lack))
    return Controls(
        excitation=np.zeros(body.muscles.n_muscles),
        torque=JointTorques(full),
        effort=Effort(float(lack[worst]), int(rows[worst])),
    )


@dataclass(frozen=True)
class Demand:
    """What the muscles are asked for at one instant."""

    torque: Array  # on the driven coordinates [N m], shape (n_driven,)
    map: TorqueMap  # what each muscle can give there
    root: Array  # wrench that the root would need without muscles' side effects [N m, N], shape (6,) or (0,)
    root_map: Array  # wrench on the root per activation, shape (6, n_muscles) or (0, n_muscles)
    matrix: Array  # A of the step, shape (n_v, n_v)
    force: Array  # without the pull of muscles that are asked, felt wrenches included [N m, N], shape (n_v,)


class InverseDynamics:
    """Hybrid inverse dynamics for one body and stepper; precomputes who is driven, passive, root."""

    def __init__(
        self,
        body: Body,
        stepper: BodyStepper,
        *,
        floating: bool = False,
        driven: Array | None = None,
        left: Array | None = None,
    ):
        """floating: nothing drives the pelvis, it moves as the rest makes it (a swimmer); else it is asked for too.
        driven: coordinates to ask for, bool, shape (n_v,), if not all that muscles control. left: muscles (indices)
        that are left to another controller: they pull as they do now, and nothing more is asked of them."""
        self.body, self.stepper = body, stepper
        self.left = np.zeros(0, dtype=np.int64) if left is None else left
        free = ~stepper.held
        root = np.zeros_like(free)
        root[: body.skeleton.joints[0].n_v] = body.free_root and not floating
        asked = body.driven if driven is None else driven
        self.driven = np.flatnonzero(asked & free)
        self.root = np.flatnonzero(root & free)
        self.passive = np.flatnonzero(free & ~asked & ~root)
        self.wanted = np.concatenate([self.driven, self.root])
        self.names = tuple(body.coordinate_names[i] for i in self.driven)
        m = body.muscles
        row = np.full(m.n_v, -1, dtype=np.int64)
        row[self.wanted] = np.arange(len(self.wanted))
        slot = np.full(m.n_v, -1, dtype=np.int64)
        slot[self.passive] = np.arange(len(self.passive))
        self._row, self._slot = row, slot
        # Muscles with an end on a passive bone reach every row; the others keep their own few.
        muscle = np.repeat(np.arange(m.n_muscles), np.diff(m.row_start))
        wide = np.zeros(m.n_muscles, dtype=bool)
        wide[muscle[slot[m.column] >= 0]] = True
        self._wide = wide
        n = len(self.driven)
        starts, columns = [0], []
        for i in range(m.n_muscles):
            if wide[i]:
                mine = np.arange(n)
            else:
                mine = row[m.column[m.row_start[i] : m.row_start[i + 1]]]
                mine = np.sort(mine[(mine >= 0) & (mine < n)])
            columns.append(mine)
            starts.append(starts[-1] + len(mine))
        self._start = np.array(starts, dtype=np.int64)
        self._column = np.concatenate(columns).astype(np.int64) if columns else np.zeros(0, np.int64)

    @property
    def demand_pattern(self) -> tuple[Array, Array]:
        """`row_start` and `column` of every demand's map."""
        return self._start, self._column

    def demand(
        self,
        state: BodyState,
        acceleration: Array,
        dt: float,
        *,
        load: Array | None = None,
        wrench: Array | None = None,
        condense: bool = True,
        others: Sequence[Contributor] = (),
    ) -> Demand:
        """Torques for `acceleration` [rad/s^2, m/s^2] (n_v,) with load and wrench as sensed (default: as they are).

        condense False leaves out what muscles do through passive bones, as Lee does. others: what else acts in the
        step, such as water with its damping."""
        s = self.stepper
        work = s.assemble(
            state.q, state.v, state.activation, dt, others, load=state.load if load is None else load, active=False
        )
        force = work.force + s.wrench_forces(state.wrench if wrench is None else wrench)
        capacity = s.found.tension[2]
        if len(self.left):
            force += self._pull_of_left(state.activation, capacity)
            capacity = capacity.copy()
            capacity[self.left] = 0.0
        A = work.full_matrix()
        m, p = self.wanted, self.passive
        dv = np.zeros(len(force))
        dv[m] = dt * acceleration[m]
        coupling = np.zeros((len(p), len(m)))
        if len(p):
            A_pm = A[np.ix_(p, m)]
            coupling = A_pm.copy()
            right = dt * force[p] - _times(A_pm, dv[m])
            _eliminate(A[np.ix_(p, p)], coupling, right)
            dv[p] = right
        needed = _times(A[m], dv) / dt - force[m]
        n = len(self.driven)
        value = np.zeros(len(self._column))
        root_map = np.zeros((len(self.root), self.body.muscles.n_muscles))
        model = self.body.muscles
        _torque_map(
            model.row_start,
            model.column,
            s.found.arms,
            capacity,
            self._row,
            self._slot,
            self._wide,
            coupling if condense else np.zeros_like(coupling),
            n,
            self._start,
            value,
            root_map,
        )
        return Demand(needed[:n], TorqueMap(self._start, self._column, value, n), needed[n:], root_map, A, force)

    def _pull_of_left(self, activation: Array, capacity: Array) -> Array:
        """Generalised force [N m, N] (n_v,) of the muscles left to another controller, by the arms found last."""
        m, pull = self.body.muscles, np.zeros(len(capacity))
        pull[self.left] = activation[self.left] * capacity[self.left]
        out = np.zeros(m.n_v)
        add_rows(m.row_start, m.column, self.stepper.found.arms, -pull, out)
        return out


def _times(matrix: Array, vector: Array) -> Array:
    """matrix @ vector without BLAS, whose sums depend on the number of threads."""
    return np.einsum("ij,j->i", matrix, vector)


@nb.njit(cache=True)
def _eliminate(A: Array, coupling: Array, right: Array) -> None:
    """coupling <- A^-1 coupling, right <- A^-1 right; A symmetric positive definite."""
    cholesky(A)
    solve_cholesky(A, right)
    column = np.empty(A.shape[0])
    for j in range(coupling.shape[1]):
        used = False
        for i in range(len(column)):
            column[i] = coupling[i, j]
            used = used or column[i] != 0.0
        if used:
            solve_cholesky(A, column)
            for i in range(len(column)):
                coupling[i, j] = column[i]


@nb.njit(cache=True)
def _torque_map(
    row_start: Array,
    column: Array,
    arms: Array,
    capacity: Array,
    row: Array,
    slot: Array,
    wide: Array,
    coupling: Array,
    n: int,
    start: Array,
    value: Array,
    root_map: Array,
) -> None:
    """Torque per activation of every muscle on the wanted coordinates; the first n of them are driven."""
    full = np.zeros(coupling.shape[1])
    for m in range(len(capacity)):
        c = capacity[m]
        if not wide[m]:
            at = start[m]
            for k in range(row_start[m], row_start[m + 1]):
                r = row[column[k]]
                if r >= 0 and r < n:
                    value[at] = -c * arms[k]
                    at += 1
            continue
        full[:] = 0.0
        for k in range(row_start[m], row_start[m + 1]):
            r, p = row[column[k]], slot[column[k]]
            if r >= 0:
                full[r] -= c * arms[k]
            if p >= 0:
                for j in range(len(full)):
                    full[j] += c * arms[k] * coupling[p, j]
        for j in range(n):
            value[start[m] + j] = full[j]
        for j in range(n, len(full)):
            root_map[j - n, m] = full[j]
