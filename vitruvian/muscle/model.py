"""Muscles of a body: lines through points that are fixed to bones, each with a force law.

`MuscleBuilder` checks and lays everything out in arrays; `MuscleModel` is what the kernels read. The sparsity of the
moment arms is fixed by the tree: a segment between bones A and B changes length only with the joints on the way from
A to B (those of one bone's ancestors but not of the other's), so every muscle knows its joint coordinates once and
for all.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from vitruvian.errors import InputError, unknown_name
from vitruvian.muscle.elements import WIDTH, Element

Array = np.ndarray


@dataclass(frozen=True)
class MuscleModel:
    """n muscles, p path points, s = p - n segments, z moment arms that can differ from zero."""

    names: tuple[str, ...]
    groups: tuple[str, ...]  # anatomical name of each muscle
    regions: tuple[str, ...]  # body part that it is counted to
    elements: tuple[Element, ...]
    weight: Array  # w of the activation solve, shape (n,)
    pcsa: Array  # [m^2], for drawing; 0 where unknown, shape (n,)
    kind: Array  # force law, shape (n,)
    table: Array  # its parameters, shape (n, WIDTH)
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


class MuscleBuilder:
    """Collects muscles for a skeleton."""

    def __init__(self, skeleton: Tree):
        self._names = tuple(skeleton.names)
        self._index = {name: i for i, name in enumerate(self._names)}
        self._n_v = int(skeleton.n_v)
        self._chains = _coordinate_chains(skeleton)
        self._rows: list[tuple] = []
        self._taken: set[str] = set()

    def add_muscle(
        self,
        name: str,
        points: Sequence[tuple[str, Iterable[float]]],
        element: Element,
        *,
        group: str = "",
        region: str = "",
        weight: float = 1.0,
        pcsa: float = 0.0,
    ) -> None:
        """A muscle through `points`: (bone, position in the bone's frame [m]), origin first."""
        if name in self._taken:
            raise InputError(f"muscle '{name}' is defined twice")
        if len(points) < 2:
            raise InputError(f"muscle '{name}': a path needs at least two points, got {len(points)}")
        for bone, _ in points:
            if bone not in self._index:
                raise InputError(f"muscle '{name}' is attached to bone '{bone}', which does not exist")
        places = [np.array(list(p), dtype=float) for _, p in points]
        if any(p.shape != (3,) or not np.isfinite(p).all() for p in places):
            raise InputError(f"muscle '{name}': every point needs three finite coordinates")
        local = np.array(places)
        for value, what in ((element.rest_length, "rest length"), (element.f_max, "F_max"), (weight, "weight")):
            if not (np.isfinite(value) and value > 0):
                raise InputError(f"muscle '{name}': {what} must be positive, got {value:g}")
        kind, row = element.row()
        if pcsa < 0:
            raise InputError(f"muscle '{name}': PCSA must be positive, got {pcsa:g} m^2")
        self._taken.add(name)
        bones = np.array([self._index[b] for b, _ in points])
        self._rows.append((name, group or name, region, element, weight, pcsa, kind, row, bones, local))

    def build(self) -> MuscleModel:
        names, groups, regions, elements, weight, pcsa, kinds, rows, bones, locals_ = (
            zip(*self._rows) if self._rows else ((),) * 10
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
        table = np.array(rows, dtype=float).reshape(-1, WIDTH)
        return MuscleModel(
            names=tuple(names),
            groups=tuple(groups),
            regions=tuple(regions),
            elements=tuple(elements),
            weight=np.array(weight, dtype=float),
            pcsa=np.array(pcsa, dtype=float),
            kind=np.array(kinds, dtype=np.int64),
            table=table,
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
