"""The skin of a whole body, bound to its bones, with as many triangles as asked for; kept in the user's cache."""

from __future__ import annotations

import numpy as np

from vitruvian.anatomy.body import Body
from vitruvian.anatomy.skin import body_skin, measured, world_bones
from vitruvian.anatomy.skin_data import SkinShape
from vitruvian.anatomy.skin_weights import skin_weights
from vitruvian.array_cache import cached_arrays
from vitruvian.errors import InputError
from vitruvian.mesh import decimated
from vitruvian.skin import BoundSkin, bind

Array = np.ndarray


def bound_skin(
    body: Body, build: str | SkinShape = "muscular", *, triangles: int = 8000, spacing: float = 0.005
) -> BoundSkin:
    """The skin of a whole body with about `triangles` triangles, bound to its bones; spacing: of the grid it is made
    on [m]. On coarser grids than 5 mm thighs and fingers grow together, and webs appear where they part."""
    if triangles < 500:
        raise InputError(f"skin: {triangles} triangles are too few to have hands; take at least 500")
    skin = body_skin(body, build, spacing=spacing)
    bones = world_bones(body)
    given = (triangles, np.round(skin.vertices, 6), skin.faces, *measured(body, bones))

    def make() -> dict[str, Array]:
        fewer = len(skin.faces) > triangles
        vertices, faces = decimated(skin.vertices, skin.faces, triangles) if fewer else (skin.vertices, skin.faces)
        names, weights = skin_weights(body, bones, vertices, faces)
        return {"vertices": vertices, "faces": faces, "names": np.array(names), "weights": weights}

    found = cached_arrays("bound-skin", __name__, given, make)
    names = tuple(str(n) for n in found["names"])
    return bind(body.skeleton, body.default_q, found["vertices"], found["faces"], names, found["weights"])
