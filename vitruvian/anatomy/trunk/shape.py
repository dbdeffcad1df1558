"""The surfaces of chest and belly: rings of points round the trunk, each carried by bones or free to move.

    chest     rings along ribs 1 to 10 (12 mm inside their axes), the rim, and the diaphragm as its floor
    belly     rim (costal margin, ribs 11 and 12, crura), wall down to the pelvis' brim, diaphragm as its roof

Column m of a ring stands at the angle 2 π m / columns from the front, about the ring's own centre. What the ribs do to
the belly goes through the rim; the floor of the chest is never bound to the ribs, else raising them would take volume
away. World frame of the default pose [m], the tables' size.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np

from vitruvian.anatomy.surfaces.landmarks import table_landmarks
from vitruvian.anatomy.trunk.cage import RIBS, Line, cartilage_lines, margin, rib_lines

Array = np.ndarray
INSET = 0.012  # [m] of the chest's lining inside the ribs' axes
COLUMNS = 48  # points round the belly, unless asked otherwise; rows grow along, so that fields keep their shape
WALL, DOME = 10, 8  # rows of the belly's wall and of the diaphragm at that
TENDON = (0.085, 0.050)  # half axes of the central tendon [m]
STEEP = 0.65  # 1 for quarter ellipses; less lets the diaphragm run up along the ribs before it turns in
TENDON_AT = np.array([0.0, -0.062, 1.45])  # its middle at rest
BULGE = (0.020, 0.008)  # [m] by which the wall stands out half way down, in front and at the side
FREE = np.radians(120.0 - 1e-6)  # of the wall on both sides of the front; the back strip is fixed to the spine
XIPHOID = np.array([0.0, -0.146, 1.376])  # its tip
TOP, FLOOR = np.array([0.0, -0.035, 1.625]), np.array([0.0, -0.045, 1.02])

Owner = tuple[tuple[str, float], ...]  # bones that carry a point, and their shares; () for a free one
TENDON_OWNER: Owner = (("tendon", 1.0),)


@dataclass
class Shape:
    """Points with their owners, and the triangles of both cavities, outwards."""

    columns: int
    points: list[Array] = field(default_factory=list)
    owners: list[Owner] = field(default_factory=list)
    chest: list[tuple[int, int, int]] = field(default_factory=list)
    belly: list[tuple[int, int, int]] = field(default_factory=list)
    wall: Array = field(default_factory=lambda: np.zeros((0, 0), int))  # vertex of (row, column): rim first, then down
    dome: Array = field(default_factory=lambda: np.zeros((0, 0), int))  # vertex of (row, column): rim first, then up
    rings: Array = field(default_factory=lambda: np.zeros((0, 0), int))  # of the chest, from rib 1 down

    @property
    def share(self) -> float:
        """Of a line's width at the default number of columns, at this one's."""
        return COLUMNS / self.columns

    @property
    def angles(self) -> Array:
        """Of the columns from the front, to the left, within ± π."""
        turn = 2.0 * np.pi * np.arange(self.columns) / self.columns
        return np.where(turn > np.pi + 1e-9, turn - 2.0 * np.pi, turn)

    def add(self, points: Array, owners: list[Owner]) -> Array:
        first = len(self.points)
        self.points += list(np.asarray(points))
        self.owners += owners
        return np.arange(first, len(self.points))


def trunk_shape(columns: int = COLUMNS) -> Shape:
    """Both cavities in the default pose."""
    s = Shape(columns)
    joints = table_landmarks().joints
    s.rings = np.array([s.add(*_ring(_rib_ring(k, joints), columns, INSET)) for k in RIBS])
    rim = s.add(*_ring(_rim(joints), columns, 0.0))
    brim_points, brim_owners = _ring(_brim(), columns, 0.0)
    brim = s.add(brim_points, brim_owners)
    s.wall = _wall(s, rim, brim)
    s.dome = _dome(s, rim)
    middle, top, floor = s.add(
        np.array([TENDON_AT, TOP, FLOOR]), [TENDON_OWNER, (("T1", 0.5), ("Rb1", 0.5)), (("Pel", 1.0),)]
    )
    loft = np.concatenate([s.rings, rim[None]])
    s.chest = [*_fan(s.rings[0], top, up=True), *_quads(loft)]
    roof = [*_quads(s.dome[::-1]), *_fan(s.dome[-1], middle, up=True)]
    s.chest += [(a, c, b) for a, b, c in roof]
    s.belly = [*roof, *_quads(s.wall), *_fan(brim, floor, up=False)]
    return s


# --- rings ---------------------------------------------------------------------------------------------------------

Half = list[tuple[Array, str]]  # points of the left half with the bones that carry them, from the front to the back


def _rib_ring(k: int, joints: dict[str, Array]) -> Half:
    rib, cartilages = rib_lines()[k], cartilage_lines()
    vertebra = joints[f"T{k}"]
    back = np.array([0.0, vertebra[1] - 0.012, rib.axis[0, 2]])
    half: Half = [(back, f"T{k}"), *((p, _left(rib)) for p in rib.axis[4::4])]
    if k == 1:
        front = np.array([0.0, -0.078, 1.585])
        return [(front, "Rb1"), *half[::-1]]
    way = margin(k) if k > 7 else cartilages[k].axis
    half += [(p, _left(cartilages[k])) for p in way[2::4]]
    end = way[-1] * np.array([0.0, 1.0, 1.0])
    return [(end, "Ste"), *half[::-1]]


def _rim(joints: dict[str, Array]) -> Half:
    ribs, way = rib_lines(), margin(10)
    half: Half = [(XIPHOID, "Ste"), *((p, "Cc6_l") for p in way[::-4] if p[0] > 0.04)]
    half += [(way[0], "Rb10_l"), (ribs[11].axis[-1], "T11"), (ribs[12].axis[-1], "T12")]
    spine = joints["L1"]
    return [*half, (np.array([0.035, spine[1] - 0.008, 1.28]), "L1"), (np.array([0.0, spine[1] - 0.02, 1.28]), "L1")]


def _brim() -> Half:
    """Pubis, groin, iliac crest, spine."""
    left = [(0.0, -0.112, 1.005), (0.07, -0.117, 1.06), (0.125, -0.100, 1.11), (0.140, -0.050, 1.155)]
    left += [(0.100, 0.010, 1.17), (0.035, -0.035, 1.17)]
    return [*((np.array(p), "Pel") for p in left), (np.array([0.0, -0.052, 1.17]), "L4")]


def _left(line: Line) -> str:
    return line.bone if line.bone in ("Rb1", "T11", "T12") else f"{line.bone}_l"


def _ring(half: Half, columns: int, inset: float) -> tuple[Array, list[Owner]]:
    """Points at equal angles about the ring's centre, left half given, right half its mirror image."""
    at = np.array([p for p, _ in half])
    centre = np.array([0.0, 0.5 * (at[0, 1] + at[-1, 1])])
    flat = at[:, :2] - centre
    far = np.linalg.norm(flat, axis=1)
    at[:, :2] = centre + flat * np.maximum(1.0 - inset / np.maximum(far, 1e-9), 0.3)[:, None]
    angle = np.maximum.accumulate(np.arctan2(flat[:, 0], -flat[:, 1]))
    angle[0], angle[-1] = 0.0, np.pi
    wanted = np.linspace(0.0, np.pi, columns // 2 + 1)
    points = np.zeros((columns, 3))
    owners: list[Owner] = [()] * columns
    for m, theta in enumerate(wanted):
        i = min(int(np.searchsorted(angle, theta, "right")) - 1, len(angle) - 2)
        share = (theta - angle[i]) / max(angle[i + 1] - angle[i], 1e-9)
        share = min(max(share, 0.0), 1.0)
        points[m] = (1.0 - share) * at[i] + share * at[i + 1]
        a, b = half[i][1], half[i + 1][1]
        owners[m] = ((a, 1.0),) if a == b else ((a, 1.0 - share), (b, share))
        if 0 < m < columns // 2:
            points[columns - m] = points[m] * [-1.0, 1.0, 1.0]
            owners[columns - m] = tuple((mirror(bone), w) for bone, w in owners[m])
    return points, owners


def mirror(bone: str) -> str:
    """The bone on the other side."""
    return bone[:-1] + "r" if bone.endswith("_l") else bone


# --- wall and diaphragm --------------------------------------------------------------------------------------------


def _wall(s: Shape, rim: Array, brim: Array) -> Array:
    """Rows from the rim down; the strip along the spine belongs to its vertebrae."""
    rows = [rim]
    above, below = np.array(s.points)[rim], np.array(s.points)[brim]
    side = np.abs(np.sin(s.angles))
    bulge = BULGE[0] * (1.0 - side) + BULGE[1] * side
    out = np.stack([np.sin(s.angles), -np.cos(s.angles), np.zeros(s.columns)], axis=1)
    fixed = np.abs(s.angles) > FREE
    last = WALL * s.columns // COLUMNS
    for r in range(1, last):
        u = r / last
        points = (1.0 - u) * above + u * below + (np.where(fixed, 0.0, bulge) * np.sin(np.pi * u))[:, None] * out
        owners: list[Owner] = [((_vertebra(p[2]), 1.0),) if f else () for p, f in zip(points, fixed)]
        rows.append(s.add(points, owners))
    return np.array([*rows, brim])


def _vertebra(z: float) -> str:
    joints = table_landmarks().joints
    names = ("L5", "L4", "L3", "L2", "L1", "T12")
    return [n for n in names if joints[n][2] <= z + 0.02][-1] if z > joints["L5"][2] else "Pel"


def _dome(s: Shape, rim: Array) -> Array:
    """Rows from the rim up to the tendon's edge, first along the ribs, then inwards."""
    start = np.array(s.points)[rim]
    edge = TENDON_AT + np.stack(
        [TENDON[0] * np.sin(s.angles), -TENDON[1] * np.cos(s.angles), np.zeros(s.columns)], axis=1
    )
    rows, last = [rim], DOME * s.columns // COLUMNS
    for r in range(1, last + 1):
        c, up = np.cos(0.5 * np.pi * r / last) ** STEEP, np.sin(0.5 * np.pi * r / last)
        points = edge + c * (start - edge)
        points[:, 2] = start[:, 2] + up * (edge[:, 2] - start[:, 2])
        rows.append(s.add(points, [() if r < last else TENDON_OWNER] * s.columns))
    return np.array(rows)


def _quads(rows: Array) -> list[tuple[int, int, int]]:
    """Two triangles for each field of a grid whose rows go down; outwards."""
    out = []
    for upper, lower in itertools.pairwise(rows):
        for m in range(len(upper)):
            n = (m + 1) % len(upper)
            out += [(upper[m], lower[m], upper[n]), (upper[n], lower[m], lower[n])]
    return [(int(a), int(b), int(c)) for a, b, c in out]


def _fan(ring: Array, middle: int, up: bool) -> list[tuple[int, int, int]]:
    following = np.roll(ring, -1)
    pairs = zip(ring, following) if up else zip(following, ring)
    return [(int(a), int(b), int(middle)) for a, b in pairs]
