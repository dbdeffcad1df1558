"""Whether a swimmer has room in his water, told in words about him."""

from __future__ import annotations

import numpy as np

from vitruvian.errors import InputError
from vitruvian.skin import BoundSkin
from vitruvian.water import Tank

Array = np.ndarray
WORDS = {
    "Sku": "head", "Man": "chin", "Hu": "upper arm", "Ul": "forearm", "Rad": "forearm", "Ha": "hand", "Fe": "thigh",
    "Tfp": "shank", "Fo": "foot", "Pel": "hips", "Sc": "shoulder", "Cl": "shoulder",
}  # fmt: skip
SIDES = {"l": "left ", "r": "right "}


def check_room(tank: Tank, origin: Array, skin: BoundSkin, vertices: Array, time: float) -> None:
    """An error that says which part of the swimmer has left the water and what helps.

    origin: lowest corner of the window now [m], shape (3,); vertices: of his skin [m], shape (n, 3); time [s]."""
    low, high = np.asarray(origin), np.asarray(origin) + np.asarray(tank.size)
    for axis, word in ((0, "wide (x)"), (1, "long (y)")):
        beyond = np.maximum(low[axis] - vertices[:, axis], vertices[:, axis] - high[axis])
        worst = int(np.argmax(beyond))
        if not beyond[worst] <= 0.0:
            what = "the tank" if tank.closed else "the window of water that follows him"
            raise InputError(
                f"the swimmer's {part(skin, worst)} reaches {beyond[worst]:.2g} m beyond {what} at t = {time:.4g} s; "
                f"it is {tank.size[axis]:.3g} m {word}. He lies across it or stretches too far: give him a larger "
                f"one, pool(size=...), as the scenes swim-turn and swim-follow do"
            )
    deepest = int(np.argmin(vertices[:, 2]))
    if not vertices[deepest, 2] >= low[2]:
        raise InputError(
            f"the swimmer touches the floor with his {part(skin, deepest)} at t = {time:.4g} s; the water is "
            f"{tank.rest_level - low[2]:.3g} m deep. If he dived, keep the pilot on (pilot=yes), shove him less, give "
            f"him strength or air (strength, lungs); if he may go there, give him deeper water: pool(deep=...)"
        )


def part(skin: BoundSkin, vertex: int) -> str:
    """What a swimmer calls the part of him that a vertex of his skin belongs to."""
    bone, _, side = skin.names[int(skin.influence[vertex, 0])].partition("_")
    return SIDES.get(side, "") + WORDS.get(bone, "trunk")
