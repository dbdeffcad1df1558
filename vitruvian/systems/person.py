"""How a person is drawn around a body: skin that lets bones and muscles shine through, and a head with a face.

    layers, meshes = [skin_layer(skin, vertices)], head_meshes(body)

The face does not move; a body whose face does is drawn by `systems.face`. Without the data package for skins there is
nothing to draw, and bones and muscles are shown as they are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vitruvian.anatomy import Body, bound_skin
from vitruvian.anatomy.face.drawn import SKULL, covered, drawn_head
from vitruvian.errors import MissingExtra
from vitruvian.skin import BoundSkin
from vitruvian.systems.colours import SKIN
from vitruvian.systems.face import COLOURS
from vitruvian.systems.layers import SurfaceLayer
from vitruvian.systems.measures import Now
from vitruvian.world import Mesh, Surface, SurfaceFrame

Array = np.ndarray
OPACITY = 0.45  # a person, and bones and muscles within
TRIANGLES = 8000  # of a skin that is drawn, and no more


def skin_layer(skin: BoundSkin, vertices: Callable[[Now], Array], opacity: float = OPACITY) -> SurfaceLayer:
    """The skin of a body below its head, its vertices [m] at vertices(now), (n, 3)."""
    surface = Surface("skin", skin.faces[~covered(skin)], layer="skin", colour=SKIN, opacity=opacity)
    return SurfaceLayer(surface, lambda now: SurfaceFrame(vertices(now)))


def worn_skin(body: Body) -> SurfaceLayer | None:
    """The skin of a body that wears it only to be looked at; None without the data that it is made of."""
    try:
        skin = bound_skin(body, triangles=TRIANGLES)
    except MissingExtra:
        return None
    return skin_layer(skin, lambda now: np.asarray(skin.place(now.poses).vertices))


def head_meshes(body: Body) -> list[Mesh]:
    """A head with a face, on the skull; none without the data that it is made of."""
    try:
        parts = drawn_head(body)
    except MissingExtra:
        return []
    return [
        Mesh(f"head {name}", SKULL, vertices, faces, layer="skin", colour=SKIN if name == "skin" else COLOURS[name])
        for name, (vertices, faces) in parts.items()
    ]
