"""Paths while they are being made, and how path_points.csv and wraps.csv of vitruvian/anatomy/data are written."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from path_decisions import FITTED, HAND, SLIPS, WRAPS

from vitruvian.anatomy.tables import load_tables, read_csv

DATA = Path(__file__).parent.parent / "vitruvian" / "anatomy" / "data"


@dataclass(eq=False)
class Point:
    """A point of a path: its place in the corrected path (None: new), bone, mm in the default pose, why it is so."""

    origin: int | None
    bone: str
    at: np.ndarray
    why: str = ""  # "" as in the corrected tables
    sure: str = ""


@dataclass(eq=False)
class Path_:
    points: list[Point]
    dropped: list[tuple[int, str, str]] = field(default_factory=list)
    wraps: list[tuple] = field(default_factory=list)  # near Point, far Point, bone, centre, axis, side, radius, why

    def copy(self) -> Path_:
        return Path_(list(self.points), list(self.dropped), list(self.wraps))


def by_hand() -> dict[str, Path_]:
    """Paths of the corrected tables with HAND and WRAPS."""
    tables = load_tables("corrected")
    paths = {n: [(p.bone, 1e3 * p.position) for p in m.points] for n, m in tables.muscles.items()}
    for r in read_csv("added_muscle_points.csv"):
        paths.setdefault(r["muscle_id"], []).append((r["bone"], np.array([float(r[f"{c}_mm"]) for c in "xyz"])))
    out = {n: Path_([Point(k, bone, at) for k, (bone, at) in enumerate(path)]) for n, path in paths.items()}
    for muscle, k, action, bone, at, sure, why in HAND:
        path = out[muscle]
        i = next(i for i, p in enumerate(path.points) if p.origin == k)
        new = Point(k if action == "set" else None, bone, np.array(at, float), why, sure)
        if action == "drop":
            path.points.pop(i)
            path.dropped.append((k, sure, why))
        elif action == "set":
            path.points[i] = new
        elif action == "before":
            path.points.insert(i, new)
        else:  # after, and after what was added there before
            while i + 1 < len(path.points) and path.points[i + 1].origin is None:
                i += 1
            path.points.insert(i + 1, new)
    for muscle, segment, bone, centre, axis, side, radius, why in WRAPS:
        points = out[muscle].points
        near, far = points[segment], points[segment + 1]
        sign = 1.0 if (far.at - near.at) @ np.cross(axis, side) > 0 else -1.0
        axis = tuple(sign * a for a in np.array(axis, float))
        out[muscle].wraps.append((near, far, bone, centre, axis, side, radius, why))
    for muscle, gone, (segment, bone, centre, axis, side, radius) in FITTED:
        path = out[muscle]
        path.points = [p for p in path.points if p.origin not in gone]
        path.dropped += [(k, "medium", "a via in front of the shoulder: a cylinder instead") for k in gone]
        near, far = path.points[segment], path.points[segment + 1]
        path.wraps.append((near, far, bone, centre, axis, side, radius, "humeral head"))
    return out


def write(paths: dict[str, Path_]) -> None:
    with (DATA / "path_points.csv").open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["muscle_id", "point", "action", "bone", "x_mm", "y_mm", "z_mm", "confidence", "reason"])

        def row(muscle, k, action, p):
            out.writerow([muscle, k, action, p.bone, *(f"{x:.1f}" for x in p.at), p.sure, p.why])

        for muscle, path in paths.items():
            for p in path.points:
                if p.origin is not None and p.why:
                    row(muscle, p.origin, "set", p)
            known = [i for i, p in enumerate(path.points) if p.origin is not None]
            for i in range(known[0]):
                row(muscle, path.points[known[0]].origin, "before", path.points[i])
            for a, b in zip(known, [*known[1:], len(path.points)]):
                for i in range(b - 1, a, -1):
                    row(muscle, path.points[a].origin, "after", path.points[i])
            for k, sure, why in path.dropped:
                out.writerow([muscle, k, "drop", "", "", "", "", sure, why])
    with (DATA / "wraps.csv").open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        places = [f"{w}_{c}{u}" for w, u in (("centre", "_mm"), ("axis", ""), ("side", "")) for c in "xyz"]
        out.writerow(["muscle_id", "segment", "bone", *places, "radius_mm", "slips", "reason"])
        for muscle, path in paths.items():
            for near, far, bone, centre, axis, side, radius, why in path.wraps:
                a = next(i for i, p in enumerate(path.points) if p is near)
                b = next(i for i, p in enumerate(path.points) if p is far)
                spans = range(a, b)  # vias were added between: the cylinder keeps the part that changes bone
                segment = next((i for i in spans if path.points[i].bone != path.points[i + 1].bone), a)
                slips = "yes" if muscle in SLIPS and why == "humeral head" else "no"
                out.writerow([muscle, segment, bone, *centre, *(round(x, 4) for x in axis), *side, radius, slips, why])
