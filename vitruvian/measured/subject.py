"""From a trial to goals for our body, and the body's size: markers or joints, pelvis first, scale by least squares.

The size of a body of our shape is the one scale s that leaves the least of the measured places unexplained,

    min over s of Σ over sample frames of min over q of |places / s - x(q)|²,

found with the body at the tables' size (a figure scaled by 1/s is the same problem). The length of each segment
follows: from markers together with the poses (`proportions`), from joints by their distances.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize_scalar

from vitruvian.anatomy import Body
from vitruvian.anatomy.scaling import STATURE
from vitruvian.errors import InputError
from vitruvian.measured.kinematics import Goals, PoseFitter
from vitruvian.measured.markers import marker_sites, needed, recognised, site_places
from vitruvian.measured.proportions import Proportions, found_proportions, joint_proportions
from vitruvian.measured.trial import Trial
from vitruvian.skeleton import bone_poses
from vitruvian.spatial import quaternion_from_rotation, rotation_between

Array = np.ndarray
APART = 0.12  # [m] of two points at least, for the first guess of the size
SAMPLES = 8  # frames that the size is found from
SMALLEST, LARGEST = 0.3, 1.35  # of the tables' size
LOOSE = 0.3  # weight of a marker whose place was found from the trial itself
TURN = 0.05  # [m²/rad²] weight of an orientation: as a point 0.22 m away
LEGS = ("Fe", "Tfp", "Fo")  # joints whose places count; elsewhere a file's figure differs too much from ours
FAR = {"Fe": "Tfp", "Tfp": "Fo", "Hu": "Ul", "Ul": "Ha"}  # bone -> the bone at its far end
# segment -> joints or markers at its ends; ? stands for the side
SEGMENTS = {
    "thigh": ("Fe_?", "Tfp_?"),
    "shank": ("Tfp_?", "Fo_?"),
    "upper arm": ("Hu_?", "Ul_?"),
    "forearm": ("Ul_?", "Ha_?"),
}
MARKED = {
    "pelvis": ("LASI", "RASI"),
    "thigh": ("?GTR", "?KNE"),
    "shank": ("?KNE", "?ANK"),
    "foot": ("?HEE", "?TOE"),
    "upper arm": ("?SHO", "?ELB"),
    "forearm": ("?ELB", "?WRB"),
    "trunk": ("SACR", "C7"),
}


@dataclass(frozen=True, eq=False)
class Subject:
    """Size of the person in a trial."""

    scale: float  # of lengths, against the tables
    factors: Mapping[str, float]  # segment -> its length against our body of that height, where it was measured
    unseen: tuple[str, ...]  # segments that keep our proportions
    used: tuple[str, ...]  # markers or joints that were used
    unknown: tuple[str, ...]  # markers that nothing is known about
    lengths: Mapping[str, tuple[float, float]]  # segment -> measured, ours [m]


def trial_goals(trial: Trial, body: Body, mapping: Mapping[str, str] | None = None) -> tuple[Goals, tuple[str, ...]]:
    """Goals for a body, and the markers that are not known. mapping: marker of the file -> site."""
    if trial.segments is not None:
        return _segment_goals(trial, body), ()
    found, unknown = recognised(n for n in trial.markers if n not in (mapping or {}))
    for name, site in (mapping or {}).items():
        if name not in trial.markers:
            raise InputError(f"{trial.name}: has no marker '{name}'; it has {', '.join(list(trial.markers)[:40])}")
        if site not in marker_sites():
            raise InputError(f"no marker site '{site}'; known: {', '.join(marker_sites())}")
        found[name] = site
    needed(trial.name, found.values())
    bones, local = site_places(body, found.values())
    loose = np.array([marker_sites()[site].loose for site in found.values()])
    place = np.stack([trial.markers[name] for name in found], axis=1)
    goals = Goals(
        tuple(found.values()), bones, local, place, np.where(loose, 0.0, 1.0),
        np.zeros(0, np.int64), np.zeros((len(place), 0, 3, 3)), np.zeros(0),
    )  # fmt: skip
    return goals, tuple(unknown)


def _segment_goals(trial: Trial, body: Body) -> Goals:
    assert trial.segments is not None
    s, own = body.skeleton, trial.segments
    joints = [b for b in own.joints if b in s.names]
    turns = [b for b in own.turns if b in s.names]
    if "Pel" not in turns:
        raise InputError(f"{trial.name}: no joint of the file is our pelvis; it has {', '.join(own.turns)}")
    if not any(b.split("_")[0] in LEGS for b in joints):
        raise InputError(f"{trial.name}: has no legs, from which the size is found")
    goal = []
    for bone in turns:
        turn = own.turns[bone]
        if bone in own.along:  # our bone's own long axis along theirs
            far = f"{FAR[bone[:-2]]}{bone[-2:]}"
            turn = turn @ rotation_between(_far_joint(body, bone, far), own.along[bone])
        goal.append(turn)
    weight = np.array([1.0 if b.split("_")[0] in LEGS else 0.0 for b in joints])
    return Goals(
        (*joints, *turns), np.array([s.index(b) for b in joints]), np.zeros((len(joints), 3)),
        np.stack([own.joints[b] for b in joints], axis=1), weight,
        np.array([s.index(b) for b in turns]), np.stack(goal, axis=1), np.full(len(turns), TURN),
    )  # fmt: skip


def found_size(fitter: PoseFitter, goals: Goals) -> tuple[float, Array]:
    """(scale, a pose near the first frame at that scale); the fitter's body has the tables' size."""
    frames = np.unique(np.linspace(0, len(goals.place) - 1, SAMPLES).astype(int))
    some = replace(goals, place=goals.place[frames], turn=goals.turn[frames])
    first = _reach(fitter.body, some)
    poses: dict[str, Array] = {}

    def unexplained(log_scale: float) -> float:
        scale = float(np.exp(log_scale))
        there = replace(some, place=some.place / scale)
        q = poses.get("q", _start(fitter, there, 0))
        if "q" in poses:
            q = q.copy()
            q[:3] = _start(fitter, there, 0)[:3]
        fit = fitter.fit(there, q)
        poses["q"] = fit.q[0]
        return float(np.nansum(goals.point_weight * (scale * fit.distance) ** 2))

    low, high = np.log(max(SMALLEST, 0.75 * first)), np.log(min(LARGEST, 1.3 * first))
    best = minimize_scalar(unexplained, bounds=(low, high), method="bounded", options={"xatol": 1e-4})
    scale = float(np.exp(best.x))
    if min(abs(best.x - low), abs(best.x - high)) < 2e-3:
        raise InputError(
            f"the subject is not between {np.exp(low) * STATURE:.2f} and {np.exp(high) * STATURE:.2f} m tall; are the "
            "lengths of the file in the unit that it says, and is the vertical axis right (--up)?"
        )
    return scale, _start(fitter, replace(goals, place=goals.place / scale), 0)


def found_shape(trial: Trial, body: Body, goals: Goals, size: float | None, mapping: Mapping[str, str]) -> Proportions:
    """Size and proportions of the subject; body: of the tables' size, goals: its; size: of lengths, None finds it."""
    fitter = PoseFitter(body)
    first = found_size(fitter, goals)[0] if size is None else size
    if trial.segments is None:
        return found_proportions(
            body,
            lambda b: trial_goals(trial, b, mapping)[0],
            first,
            lambda b: _start(PoseFitter(b), trial_goals(trial, b, mapping)[0], 0),
            sized=size is not None,
        )
    poses = bone_poses(body.skeleton, body.default_q)[goals.point_bone, :3, 3]
    at = {name: k for k, name in enumerate(goals.names[: len(goals.point_bone)])}
    lengths = {}
    for name, (near, far) in SEGMENTS.items():
        pairs = [(at[near.replace("?", x)], at[far.replace("?", x)]) for x in "lr" if _both(at, near, far, x)]
        if pairs:
            theirs = [np.nanmedian(np.linalg.norm(goals.place[:, b] - goals.place[:, a], axis=1)) for a, b in pairs]
            ours = [np.linalg.norm(poses[b] - poses[a]) for a, b in pairs]
            lengths[name] = (float(np.mean(theirs)), first * float(np.mean(ours)))
    return joint_proportions(lengths, first)


def _both(at: Mapping[str, int], near: str, far: str, side: str) -> bool:
    return near.replace("?", side) in at and far.replace("?", side) in at


def placed(fitter: PoseFitter, goals: Goals, start: Array) -> Goals:
    """Goals with loose markers where they sit on their bones in sample frames, as the others have it."""
    loose = np.flatnonzero(goals.point_weight == 0.0) if len(goals.turn_bone) == 0 else np.zeros(0, np.int64)
    if not len(loose):
        return goals
    frames = np.unique(np.linspace(0, len(goals.place) - 1, SAMPLES).astype(int))
    fit = fitter.fit(replace(goals, place=goals.place[frames], turn=goals.turn[frames]), start)
    seen = np.zeros((len(frames), len(loose), 3))
    for k, f in enumerate(frames):
        T = bone_poses(fitter.body.skeleton, fit.q[k])[goals.point_bone[loose]]
        seen[k] = np.einsum("mji,mj->mi", T[:, :3, :3], goals.place[f, loose] - T[:, :3, 3])
    local, weight = goals.point_local.copy(), goals.point_weight.copy()
    local[loose], weight[loose] = seen.mean(axis=0), LOOSE
    return replace(goals, point_local=local, point_weight=weight)


def start_pose(fitter: PoseFitter, goals: Goals) -> Array:
    """A pose near the first frame: the pelvis as measured, the rest standing; (n_q,)."""
    return _start(fitter, goals, 0)


def segment_lengths(trial: Trial, goals: Goals, body: Body, q: Array) -> dict[str, tuple[float, float]]:
    """Segment -> measured and our length [m], both sides' mean, median over the frames of poses q (f, n_q): between
    joints where the file has them, else between markers."""
    ends = SEGMENTS if trial.segments is not None else MARKED
    T = np.array([bone_poses(body.skeleton, pose)[goals.point_bone] for pose in q])
    ours = np.einsum("fmij,mj->fmi", T[..., :3, :3], goals.point_local) + T[..., :3, 3]
    at = {name: k for k, name in enumerate(goals.names[: len(goals.point_bone)])}
    out = {}
    for name, (near, far) in ends.items():
        named = [(near.replace("?", x), far.replace("?", x)) for x in ("LR" if trial.segments is None else "lr")]
        pairs = [(at[a], at[b]) for a, b in dict.fromkeys(named) if a in at and b in at]
        if pairs:
            both = [
                float(np.mean([np.nanmedian(np.linalg.norm(x[:, b] - x[:, a], axis=1)) for a, b in pairs]))
                for x in (goals.place, ours)
            ]
            out[name] = (both[0], both[1])
    return out


def _far_joint(body: Body, near: str, far: str) -> Array:
    """From a bone's joint to that of a bone beyond it, in the default pose [m], (3,)."""
    s = body.skeleton
    poses = bone_poses(s, body.default_q)
    return poses[s.index(far), :3, 3] - poses[s.index(near), :3, 3]


def _reach(body: Body, goals: Goals) -> float:
    """A first guess of the scale, whatever the posture: distances between points of one bone, or of two that a hinge
    joins, over ours; their median."""
    s = body.skeleton
    P = bone_poses(s, body.default_q)[goals.point_bone]
    x = np.einsum("mij,mj->mi", P[:, :3, :3], goals.point_local) + P[:, :3, 3]
    use = np.flatnonzero(goals.point_weight > 0.0)
    a, b = (use[k] for k in np.triu_indices(len(use), 1))
    near, far = goals.point_bone[a], goals.point_bone[b]
    hinged = np.array([joint.n_v == 1 for joint in s.joints])
    centre = np.abs(goals.point_local).max(axis=1) < 1e-9  # a joint's own place rides on the bone above it too
    joined = near == far
    joined |= (hinged[far] | centre[b]) & (s.parent[far] == near)
    joined |= (hinged[near] | centre[a]) & (s.parent[near] == far)
    ours = np.linalg.norm(x[b] - x[a], axis=1)
    pick = joined & (ours > APART)
    if not pick.any():
        raise InputError("two markers or joints of one bone are needed, 0.12 m or more apart, to guess the size from")
    theirs = np.linalg.norm(goals.place[:, b[pick]] - goals.place[:, a[pick]], axis=2)
    ratio = float(np.nanmedian(np.nanmedian(theirs, axis=0) / ours[pick]))
    if not 0.5 * SMALLEST <= ratio <= 1.3 * LARGEST:
        raise InputError(
            f"the subject would be {ratio * STATURE:.3g} m tall; are the lengths of the file in the unit that it says?"
        )
    return float(np.clip(ratio, SMALLEST / 0.75, LARGEST / 1.3))


def _start(fitter: PoseFitter, goals: Goals, frame: int) -> Array:
    """The standing posture with its pelvis where frame's pelvis is."""
    s = fitter.body.skeleton
    q = fitter.standing.copy()
    pelvis = s.index("Pel")
    poses = bone_poses(s, q)
    mine = _pelvic(fitter.body, goals) & ~np.isnan(goals.place[frame, :, 0])
    P = poses[goals.point_bone[mine]]
    ours = np.einsum("mij,mj->mi", P[:, :3, :3], goals.point_local[mine]) + P[:, :3, 3]
    theirs = goals.place[frame, mine]
    known = np.flatnonzero(goals.turn_bone == pelvis)
    R = goals.turn[frame, known[0]] if len(known) else _aligned(ours, theirs)
    shift = theirs.mean(axis=0) - R @ (ours.mean(axis=0) - poses[pelvis, :3, 3])
    q[:3] = shift
    q[3:7] = quaternion_from_rotation(R @ poses[pelvis, :3, :3])
    return q


def _pelvic(body: Body, goals: Goals) -> Array:
    """Points that ride on the pelvis: its own, and the hips' centres."""
    s = body.skeleton
    hips = np.isin(goals.point_bone, [s.index("Fe_l"), s.index("Fe_r")]) & (
        np.abs(goals.point_local).max(axis=1) < 1e-9
    )
    return hips | (goals.point_bone == s.index("Pel"))


def _aligned(a: Array, b: Array) -> Array:
    """The rotation that turns the points a (n, 3) best onto b (Kabsch 1976)."""
    U, _, Vt = np.linalg.svd((b - b.mean(axis=0)).T @ (a - a.mean(axis=0)))
    return U @ np.diag([1.0, 1.0, np.linalg.det(U @ Vt)]) @ Vt
