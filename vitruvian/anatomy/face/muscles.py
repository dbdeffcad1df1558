"""The 44 muscles of the face: kind, path on this head, strength, and where their fibres run.

The table (`data/face_muscles.csv`) has the left side, its points as vertices of MakeHuman's base mesh with offsets, so
that a muscle follows every build. A muscle is one bundle or several (`|` between their points) of like fibres; a bundle
fills a tube about its path: an ellipse, `width` along the skin by THICK across it. Lids are turned, not deformed
(`lids`): the two muscles that move them have no fibres in the tissue.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from vitruvian.anatomy.face.head_mesh import HeadMesh
from vitruvian.anatomy.tables import read_csv
from vitruvian.flesh import Fibre

Array = np.ndarray
THICK = 0.004  # [m] half the depth that a muscle fills: no thinner than the cells can see
NARROWEST = 0.007  # [m]
LID_MUSCLES = ("orbicularis_oculi_palpebral", "levator_palpebrae_superioris")
MIRROR = np.array([-1.0, 1.0, 1.0])
FINE = 0.001  # [m] between points of a path
# stretch at which fibres are strongest: at rest they are shorter, and those that are drawn out by others resist late
OPTIMAL = 1.2
AT_REST = (1.0 - 4.0 * (1.0 - 1.0 / OPTIMAL) ** 2) / OPTIMAL  # force at rest over the greatest, by `flesh.fibre`


@dataclass(frozen=True)
class FaceMuscle:
    """One muscle of one side."""

    name: str  # such as zygomaticus_major_l
    kind: str  # linear, sheet or sphincter
    layer: str  # superficial, muscle or deep
    bundles: tuple[Array, ...]  # each from origin to insertion [m], shape (n, 3)
    peak_force: float  # of all bundles [N]
    width: float  # of a bundle [m]
    action_units: tuple[str, ...]

    @property
    def path(self) -> Array:
        """Of its first bundle [m], shape (n, 3)."""
        return self.bundles[0]

    @property
    def base(self) -> str:
        """Its name without the side."""
        return self.name[:-2]

    @property
    def bony(self) -> bool:
        """Whether it arises from bone."""
        return self.base not in ("risorius", "platysma", "orbicularis_oris_upper", "orbicularis_oris_lower")


def face_muscles(head: HeadMesh) -> tuple[FaceMuscle, ...]:
    """All 44, the left side first."""
    number = np.full(len(head.shaped), -1)
    number[head.base] = np.arange(len(head.base))
    out = []
    for side, mirror in (("l", np.ones(3)), ("r", MIRROR)):
        for row in read_csv("face_muscles.csv"):
            bundles = []
            for bundle in row["points"].split("|"):
                path = []
                for point in bundle.split(";"):
                    vertex, *offset = point.split()
                    path.append(head.vertices[number[int(vertex)]] + 1e-3 * np.array(offset, float))
                bundles.append(np.array(path) * mirror)
            units = tuple(u for u in row["action_units"].replace("(off:", "").replace(")", "").split())
            out.append(
                FaceMuscle(
                    f"{row['name']}_{side}", row["kind"], row["layer"], tuple(bundles), float(row["peak_force_n"]),
                    1e-3 * float(row["width_mm"]), units,
                )
            )  # fmt: skip
    return tuple(out)


def fibre_regions(
    muscles: Sequence[FaceMuscle], outward: Callable[[Array], Array]
) -> tuple[list[tuple[str, Callable[[Array], tuple[Array, Array]]]], list[Fibre]]:
    """Where fibres run, and their strength, for `sample_muscles`; outward(points) -> unit normals of the skin."""
    regions, fibres = [], []
    for muscle in muscles:
        half = 0.5 * max(muscle.width, NARROWEST)
        idle = muscle.base in LID_MUSCLES
        bundles = [] if idle else [_region(path, half, outward) for path in muscle.bundles]
        regions.append((muscle.name, _joined(bundles)))
        stress = muscle.peak_force / len(muscle.bundles) / (np.pi * half * THICK) / AT_REST
        fibres.append(Fibre(0.0 if idle else stress, optimal_stretch=OPTIMAL))
    return regions, fibres


def _joined(bundles: Sequence[Callable[[Array], tuple[Array, Array]]]) -> Callable[[Array], tuple[Array, Array]]:
    """What any of several bundles covers; where two overlap, fibres run as in the later."""

    def covered(x: Array) -> tuple[Array, Array]:
        hit, direction = np.zeros(len(x), bool), np.zeros_like(x)
        for bundle in bundles:
            inside, along = bundle(x)
            hit |= inside
            direction[inside] = along[inside]
        return hit, direction

    return covered


def _region(path: Array, half: float, outward: Callable[[Array], Array]) -> Callable[[Array], tuple[Array, Array]]:
    fine, tangent = _resampled(path)
    tree = cKDTree(fine)
    normal = outward(fine)
    normal = normal - np.sum(normal * tangent, axis=1)[:, None] * tangent
    normal /= np.maximum(np.linalg.norm(normal, axis=1), 1e-9)[:, None]

    def covered(x: Array) -> tuple[Array, Array]:
        hit, direction = np.zeros(len(x), bool), np.zeros_like(x)
        far, at = tree.query(x, distance_upper_bound=max(half, THICK))
        near = np.flatnonzero(np.isfinite(far))
        at = at[near]
        away = x[near] - fine[at]
        deep = np.sum(away * normal[at], axis=1)
        along = np.sum(away * tangent[at], axis=1)
        across = np.sqrt(np.maximum(np.sum(away * away, axis=1) - deep**2 - along**2, 0.0))
        inside = (across / half) ** 2 + (deep / THICK) ** 2 < 1.0
        inside &= np.abs(along) < 2.0 * FINE  # beyond the ends there is no muscle
        hit[near] = inside
        direction[near] = tangent[at]
        return hit, direction

    return covered


def _resampled(points: Array) -> tuple[Array, Array]:
    """Points FINE apart along a smooth curve through these, and its unit tangents."""
    from scipy.interpolate import PchipInterpolator

    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    curve = PchipInterpolator(length, points)
    at = np.linspace(0.0, length[-1], max(2, round(length[-1] / FINE)) + 1)
    tangent = curve(at, 1)
    return curve(at), tangent / np.linalg.norm(tangent, axis=1)[:, None]
