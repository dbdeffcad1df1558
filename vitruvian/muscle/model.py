"""Muscles of a body: lines through points that are fixed to bones, each with a force law.

`MuscleBuilder` checks and lays everything out in arrays; `MuscleModel` is what the kernels read. The sparsity of the
moment arms is fixed by the tree: a segment between bones A and B changes length only with the joints on the way from
A to B (those of one bone's ancestors but not of the other's), so every muscle knows its joint coordinates once and
for all.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np

from vitruvian.errors import InputError, unknown_name
from vitruvian.muscle.elements import SPECIFIC_TENSION, Element
from vitruvian.muscle.forces import force_laws
from vitruvian.muscle.laws import ForceLaw, LawMuscles
from vitruvian.muscle.tendon import ELASTIC

Array = np.ndarray
Path = Sequence[tuple[str, Iterable[float]]]  # bone and position in its frame [m] of each point, origin first


@dataclass(frozen=True)
class MuscleModel:
    """n muscles, p path points, s = p - n segments, z moment arms that can differ from zero."""

    names: tuple[str, ...]
    groups: tuple[str, ...]  # anatomical name of each muscle
    regions: tuple[str, ...]  # body part that it is counted to
    elements: tuple[Element, ...]
    weight: Array  # w of the activation solve, shape (n,)
    pcsa: Array  # [m^2], for drawing and bellies, shape (n,)
    kind: Array  # force law, shape (n,)
    table: Array  # its parameters, shape (n, WIDTH)
    custom: tuple[LawMuscles, ...]  # muscles with laws of one's own; empty for built-in laws alone
    offsets: Array  # muscle m has points offsets[m]:offsets[m+1], shape (n + 1,)
    bone: Array  # bone of each point, shape (p,)
    local: Array  # its position in the bone's frame [m], shape (p, 3)
    n_v: int  # joint velocity coordinates of the skeleton
    row_start: Array  # moment arms of muscle m are row_start[m]:row_start[m+1], shape (n + 1,)
    column: Array  # joint coordinate of each moment arm, ascending within a muscle, shape (z,)
    segment_start: Array  # entries of segment s are segment_start[s]:segment_start[s+1], shape (s + 1,)
    segment_entry: Array  # which moment arm each adds to
    segment_sign: Array  # +1 if the joint moves the segment's far end, -1 its near end

    @property
    def n_muscles(self) -> int:
        return len(self.names)

    @property
    def f_max(self) -> Array:
        """Active force at rest length [N], shape (n,)."""
        return self.table[:, 0]

    @property
    def elastic(self) -> Array:
        """Muscles with an elastic tendon, whose fibre length is state, bool, shape (n,)."""
        return self.kind == ELASTIC

    @property
    def rest_length(self) -> Array:
        """[m], shape (n,)."""
        return self.table[:, 1]

    def index(self, name: str) -> int:
        try:
            return self.names.index(name)
        except ValueError:
            raise unknown_name("muscle", name, self.names) from None

    def named(self, *words: str) -> Array:
        """Indices of all muscles whose name starts with one of the words."""
        return np.array([i for i, n in enumerate(self.names) if n.startswith(words)], dtype=np.int64)

    def path(self, m: int) -> tuple[Array, Array]:
        """Bones (k,) and places in their frames [m] (k, 3) of the points of muscle m."""
        points = slice(self.offsets[m], self.offsets[m + 1])
        return self.bone[points], self.local[points]

    def stronger(self, factor: float) -> MuscleModel:
        """The same muscles with `factor` times the cross-section."""
        return replace(self.with_elements([e.stronger(factor) for e in self.elements]), pcsa=factor * self.pcsa)

    def with_elements(self, elements: Sequence[Element]) -> MuscleModel:
        """The same lines with other force laws, one for each muscle."""
        if len(elements) != self.n_muscles:
            raise InputError(f"{self.n_muscles} muscles need as many force laws, not {len(elements)}")
        return replace(self, elements=tuple(elements), **force_laws(self.names, elements)._asdict())


class Tree(Protocol):
    """What a skeleton must tell about itself for muscles to be laid on it."""

    @property
    def names(self) -> Sequence[str]: ...
    @property
    def parent(self) -> Array: ...
    @property
    def v_start(self) -> Array: ...
    @property
    def n_v(self) -> int: ...


class _Muscle(NamedTuple):
    name: str
    group: str
    region: str
    element: Element
    weight: float
    pcsa: float
    bones: Array
    local: Array


class MuscleBuilder:
    """Collects muscles for a skeleton, from none or from those of `model` that were built for it."""

    def __init__(self, skeleton: Tree, model: MuscleModel | None = None, keep: Iterable[int] | None = None):
        """keep: which muscles of the model to start from; all if left out."""
        self._names = tuple(skeleton.names)
        self._n_v = int(skeleton.n_v)
        self._chains = _coordinate_chains(skeleton)
        self._rows: list[_Muscle] = []
        self._taken: set[str] = set()
        if model is not None:
            if model.n_v != self._n_v:
                raise InputError(f"muscles were built for {model.n_v} joint coordinates, the skeleton has {self._n_v}")
            for m in range(model.n_muscles) if keep is None else keep:
                facts = model.names[m], model.groups[m], model.regions[m], model.elements[m]
                self._rows.append(_Muscle(*facts, model.weight[m], model.pcsa[m], *model.path(m)))
                self._taken.add(model.names[m])

    def add_muscle(
        self,
        name: str,
        points: Path,
        element: Element,
        *,
        group: str = "",
        region: str = "",
        weight: float = 1.0,
        pcsa: float | None = None,
    ) -> None:
        """A muscle through `points`: (bone, position in the bone's frame [m]), origin first.

        pcsa: cross-section [m^2], which is drawn and filled with flesh; F_max / 0.3 MPa if left out."""
        if name in self._taken:
            raise InputError(f"muscle '{name}' is defined twice")
        bones, local = checked_path(f"muscle '{name}'", points, self._names)
        if isinstance(element, ForceLaw):
            raise InputError(f"muscle '{name}': give the force law its numbers, {element.name}(f_max=..., ...)")
        for value, what in ((element.rest_length, "rest length"), (element.f_max, "F_max"), (weight, "weight")):
            if not (np.isfinite(value) and value > 0):
                raise InputError(f"muscle '{name}': {what} must be positive, got {value:g}")
        pcsa = element.f_max / SPECIFIC_TENSION if pcsa is None else pcsa
        if not (pcsa >= 0 and np.isfinite(pcsa)):
            raise InputError(f"muscle '{name}': PCSA must be positive, got {pcsa:g} m^2")
        if not any(self._segment(a, b) for a, b in itertools.pairwise(bones)):
            where = " and ".join(self._names[b] for b in dict.fromkeys(bones))
            raise InputError(f"muscle '{name}' crosses no joint that moves: all its points are on {where}")
        self._taken.add(name)
        self._rows.append(_Muscle(name, group or name, region, element, weight, pcsa, bones, local))

    def build(self) -> MuscleModel:
        names, groups, regions, elements, weight, pcsa, bones, locals_ = (
            zip(*self._rows) if self._rows else ((),) * len(_Muscle._fields)
        )
        columns, entries, signs = [], [], []
        row_start, segment_start = [0], [0]
        for path in bones:
            touched = [self._segment(a, b) for a, b in itertools.pairwise(path)]
            mine = sorted({c for segment in touched for c, _ in segment})
            place = {c: row_start[-1] + k for k, c in enumerate(mine)}
            for segment in touched:
                entries += [place[c] for c, _ in segment]
                signs += [s for _, s in segment]
                segment_start.append(len(entries))
            columns += mine
            row_start.append(len(columns))
        return MuscleModel(
            names=tuple(names),
            groups=tuple(groups),
            regions=tuple(regions),
            elements=tuple(elements),
            weight=np.array(weight, dtype=float),
            pcsa=np.array(pcsa, dtype=float),
            **force_laws(names, elements)._asdict(),
            offsets=np.cumsum([0, *(len(b) for b in bones)]).astype(np.int64),
            bone=np.concatenate(bones).astype(np.int64) if bones else np.zeros(0, np.int64),
            local=np.concatenate(locals_) if locals_ else np.zeros((0, 3)),
            n_v=self._n_v,
            row_start=np.array(row_start, dtype=np.int64),
            column=np.array(columns, dtype=np.int64),
            segment_start=np.array(segment_start, dtype=np.int64),
            segment_entry=np.array(entries, dtype=np.int64),
            segment_sign=np.array(signs, dtype=float),
        )

    def _segment(self, near: int, far: int) -> list[tuple[int, float]]:
        """Joint coordinates that change the distance between a point of `near` and one of `far`."""
        a, b = self._chains[near], self._chains[far]
        return [(c, 1.0) for c in sorted(b - a)] + [(c, -1.0) for c in sorted(a - b)]


def checked_path(whose: str, points: Path, names: Sequence[str]) -> tuple[Array, Array]:
    """Bones (k,) and positions [m] (k, 3) of a path's points; names: all bones; whose: opens the error."""
    if len(points) < 2:
        raise InputError(f"{whose}: a path needs at least two points, got {len(points)}")
    places = []
    for point in points:
        try:
            bone, place = point
            place = np.array(list(place), dtype=float)
        except (TypeError, ValueError):
            raise InputError(f"{whose}: a point is (bone, (x, y, z)), got {point!r}") from None
        if bone not in names:
            raise InputError(f"{whose}: {unknown_name('bone', str(bone), names)}")
        if place.shape != (3,) or not np.isfinite(place).all():
            raise InputError(f"{whose}: every point needs three finite coordinates, got {place} on {bone}")
        places.append(place)
    return np.array([names.index(b) for b, _ in points]), np.array(places)


def _coordinate_chains(skeleton: Tree) -> list[set[int]]:
    """For every bone, the velocity coordinates of all joints between it and the world."""
    starts = [int(s) for s in skeleton.v_start]
    ends = [*starts[1:], int(skeleton.n_v)]
    chains: list[set[int]] = []
    for i in range(len(skeleton.names)):
        parent = int(skeleton.parent[i])
        inherited = chains[parent] if parent >= 0 else set()
        chains.append(inherited | set(range(starts[i], ends[i])))
    return chains
