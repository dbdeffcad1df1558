"""Nodes fixed in bones: where those are and as fast; forces on them are wrenches on the bones."""

from __future__ import annotations

import numpy as np
from numba import njit

from vitruvian.couple.soft_bones import locate, spread
from vitruvian.flesh.posed.skinning import carried_velocities, frame_rates, place_fixed, velocity_at


@njit(cache=True)
def settle_fixed(flesh, bones, q, v, x, u):
    """Nodes fixed in bones at (q, v): where those are, and as fast."""
    locate(bones, q, v)
    place_fixed(flesh, bones.poses, bones.moving, x, u)


@njit(cache=True)
def carry_velocities(flesh, bones, q, v, u):
    """All nodes as fast as the pose carries them."""
    locate(bones, q, v)
    rates = np.empty_like(bones.poses)
    frame_rates(bones.poses, bones.moving, rates)
    carried_velocities(flesh, rates, u)


@njit(cache=True)
def gather_fixed(flesh, x, force, wrench):
    """Forces on fixed nodes as wrenches on their bones."""
    for i in range(len(x)):
        b = flesh.bone[i]
        if b >= 0:
            f, o = force[i], wrench[b]
            o[0] += x[i, 1] * f[2] - x[i, 2] * f[1]
            o[1] += x[i, 2] * f[0] - x[i, 0] * f[2]
            o[2] += x[i, 0] * f[1] - x[i, 1] * f[0]
            o[3] += f[0]
            o[4] += f[1]
            o[5] += f[2]


@njit(cache=True)
def fixed_velocities(flesh, bones, v, x, out):
    """Velocities of fixed nodes that joint velocities v bring; twists of the bones stay in bones.sums' place."""
    twists = np.empty((len(bones.topology), 6))
    spread(bones, v, twists)
    for i in range(len(x)):
        if flesh.bone[i] >= 0:
            velocity_at(twists[flesh.bone[i]], x[i], 1.0, out[i])
    return twists
