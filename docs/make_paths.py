"""Lays the muscles on the bones: writes path_points.csv and wraps.csv of vitruvian/anatomy/data.

    python docs/make_paths.py

1. By hand (`path_decisions.py`): points too near a joint's axis moved, tendons carried on to their ends, cylinders.
2. Ends more than 4 mm off their bone are put on its surface.
3. Static pierces: the deepest point of a path inside a bone is pushed out of it (2.5 mm) and kept as a via on that
   bone, where that helps over all of POSES and reverses no moment arm; repeated until nothing is left to mend.

What it finds is data with a reason in each row; look at the pictures before keeping it.
"""

from __future__ import annotations

import numpy as np
from path_files import Path_, by_hand, write
from path_vias import out_of_bone, static
from scipy.spatial import cKDTree

from vitruvian.anatomy import human
from vitruvian.anatomy.surfaces import shown_surfaces
from vitruvian.anatomy.surfaces.clearance import Clearance


class Surfaces:
    """Nearest points on the bones' surfaces, in the world frame of the default pose [mm], left side and midline."""

    def __init__(self, body):
        poses = Clearance.frames(_bare(body), body.default_q)
        self.trees = {}
        for name, (v, f) in shown_surfaces(body).items():
            if name.endswith("_r"):
                continue
            a, b, c = (v[f[:, k]] for k in range(3))
            dense = np.concatenate([v, (a + b + c) / 3, (a + b) / 2, (b + c) / 2, (a + c) / 2])
            T = poses[name]
            self.trees[name.removesuffix("_l")] = cKDTree(1e3 * (dense @ T[:3, :3].T + T[:3, 3]))

    def nearest(self, bone: str, at: np.ndarray) -> tuple[float, np.ndarray]:
        flip = np.array([-1.0 if at[0] < 0 else 1.0, 1.0, 1.0])
        d, i = (tree := self.trees["Cla" if bone == "Cs" else bone]).query(at * flip)
        return float(d), tree.data[i] * flip


def _bare(body):
    holder = object.__new__(Clearance)
    holder.body = body
    return holder


def put_ends_on_bone(paths: dict[str, Path_], surfaces: Surfaces) -> None:
    for path in paths.values():
        for i in (0, len(path.points) - 1):
            p = path.points[i]
            off, at = surfaces.nearest(p.bone, p.at)
            if off <= 4.0:
                continue
            p.at, was = np.round(at, 1), p.why
            p.why = f"{was}; on its surface" if was else f"end {off:.0f} mm off its bone: on the surface"
            p.sure = p.sure or "medium"


def main() -> None:
    paths = by_hand()
    write(paths)
    body = human()
    clearance = Clearance(body)
    clearance.rest = {n: T[:3, 3] for n, T in clearance.frames(body.default_q).items()}
    put_ends_on_bone(paths, Surfaces(human(shoulder="fixed")))
    write(paths)
    paths = static(paths, clearance)
    out_of_bone(paths, clearance, 20)


if __name__ == "__main__":
    main()
