"""Given forces on bones within a step: pushes, loads, whatever is sensed as a wrench."""

from __future__ import annotations

from dataclasses import dataclass

import numba as nb
import numpy as np

from vitruvian.couple.step import System
from vitruvian.errors import InputError
from vitruvian.skeleton.evaluate import NV, PARENT, V0

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Wrenches:
    """A contributor: (moment, force) [N m, N] on each bone in its own frame, shape (n_bones, 6)."""

    wrench: Array
    account: str = "push"

    def add(self, system: System) -> None:
        system.force += joint_forces_of(system, self.wrench)

    def work(self, system: System, gained: Array, middle: Array) -> float:
        return float(system.dt * joint_forces_of(system, self.wrench) @ middle)


def joint_forces_of(system: System, wrench: Array) -> Array:
    """Generalised force (n_v,) of wrenches on bones in their own frames (n_bones, 6), in the system's pose."""
    check_wrenches(system, wrench)
    out = np.zeros(len(system.force))
    wrench_forces(system.step.skeleton.topology, system.poses, system.screws, wrench, out)
    return out


def check_wrenches(system: System, wrench: Array) -> None:
    """An error unless there is one for each bone."""
    if np.shape(wrench) != (len(system.poses), 6):
        raise InputError(
            f"wrenches have shape {np.shape(wrench)}, {len(system.poses)} bones need ({len(system.poses)}, 6)"
        )


@nb.njit(cache=True)
def wrench_forces(topology, poses, screws, wrench, out):
    """out += J^T wrench for wrenches (moment, force) on bones in their own frames."""
    n = topology.shape[0]
    total = np.zeros((n, 6))
    for i in range(n - 1, -1, -1):
        t, T = total[i], poses[i]
        f0 = T[0, 0] * wrench[i, 3] + T[0, 1] * wrench[i, 4] + T[0, 2] * wrench[i, 5]
        f1 = T[1, 0] * wrench[i, 3] + T[1, 1] * wrench[i, 4] + T[1, 2] * wrench[i, 5]
        f2 = T[2, 0] * wrench[i, 3] + T[2, 1] * wrench[i, 4] + T[2, 2] * wrench[i, 5]
        x, y, z = T[0, 3], T[1, 3], T[2, 3]
        t[0] += T[0, 0] * wrench[i, 0] + T[0, 1] * wrench[i, 1] + T[0, 2] * wrench[i, 2] + y * f2 - z * f1
        t[1] += T[1, 0] * wrench[i, 0] + T[1, 1] * wrench[i, 1] + T[1, 2] * wrench[i, 2] + z * f0 - x * f2
        t[2] += T[2, 0] * wrench[i, 0] + T[2, 1] * wrench[i, 1] + T[2, 2] * wrench[i, 2] + x * f1 - y * f0
        t[3] += f0
        t[4] += f1
        t[5] += f2
        v0 = topology[i, V0]
        for j in range(v0, v0 + topology[i, NV]):
            for k in range(6):
                out[j] += screws[j, k] * t[k]
        if topology[i, PARENT] >= 0:
            for k in range(6):
                total[topology[i, PARENT], k] += t[k]
