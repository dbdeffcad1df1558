"""Muscles of a body: lines through points that are fixed to bones, each with a force law.

`MuscleBuilder` checks and lays everything out in arrays; `MuscleModel` is what the kernels read. The sparsity of the
moment arms is fixed by the tree: a segment between bones A and B changes length only with the joints on the way from
A to B (those of one bone's ancestors but not of the other's), so every muscle knows its joint coordinates once and
for all. Cylinders bend a path round bone, and points may ride on carriers (`wrapping`).
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
from vitruvian.muscle.wrapping import (
    ARC,
    Carrier,
    Carriers,
    Cylinder,
    Wraps,
    carrier_frame,
    carrier_tables,
    cylinder_frame,
)

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
    # Rows that change lengths: all segments, two for each cylinder, one for each muscle on a carrier.
    segment_start: Array  # entries of row s are segment_start[s]:segment_start[s+1]
    segment_entry: Array  # which moment arm each adds to
    segment_sign: Array  # +1 if the joint moves the segment's far end, -1 its near end
    wraps: Wraps
    carriers: Carriers
    cylinders: tuple[tuple[Cylinder, ...], ...]  # of each muscle, as given
    riding: Array  # carrier of each point, -1 for none: such a point has its bone and place by the default pose, (p,)
    frames: tuple[Carrier, ...]  # the carriers, as given

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

    @property
    def curve_offsets(self) -> Array:
        """Muscle m has the points curve_offsets[m]:curve_offsets[m+1] of `path_curves`, shape (n + 1,)."""
        more = np.bincount(self.wraps.muscle, minlength=self.n_muscles)
        return self.offsets + ARC * np.concatenate([[0], np.cumsum(more)]).astype(np.int64)

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
    cylinders: tuple[Cylinder, ...]
    riding: Array  # carrier of each point, -1 for none


class MuscleBuilder:
    """Collects muscles for a skeleton, from none or from those of `model` that were built for it."""

    def __init__(
        self,
        skeleton: Tree,
        model: MuscleModel | None = None,
        keep: Iterable[int] | None = None,
        carriers: Sequence[Carrier] = (),
    ):
        """keep: which muscles of the model to start from; all if left out. carriers: frames that points may ride on;
        those of the model if it is given."""
        self._carriers = tuple(carriers) if model is None else model.frames
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
                points = slice(model.offsets[m], model.offsets[m + 1])
                path = *model.path(m), model.cylinders[m], model.riding[points]
                self._rows.append(_Muscle(*facts, model.weight[m], model.pcsa[m], *path))
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
        cylinders: Sequence[Cylinder] = (),
    ) -> None:
        """A muscle through `points`: (bone or carrier, position in its frame [m]), origin first.

        cylinders: what its segments bend round, at most one each.
        pcsa: cross-section [m^2], which is drawn and filled with flesh; F_max / 0.3 MPa if left out."""
        if name in self._taken:
            raise InputError(f"muscle '{name}' is defined twice")
        bones, local = checked_path(f"muscle '{name}'", points, (*self._names, *(c.name for c in self._carriers)))
        riding = np.where(bones < len(self._names), -1, bones - len(self._names))
        for k in np.flatnonzero(riding >= 0):
            carrier = self._carriers[riding[k]]
            frame = carrier_frame(carrier)
            bones[k], local[k] = self._names.index(carrier.base), frame[:3, :3] @ local[k] + frame[:3, 3]
        if isinstance(element, ForceLaw):
            raise InputError(f"muscle '{name}': give the force law its numbers, {element.name}(f_max=..., ...)")
        for value, what in ((element.rest_length, "rest length"), (element.f_max, "F_max"), (weight, "weight")):
            if not (np.isfinite(value) and value > 0):
                raise InputError(f"muscle '{name}': {what} must be positive, got {value:g}")
        pcsa = element.f_max / SPECIFIC_TENSION if pcsa is None else pcsa
        if not (pcsa >= 0 and np.isfinite(pcsa)):
            raise InputError(f"muscle '{name}': PCSA must be positive, got {pcsa:g} m^2")
        gears = [
            (self._names.index(c.base), self._names.index(c.driver))
            for c in map(self._carriers.__getitem__, riding[riding >= 0])
        ]
        if not any(self._segment(a, b) for a, b in [*itertools.pairwise(bones), *gears]):
            where = " and ".join(self._names[b] for b in dict.fromkeys(bones))
            raise InputError(f"muscle '{name}' crosses no joint that moves: all its points are on {where}")
        for c in cylinders:
            if not 0 <= c.segment < len(bones) - 1:
                raise InputError(f"muscle '{name}': a cylinder bends segment {c.segment} of {len(bones) - 1}")
            if c.bone not in self._names:
                raise InputError(f"muscle '{name}': {unknown_name('bone', c.bone, self._names)}")
            cylinder_frame(f"muscle '{name}'", c)
        if len({c.segment for c in cylinders}) < len(cylinders):
            raise InputError(f"muscle '{name}': a segment can bend round one cylinder only")
        self._taken.add(name)
        path = bones, local, tuple(sorted(cylinders, key=lambda c: c.segment)), riding
        self._rows.append(_Muscle(name, group or name, region, element, weight, pcsa, *path))

    def build(self) -> MuscleModel:
        names, groups, regions, elements, weight, pcsa, bones, locals_, cylinders, carried = (
            zip(*self._rows) if self._rows else ((),) * len(_Muscle._fields)
        )
        offsets = np.cumsum([0, *(len(b) for b in bones)]).astype(np.int64)
        rows = _Rows()
        for m, path in enumerate(bones):
            for i, (a, b) in enumerate(itertools.pairwise(path)):
                rows.add(m, self._segment(a, b), int(offsets[m]) + i, int(offsets[m]) + i + 1)
        wraps = self._wraps(cylinders, bones, offsets, rows)
        riding = np.concatenate(carried).astype(np.int64) if carried else np.zeros(0, np.int64)
        local = np.concatenate(locals_) if locals_ else np.zeros((0, 3))
        carriers = self._carry(riding, local, rows)
        row_start, columns, start, entry, sign = rows.sparse(len(names))
        return MuscleModel(
            names=tuple(names),
            groups=tuple(groups),
            regions=tuple(regions),
            elements=tuple(elements),
            weight=np.array(weight, dtype=float),
            pcsa=np.array(pcsa, dtype=float),
            **force_laws(names, elements)._asdict(),
            offsets=offsets,
            bone=np.concatenate(bones).astype(np.int64) if bones else np.zeros(0, np.int64),
            local=local,
            n_v=self._n_v,
            row_start=row_start,
            column=columns,
            segment_start=start,
            segment_entry=entry,
            segment_sign=sign,
            wraps=wraps,
            carriers=carriers,
            cylinders=tuple(cylinders),
            riding=riding,
            frames=self._carriers,
        )

    def _wraps(self, cylinders: Sequence, bones: Sequence, offsets: Array, rows: _Rows) -> Wraps:
        """Lay out the cylinders of all muscles, and two rows for each: near end to cylinder, cylinder to far end."""
        out = []
        for i, given in enumerate(cylinders):
            for c in given:
                first, obstacle = int(offsets[i]) + c.segment, self._names.index(c.bone)
                a, b = bones[i][c.segment], bones[i][c.segment + 1]
                line = rows.add(i, self._segment(a, obstacle), first, -1)
                rows.add(i, self._segment(obstacle, b), -1, first + 1)
                turned = cylinder_frame(f"muscle '{self._rows[i].name}'", c)
                out.append((i, first - i, first, line, obstacle, c.centre, turned, c.radius, c.slips))
        m, segment, near, row, on = (np.array([w[k] for w in out], np.int64) for k in range(5))
        centre, frame = np.array([w[5] for w in out]).reshape(-1, 3), np.array([w[6] for w in out]).reshape(-1, 3, 3)
        radius, slips = np.array([w[7] for w in out], float), np.array([w[8] for w in out], bool)
        return Wraps(m, segment, near, row, on, centre, frame, radius, slips)

    def _carry(self, riding: Array, local: Array, rows: _Rows) -> Carriers:
        """Lay out the carriers, and a row for each muscle that pulls on one."""
        point = np.flatnonzero(riding >= 0)
        inverse = [np.linalg.inv(carrier_frame(c)) for c in self._carriers]
        place = [inverse[riding[p]][:3, :3] @ local[p] + inverse[riding[p]][:3, 3] for p in point]
        pulls: dict[tuple[int, int], list[tuple[int, float]]] = {}
        for row, (m, near, far) in enumerate(rows.ends):
            a, b = (riding[p] if p >= 0 else -1 for p in (near, far))
            for c, s in ((a, -1.0), (b, 1.0)):
                if c >= 0 and a != b:
                    pulls.setdefault((m, int(c)), []).append((row, s))
        bones = [(self._names.index(c.base), self._names.index(c.driver)) for c in self._carriers]
        gear, start, line, sign = [], [0], [], []
        for (m, c), pulled in pulls.items():
            gear.append((c, rows.add(m, self._segment(*bones[c]), -1, -1)))
            line += [row for row, _ in pulled]
            sign += [s for _, s in pulled]
            start.append(len(line))
        return Carriers(
            np.array([(*b, c.kind) for b, c in zip(bones, self._carriers)], np.int64).reshape(-1, 3),
            *carrier_tables(self._carriers),
            point.astype(np.int64),
            riding[point],
            np.array(place, float).reshape(-1, 3),
            np.array(gear, np.int64).reshape(-1, 2),
            np.array(start, np.int64),
            np.array(line, np.int64),
            np.array(sign, float),
        )

    def _segment(self, near: int, far: int) -> list[tuple[int, float]]:
        """Joint coordinates that change the distance between a point of `near` and one of `far`."""
        a, b = self._chains[near], self._chains[far]
        return [(c, 1.0) for c in sorted(b - a)] + [(c, -1.0) for c in sorted(a - b)]


class _Rows:
    """Lines of pull: muscle, joint coordinates with their signs, and the path points at both ends (-1: none)."""

    def __init__(self) -> None:
        self.ends: list[tuple[int, int, int]] = []
        self._entries: list[list[tuple[int, float]]] = []

    def add(self, muscle: int, entries: list[tuple[int, float]], near: int, far: int) -> int:
        self.ends.append((muscle, near, far))
        self._entries.append(entries)
        return len(self.ends) - 1

    def sparse(self, n_muscles: int) -> tuple[Array, ...]:
        """row_start, column, segment_start, segment_entry, segment_sign of `MuscleModel`."""
        mine: list[set[int]] = [set() for _ in range(n_muscles)]
        for (m, _, _), entries in zip(self.ends, self._entries):
            mine[m] |= {c for c, _ in entries}
        columns = [sorted(c) for c in mine]
        row_start = np.cumsum([0, *map(len, columns)]).astype(np.int64)
        place = [{c: int(row_start[m]) + k for k, c in enumerate(cs)} for m, cs in enumerate(columns)]
        entry = [place[m][c] for (m, _, _), entries in zip(self.ends, self._entries) for c, _ in entries]
        sign = [s for entries in self._entries for _, s in entries]
        start = np.cumsum([0, *map(len, self._entries)]).astype(np.int64)
        flat = [c for cs in columns for c in cs]
        return row_start, np.array(flat, np.int64), start, np.array(entry, np.int64), np.array(sign, float)


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
