"""How a trunk that breathes is seen: belly, diaphragm, elements, and a skin that follows ribs and belly."""

from __future__ import annotations

from typing import Any

import numpy as np

from vitruvian.anatomy import bound_skin
from vitruvian.anatomy.face.drawn import covered
from vitruvian.anatomy.trunk import Trunk
from vitruvian.breath import vertices
from vitruvian.skeleton import bone_poses
from vitruvian.systems.breath_field import Lining, Spread
from vitruvian.systems.colours import SKIN
from vitruvian.systems.layers import Layer, LinesLayer, SurfaceLayer
from vitruvian.systems.measures import Now
from vitruvian.world import Camera, Lines, LinesFrame, Surface, SurfaceFrame

Array = np.ndarray
TORSO_CAMERAS = (
    Camera("front", (0.45, -2.65, 1.60), (0.0, -0.02, 1.43)),
    Camera("side", (2.65, -0.60, 1.57), (0.0, -0.02, 1.43)),
    Camera("half", (1.65, -2.1, 1.75), (0.0, -0.02, 1.43)),
    Camera("person", (0.9, -4.1, 1.35), (0.0, 0.0, 0.98)),
)
BELLY, DIAPHRAGM = (0.80, 0.55, 0.45), (0.62, 0.22, 0.20)
TRIANGLES, SPACING = 16_000, 0.012
SKIN_OPACITY = 0.4


def torso_layers(trunk: Trunk, system: Any, skin: bool) -> list[Layer]:
    """Belly wall, diaphragm, their elements, and the skin."""
    c, shape = trunk.cavities, trunk.shape

    def placed(now: Now) -> Array:
        return vertices(c, now.state.breath.x, now.poses)

    wall, wall_faces = _part(shape.wall, c.belly)
    dome, dome_faces = _part(shape.dome, c.chest, flip=True)
    lines = c.in_group("diaphragm", "upper", "middle", "lower", "external", "internal", "transversus")
    ends = c.ends[lines]
    offsets = 2 * np.arange(len(ends) + 1)
    layers: list[Layer] = [
        SurfaceLayer(
            Surface("belly", wall_faces, layer="belly", colour=BELLY, opacity=0.55),
            lambda now: SurfaceFrame(now.once(placed)[wall]),
        ),
        SurfaceLayer(
            Surface("diaphragm", dome_faces, layer="diaphragm", colour=DIAPHRAGM, opacity=0.9),
            lambda now: SurfaceFrame(now.once(placed)[dome]),
        ),
        LinesLayer(
            Lines("elements", offsets, np.full(len(ends), 0.0012), value="activation", value_range=(0.0, 1.0),
                  layer="elements"),
            lambda now: LinesFrame(now.once(placed)[ends].reshape(-1, 3), now.state.breath.activation[lines].copy()),
        ),
    ]  # fmt: skip
    if skin:
        cover = TrunkSkin(trunk, system)
        below = cover.bound.faces[~covered(cover.bound)]  # a head is drawn above
        layers.append(
            SurfaceLayer(
                Surface("skin", below, layer="skin", colour=SKIN, opacity=SKIN_OPACITY),
                lambda now: SurfaceFrame(cover.positions(now.poses, now.state.breath.x)),
            )
        )
    return layers


class TrunkSkin:
    """A skin on the bones that goes along with ribs and belly where it lies on them, from the rest pose on."""

    def __init__(self, trunk: Trunk, system: Any, triangles: int = TRIANGLES):
        body = trunk.body
        self.bound = bound_skin(body, triangles=triangles, spacing=SPACING)
        self.lining = Lining(trunk, self.bound)
        self.spread = Spread(self.lining.rest, self.bound.rest)
        self._main = self.bound.bones[self.bound.influence[:, 0]]
        first = system.start(np.random.default_rng(0))
        self.before = self.lining.beyond(bone_poses(body.skeleton, first.q), first.breath.x)

    def positions(self, poses: Array, x: Array) -> Array:
        """Vertices [m], with bones at poses and the belly's points at x."""
        moved = self.spread(self.lining.beyond(poses, x) - self.before)
        return np.asarray(self.bound.place(poses).vertices + np.einsum("nij,nj->ni", poses[self._main, :3, :3], moved))


def _part(grid: Array, faces: Array, flip: bool = False) -> tuple[Array, Array]:
    """Vertices of a grid of them, with the tendon's middle if it is there, and the triangles between them."""
    inside = np.isin(faces, grid).sum(axis=1) >= 2
    chosen = faces[inside & (np.isin(faces, grid).all(axis=1) | (faces.max(axis=1) > grid.max()))]
    chosen = chosen[:, ::-1] if flip else chosen
    used, index = np.unique(chosen, return_inverse=True)
    return used, index.reshape(-1, 3).astype(np.int32)
