"""Makes vitruvian/anatomy/data/neck_muscles.csv: Lee's 72 neck muscles (2008, table 3.2) laid on our bones.

The table names bones and places in words; the places are read off our bone surfaces in the default pose: the front of a
vertebral body, the tips of its transverse and spinous processes, the lamina between them, and named spots of skull,
sternum, clavicle, scapula and first rib, each moved to the nearest vertex of its surface.

    python docs/make_neck.py
"""

from __future__ import annotations

import csv
from itertools import pairwise
from pathlib import Path

import numpy as np

from vitruvian.anatomy import bone_surfaces, neck
from vitruvian.skeleton import bone_poses

OUT = Path(__file__).parents[1] / "vitruvian/anatomy/data/neck_muscles.csv"
COLUMN = ("T1", "C7", "C6", "C5", "C4", "C3", "C2", "C1", "Sku")
# Spots of the left side, world axes in the default pose [m]; each is moved to the nearest vertex of its bone.
SPOTS = {
    "skull, front of the foramen": ("Sku", (0.007, -0.020, 1.800)),
    "skull, beside the foramen": ("Sku", (0.022, 0.040, 1.790)),
    "skull, behind the foramen": ("Sku", (0.006, 0.060, 1.793)),
    "superior nuchal line": ("Sku", (0.040, 0.070, 1.815)),
    "superior nuchal line, outer": ("Sku", (0.052, 0.050, 1.810)),
    "external occipital protuberance": ("Sku", (0.004, 0.092, 1.822)),
    "mastoid process": ("Sku", (0.058, 0.012, 1.775)),
    "sternum": ("Ste", (0.015, -0.066, 1.600)),
    "clavicle": ("Cla_l", (0.055, -0.075, 1.605)),
    "scapula": ("Cla_l", (0.120, 0.090, 1.600)),
    "first rib, front": ("Rb1", (0.045, -0.035, 1.615)),
    "first rib, back": ("Rb1", (0.048, 0.000, 1.630)),
}


def nearest(vertices: np.ndarray, at: np.ndarray) -> np.ndarray:
    return vertices[np.argmin(((vertices - at) ** 2).sum(axis=1))]


def landmarks() -> dict[tuple[str, str], np.ndarray]:
    """(bone, place) -> world position on the left [m]."""
    body = neck()
    s = body.skeleton
    poses, surfaces = bone_poses(s, body.default_q), bone_surfaces(body)
    mesh = {}
    for name in (*COLUMN, *{bone for bone, _ in SPOTS.values()}):
        vertices, _ = surfaces[name]
        mesh[name] = vertices + poses[s.index(name), :3, 3]
    found = {}
    for name in COLUMN[:-1]:
        v = mesh[name]
        middle = np.abs(v[:, 0]) < 0.006
        front = v[middle][np.argmin(v[middle][:, 1])]
        spine = v[middle][np.argmax(v[middle][:, 1])]
        wing = v[np.argmax(v[:, 0])]
        lamina = np.array([0.5 * wing[0], 0.5 * (wing[1] + spine[1]), 0.5 * (wing[2] + spine[2])])
        places = {"front": (0.007, *front[1:]), "spinous": (0.0, *spine[1:]), "transverse": wing, "lamina": lamina}
        for place, at in places.items():
            near = nearest(mesh[name], at)
            found[name, place] = near * (place != "spinous", 1, 1)
    for place, (bone, at) in SPOTS.items():
        found[bone, place] = nearest(mesh[bone], at)
    return found


def muscles() -> list[tuple[str, str, str, float, tuple[str, str], tuple[str, str]]]:
    """Name, layer, group, weight, origin and insertion of the muscles of the left side."""
    rows = []
    for low, high in pairwise(COLUMN):
        top = high == "Sku"
        ends = {
            "longus_colli": ("Longus colli", "front", "skull, front of the foramen", "front"),
            "erector": ("Erector", "lamina", "skull, beside the foramen", "lamina"),
            "rotator": ("Rotator", "transverse", "skull, behind the foramen", "spinous"),
        }
        for name, (group, start, on_skull, end) in ends.items():
            rows.append((f"{name}_{high}", "deep", group, 1.0, (low, start), (high, on_skull if top else end)))
    for name, group, foot, tops in (
        ("scalenus_anterior", "Scalenus anterior", "first rib, front", ("C5", "C3")),
        ("scalenus_posterior", "Scalenus posterior", "first rib, back", ("C6", "C4")),
    ):
        rows += [(f"{name}_{t}", "intermediate", group, 2.0, ("Rb1", foot), (t, "transverse")) for t in tops]
    for foot in ("C7", "C5"):
        end = ("Sku", "superior nuchal line")
        rows.append((f"splenius_capitis_{foot}", "intermediate", "Splenius capitis", 2.0, (foot, "spinous"), end))
    rows.append(("sternomastoid", "superficial", "Sternomastoid", 3.0, ("Ste", "sternum"), ("Sku", "mastoid process")))
    end = ("Sku", "superior nuchal line, outer")
    rows.append(("cleidooccipital", "superficial", "Cleidooccipital", 3.0, ("Cla_l", "clavicle"), end))
    for top in ("C6", "C4", "C2", "Sku"):
        end = (top, "external occipital protuberance" if top == "Sku" else "spinous")
        rows.append((f"trapezius_{top}", "superficial", "Trapezius", 3.0, ("Cla_l", "scapula"), end))
    return rows


def main() -> None:
    at = landmarks()
    with OUT.open("w", newline="") as file:
        out = csv.writer(file)
        ends = [f"{end}_{key}" for end in ("from", "to") for key in ("bone", "place", "x", "y", "z")]
        out.writerow(["name", "layer", "group", "weight", *ends])
        for name, layer, group, weight, start, end in muscles():
            row = [name, layer, group, weight]
            for where in (start, end):
                row += [*where, *(f"{x:.4f}" for x in at[where])]
            out.writerow(row)


if __name__ == "__main__":
    main()
