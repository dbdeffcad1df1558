"""All muscle bellies of a body under its skin and off its bones, made once and kept.

bellies = body_bellies(human(), body_skin(human()))
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from vitruvian.anatomy.bellies import Belly, muscle_bellies
from vitruvian.anatomy.body import Body
from vitruvian.anatomy.skin import Skin, bone_level_set, measured, world_bones
from vitruvian.array_cache import cached_arrays
from vitruvian.errors import unknown_name
from vitruvian.muscle import path_curves
from vitruvian.skeleton import bone_poses

Array = np.ndarray
FIELDS = ("centre", "tangent", "normal", "radius", "wanted")


def body_bellies(body: Body, skin: Skin, names: Iterable[str] | None = None) -> list[Belly]:
    """Bellies of the muscles called `names` (exactly or by a beginning), of all for None."""
    model = body.muscles
    paths = np.round(path_curves(model, bone_poses(body.skeleton, body.default_q)), 7)
    given = (paths, model.curve_offsets, model.pcsa, model.names, np.round(skin.vertices, 6), skin.faces)

    def make() -> dict[str, Array]:
        found = muscle_bellies(body, skin=skin.level_set(0.005), bones=bone_level_set(body))
        return {f: np.array([getattr(b, f) for b in found]) for f in FIELDS}

    kept = cached_arrays("bellies", __name__, (*given, *measured(body, world_bones(body))), make)
    rows = list(range(model.n_muscles))
    if names is not None:
        wanted = tuple(names)
        for name in wanted:
            if not any(n.startswith(name) for n in model.names):
                raise unknown_name("muscle", name, model.names)
        rows = [i for i in rows if model.names[i].startswith(wanted)]
    shape = FIELDS[:-1]
    return [Belly(model.names[i], **{f: kept[f][i] for f in shape}, wanted=float(kept["wanted"][i])) for i in rows]
