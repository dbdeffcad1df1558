"""The human with a trunk that breathes: ball ribs, muscles between them, diaphragm, belly, lungs.

    trunk = breathing_human()
    trunk.body        75 bones, the tables' muscles, 600 elements between the ribs
    trunk.cavities    chest and belly, 1,700 elements of diaphragm and wall

Units of table 8.1, which prints none: F_max newtons a line, k_PE newtons (the force at 1.5 rest lengths), b_PE newtons
per rest length a second, v_max rest lengths a second. A line of diaphragm or wall is a strip of muscle, 1/48 of the way
round the trunk wide; with more or fewer points round the belly a line is weaker or stronger in proportion, so that the
breath does not depend on the mesh. κ = 200 is 200 kPa; ten times that keeps the volume ten times better for the same
step, and is used. Masses: 8 kg of wall, alike for every point (3.2).
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType

import numpy as np

from vitruvian.anatomy.body import Body
from vitruvian.anatomy.human import human
from vitruvian.anatomy.trunk.intercostals import Strand, strands
from vitruvian.anatomy.trunk.shape import COLUMNS, FREE, TENDON_OWNER, Shape, trunk_shape
from vitruvian.breath import Carried, Cavities, Fibres, Leans, Lungs, Strips
from vitruvian.breath.surface import place, volume
from vitruvian.errors import InputError, unknown_name
from vitruvian.muscle import CurvedHill, Element, MuscleBuilder, SpringMuscle, force_laws
from vitruvian.skeleton import bone_poses

Array = np.ndarray
WALL_MASS = 8.0  # [kg]
BULK = 2e6  # κ [Pa]
PLATE_BONE = "T10"
RECTUS = np.radians(30.0)  # columns in front whose lines are the rectus
LEAN = 500.0  # [N/m] of the ribs' lining on a point of the diaphragm
LEAN_DAMPING = 5.0  # [N s/m]
SHEET = "sheet"  # tissue across the diaphragm's fibres, passive: without it the fibres slide apart and it bulges
SHEET_TENSION, SHEET_DAMPING = 5.0, 0.1  # [N] per strain, [N s]
PERICARDIUM = (1000.0, 1000.0, 60.0)  # [N/m] holds the tendon to the side, to front and back, and hangs it up
PERICARDIUM_DAMPING = 50.0  # [N s/m]
OWN = ("external_intercostal", "internal_intercostal")  # the tables' few strong lines, which the elements replace
LAWS = ("hill", "spring")


@dataclass(frozen=True, eq=False)
class Trunk:
    """A body, and what it breathes with."""

    body: Body
    cavities: Cavities
    lungs: Lungs
    shape: Shape
    external: Array  # muscles of the body between the ribs, raising, (k,)
    internal: Array  # lowering

    @property
    def n_elements(self) -> int:
        """Of ribs, diaphragm and wall together."""
        return len(self.external) + len(self.internal) + self.cavities.n_elements


def breathing_human(
    *, columns: int = COLUMNS, elements: str = "hill", bulk: float = BULK, lungs: Lungs | None = None, **options: object
) -> Trunk:
    """The whole human; columns: points round the belly; elements: force law "hill" or "spring" (DiLorenzo 4.1, whose
    activation is the contraction 1 - r); bulk: κ [Pa]; options: those of `human`."""
    if elements not in LAWS:
        raise unknown_name("elements", elements, LAWS)
    if columns % 24 or not 24 <= columns <= 120:
        raise InputError(f"columns must be a multiple of 24 from 24 to 120, got {columns}")
    if options.get("height") is not None or options.get("mass") is not None:
        raise InputError("the trunk that breathes has the tables' size: leave out height and mass")
    body = human(ribs="ball", **options)  # type: ignore[arg-type]
    body = _with_intercostals(body, elements)
    shape = trunk_shape(columns)
    return Trunk(
        body,
        _cavities(body, shape, elements, bulk),
        lungs or Lungs(),
        shape,
        body.muscles.named("external rib element"),
        body.muscles.named("internal rib element"),
    )


@lru_cache(maxsize=1)
def element_numbers() -> MappingProxyType[str, dict[str, float]]:
    """Group -> k_pe, b_pe, v_max, f_max of table 8.1."""
    text = files("vitruvian.anatomy").joinpath("data/torso_elements.csv").read_text()
    keys = {"k_pe": "k_pe_N", "b_pe": "b_pe_Ns", "v_max": "v_max_per_s", "f_max": "f_max_N"}
    rows = csv.DictReader(text.splitlines())
    return MappingProxyType({r["group"]: {k: float(r[c]) for k, c in keys.items()} for r in rows})


def element(group: str, length: float, law: str) -> Element:
    """An element at rest at `length` [m]."""
    if group == SHEET:
        return SpringMuscle(length, 0.0, SHEET_TENSION / length, SHEET_DAMPING / length)
    n = element_numbers()[group]
    if law == "hill":
        return CurvedHill(n["f_max"], length, n["k_pe"], n["b_pe"], n["v_max"] * length, holds=True)
    gain = n["f_max"] / length  # r = 0 pulls with F_max at rest length, as full activation does (4.3)
    passive = n["k_pe"] * 10.0 * np.exp(-5.0) / length  # the slope of the Hill element's passive force at rest
    return SpringMuscle(length, gain, float(passive), n["b_pe"] / length, shortens=True)


def _with_intercostals(body: Body, law: str) -> Body:
    keep = [m for m, n in enumerate(body.muscles.names) if not n.startswith(OWN)]
    builder = MuscleBuilder(body.skeleton, body.muscles, keep)
    poses = bone_poses(body.skeleton, body.default_q)

    def local(bone: str, p: Array) -> Array:
        T = poses[body.skeleton.index(bone)]
        return np.asarray(T[:3, :3].T @ (p - T[:3, 3]))

    def bone_of(name: str, side: str) -> str:
        return name if name in body.skeleton.names else f"{name}_{side}"

    count: dict[tuple[str, int, str], int] = {}
    for side, flip in (("l", 1.0), ("r", -1.0)):
        turn = np.array([flip, 1.0, 1.0])
        for s in strands():
            key = (s.kind, s.space, side)
            count[key] = count.get(key, 0) + 1
            ends = [(bone_of(b, side), turn * p) for b, p in ((s.upper, s.start), (s.lower, s.end))]
            builder.add_muscle(
                f"{s.kind} rib element {s.space}_{count[key]:02d}_{side}",
                [(b, local(b, p)) for b, p in ends],
                element(f"{s.kind} intercostals", _span(s), law),
                group=f"{s.kind.capitalize()} intercostals",
                region="trunk",
            )
    return replace(body, muscles=builder.build(), notes=(*body.notes, "elements between the ribs"))


def _span(s: Strand) -> float:
    return float(np.linalg.norm(s.end - s.start))


def with_ball(
    trunk: Trunk, position: Array, radius: float, mass: float, stiffness: float = 5e3, friction: float = 0.5
) -> Trunk:
    """The trunk with a ball that may fall on its belly, the last free point; position [m] in the default pose. It rubs
    on the skin (0.5: dry skin on smooth solids, 0.3 to 0.7) and does not spin."""
    c = trunk.cavities
    n, ball = len(c.carried.point), c.n_points
    wall = np.unique(trunk.shape.wall[1:-1])
    wall = wall[c.carried.point[wall] >= 0]
    k = len(wall)
    carried = Carried(
        np.append(np.where(c.carried.point == ball, ball + 1, c.carried.point), ball),
        np.concatenate([c.carried.offset, np.zeros((1, 3))]),
        np.concatenate([c.carried.bone, np.full((1, 2), -1)]),
        np.concatenate([c.carried.share, np.zeros((1, 2))]),
        np.concatenate([c.carried.local, np.zeros((1, 2, 3))]),
    )
    stiffness = stiffness * trunk.shape.share**2
    more = (wall, np.full(k, n), np.zeros((k, 3)), np.full(k, stiffness), np.full(k, 1e-3 * stiffness),
            np.zeros(k, bool), np.full(k, radius), np.full(k, friction))  # fmt: skip
    leans = Leans(*(np.concatenate([a, b]) for a, b in zip(c.leans, more)))
    order = np.append(np.where(c.strips.order == ball, ball + 1, c.strips.order), ball)
    strips = Strips(order, np.append(c.strips.before, -1))
    cavities = replace(
        c, carried=carried, strips=strips, rest=np.insert(c.rest, ball, position, axis=0),
        mass=np.insert(c.mass, ball, mass), leans=leans,
    )  # fmt: skip
    return replace(trunk, cavities=cavities)


# --- diaphragm and wall --------------------------------------------------------------------------------------------


def _cavities(body: Body, shape: Shape, law: str, bulk: float) -> Cavities:
    points = np.array(shape.points)
    anchors, ways, leaning = _leans(shape, points)
    walls = len(leaning)
    middle = shape.owners.index(TENDON_OWNER, int(shape.dome[-1].max()) + 1)
    for way in np.eye(3):
        anchors.append((points[middle], ((PLATE_BONE, 1.0),)))
        ways.append(way)
        leaning.append(middle)
    tied = np.arange(len(leaning)) >= walls
    everything = np.concatenate([points, [p for p, _ in anchors]]) if anchors else points
    owners = [*shape.owners, *(o for _, o in anchors)]
    poses = bone_poses(body.skeleton, body.default_q)
    carried, rest, mass = _carried(body, poses, everything, owners)
    ends, groups, shares, fibre = _elements(shape)
    names = tuple(dict.fromkeys(groups))
    span = np.linalg.norm(everything[ends[:, 1]] - everything[ends[:, 0]], axis=1)
    laws = [element(g, float(l), law).stronger(float(w)) for g, l, w in zip(groups, span, shares)]
    at = np.zeros_like(everything)
    plate = body.skeleton.index(PLATE_BONE)
    place(carried, rest, poses, plate, at)
    chest, belly = np.array(shape.chest, np.int64), np.array(shape.belly, np.int64)
    return Cavities(
        carried, rest, mass, plate, _strips(shape, carried), chest, belly, ends, Fibres(fibre, span, shares),
        force_laws(groups, laws),
        np.array([names.index(g) for g in groups]), names,
        Leans(
            np.array(leaning, np.int64),
            np.arange(len(points), len(everything)),
            np.array(ways).reshape(-1, 3),
            np.array([*[LEAN * shape.share**2] * walls, *PERICARDIUM]),
            np.where(tied, PERICARDIUM_DAMPING, LEAN_DAMPING * shape.share**2),
            tied,
            np.zeros(len(leaning)),
            np.zeros(len(leaning)),
        ),
        bulk, float(volume(belly, at)), float(volume(chest, at)),
    )  # fmt: skip


def _carried(body: Body, poses: Array, points: Array, owners: list) -> tuple[Carried, Array, Array]:
    n = len(points)
    point, offset = np.full(n, -1, np.int64), np.zeros((n, 3))
    bone, share, local = np.full((n, 2), -1, np.int64), np.zeros((n, 2)), np.zeros((n, 2, 3))
    free = [i for i, o in enumerate(owners) if o == ()]
    point[free] = np.arange(len(free))
    plate = [i for i, o in enumerate(owners) if o == TENDON_OWNER]
    middle = points[plate].mean(axis=0)
    for i in plate:
        point[i], offset[i] = len(free), points[i] - middle  # bones' frames are parallel to the world's here
    for i, o in enumerate(owners):
        if point[i] >= 0:
            continue
        for k, (name, w) in enumerate(x for x in o if x[1] > 1e-9):
            b = body.skeleton.index(name)
            bone[i, k], share[i, k], local[i, k] = b, w, poses[b, :3, :3].T @ (points[i] - poses[b, :3, 3])
        share[i] /= share[i].sum()
    each = WALL_MASS / (len(free) + len(plate))
    mass = np.append(np.full(len(free), each), each * len(plate))
    return Carried(point, offset, bone, share, local), np.concatenate([points[free], middle[None]]), mass


def _strips(shape: Shape, carried: Carried) -> Strips:
    """Rows of the wall, along transversus, and columns of the diaphragm, along its fibres; the plate by itself."""
    around = np.argsort(shape.angles)
    grids = [row[around] for row in shape.wall[1:-1]] + list(shape.dome[1:-1].T)
    strips = [p[p >= 0] for p in (carried.point[grid] for grid in grids)] + [np.array([carried.point.max()])]
    pairs = [
        (strip[k], strip[k - 1] if k else -1)
        for k in range(max(map(len, strips)))
        for strip in strips
        if k < len(strip)
    ]
    return Strips(*np.array(pairs, np.int64).T.copy())


def _elements(shape: Shape) -> tuple[Array, list[str], Array, Array]:
    """Vertices of all elements, their groups (rectus, obliques, transversus, diaphragm) and strengths: a line stands
    for a strip of muscle, as wide as lines are apart, and half as wide at the rectus' edges. Last the fibre that each
    is a piece of: the diaphragm's go from the rim to the tendon."""
    ends: list[tuple[int, int]] = []
    groups: list[str] = []
    shares: list[float] = []
    fibres: list[int] = []

    def add(group: str, a: int, b: int, share: float = 1.0, fibre: int = -1) -> None:
        ends.append((int(a), int(b)))
        groups.append(group)
        shares.append(share * shape.share)
        fibres.append(fibre)

    angle, wall, n = shape.angles, shape.wall, shape.columns
    rows, regions = len(wall) - 1, ("upper rectus", "middle rectus", "lower rectus")
    for m in np.flatnonzero(np.abs(angle) < RECTUS + 1e-9).tolist():
        edge = 0.5 if abs(angle[m]) > RECTUS - 1e-9 else 1.0
        for r in range(rows):
            add(regions[3 * r // rows], wall[r, m], wall[r + 1, m], edge)
    for m in np.flatnonzero((np.abs(angle) < FREE + 1e-3) & (np.abs(angle) > 1e-9)).tolist():
        front = (m - 1) % n if angle[m] > 0 else (m + 1) % n
        for r in range(rows):
            add("external oblique", wall[r, m], wall[r + 1, front])  # down and forward
            add("internal oblique", wall[r + 1, m], wall[r, front])  # up and forward
    free = np.abs(angle) < FREE
    for m in range(n):
        if free[m] or free[(m + 1) % n]:
            for r in range(1, rows):
                add("transversus", wall[r, m], wall[r, (m + 1) % n])
    for m in range(n):
        for r in range(len(shape.dome) - 1):
            add("diaphragm", shape.dome[r, m], shape.dome[r + 1, m], fibre=m)
            if r:
                add(SHEET, shape.dome[r, m], shape.dome[r, (m + 1) % n])
    return np.array(ends, np.int64), groups, np.array(shares), np.array(fibres, np.int64)


def _leans(shape: Shape, points: Array) -> tuple[list, list[Array], list[int]]:
    """Where the diaphragm's free points would meet the chest's lining: its places with owners, ways out, points."""
    anchors, ways, leaning = [], [], []
    for m, angle in enumerate(shape.angles):
        way = np.array([np.sin(angle), -np.cos(angle), 0.0])
        column = shape.rings[:, m]
        for i in shape.dome[1:-1, m]:
            below = np.flatnonzero((points[column[:-1], 2] >= points[i, 2]) & (points[column[1:], 2] < points[i, 2]))
            if not len(below):
                continue
            a, b = column[below[0]], column[below[0] + 1]
            share = (points[a, 2] - points[i, 2]) / (points[a, 2] - points[b, 2])
            p = (1.0 - share) * points[a] + share * points[b]
            p = p + max(0.0, float(way @ (points[i] - p))) * way  # nobody starts beyond it
            first, second = (max(shape.owners[k], key=lambda o: o[1])[0] for k in (a, b))
            owner = ((first, 1.0),) if first == second else ((first, 1.0 - share), (second, share))
            anchors.append((p, owner))
            ways.append(way)
            leaning.append(int(i))
    return anchors, ways, leaning
