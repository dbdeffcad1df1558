"""A skin grown from what a body has: bones and muscle bellies, with a layer of fat around them.

For bodies without MakeHuman's data, for parts and for other creatures. All bones and bellies are united as one level
set, dilated by the fat layer, blurred so that hollows between muscles fill, and meshed.
"""

from __future__ import annotations

import numpy as np

from vitruvian.anatomy.bellies import muscle_bellies
from vitruvian.anatomy.body import Body
from vitruvian.anatomy.skin import Skin, closed_skin, world_bones
from vitruvian.errors import InputError
from vitruvian.mesh import LevelSet, empty_level_set
from vitruvian.mesh.levelset import add_shell
from vitruvian.skeleton import bone_poses


def grown_skin(body: Body, *, fat: float = 0.008, spacing: float = 0.008, blur: float = 0.01) -> Skin:
    """fat: layer over muscle and bone [m]; spacing: of the grid [m]; blur: width of hollows that fill [m]."""
    if not 0.0 < fat <= 0.1:
        raise InputError(f"grown skin: a fat layer of {fat} m")
    bones = world_bones(body)
    if not bones:
        raise InputError(f"grown skin: '{body.name}' has no bones to grow on")
    bellies = [belly.surface() for belly in muscle_bellies(body)]
    joints = bone_poses(body.skeleton, body.default_q)[:, :3, 3]
    points = np.concatenate([joints, *(v for v, _ in bones.values()), *(v for v, _ in bellies)])
    level = empty_level_set(points.min(axis=0) - fat, points.max(axis=0) + fat, spacing, max(2.5 * spacing, 0.02) + fat)
    for vertices, faces in [*bones.values(), *bellies]:
        # as a shell as thick as the fat: what a shell leaves hollow inside, the closing below takes for inside
        add_shell(level, vertices, faces, fat, name="grown skin")
    solid = LevelSet(_without_hollows(level.values), level.origin, level.spacing, level.band)
    return closed_skin(solid, bones, blur=blur)


def _without_hollows(values: np.ndarray) -> np.ndarray:
    """The same with everything that the outside cannot reach counted as inside."""
    from scipy.ndimage import label

    parts, _ = label(values > 0.0)
    hollow = (parts > 0) & (parts != parts[0, 0, 0])
    return np.where(hollow, -np.abs(values), values)
