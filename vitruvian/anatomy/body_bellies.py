"""All muscle bellies of a body under its skin and off its bones, made once and kept.

bellies = body_bellies(human(), body_skin(human()))
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from vitruvian.anatomy.bellies import Belly, muscle_bellies
from vitruvian.anatomy.body import Body
from vitruvian.anatomy.skin import Skin, world_bones
from vitruvian.anatomy.skin_cache import cached_arrays
from vitruvian.anatomy.skin_flesh import bone_level_set
from vitruvian.errors import unknown_name
from vitruvian.muscle.paths import path_points
from vitruvian.skeleton import bone_poses

Array = np.ndarray
FIELDS = ("centre", "tangent", "normal", "radius", "wanted")


def body_bellies(body: Body, skin: Skin, names: Iterable[str] | None = None) -> list[Belly]:
    """Bellies of the muscles called `names` (exactly or by a beginning), of all for None."""
    model = body.muscles
    key = hashlib.sha256(np.round(path_points(model, bone_poses(body.skeleton, body.default_q)), 7).tobytes())
    key.update(np.round(skin.vertices, 6).tobytes() + model.pcsa.tobytes() + repr(model.names).encode())
    for vertices, _ in world_bones(body).values():
        key.update(np.round(vertices, 6).tobytes())
    for module in ("bellies", "body_bellies"):
        key.update((Path(__file__).parent / f"{module}.py").read_bytes())

    def make() -> dict[str, Array]:
        found = muscle_bellies(body, skin=skin.level_set(0.005), bones=bone_level_set(body))
        return {f: np.array([getattr(b, f) for b in found]) for f in FIELDS}

    kept = cached_arrays(f"bellies-{key.hexdigest()[:16]}", make)
    rows = list(range(model.n_muscles))
    if names is not None:
        wanted = tuple(names)
        for name in wanted:
            if not any(n.startswith(name) for n in model.names):
                raise unknown_name("muscle", name, model.names)
        rows = [i for i in rows if model.names[i].startswith(wanted)]
    shape = FIELDS[:-1]
    return [Belly(model.names[i], **{f: kept[f][i] for f in shape}, wanted=float(kept["wanted"][i])) for i in rows]
