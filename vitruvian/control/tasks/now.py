"""A body at one instant, as tasks see it: bones, momentum matrix, water, and the governing equation (Si 2013, 5.1).

With x the joint velocities a time T ahead, A(q) the centroidal momentum matrix (Orin, Goswami, Lee 2013) and D_i the
damping of the water on link i (`force`)

    A x = A v + T (weight + lift + Σ X_iᵀ (f_i - D_i (J_i x - J_i v)))            (5.2, 5.9 with a matrix for c_i)

The documents make this a soft objective; here it is hard: it gives the pelvis, x_root = B x_joints + r, so that nothing
is asked of the body that its joints cannot do. A is the root's rows of the mass matrix, moved to the centre of mass.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba as nb
import numpy as np

from vitruvian.control.tasks.force import WaterForce
from vitruvian.couple import BoneStep, System
from vitruvian.skeleton import Skeleton

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Now:
    """One instant of a body in water, (n_v,) velocities; world axes."""

    skeleton: Skeleton
    q: Array
    v: Array
    time: float  # [s]
    ahead: float  # T [s]
    poses: Array  # bone to world, (n_bones, 4, 4)
    screws: Array  # per joint velocity, at the world's origin, (n_v, 6)
    mass: Array  # mass matrix, (n_v, n_v)
    centre: Array  # of mass [m], (3,)
    momentum: Array  # A: (angular about the centre of mass, linear), (6, n_v)
    water: WaterForce  # on the links
    level: float  # of the calm surface [m]
    joints: Array  # driven coordinates, (n,)
    pelvis: tuple[Array, Array]  # B (6, n) and r (6,)

    def turning(self, bone: int) -> Array:
        """Angular velocity of a bone per joint velocity, (3, n_v)."""
        return np.asarray((self.screws[:, :3] * self.skeleton.supports[bone][:, None]).T)

    def of_bones(self, words: tuple[str, ...]) -> Array:
        """1 for driven coordinates of bones whose names begin with one of the words (all, without words), else 0."""
        names = [self.skeleton.names[b] for b in self.skeleton.dof_bone[self.joints]]
        return np.array([not words or n.startswith(words) for n in names], float)

    def moving(self, bone: int, point: Array) -> Array:
        """Velocity of a point [m] of the world that a bone carries, per joint velocity, (3, n_v)."""
        out = np.empty((3, len(self.v)))
        _moving(self.screws, self.skeleton.supports[bone], point, out)
        return out

    def velocities(self, bones: Array, points: Array) -> Array:
        """Velocities [m/s] of points of the world (k, 3) that bones (k,) carry, (k, 3)."""
        twists = self.skeleton.supports[bones] @ (self.screws * self.v[:, None])
        return np.asarray(twists[:, 3:] + np.cross(twists[:, :3], points))

    def whirling(self, axis: Array) -> Array:
        """Angular velocity of the whole body about an axis (3,) through its centre of mass, per joint velocity, (n_v,):
        its angular momentum in parts of what it would be if it turned as one piece. Limbs that swing to and fro do not
        change it; only what lies outside the body does."""
        return np.asarray(axis @ self.momentum[:3] / self.inertia(axis))

    def inertia(self, axis: Array) -> float:
        """Of the whole body as one piece about an axis (3,) through its centre of mass [kg m²]."""
        whole = np.concatenate([axis, np.cross(self.centre, axis)])  # the twist of one piece, at the world's origin
        pelvis = np.linalg.solve(self.screws[:6].T, whole)
        return float(axis @ self.momentum[:3, :6] @ pelvis)

    def turned_soon(self, axis: Array, rate: float, moment: float) -> tuple[Array, Array]:
        """A row (n_v,) and its target (1,): the whole body turns about an axis (3,) at a rate [rad/s], and comes nearer
        to it within T by no more than a moment [N m] brings. A rate that water cannot give within T would be a pull
        without end on whatever drags: limbs thrown as fast as they may be, one way and the other."""
        row = self.whirling(axis)
        present, change = float(row @ self.v), self.ahead * moment / self.inertia(axis)
        return row, np.array([np.clip(rate, present - change, present + change)])

    def lasting_moment(self, kept: float) -> Array:
        """Moment of the water about the centre of mass, in the mean of a time `kept` [s] for which joint velocities are
        kept, per joint velocity, (3, n_v): the flow's ends with the motion, the lift's stays with the pose."""
        lifted = self.water.lifted(self.centre, self.momentum[3:] / self.skeleton.mass)[:3]
        return np.asarray(0.5 * kept * lifted - self.water.damped(self.centre)[:3])

    def reduced(self, rows: Array, target: Array) -> tuple[Array, Array]:
        """Rows (k, n_v) and their targets (k,) as rows of the driven joints, the pelvis following."""
        B, r = self.pelvis
        return rows[:, self.joints] + rows[:, :6] @ B, target - rows[:, :6] @ r

    def all(self, x: Array) -> Array:
        """Velocities (n_v,) of all coordinates from those of the driven joints (n,); passive ones at rest."""
        out = np.zeros(len(self.v))
        out[self.joints] = x
        out[:6] = self.pelvis[0] @ x + self.pelvis[1]
        return out


def look(step: BoneStep, q: Array, v: Array) -> tuple[System, Array, Array, Array]:
    """Bones at (q, v): the step's system, mass matrix (n_v, n_v), centre of mass (3,) and momentum matrix (6, n_v)."""
    system = step.assemble(q, v, 0.0)
    mass = system.full_matrix()
    centre, momentum = np.empty(3), np.empty((6, len(v)))
    _momentum(system.poses, step.skeleton.bodies, mass, centre, momentum)
    return system, mass, centre, momentum


def pelvis_from_joints(
    momentum: Array, v: Array, centre: Array, weight: Array, ahead: float, water: WaterForce, joints: Array
) -> tuple[Array, Array]:
    """B (6, n) and r (6,) of the governing equation; weight [N] (3,)."""
    G, g = momentum.copy(), momentum @ v
    g[3:] += ahead * weight
    g += ahead * water.total(centre)
    damped = water.damped(centre)
    G += ahead * damped
    g += ahead * damped @ v
    solved = np.linalg.solve(G[:, :6], np.concatenate([G[:, joints], g[:, None]], axis=1))
    return -solved[:, :-1], solved[:, -1]


@nb.njit(cache=True)
def _moving(screws, carried, p, out):
    for c in range(screws.shape[0]):
        if carried[c]:
            s = screws[c]
            out[0, c] = s[3] + s[1] * p[2] - s[2] * p[1]
            out[1, c] = s[4] + s[2] * p[0] - s[0] * p[2]
            out[2, c] = s[5] + s[0] * p[1] - s[1] * p[0]
        else:
            out[0, c] = out[1, c] = out[2, c] = 0.0


@nb.njit(cache=True)
def _momentum(poses, bodies, mass, centre, out):
    """The root's rows of the mass matrix are momentum in the pelvis' axes about its origin: turn and move them."""
    total = 0.0
    centre[:] = 0.0
    for b in range(len(poses)):
        m = bodies[b, 12]
        total += m
        for i in range(3):
            s = m * poses[b, i, 3]
            for k in range(3):
                s += poses[b, i, k] * bodies[b, 13 + k]
            centre[i] += s
    centre /= total
    R = poses[0]
    a = np.empty(3)
    for i in range(3):
        a[i] = R[i, 3] - centre[i]
    for c in range(mass.shape[1]):
        for i in range(3):
            spin, push = 0.0, 0.0
            for k in range(3):
                spin += R[i, k] * mass[k, c]
                push += R[i, k] * mass[3 + k, c]
            out[i, c], out[3 + i, c] = spin, push
        out[0, c] += a[1] * out[5, c] - a[2] * out[4, c]
        out[1, c] += a[2] * out[3, c] - a[0] * out[5, c]
        out[2, c] += a[0] * out[4, c] - a[1] * out[3, c]
