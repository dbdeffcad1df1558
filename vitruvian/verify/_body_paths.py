"""Claims of the chapter `body` about muscle paths on the bones: clearance, ends, moment arms beside published ones.

Angles are anatomical: at coordinate zero the elbow is flexed by 18.5 degrees and the knee by 5.5. Published arms are of
people of about 1.75 m; ours is 1.92 m, so bands are widened by that ratio upward. Bands are recalled from the works
that `moment_arm_bands.csv` names, row by row.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.optimize import linprog

from vitruvian.anatomy import Body, human
from vitruvian.anatomy.surfaces.clearance import Clearance
from vitruvian.anatomy.tables import read_csv
from vitruvian.control import HANGING, pose
from vitruvian.muscle import lengths, moment_arms, tension
from vitruvian.skeleton import bone_poses, world_twists
from vitruvian.verify.book import Finding, claim

Array = np.ndarray
ARM = {"arm": {"direction": [0.16, -0.02, -1.0]}}
POSES = {
    "arms out": {},
    "arms hanging": HANGING,
    "elbow 90": {**ARM, "elbow": 90},
    "elbow 125": {**ARM, "elbow": 125},
    "hip 90, knee 90": {**ARM, "hip": [-90, 0, 0], "knee": 90},
    "knee 105": {**ARM, "knee": 105},
    "arms overhead": {"arm": {"direction": [0.25, 0, 1.0]}, "clavicle": [0, -20]},
    "arms forward": {"arm": {"direction": [0.1, -1, 0]}},
    "trunk 35, head 30": {**ARM, "chest": [35, 0, 0], "head": [60, 0, 0]},
    "head turned 45": {**ARM, "head": [0, 0, 45]},
}
ELBOW_ZERO, KNEE_ZERO = 18.5, 5.5  # [deg] anatomical flexion at coordinate zero
TALLER = 1.92 / 1.75


def _raised(angle: float, outward: float) -> dict:
    """The arm raised by an angle from hanging, forward (0) or sideways (1)."""
    a = np.radians(angle)
    way = np.array([0.15 * np.sin(a), -np.sin(a), -np.cos(a)]) if not outward else [np.sin(a), 0.0, -np.cos(a)]
    return {"arm": {"direction": [float(x) for x in way]}}


# joint -> bone, axis ("hinge" or a world axis; + is the first movement), anatomical angles, pose at an angle
SWEEPS = {
    "elbow flexion": ("Ul_l", "hinge", range(10, 141, 10), lambda x: {**ARM, "elbow": x - ELBOW_ZERO}),
    "knee flexion": ("Tfp_l", "hinge", range(5, 141, 5), lambda x: {"knee": x - KNEE_ZERO}),
    "plantarflexion": ("Fo_l", "hinge", range(-20, 51, 5), lambda x: {"ankle": x}),
    "wrist extension": ("Ha_l", "hinge", range(-70, 71, 10), lambda x: {**ARM, "elbow": 90, "wrist": [x, 0]}),
    "hip extension": ("Fe_l", (1, 0, 0), range(-110, 21, 10), lambda x: {"hip": [x, 0, 0], "knee": max(0, -x)}),
    "shoulder abduction": ("Hu_l", (0, -1, 0), range(10, 151, 10), lambda x: _raised(x, 1.0)),
    "shoulder flexion": ("Hu_l", (-1, 0, 0), range(10, 111, 10), lambda x: _raised(x, 0.0)),
    "internal rotation": (
        "Hu_l",
        "along",
        range(-50, 51, 10),
        lambda x: {"arm": {"direction": [0.34, 0, -0.94], "twist": x}},
    ),
    "neck extension": ("head", (-1, 0, 0), range(-40, 31, 10), lambda x: {**ARM, "head": [-x, 0, 0]}),
}


@lru_cache(maxsize=1)
def _body() -> Body:
    return human()


@lru_cache(maxsize=1)
def _clearance() -> Clearance:
    return Clearance(_body())


@lru_cache(maxsize=16)
def arms_over(name: str) -> Array:
    return sweep(_body(), name)


def sweep(body: Body, name: str) -> Array:
    """Moment arms [m] of all muscles over a sweep, + for its movement, shape (n_angles, n_muscles)."""
    bone, axis, angles, table = SWEEPS[name]
    if bone == "head":  # the neck bends evenly: by the difference of lengths
        ends = [
            [lengths(body.muscles, bone_poses(body.skeleton, pose(body, table(x + d)))) for d in (0.5, -0.5)]
            for x in angles
        ]
        return np.array([-(a - b) / np.radians(1.0) for a, b in ends])
    out = []
    for x in angles:
        q = pose(body, table(x))
        poses, screws = world_twists(body.skeleton, q)
        dense = -moment_arms(body.muscles, poses, screws)[1].dense()[:, body.skeleton.v_slice(bone)]
        if axis == "hinge":
            out.append(dense[:, 0])
            continue
        if axis == "along":
            along = poses[body.skeleton.index("Ul_l"), :3, 3] - poses[body.skeleton.index("Hu_l"), :3, 3]
            about = along / np.linalg.norm(along)
        else:
            about = np.array(axis, float)
        out.append(dense @ np.linalg.solve(screws[body.skeleton.v_slice(bone), :3].T, about))
    return np.array(out)


@claim
def paths_stay_out_of_bone() -> Finding:
    """Muscles of the left half that run deeper than 3 mm inside a bone, in the worst of ten poses."""
    body, counts = _body(), {}
    for name, table in POSES.items():
        found = _clearance().pierces(pose(body, table))
        counts[name] = sorted({p.muscle for p in found})
    at = max(counts, key=lambda n: len(counts[n]))
    detail = f"{at}: {', '.join(counts[at])}; all poses {[len(c) for c in counts.values()]}; Lee's lines: 43 to 58"
    return Finding.error(len(counts[at]), 4.0, "muscles", detail)


@claim
def muscles_end_on_bone() -> Finding:
    """Largest distance of a muscle's end from the surface of its bone."""
    found = sorted(_clearance().ends(_body().default_q), key=lambda e: -abs(e[3]))
    name, word, bone, off = found[0]
    return Finding.error(abs(off), 5e-3, "m", f"{len(found)} ends of the left half; worst {word} of {name} on {bone}")


@claim
def prime_movers_keep_their_sign() -> Finding:
    """Prime movers whose moment arm changes sign within the joint's range; people's true reversals are not counted."""
    flips = []
    for row in read_csv("moment_arm_bands.csv"):
        for name, arm in _rows(row):
            sign = 1.0 if float(row["high_mm"]) > 0 else -1.0
            if (sign * arm).min() < -1e-3:
                flips.append(f"{name} ({row['movement']})")
    return Finding.error(len(flips), 0.0, "muscles", f"changed: {', '.join(flips) or 'none'}")


@claim
def moment_arms_lie_in_published_bands() -> Finding:
    """Moment arms over the joints' ranges lie within published bands, from neck to ankle."""
    out, offs = [], [0.0]
    for row in read_csv("moment_arm_bands.csv"):
        low, high = band(row)
        for name, arm in _rows(row):
            off = max(low - 1e3 * arm.min(), 1e3 * arm.max() - high)
            offs.append(off)
            if off > 0:
                out.append(
                    f"{name} {row['movement']} {1e3 * arm.min():.0f}..{1e3 * arm.max():.0f} ({low:.0f}..{high:.0f})"
                )
    return Finding.error(
        float(np.max(offs)), 0.0, "mm", f"{len(offs) - 1} muscles; outside: {'; '.join(out) or 'none'}"
    )


@claim
def raised_arm_pulls_down_by_60_newton_metres() -> Finding:
    """Shoulder extension with the arm raised forward by 150 degrees, balanced about the other axes and the elbow."""
    body = _body()
    found = balanced_extension(body, _raised(150.0, 0.0))
    lee = balanced_extension(human(paths="documents"), _raised(150.0, 0.0))
    return Finding.within(found, 60.0, 200.0, "N m", f"Lee's lines {lee:.0f}; a fixed scapula loses most of it")


def balanced_extension(body: Body, table: dict) -> float:
    """Greatest shoulder extension [N m] of the left arm, without torque about other axes and forearm."""
    s, m = body.skeleton, body.muscles
    screws_at = world_twists(s, pose(body, table))
    length, arms = moment_arms(m, *screws_at)
    force = tension(m, np.ones(m.n_muscles), length, np.zeros(m.n_muscles)).capacity
    rows = [i for b in ("Hu_l", "Ul_l", "Rad_l") for i in range(*s.v_slice(b).indices(s.n_v))]
    R = -(arms.dense()[:, rows] * force[:, None]).T
    R = R[:, np.abs(R).max(axis=0) > 1e-9]
    load = np.array([screws_at[1][i, 0] if s.dof_bone[i] == s.index("Hu_l") else 0.0 for i in rows])
    cost = np.zeros(R.shape[1] + 1)
    cost[-1] = -1.0
    bounds = [(0.0, 1.0)] * R.shape[1] + [(0.0, None)]
    found = linprog(cost, A_eq=np.column_stack([R, -load]), b_eq=np.zeros(len(rows)), bounds=bounds)
    return float(found.x[-1]) if found.status == 0 else 0.0


def band(row: dict[str, str]) -> tuple[float, float]:
    """A published band [mm], for a body as tall as ours."""
    low, high = float(row["low_mm"]), float(row["high_mm"])
    return (low, high * TALLER) if high > 0 else (low * TALLER, high)


def _rows(row: dict[str, str]) -> list[tuple[str, Array]]:
    """Left muscles that a band is about, and their arms [m] over its angles."""
    m = _body().muscles
    angles = np.array(list(SWEEPS[row["movement"]][2]))
    chosen = (angles >= float(row["from_deg"])) & (angles <= float(row["to_deg"]))
    arms = arms_over(row["movement"])[chosen]
    return [(n, arms[:, k]) for k, n in enumerate(m.names) if n.startswith(row["muscle"]) and n.endswith("_l")]
