"""Where the surface lies between the centre of a wet cell and that of a neighbour in air."""

from __future__ import annotations

from numba import njit

THETA_MIN = 1e-3  # smaller distances to the surface change the force by less than rounding in the trials


@njit(cache=True, inline="always")
def theta(inner, outer):
    """Part of the way from a wet centre (phi = inner < 0) to one in air (phi = outer) that is water."""
    return max(THETA_MIN, inner / (inner - outer))


@njit(cache=True, inline="always")
def share(opened, inner, outer):
    """What a face adds to the diagonal: more where the surface lies between the cell and a neighbour in air."""
    return opened if outer < 0.0 else opened / theta(inner, outer)
