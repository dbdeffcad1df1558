"""A skin seen from its bones: the links that carry it, their Jacobian, and damping on them within a step.

A link is a bone that moves skin. Its twist about its own origin, world axes, is J v; wrenches on links come back to the
joints through the transpose.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numba import njit

from vitruvian.couple.step import System

Array = np.ndarray


class MovingSkin(Protocol):
    """A closed surface that bones move: `skin.BoundSkin`, `couple.flesh_skin`, `couple.bone_parts`."""

    @property
    def faces(self) -> Array: ...
    @property
    def bones(self) -> Array: ...
    @property
    def face_bone(self) -> Array: ...
    def place(self, poses: Array) -> Any:
        """Vertices, their velocities and the wrenches of forces on them: see `skin.SkinPlace`."""
        ...


@dataclass(frozen=True)
class SkinPose:
    """Bones and skin in one pose."""

    q: Array  # the very array of the state: a moved state has another
    place: Any
    origins: Array  # of the links [m], shape (links, 3)
    rotations: Array  # link axes in the world, shape (links, 3, 3)
    jacobian: Array  # link twists about their origins, world axes, per velocity, shape (6 links, n_v)

    @classmethod
    def seen(cls, system: System, skin: MovingSkin) -> SkinPose:
        """The skin in the system's pose."""
        bones = np.asarray(skin.bones)
        origins = system.poses[bones, :3, 3].copy()
        jacobian = np.empty((6 * len(origins), len(system.v)))
        moves = np.ascontiguousarray(system.step.skeleton.supports[bones])
        _jacobian(system.screws, moves, origins, jacobian)
        rotations = system.poses[bones, :3, :3].copy()
        return cls(system.q, skin.place(system.poses), origins, rotations, jacobian)

    def twists(self, v: Array) -> Array:
        """Of the links about their own origins, world axes, shape (links, 6)."""
        return np.asarray((self.jacobian @ v).reshape(-1, 6))

    def world_twists(self, v: Array) -> Array:
        """Of the links about the world's origin, shape (links, 6)."""
        twists = self.twists(v)
        twists[:, 3:] -= np.cross(twists[:, :3], self.origins)
        return twists

    def velocities(self, v: Array) -> Array:
        """Of the skin's vertices [m/s], shape (n, 3)."""
        return np.asarray(self.place.velocities(self.world_twists(v)))

    def add_damping(self, system: System, damping: Array) -> None:
        """Add a damping of each link about the world's origin (links, 6, 6) to the step's matrix."""
        _add_damping(self.jacobian, self.origins, damping, system.dt, system.step.place, system.matrix)

    def damped(self, damping: Array, gained: Array) -> Array:
        """What that damping takes of each link's wrench for velocities gained (n_v,), shape (links, 6)."""
        return np.asarray(_damped(self.jacobian, self.origins, damping, gained))


# --- kernels -------------------------------------------------------------------------------------------------------


@njit(cache=True)
def _jacobian(screws, moves, origins, out):
    for n in range(len(origins)):
        x, y, z = origins[n, 0], origins[n, 1], origins[n, 2]
        for c in range(screws.shape[0]):
            if moves[n, c]:
                s = screws[c]
                out[6 * n, c], out[6 * n + 1, c], out[6 * n + 2, c] = s[0], s[1], s[2]
                out[6 * n + 3, c] = s[3] + s[1] * z - s[2] * y
                out[6 * n + 4, c] = s[4] + s[2] * x - s[0] * z
                out[6 * n + 5, c] = s[5] + s[0] * y - s[1] * x
            else:
                for k in range(6):
                    out[6 * n + k, c] = 0.0


@njit(cache=True)
def _about(D, o):
    """A damping about the world's origin, about the point o instead: shift^T D shift."""
    shift = np.eye(6)
    # a twist (w, u) about o has velocity u - w x o at the world's origin
    shift[3, 1], shift[3, 2] = -o[2], o[1]
    shift[4, 0], shift[4, 2] = o[2], -o[0]
    shift[5, 0], shift[5, 1] = -o[1], o[0]
    return shift.T @ D @ shift


@njit(cache=True)
def _add_damping(jacobian, origins, damping, h, place, matrix):
    """Lower triangle of matrix += h J^T D J."""
    n = jacobian.shape[1]
    for l in range(len(origins)):
        D = _about(damping[l], origins[l])
        if D[3, 3] + D[4, 4] + D[5, 5] == 0.0:
            continue
        J = jacobian[6 * l : 6 * l + 6]
        DJ = D @ J
        for a in range(n):
            if place[a] < 0:
                continue
            moved = False
            for k in range(6):
                moved = moved or J[k, a] != 0.0
            if not moved:
                continue
            for b in range(n):
                if 0 <= place[b] <= place[a]:
                    s = 0.0
                    for k in range(6):
                        s += J[k, a] * DJ[k, b]
                    matrix[place[a], place[b]] += h * s


@njit(cache=True)
def _damped(jacobian, origins, damping, gained):
    out = np.zeros((len(origins), 6))
    for l in range(len(origins)):
        out[l] = _about(damping[l], origins[l]) @ (jacobian[6 * l : 6 * l + 6] @ gained)
    return out
