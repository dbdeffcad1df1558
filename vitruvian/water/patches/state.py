"""What changes in a patch: plain arrays, part of the water's state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitruvian.water.patches.model import Patches

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


def start_patches(patches: Patches) -> list[PatchState]:
    """Patches that have met no water yet."""
    made = []
    for patch in patches.patches:
        nx, ny, nz = patch.tank.shape
        points = len(patch.solid.vertices) + len(patch.solid.rims)
        flow = np.zeros((nx + 1, ny, nz)), np.zeros((nx, ny + 1, nz)), np.zeros((nx, ny, nz + 1))
        made.append(PatchState(*flow, np.zeros((nx, ny, nz)), np.zeros((points, 3))))
    return made
