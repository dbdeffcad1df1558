"""What changes in a patch: plain arrays, part of the water's state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitruvian.water.patches.model import Patch

Array = np.ndarray


@dataclass
class PatchState:
    """The flow about one link, in the patch's axes; velocities are those in the world, not relative to the patch."""

    u: Array  # velocity along the patch's x at its x-faces [m/s], shape (nx + 1, ny, nz)
    v: Array
    w: Array
    pressure: Array  # [Pa] at cell centres, shape (nx, ny, nz)
    skin: Array  # where the skin was last looked at, patch axes from the link's origin [m], shape (n, 3)
    awake: bool = False  # whether there is water in it
    substeps: int = 0


def asleep(patch: Patch) -> PatchState:
    """A patch that has met no water yet."""
    nx, ny, nz = patch.tank.shape
    return PatchState(
        np.zeros((nx + 1, ny, nz)), np.zeros((nx, ny + 1, nz)), np.zeros((nx, ny, nz + 1)), np.zeros((nx, ny, nz)),
        np.zeros((len(patch.solid.vertices) + len(patch.solid.rims), 3)),
    )  # fmt: skip
