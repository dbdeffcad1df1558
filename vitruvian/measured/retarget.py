"""A captured motion on a character of other proportions: turns of the joints are copied, the root's path is scaled.

In the zero pose of a character arms hang and all frames stand upright, as in the captured figure at rest, so angles
carry over. The root's path is scaled by the length of the legs and lifted until the soles, at the `LOW` percentile of
time, are `SINK` in the ground; or, for a walk that never leaves it, in every pose. Arms are led outwards past a belly,
legs a little apart.

Who rolls on a trunk and a head of other proportions than the captured person's comes elsewhere: there the root's path
follows from what touches the ground, which stays where it is from one pose to the next. A large head is in the way of a
roll unless the chin is on the chest: neck and head are bent by `tuck` while the pelvis is upside down, and on the way.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from vitruvian.anatomy.characters import Character
from vitruvian.control.search import Reference
from vitruvian.control.search.mirror import evened
from vitruvian.errors import InputError
from vitruvian.flesh.posed.model import INFLUENCES
from vitruvian.measured.trial import Trial
from vitruvian.skeleton import bone_poses

Array = np.ndarray
RATE = 100.0  # samples a second, about
LOW, SINK = 8.0, 0.008  # percentile, [m] in a character whose legs are as long as ours; scaled with them
TURNED = {  # bone of a character -> segments whose turn it takes, the mean of two
    "pelvis": ("Pel",), "spine": ("Pel", "T1"), "chest": ("T1",), "neck": ("T1", "Sku"), "head": ("Sku",),
    "thigh": ("Fe",), "shank": ("Tfp",), "foot": ("Fo",), "upper_arm": ("Hu",), "forearm": ("Ul",),
    "hand": ("Ha", "Ul"),
}  # fmt: skip
ARMS = ("Hu", "Ul", "Ha")
UPRIGHT, TUCKED = 0.35, 1.4  # [rad] of the pelvis' lean between which a chin is drawn in
CLOSE = 0.01  # [m] above the lowest point: what is lower touches the ground


def retargeted(
    trial: Trial,
    character: Character,
    *,
    loop: bool = False,
    grounded: bool = False,
    rolling: bool = False,
    tuck: float = 0.0,
    shoulders: float = 0.6,
    hips: float = 0.06,
) -> Reference:
    """A trial with segments (a clip, a BVH file) as a reference motion. shoulders, hips: how far arms and legs are led
    outwards [rad]; grounded: the lowest sole is on the ground all the time; rolling: so is the lowest point of the
    skin, which does not slide; tuck: how far the chin is drawn in upside down [rad]."""
    segments = trial.segments
    if segments is None:
        raise InputError(f"{trial.name}: a character needs turns of joints (BVH or a clip), this has markers")
    if "Pel" not in segments.joints or "Fo_l" not in segments.joints or "Fe_l" not in segments.joints:
        raise InputError(f"{trial.name}: the places of hips and ankles are needed")
    unknown = [b.name for b in character.bones if _kind(b.name) not in TURNED]
    if unknown:
        raise InputError(f"character {character.name}: no captured joint turns its bone '{unknown[0]}'")
    at = np.linspace(0.0, trial.time[-1], max(3, round(trial.time[-1] * RATE) + 1))
    turns = {bone.name: _turn(trial, bone.name, at, loop) for bone in character.bones}
    skeleton, q = character.skeleton, np.empty((len(at), character.skeleton.n_q))
    for k, bone in enumerate(character.bones):
        own = turns[bone.name] if bone.parent is None else turns[bone.parent].inv() * turns[bone.name]
        own = own * Rotation.from_rotvec([0.0, _aside(bone.name, shoulders, hips), 0.0])
        columns = slice(int(skeleton.q_start[k]), int(skeleton.q_start[k + 1]))
        if bone.joint == "hinge":
            q[:, columns] = (own.as_rotvec() @ np.asarray(bone.axis))[:, None]
        else:
            q[:, columns.stop - 4 : columns.stop] = own.as_quat(scalar_first=True)
    ratio = leg_length(character) / _captured_leg(trial)
    place = segments.joints["Pel"].copy()
    if loop:
        place[-1, 2] = place[0, 2]
    path = np.stack([np.interp(at, trial.time, place[:, a]) for a in range(3)], axis=1) * ratio
    middle = np.mean([np.asarray(b.at) for b in character.bones if _kind(b.name) == "thigh"], axis=0)
    q[:, :3] = path + turns[character.bones[0].name].apply(np.asarray(character.bones[0].at) - middle)
    if tuck != 0.0:
        _tuck(character, q, tuck)
    if rolling:
        _roll(character, q, SINK * ratio)
    else:
        lowest = _lowest(character, q)
        q[:, 2] -= (lowest if grounded else np.percentile(lowest, LOW)) + SINK * ratio
    return Reference(skeleton, float(at[1]), q, loop)


def ready(
    trial: Trial,
    character: Character,
    *,
    loop: bool = False,
    slower: float = 1.0,
    grounded: bool = False,
    rolling: bool = False,
    tuck: float = 0.0,
    even: bool = False,
) -> Reference:
    """A motion as searches and scenes use it: retargeted, smoothed, in `slower` times its time, even on both sides."""
    found = retargeted(trial, character, loop=loop, grounded=grounded, rolling=rolling, tuck=tuck)
    if even:
        found = evened(found)
    return found.smoothed(0.03 if rolling else 0.015).slowed(slower)


def _tuck(character: Character, q: Array, angle: float) -> None:
    """Bend neck and head forwards, in place; fully where the pelvis leans by more than `TUCKED`."""
    skeleton, own = character.skeleton, [b.name for b in character.bones if _kind(b.name) in ("neck", "head")]
    up = Rotation.from_quat(q[:, 3:7], scalar_first=True).as_matrix()[:, 2, 2]
    share = np.clip((np.arccos(np.clip(up, -1.0, 1.0)) - UPRIGHT) / (TUCKED - UPRIGHT), 0.0, 1.0)
    share = share * share * (3.0 - 2.0 * share)
    for name in own:
        columns = slice(*skeleton.q_start[skeleton.index(name) : skeleton.index(name) + 2])
        bend = Rotation.from_rotvec(np.outer(share, [angle / len(own), 0.0, 0.0]))
        q[:, columns] = (Rotation.from_quat(q[:, columns], scalar_first=True) * bend).as_quat(scalar_first=True)


def _roll(character: Character, q: Array, sink: float) -> None:
    """Put the root, in place, such that the lowest points are `sink` [m] in the ground and stay where they are."""
    before, way = None, np.zeros(2)
    for pose in q:
        skin = _skin(character, pose)
        skin[:, 2] -= skin[:, 2].min()
        if before is not None:
            near = np.maximum(CLOSE - before[:, 2], 0.0) + np.maximum(CLOSE - skin[:, 2], 0.0)
            way -= near @ (skin - before)[:, :2] / near.sum()
        pose[2] -= _skin(character, pose)[:, 2].min() + sink
        pose[:2] += way
        before = skin


def leg_length(character: Character) -> float:
    """Hip to ankle along the bones [m]."""
    at = {b.name: np.asarray(b.at) for b in character.bones}
    return float(np.linalg.norm(at["shank_l"] - at["thigh_l"]) + np.linalg.norm(at["foot_l"] - at["shank_l"]))


def _captured_leg(trial: Trial) -> float:
    assert trial.segments is not None
    j = trial.segments.joints
    return float(
        np.median(np.linalg.norm(j["Tfp_l"] - j["Fe_l"], axis=1))
        + np.median(np.linalg.norm(j["Fo_l"] - j["Tfp_l"], axis=1))
    )


def _kind(name: str) -> str:
    return name[:-2] if name.endswith(("_l", "_r")) else name


def _turn(trial: Trial, name: str, at: Array, loop: bool) -> Rotation:
    """World turn of a bone from the zero pose with hanging arms, at times [s]; a loop ends as it begins."""
    assert trial.segments is not None
    side, found = name[-2:] if name.endswith(("_l", "_r")) else "", []
    for segment in TURNED[_kind(name)]:
        turns = trial.segments.turns.get(segment + side)
        if turns is None:
            continue
        if segment in ARMS:  # a trial's arms are seen from a pose with arms out
            out = Rotation.from_euler("y", 90.0 if side == "_l" else -90.0, degrees=True)
            turns = turns @ out.as_matrix().T
        found.append(np.concatenate([turns[:-1], turns[:1]]) if loop else turns)
    if not found:
        raise InputError(f"{trial.name}: it does not say how the {name.replace('_', ' ')} turns")
    first = Slerp(trial.time, Rotation.from_matrix(found[0]))(at)
    if len(found) == 1 or "hand" in name:
        return first
    second = Slerp(trial.time, Rotation.from_matrix(found[1]))(at)
    return first * Rotation.from_rotvec(0.5 * (first.inv() * second).as_rotvec())


def _aside(name: str, shoulders: float, hips: float) -> float:
    """Turn about the bone's own y axis [rad] by which a limb is led outwards."""
    sign = -1.0 if name.endswith("_l") else 1.0
    return {"upper_arm": sign * shoulders, "thigh": sign * hips, "foot": -sign * hips}.get(_kind(name), 0.0)


def _lowest(character: Character, q: Array) -> Array:
    """Height of the lowest point of the skin in each pose [m], (f,)."""
    return np.array([_skin(character, pose)[:, 2].min() for pose in q])


def _skin(character: Character, pose: Array) -> Array:
    """The skin as the pose carries it [m], (n_skin, 3)."""
    weights, nodes = character.weights, character.tetrahedra.nodes
    order = np.argsort(-weights, axis=1, kind="stable")[:, :INFLUENCES]
    bind = np.linalg.inv(bone_poses(character.skeleton, character.bind_q))
    move = bone_poses(character.skeleton, pose) @ bind
    at = np.zeros_like(nodes)
    for k in range(INFLUENCES):
        w = np.take_along_axis(weights, order[:, k : k + 1], axis=1)
        T = move[order[:, k]]
        at += w * (np.einsum("nij,nj->ni", T[:, :3, :3], nodes) + T[:, :3, 3])
    return np.asarray(character.skin.matrix[: character.n_skin] @ at)
