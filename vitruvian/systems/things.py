"""Things that a body may hold: dumbbells."""

from __future__ import annotations

import numpy as np

from vitruvian.mesh import cylinder, join, moved
from vitruvian.skeleton import Inertia
from vitruvian.spatial import transform
from vitruvian.world import Mesh

STEEL = (0.33, 0.35, 0.38)
GRIP = np.array([0.085, -0.030, 0.0])  # centre of a gripped bar in the left hand's frame [m]
BAR, PLATE, THICK = 0.14, 0.055, 0.035  # length of the handle, radius and thickness of the weights [m]


def dumbbell(mass: float, side: str) -> Inertia:
    """A bar with two weights, held across the palm; in the hand's frame."""
    centre = GRIP * (1.0 if side == "l" else -1.0, 1.0, 1.0)
    along = 0.5 * mass * PLATE**2
    across = mass * (PLATE**2 / 4.0 + ((BAR + THICK) / 2.0) ** 2)
    return Inertia(mass, centre, np.diag([across, across, along]))


def dumbbell_mesh(bone: str, size: float = 1.0) -> Mesh:
    """What it looks like; `size` scales the weights."""
    side = 1.0 if bone.endswith("_l") else -1.0
    bar = cylinder(0.014, BAR + 2 * THICK, edge=0.003)
    ends = [
        moved(cylinder(PLATE * size, THICK, edge=0.006), transform(None, (0.0, 0.0, s * (BAR + THICK) / 2)))
        for s in (-1.0, 1.0)
    ]
    shape = moved(join(bar, *ends), transform(None, GRIP * (side, 1.0, 1.0)))
    return Mesh(f"dumbbell {bone}", bone, *shape, layer="things", colour=STEEL)
