"""The body's tables: bones, joints, muscles and corrections, read from CSV, checked, and converted to SI once.

Sources are named in `data/README.md` and, row by row, in the files. The tables hold the left half of the body;
`mirrored` makes the right half by x -> -x. Two parameter sets: `"printed"` is Lee 2008, appendix C, as it stands
(with only those repairs without which no body can be built), `"corrected"` applies every row of `corrections.csv`
marked `set`, `drop` or `add`. Two sets of muscle paths: `"documents"` are Lee's polylines (with those corrections),
`"wrapped"` lays them on the bones' surfaces: `path_points.csv` moves, drops and adds points, `wraps.csv` has cylinders
to bend round, `added_muscles.csv` the muscles that the tables lack.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from importlib.resources import files

import numpy as np

from vitruvian.errors import InputError, unknown_name
from vitruvian.muscle.elements import SPECIFIC_TENSION

Array = np.ndarray
PARAMETERS = ("corrected", "printed")
PATHS = ("wrapped", "documents")
MM = 1e-3
CARRIERS = ("Pat",)  # frames that ride on a bone, on which a path may have points: the patella


@dataclass(frozen=True)
class BoneRow:
    """A bone with its joint to the parent. Positions in the world frame of the default pose."""

    name: str
    full_name: str
    parent: str  # "" for the root
    region: str  # head_neck, trunk, arm, leg
    midline: bool
    joint: Array  # joint centre [m], shape (3,)
    joint_type: str  # free, ball, revolute, universal, fixed
    axes: tuple[Array, ...]  # unit axes, shape (3,) each
    mass: float  # [kg]
    inertia: Array  # about the joint [kg m^2], shape (3, 3)
    com: Array  # from the joint [m], shape (3,)


@dataclass(frozen=True)
class PointRow:
    """A point of a muscle's path on a bone, in the world frame of the default pose [m]."""

    bone: str
    position: Array


@dataclass(frozen=True)
class WrapRow:
    """A cylinder round which a segment of a path bends; centre in the world frame of the default pose [m]."""

    segment: int  # 0 for the first
    bone: str
    centre: Array
    axis: Array  # the path turns about it, right-handed
    side: Array  # from the axis to where the path passes
    radius: float  # [m]
    slips: bool  # lets go of a line on the wrong side of its axis; else a groove or sheath holds the tendon


@dataclass(frozen=True)
class MuscleRow:
    """A muscle as a line through points that are fixed to bones."""

    name: str
    group: str  # anatomical name, e.g. "Biceps brachii"
    part: str  # head or part, "" if the group has one
    region: str
    pcsa: float  # physiological cross-section [m^2]
    strength: float  # factor on specific tension, 1 as printed
    rest_length: float  # [m], as tabulated
    passive: bool  # has a parallel elastic element
    side: str  # l, r, cross, midline
    points: tuple[PointRow, ...]
    wraps: tuple[WrapRow, ...] = ()


@dataclass(frozen=True)
class CoordinateRow:
    """Elasticity and range of one joint coordinate."""

    bone: str
    coordinate: str
    low: float  # [rad]
    high: float  # [rad]
    stiffness: float  # [N m/rad]
    damping: float  # [N m s/rad]
    neutral: float  # [rad]
    stop_stiffness: float  # [N m/rad] beyond the range
    driven: bool  # by muscles; else passive (sternum, cartilages)
    positive_sense: str


@dataclass(frozen=True)
class CartilageRow:
    """A spring that holds a rib to a cartilage (Lee 5.1.1)."""

    rib: str
    cartilage: str
    point: Array  # world, default pose [m]
    stiffness: float  # [N/m]
    damping: float  # [N s/m]


@dataclass(frozen=True)
class Correction:
    """A change to the printed tables and why; `action` is set, drop, add, required, keep or note."""

    table: str
    row: str
    field: str
    printed: str
    corrected: str
    action: str
    confidence: str
    reason: str


@dataclass(frozen=True)
class Tables:
    """One parameter set of the whole body (or of its left half, before `mirrored`)."""

    bones: dict[str, BoneRow]
    muscles: dict[str, MuscleRow]
    coordinates: dict[str, tuple[CoordinateRow, ...]]  # bone -> rows in order
    cartilages: tuple[CartilageRow, ...]
    corrections: tuple[Correction, ...] = field(default=())


def load_tables(parameters: str = "corrected", paths: str = "documents") -> Tables:
    """The left half of the body and its midline, as tabulated, in SI units."""
    if parameters not in PARAMETERS:
        raise unknown_name("parameter set", parameters, PARAMETERS)
    if paths not in PATHS:
        raise unknown_name("muscle paths", paths, PATHS)
    if paths == "wrapped" and parameters != "corrected":
        raise InputError("wrapped muscle paths are made for the corrected parameters; printed ones need 'documents'")
    corrections = load_corrections()
    wanted = {"required"} | ({"set", "drop", "add"} if parameters == "corrected" else set())
    applied = [c for c in corrections if c.action in wanted]
    bones = _read("bones.csv")
    muscles = _read("muscles.csv")
    points = _read("muscle_points.csv")
    _apply(applied, bones, muscles, points)
    wraps: dict[str, tuple[WrapRow, ...]] = {}
    if paths == "wrapped":
        points = _lay_on_bones(muscles, points)
        wraps = _wraps({r["muscle_id"] for r in muscles})
    neutral = 1.0 if parameters == "corrected" else 0.0
    return Tables(
        bones={r["name"]: _bone(r) for r in bones},
        muscles=_muscles(muscles, points, {r["name"] for r in bones} | {"Cs", *CARRIERS}, wraps),
        coordinates=_coordinates(neutral),
        cartilages=tuple(_cartilage(r) for r in _read("cartilage_springs.csv")),
        corrections=tuple(applied),
    )


def load_corrections() -> tuple[Correction, ...]:
    """Every row of the audit list, applied or not."""
    return tuple(Correction(**{k: r[k] for k in Correction.__annotations__}) for r in _read("corrections.csv"))


def mirrored(tables: Tables) -> Tables:
    """The whole body: paired bones and muscles get `_l` and `_r`.

    Right-side joint axes are (ax, -ay, -az), so that equal angles on both sides give mirrored motion.
    """
    middle = {b.name for b in tables.bones.values() if b.midline}

    def named(bone: str, side: str) -> str:
        return bone if bone in middle or not bone else f"{bone}_{side}"

    bones, coordinates = {}, {}
    for b in tables.bones.values():
        for side in ("l",) if b.midline else ("l", "r"):
            name = named(b.name, side)
            one = b if side == "l" else _mirror_bone(b)
            bones[name] = replace(one, name=name, parent=named(b.parent, side))
            coordinates[name] = tuple(
                replace(row if side == "l" else _mirror_coordinate(row), bone=name)
                for row in tables.coordinates.get(b.name, ())
            )
    muscles = {}
    for m in tables.muscles.values():
        own = m.side if m.side in "lr" else ("l" if m.side == "midline" or m.points[0].position[0] > 0 else "r")
        for side, flip in sorted([(own, 1.0), ("r" if own == "l" else "l", -1.0)]):
            path = tuple(_mirror_point(p, flip, middle, m.name) for p in m.points)
            wraps = tuple(_mirror_wrap(w, flip, middle, side) for w in m.wraps)
            muscles[f"{m.name}_{side}"] = replace(m, name=f"{m.name}_{side}", side=side, points=path, wraps=wraps)
    cartilages = tuple(
        replace(
            c, rib=f"{c.rib}_{s}", cartilage=f"{c.cartilage}_{s}", point=c.point * (1.0 if s == "l" else -1.0, 1, 1)
        )
        for s in "lr"
        for c in tables.cartilages
    )
    return Tables(bones, muscles, coordinates, cartilages, tables.corrections)


def read_csv(name: str) -> list[dict[str, str]]:
    """Rows of a table of the package's data folder."""
    return _read(name)


# --- reading -------------------------------------------------------------------------------------------------------


def _read(name: str) -> list[dict[str, str]]:
    with (files("vitruvian.anatomy") / "data" / name).open(encoding="utf-8") as text:
        return list(csv.DictReader(text))


def _apply(corrections: list[Correction], bones: list[dict], muscles: list[dict], points: list[dict]) -> None:
    """Write the corrected values over the printed ones; a row that does not match what is printed is an error."""
    by_bone = {r["name"]: r for r in bones}
    by_point = {f"{r['muscle_id']}:{r['order']}": r for r in points}
    for r in muscles:
        r["strength"], r["passive"] = "1", "1"
    dropped = set()
    for c in corrections:
        if c.table == "bones":
            rows = [by_bone[c.row]]
        elif c.table == "muscle_points":
            rows = [by_point[c.row]]
        else:
            rows = [r for r in muscles if c.row in (r["name"], r["muscle_id"])]
        if not rows:
            raise InputError(f"corrections.csv: no row '{c.row}' in {c.table}")
        if c.action == "drop":
            dropped.add(c.row)
            continue
        if c.action == "add":  # a further point before the one named
            new_point = dict(zip(c.field.split(";"), c.corrected.split(";")), kind="via", order="added")
            points.insert(next(i for i, r in enumerate(points) if r is rows[0]), {**rows[0], **new_point})
            continue
        names, old, new = c.field.split(";"), c.printed.split(";"), c.corrected.split(";")
        for row in rows:
            for k, key in enumerate(names):
                if c.printed and row[key] != old[k] and c.table != "muscles":
                    raise InputError(f"corrections.csv: {c.row} {key} is '{row[key]}', not '{old[k]}'")
                row[key] = new[k]
    points[:] = [r for r in points if f"{r['muscle_id']}:{r['order']}" not in dropped]


def _numbers(row: dict[str, str], what: str, *keys: str) -> Array:
    try:
        values = np.array([float(row[k]) for k in keys])
    except ValueError:
        raise InputError(f"{what}: {', '.join(keys)} must be numbers, got {[row[k] for k in keys]}") from None
    if not np.isfinite(values).all():
        raise InputError(f"{what}: {', '.join(keys)} must be finite")
    return values


def _bone(r: dict[str, str]) -> BoneRow:
    what = f"bone '{r['name']}'"
    axes = []
    for k in ("axis1", "axis2"):
        if r[f"{k}_x"]:
            axis = _numbers(r, what, f"{k}_x", f"{k}_y", f"{k}_z")
            axes.append(axis / np.linalg.norm(axis))
    wanted = {"free": 0, "ball": 0, "fixed": 0, "revolute": 1, "universal": 2}
    if r["joint_type"] not in wanted:
        raise unknown_name("joint type", r["joint_type"], wanted)
    if len(axes) != wanted[r["joint_type"]]:
        raise InputError(f"{what}: a {r['joint_type']} joint needs {wanted[r['joint_type']]} axes, got {len(axes)}")
    xx, xy, xz, yy, yz, zz = _numbers(r, what, *(f"i{k}_kgmm2" for k in ("xx", "xy", "xz", "yy", "yz", "zz"))) * MM**2
    mass = float(_numbers(r, what, "mass_kg")[0])
    if mass <= 0:
        raise InputError(f"{what}: mass {mass} kg must be positive")
    return BoneRow(
        name=r["name"],
        full_name=r["full_name"],
        parent=r["parent"],
        region=r["region"],
        midline=r["midline"] == "1",
        joint=_numbers(r, what, "joint_x_mm", "joint_y_mm", "joint_z_mm") * MM,
        joint_type=r["joint_type"],
        axes=tuple(axes),
        mass=mass,
        inertia=np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]),
        com=_numbers(r, what, "com_x_mm", "com_y_mm", "com_z_mm") * MM,
    )


def _lay_on_bones(muscles: list[dict], points: list[dict]) -> list[dict]:
    """Add the missing muscles to `muscles`; the points of all, moved, dropped and added as path_points.csv says.

    A row names a point of the corrected path by its order there; `before` and `after` add a point next to it."""
    muscles += [{**r, "passive": "1"} for r in _read("added_muscles.csv")]
    _strengths(muscles)
    points = [*points, *_read("added_muscle_points.csv")]
    paths: dict[str, list[dict]] = {}
    for p in points:
        paths.setdefault(p["muscle_id"], []).append(dict(p))
    original = {m: list(path) for m, path in paths.items()}
    for r in _read("path_points.csv"):
        path, what = paths.get(r["muscle_id"], []), f"path_points.csv: {r['muscle_id']} point {r['point']}"
        k = int(r["point"])
        if not 0 <= k < len(original.get(r["muscle_id"], ())):
            raise InputError(f"{what} does not exist")
        old = original[r["muscle_id"]][k]
        new = {key: r[key] for key in ("muscle_id", "bone", "x_mm", "y_mm", "z_mm")} | {"kind": "via", "order": "added"}
        at = next((i for i, p in enumerate(path) if p is old), -1)
        if at < 0:
            raise InputError(f"{what} was dropped before")
        if r["action"] == "set":
            old.update({key: new[key] for key in ("bone", "x_mm", "y_mm", "z_mm")})
        elif r["action"] == "drop":
            path.pop(at)
        elif r["action"] in ("before", "after"):
            path.insert(at + (r["action"] == "after"), new)
        else:
            raise InputError(f"{what}: action '{r['action']}' is not set, drop, before or after")
    return [p for path in paths.values() for p in path]


def _strengths(muscles: list[dict]) -> None:
    """Strength factors of path_strengths.csv: as given, or from a published force that lines share by their areas."""
    for row in _read("path_strengths.csv"):
        own = [r for r in muscles if fnmatch(r["muscle_id"], row["muscles"]) or r["name"] == row["muscles"]]
        if not own or bool(row["strength"]) == bool(row["force_N"]):
            raise InputError(f"path_strengths.csv: {row['muscles']} names no muscle, or not one of strength and force")
        area = sum(float(r["pcsa_mm2"]) for r in own) * MM**2
        factor = row["strength"] or str(float(row["force_N"]) / (SPECIFIC_TENSION * area))
        for r in own:
            r["strength"] = factor


def _wraps(muscles: set[str]) -> dict[str, tuple[WrapRow, ...]]:
    out: dict[str, tuple[WrapRow, ...]] = {}
    for r in _read("wraps.csv"):
        what = f"wraps.csv: {r['muscle_id']}"
        if r["muscle_id"] not in muscles:
            raise InputError(f"{what} is no muscle")
        row = WrapRow(
            int(r["segment"]),
            r["bone"],
            _numbers(r, what, "centre_x_mm", "centre_y_mm", "centre_z_mm") * MM,
            _numbers(r, what, "axis_x", "axis_y", "axis_z"),
            _numbers(r, what, "side_x", "side_y", "side_z"),
            float(_numbers(r, what, "radius_mm")[0]) * MM,
            r["slips"] == "yes",
        )
        out[r["muscle_id"]] = (*out.get(r["muscle_id"], ()), row)
    return out


def _muscles(
    rows: list[dict], points: list[dict], bones: set[str], wraps: dict[str, tuple[WrapRow, ...]]
) -> dict[str, MuscleRow]:
    paths: dict[str, list[PointRow]] = {}
    for p in points:
        if p["bone"] not in bones:
            raise InputError(f"muscle '{p['muscle_id']}' is attached to bone '{p['bone']}', which does not exist")
        position = _numbers(p, f"muscle '{p['muscle_id']}'", "x_mm", "y_mm", "z_mm") * MM
        paths.setdefault(p["muscle_id"], []).append(PointRow(p["bone"], position))
    out = {}
    for r in rows:
        what = f"muscle '{r['muscle_id']}'"
        pcsa, rest, strength = _numbers(r, what, "pcsa_mm2", "rest_length_mm", "strength")
        out[r["muscle_id"]] = MuscleRow(
            name=r["muscle_id"],
            group=r["name"],
            part=r["specific_name"],
            region=r["region"],
            pcsa=pcsa * MM**2,
            strength=strength,
            rest_length=rest * MM,
            passive=r["passive"] == "1",
            side=r["side"],
            points=tuple(paths.get(r["muscle_id"], ())),
            wraps=wraps.get(r["muscle_id"], ()),
        )
    return out


def _coordinates(neutral: float) -> dict[str, tuple[CoordinateRow, ...]]:
    out: dict[str, tuple[CoordinateRow, ...]] = {}
    for r in _read("joints.csv"):
        what = f"joint of '{r['bone']}'"
        low, high, zero = np.radians(_numbers(r, what, "low_deg", "high_deg", "neutral_deg"))
        k, d, stop = _numbers(r, what, "stiffness_Nm_per_rad", "damping_Nms_per_rad", "stop_stiffness_Nm_per_rad")
        row = CoordinateRow(
            r["bone"],
            r["coordinate"],
            float(low),
            float(high),
            float(k),
            float(d),
            neutral * float(zero),
            float(stop),
            r["kind"] == "driven",
            r["positive_sense"],
        )
        out[r["bone"]] = (*out.get(r["bone"], ()), row)
    return out


def _cartilage(r: dict[str, str]) -> CartilageRow:
    what = f"spring {r['rib']}-{r['cartilage']}"
    point = _numbers(r, what, "x_mm", "y_mm", "z_mm") * MM
    stiffness, damping = _numbers(r, what, "stiffness_N_per_m", "damping_Ns_per_m")
    return CartilageRow(r["rib"], r["cartilage"], point, float(stiffness), float(damping))


# --- mirroring -----------------------------------------------------------------------------------------------------

_FLIP = np.array([-1.0, 1.0, 1.0])


def _mirror_bone(b: BoneRow) -> BoneRow:
    axes = tuple(a * (1.0, -1.0, -1.0) for a in b.axes)
    inertia = b.inertia * np.outer(_FLIP, _FLIP)
    return replace(b, joint=b.joint * _FLIP, axes=axes, inertia=inertia, com=b.com * _FLIP)


def _mirror_coordinate(c: CoordinateRow) -> CoordinateRow:
    """A rotation vector mirrors as (rx, -ry, -rz); a hinge angle stays, since its axis is mirrored."""
    if c.coordinate in ("rotvec_y", "rotvec_z"):
        return replace(c, low=-c.high, high=-c.low, neutral=-c.neutral)
    return c


def _mirror_point(p: PointRow, flip: float, middle: set[str], muscle: str) -> PointRow:
    position = p.position * (flip, 1.0, 1.0)
    bone = "Cla" if p.bone == "Cs" else p.bone
    if bone in middle:
        return PointRow(p.bone, position)
    if position[0] == 0.0:
        raise InputError(f"muscle '{muscle}': a point on the paired bone '{p.bone}' lies on the midline")
    side = "l" if position[0] > 0 else "r"
    return PointRow(f"{p.bone}_{side}", position)


def _mirror_wrap(w: WrapRow, flip: float, middle: set[str], side: str) -> WrapRow:
    """The sense of turning mirrors as a joint's axis does."""
    bone = w.bone if w.bone in middle else f"{w.bone}_{side}"
    turned = w.axis * (1.0, flip, flip)
    return replace(w, bone=bone, centre=w.centre * (flip, 1.0, 1.0), axis=turned, side=w.side * (flip, 1.0, 1.0))
