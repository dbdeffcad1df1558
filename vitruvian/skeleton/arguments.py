"""What the algorithms are given, as arrays that kernels may trust: of the right shape, contiguous, double.

Kernels index without looking, so an array too short would be read beyond its end. One comparison each is the price.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from vitruvian.errors import InputError

if TYPE_CHECKING:
    from vitruvian.skeleton.model import Skeleton

Array = np.ndarray
NO_WRENCHES = np.zeros((0, 6))  # what kernels take where no wrench acts


def vector(value: ArrayLike, n: int, name: str) -> Array:
    """`value` as n doubles, or InputError that says `name`, the shape given and the one wanted."""
    array = np.ascontiguousarray(value, dtype=np.float64)
    if array.shape != (n,):
        raise wrong_shape(name, array, (n,))
    return array


def wrench_rows(value: ArrayLike, skeleton: Skeleton) -> Array:
    """External wrenches, (n_bones, 6), or InputError."""
    array = np.ascontiguousarray(value, dtype=np.float64)
    if array.shape != (skeleton.n_bones, 6):
        raise wrong_shape("wrenches", array, (skeleton.n_bones, 6))
    return array


def wrong_shape(name: str, given: Array, wanted: tuple[int, ...]) -> InputError:
    """The error for an array of the wrong size; ascontiguousarray makes (1,) of a single number."""
    if given.ndim == 1 and len(wanted) == 1:
        return InputError(f"{name} has {len(given)} numbers; this skeleton needs {wanted[0]}")
    return InputError(f"{name} has the shape {given.shape}; this skeleton needs {wanted}")
