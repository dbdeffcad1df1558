"""Looks for paths of shoulder muscles at random: vias on the scapula and cylinders round the head of the humerus.

    python docs/fit_shoulder.py deltoid_03 --vias 1 --cylinders 0 --tries 400

A candidate keeps the muscle's own ends and points on the humerus. It is judged by how deep it runs in bone (ten poses
of the claim, and the strokes' courses), by how far its moment arms leave `moment_arm_bands.csv`, and by how fast they
change along the four strokes. The best are printed with these figures; what is kept goes into `path_decisions.py`.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from vitruvian.anatomy import Body, human
from vitruvian.anatomy.surfaces.clearance import Clearance
from vitruvian.anatomy.tables import read_csv
from vitruvian.control import pose
from vitruvian.control.rhythm import StrokeMotion, load_stroke, stroke_names
from vitruvian.muscle import Cylinder, LinearHill, MuscleBuilder, MuscleModel, moment_arms, path_points
from vitruvian.skeleton import bone_poses, world_twists
from vitruvian.verify import _body_paths as book

HEAD = np.array([0.202, 0.025, 1.569])  # centre of the humerus' head in the default pose [m]


@dataclass(frozen=True)
class Candidate:
    """A via on the scapula (world frame of the default pose [m]) or none, a cylinder or none."""

    vias: tuple[tuple[float, ...], ...]
    cylinder: Cylinder | None  # centre in the world frame of the default pose [m]

    def text(self) -> str:
        out = [f"via {tuple(round(1e3 * float(x), 1) for x in v)}" for v in self.vias]
        if (c := self.cylinder) is not None:
            places = (
                tuple(round(1e3 * float(x), 1) for x in c.centre),
                *(tuple(np.round(v, 3)) for v in (c.axis, c.side)),
            )
            out.append(f"cylinder {c.bone} {places} r {1e3 * c.radius:.1f} slips {c.slips}")
        return "; ".join(out)


class Trial:
    """Lays candidates of one left muscle on the body and judges them together."""

    def __init__(self, muscle: str):
        self.body, self.muscle = human(), muscle
        self.clearance = Clearance(self.body)
        b = self.body
        self.origins = {n: T[:3, 3] for n, T in self.clearance.frames(b.default_q).items()}
        m = b.muscles
        k = m.index(f"{muscle}_l")
        points = range(m.offsets[k], m.offsets[k + 1])
        owner = [m.frames[m.riding[p]].name if m.riding[p] >= 0 else b.skeleton.names[m.bone[p]] for p in points]
        at = path_points(m, bone_poses(b.skeleton, b.default_q))[list(points)]
        on_arm = [i for i, o in enumerate(owner) if o[:-2] in ("Hu", "Ul", "Rad")]
        self.scapular = [(owner[i], at[i]) for i in range(len(owner)) if i not in on_arm]
        self.first = on_arm[0] == 0  # the path begins at the arm
        self.arm = [(owner[i], at[i]) for i in on_arm]
        courses = [StrokeMotion(b, load_stroke(s), 1.0) for s in stroke_names()]
        self.courses = [[c.sample(t)[0] for t in np.arange(0.0, 1.0, 1 / 240)] for c in courses]
        self.poses = [pose(b, t) for t in book.POSES.values()] + [q for c in self.courses for q in c[::24]]

    def model(self, candidates: list[Candidate]) -> MuscleModel:
        """All candidates as muscles of one model; the first is the path as it is."""
        b, m = self.body, self.body.muscles
        builder = MuscleBuilder(b.skeleton, m, [m.index(f"{self.muscle}_l")])
        for n, c in enumerate(candidates):
            scapular = [self.scapular[-1] if self.first else self.scapular[0]]
            scapular += [("Sca_l", np.array(v)) for v in c.vias]
            path = [*self.arm, *scapular[::-1]] if self.first else [*scapular, *self.arm]
            local = [(owner, at - self.origins[owner]) for owner, at in path]
            bends = ()
            if c.cylinder is not None:
                segment = next(i for i in range(len(path) - 1) if path[i][0][:2] != path[i + 1][0][:2])
                centre = tuple(np.array(c.cylinder.centre) - self.origins[c.cylinder.bone])
                bends = (replace(c.cylinder, segment=segment, centre=centre),)
            builder.add_muscle(f"c{n:04d}_l", local, LinearHill(1.0, 0.2), cylinders=bends)
        return builder.build()

    def judge(self, candidates: list[Candidate]) -> np.ndarray:
        """Depth beyond 3 mm summed over poses [mm], arms beyond bands [mm], change of arms [m/rad²], (n + 1, 3)."""
        body = replace(self.body, muscles=self.model(candidates))
        out = np.zeros((len(candidates) + 1, 3))
        index = {n: i for i, n in enumerate(body.muscles.names)}
        found = self.clearance.of(body)
        for q in self.poses:
            for p in found.pierces(q, least=0.003, long=0.006):
                out[index[p.muscle], 0] += 1e3 * p.depth - 3.0
        out[:, 1] = self.off_bands(body)
        out[:, 2] = self.hurry(body)
        return out

    def off_bands(self, body: Body) -> np.ndarray:
        out = np.zeros(body.muscles.n_muscles)
        for row in read_csv("moment_arm_bands.csv"):
            if self.muscle.startswith(row["muscle"]):
                angles = np.array(list(book.SWEEPS[row["movement"]][2]))
                chosen = (angles >= float(row["from_deg"])) & (angles <= float(row["to_deg"]))
                arms = 1e3 * book.sweep(body, row["movement"])[chosen]
                low, high = book.band(row)
                out = np.maximum(out, np.maximum(low - arms.min(axis=0), arms.max(axis=0) - high))
        return np.maximum(out, 0.0)

    def hurry(self, body: Body) -> np.ndarray:
        """Largest change of a moment arm about shoulder and clavicle along the strokes [m/rad²]."""
        s = body.skeleton
        mine = [i for b in ("Hu_l", "Cla_l") for i in range(*s.v_slice(b).indices(s.n_v))]
        out = np.zeros(body.muscles.n_muscles)
        for course in self.courses:
            arms, way = [], []
            for q in course:
                poses, screws = world_twists(s, q)
                arms.append(moment_arms(body.muscles, poses, screws)[1].dense()[:, mine])
                way.append(poses[s.index("Hu_l"), :3, :3])
            turned = [np.arccos(np.clip((np.trace(a.T @ b) - 1) / 2, -1, 1)) for a, b in pairwise(way)]
            rate = np.abs(np.diff(arms, axis=0)).max(axis=2) / np.maximum(turned, 3e-3)[:, None]
            out = np.maximum(out, rate.max(axis=0))
        return out


def candidates(rng: np.random.Generator, count: int, vias: int, cylinders: int, reach: float) -> list[Candidate]:
    """Vias within `reach` [m] of the head, in the order in which they lie towards it; cylinders round the head."""
    out = []
    for _ in range(count):
        points = HEAD + rng.normal(size=(vias, 3)) * reach * np.array([0.6, 0.8, 0.8])
        points = points[np.argsort(points[:, 0])]
        cylinder = None
        if cylinders:
            axis, side = rng.normal(size=(2, 3))
            centre = tuple(HEAD + rng.normal(size=3) * 0.008)
            bone = "Hu_l" if rng.random() < 0.5 else "Cla_l"
            radius = rng.uniform(0.014, 0.030)
            cylinder = Cylinder(0, bone, centre, tuple(axis), tuple(side), radius, bool(rng.random() < 0.5))
        out.append(Candidate(tuple(map(tuple, points)), cylinder))
    return out


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("muscle")
    asked.add_argument("--vias", type=int, default=1)
    asked.add_argument("--cylinders", type=int, default=0)
    asked.add_argument("--tries", type=int, default=400)
    asked.add_argument("--reach", type=float, default=0.06)
    asked.add_argument("--seed", type=int, default=0)
    given = asked.parse_args()
    trial = Trial(given.muscle)
    tried = candidates(np.random.default_rng(given.seed), given.tries, given.vias, given.cylinders, given.reach)
    found = trial.judge(tried)
    print("as it is: depth {:.1f} mm, off bands {:.1f} mm, arms change {:.2f} m/rad²".format(*found[0]))
    score = found[1:] @ np.array([1.0, 1.0, 10.0])
    for k in np.argsort(score)[:12]:
        print("{:.1f} mm, {:.1f} mm, {:.2f} m/rad²: {}".format(*found[k + 1], tried[k].text()))


if __name__ == "__main__":
    main()
