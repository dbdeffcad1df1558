"""Bring the MakeHuman skin onto our skeleton: limbs turned and stretched bone by bone, trunk and head warped smoothly.

Each limb segment (upper arm, forearm, hand, phalanges, thigh, shank, foot) gets the affine map that takes its two
joints onto ours: a rotation by frames (direction of the segment and axis of the hinge at its end), a stretch along, a
scale across. The trunk gets a biharmonic warp through joints and marks of the skull. Skinning weights blend the maps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vitruvian.anatomy.skin_data import HumanMesh

Array = np.ndarray
Map = Callable[[Array], Array]
FINGERS = {"thumb": 1, "index": 2, "middle": 3, "ring": 4, "little": 5}
TRUNK_LEVELS = ("Pel", "L3", "T12", "T9", "T6", "T3")  # where the trunk's depth is fitted; flanks wherever ribs are
HIP_SHIFT = np.array([0.0, -0.022, 0.0])  # their hip mark lies behind the femoral head [m]
THIGH = 0.95  # thighs a little slimmer, so that they do not touch
ARM = ("upperarm", "lowerarm", "wrist", "metacarpal", "finger")
PARTED = 0.2, 0.9  # parts of an arm's weight between which skin passes over from trunk to arm
# Muscle and fat over bone [m]: beside the spine and over the blades lie erector, trapezius and infraspinatus, in front
# of the ribs pectoralis.
BACK, FRONT, FLANK = 0.012, 0.014, 0.016
BESIDE = 0.010  # more of it off the midline, behind and before
FINGER = 0.86  # fingers a little slimmer, so that they do not touch
SCALP, FACE = 0.008, 0.007  # soft tissue over skull and brow [m] (forensic tables: 4-6 mm, and hair)


@dataclass(frozen=True)
class SkinLandmarks:
    """Ours, in the default pose [m]."""

    joints: dict[str, Array]  # joint centre of each bone
    skull: Array  # vertices of the skull, world, shape (n, 3)
    jaw: Array  # vertices of the mandible
    foot: Array  # vertices of the left foot
    trunk: Array  # vertices of ribs, vertebrae, shoulder blades and pelvis


def posed_vertices(mesh: HumanMesh, ours: SkinLandmarks) -> tuple[Array, Map]:
    """Skin vertices [m] in our default pose, shape (n, 3), and the trunk's map (for eyes and mouth)."""
    height = mesh.vertices[:, 2].max() - mesh.vertices[:, 2].min()
    top, floor = ours.skull[:, 2].max() + SCALP, _floor(ours)
    scale = float((top - floor) / height)
    trunk = _trunk_map(mesh, ours, scale)
    maps: dict[str, Map] = {}
    for side in ("l", "r"):
        maps.update(_arm_maps(mesh, ours, side, scale))
        maps.update(_leg_maps(mesh, ours, side, scale))
    total = np.zeros(len(mesh.vertices))
    out = np.zeros_like(mesh.vertices)
    warped = trunk(mesh.vertices)
    for bone, (index, weight) in _parted(mesh).items():
        move = _driver(bone, maps, mesh.parents)
        where = warped[index] if move is None else move(mesh.vertices[index])
        np.add.at(out, index, weight[:, None] * where)
        np.add.at(total, index, weight)
    bare = total < 1e-6
    out[bare], total[bare] = warped[bare], 1.0
    return out / total[:, None], trunk


def _parted(mesh: HumanMesh) -> dict[str, tuple[Array, Array]]:
    """Their weights with those of arms and trunk parted more sharply: an arm that is raised by half a right angle drags
    the flank along by a third, and a web would span the armpit."""
    arm, rest = np.zeros(len(mesh.vertices)), np.zeros(len(mesh.vertices))
    for bone, (index, weight) in mesh.weights.items():
        np.add.at(arm if bone.startswith(ARM) else rest, index, weight)
    share = arm / np.maximum(arm + rest, 1e-9)
    step = np.clip((share - PARTED[0]) / (PARTED[1] - PARTED[0]), 0.0, 1.0)
    step = step * step * (3.0 - 2.0 * step)
    more, less = step / np.maximum(share, 1e-9), (1.0 - step) / np.maximum(1.0 - share, 1e-9)
    return {
        bone: (index, weight * (more if bone.startswith(ARM) else less)[index])
        for bone, (index, weight) in mesh.weights.items()
    }


def _driver(bone: str, maps: dict[str, Map], parents: dict[str, str]) -> Map | None:
    """The map of the nearest ancestor that has one; None for the trunk."""
    while bone:
        if bone in maps:
            return maps[bone]
        bone = parents.get(bone, "")
    return None


def _arm_maps(mesh: HumanMesh, ours: SkinLandmarks, side: str, scale: float) -> dict[str, Map]:
    theirs, mine = mesh.joints, ours.joints
    big = side.upper()
    shoulder, elbow, wrist = (theirs[f"{side}-{j}"] for j in ("shoulder", "elbow", "hand"))
    our_shoulder, our_wrist = mine[f"Hu_{side}"], mine[f"Ha_{side}"]
    our_elbow = 0.5 * (mine[f"Ul_{side}"] + mine[f"Rad_{side}"])
    hinge = np.cross(elbow - shoulder, wrist - elbow)
    our_hinge = np.array([0.0, 0.0, -1.0 if side == "l" else 1.0])  # the forearm flexes forward
    knuckles = {f: theirs[f"{side}-finger-{n}-1"] for f, n in FINGERS.items()}
    our_knuckles = {f: mine[f"{f}_proximal_{side}"] for f in FINGERS}
    across = knuckles["little"] - knuckles["index"]
    our_across = our_knuckles["little"] - our_knuckles["index"]
    upper = _segment(shoulder, elbow, hinge, our_shoulder, our_elbow, our_hinge, scale)
    near = _frame(wrist - elbow, hinge)
    far = _frame(wrist - elbow, across)
    our_near = _frame(our_wrist - our_elbow, our_hinge)
    our_far = _frame(our_wrist - our_elbow, our_across)
    # the forearm twists between elbow and wrist: its two halves take a third and two thirds of the turn
    turn_near, turn_far = our_near @ near.T, our_far @ far.T
    maps = {f"upperarm01.{big}": upper}
    for bone, part in ((f"lowerarm01.{big}", 1.0 / 3.0), (f"lowerarm02.{big}", 2.0 / 3.0)):
        turn = _partial_turn(turn_near, turn_far, part)
        maps[bone] = _affine(elbow, our_elbow, turn, wrist - elbow, _stretch(elbow, wrist, our_elbow, our_wrist), scale)
    hand = _frame(knuckles["middle"] - wrist, across)
    our_hand = _frame(our_knuckles["middle"] - our_wrist, our_across)
    turn = our_hand @ hand.T
    long = _stretch(wrist, knuckles["middle"], our_wrist, our_knuckles["middle"])
    maps[f"wrist.{big}"] = _affine(wrist, our_wrist, turn, knuckles["middle"] - wrist, long, scale)
    for finger, n in FINGERS.items():
        chain = [theirs[f"{side}-finger-{n}-{k}"] for k in (1, 2, 3, 4)]
        if finger == "thumb":
            # their thumb starts at the wrist end of its metacarpal, ours at the knuckle
            goal = [maps[f"wrist.{big}"](chain[0][None])[0], *_digit(mine, finger, ("proximal", "distal"), side)]
        else:
            goal = _digit(mine, finger, ("proximal", "middle", "distal"), side)
            maps[f"metacarpal{n - 1}.{big}"] = maps[f"wrist.{big}"]
        for k in range(3):
            span, our_span = chain[k + 1] - chain[k], goal[k + 1] - goal[k]
            bent = _shortest_turn(turn @ span, our_span) @ turn
            long = float(np.linalg.norm(our_span) / np.linalg.norm(span))
            across_scale = scale if finger == "thumb" else FINGER * scale
            maps[f"finger{n}-{k + 1}.{big}"] = _affine(chain[k], goal[k], bent, span, long, across_scale)
    return maps


def _digit(mine: dict[str, Array], finger: str, parts: tuple[str, ...], side: str) -> list[Array]:
    """Our joints of a finger, and its tip, which lies beyond the last joint by most of the bone before."""
    joints = [mine[f"{finger}_{part}_{side}"] for part in parts]
    last = joints[-1] - joints[-2]
    return [*joints, joints[-1] + (0.95 if finger == "thumb" else 0.8) * last]


def _leg_maps(mesh: HumanMesh, ours: SkinLandmarks, side: str, scale: float) -> dict[str, Map]:
    theirs, mine = mesh.joints, ours.joints
    big = side.upper()
    hip, knee, ankle = (theirs[f"{side}-{j}"] for j in ("upper-leg", "knee", "ankle"))
    hip = hip + HIP_SHIFT
    our_hip, our_knee, our_ankle = (mine[f"{b}_{side}"] for b in ("Fe", "Tfp", "Fo"))
    sideways = np.array([1.0, 0.0, 0.0])
    our_length = our_ankle[1] - ours.foot[:, 1].min()
    tip = _toe_tip(mesh, side) - ankle[1]
    along = float((our_length + 0.006) / -tip)
    sole = our_ankle[2] / (ankle[2] - mesh.vertices[:, 2].min())
    size = np.array([scale, along, sole])
    return {
        f"upperleg01.{big}": _segment(hip, knee, sideways, our_hip, our_knee, sideways, THIGH * scale),
        f"lowerleg01.{big}": _segment(knee, ankle, sideways, our_knee, our_ankle, sideways, scale),
        f"foot.{big}": lambda x: our_ankle + size * (x - ankle),
    }


def _toe_tip(mesh: HumanMesh, side: str) -> float:
    """How far forward their foot reaches (y) [m]."""
    index, weight = mesh.weights[f"toe1-2.{side.upper()}"]
    return float(mesh.vertices[index[weight > 0.5], 1].min())


def _trunk_map(mesh: HumanMesh, ours: SkinLandmarks, scale: float) -> Map:
    """Biharmonic warp through joints of trunk and neck and marks of the head."""
    theirs, mine = mesh.joints, ours.joints
    pairs = []
    for side in ("l", "r"):
        pairs += [
            (theirs[f"{side}-upper-leg"] + HIP_SHIFT, mine[f"Fe_{side}"]),
            (theirs[f"{side}-shoulder"], mine[f"Hu_{side}"]),
            (theirs[f"{side}-clavicle"], mine[f"Cla_{side}"]),
        ]
    hips, our_hips = (0.5 * (a["l"] + a["r"]) for a in _sides(theirs, mine))
    head, our_head = theirs["head"], mine["Sku"]
    spine = np.array([mine[b] for b in mine if b[0] in "LTC" and b[1:].isdigit()])
    spine = spine[np.argsort(spine[:, 2])]
    part = (theirs["neck"][2] - hips[2]) / (head[2] - hips[2])
    z = our_hips[2] + part * (our_head[2] - our_hips[2])
    pairs.append((theirs["neck"], np.array([0.0, np.interp(z, spine[:, 2], spine[:, 1]), z])))
    for level in TRUNK_LEVELS:
        part = (mine[level][2] - our_hips[2]) / (our_head[2] - our_hips[2])
        pairs += _trunk_marks(mesh, ours, hips[2] + part * (head[2] - hips[2]), mine[level][2], scale)
    pairs += _head_marks(mesh, ours)
    source, goal = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])
    return biharmonic_warp(source, goal, scale)


def _trunk_marks(
    mesh: HumanMesh, ours: SkinLandmarks, z: float, our_z: float, scale: float
) -> list[tuple[Array, Array]]:
    """Back, front and flank at one level: skin over bone by the usual thickness of muscle and fat."""
    arm = np.zeros(len(mesh.vertices))
    for bone, (index, weight) in mesh.weights.items():
        if bone.startswith(ARM):
            arm[index] += weight
    torso = mesh.vertices[arm < 0.3]
    ring = torso[np.abs(torso[:, 2] - z) < 0.02]
    bones = ours.trunk[np.abs(ours.trunk[:, 2] - our_z) < 0.015]
    armpit = 0.5 * (ours.joints["T6"][2] + ours.joints["T9"][2])
    pairs = []
    for off, width in ((0.0, 0.02), (0.08, 0.025), (-0.08, 0.025), (0.14, 0.02), (-0.14, 0.02)):
        skin, under = ring[np.abs(ring[:, 0] - off / scale) < width], bones[np.abs(bones[:, 0] - off) < width]
        if len(skin) == 0 or len(under) == 0 or np.ptp(skin[:, 1]) < 0.1:
            continue
        if abs(off) > 0.1 and our_z < armpit:  # so far out only the shoulder blades matter
            continue
        more = BESIDE if off != 0.0 else 0.0
        back, our_back = skin[:, 1].max(), under[:, 1].max() + BACK + more
        pairs.append((np.array([off / scale, back, z]), np.array([off, our_back, our_z])))
        front, our_front = skin[:, 1].min(), under[:, 1].min() - FRONT - more
        # in the belly no bone says where the front is: keep their depth
        deep = min(our_front, our_back - scale * (back - front))
        pairs.append((np.array([off / scale, front, z]), np.array([off, deep, our_z])))
    for sign in (1.0, -1.0):
        far, our_far = (sign * ring[:, 0]).max(), (sign * bones[:, 0]).max() + FLANK
        if our_far > 0.1 and our_z < armpit:
            at = ring[(sign * ring[:, 0]).argmax(), 1]
            middle = 0.5 * (bones[:, 1].min() + bones[:, 1].max())
            pairs.append(
                (np.array([sign * far, at, z]), np.array([sign * max(our_far, scale * far * 0.96), middle, our_z]))
            )
    return pairs


def _sides(theirs: dict[str, Array], mine: dict[str, Array]) -> tuple[dict[str, Array], dict[str, Array]]:
    return {s: theirs[f"{s}-upper-leg"] for s in "lr"}, {s: mine[f"Fe_{s}"] for s in "lr"}


def _head_marks(mesh: HumanMesh, ours: SkinLandmarks) -> list[tuple[Array, Array]]:
    """Crown, back, brow, temples and chin on both heads."""
    head = mesh.vertices[mesh.weights["head"][0][mesh.weights["head"][1] > 0.3]]
    skull, jaw = ours.skull, ours.jaw
    chin = mesh.joints["jaw"]
    middle = mesh.vertices[(np.abs(mesh.vertices[:, 0]) < 0.006) & (mesh.vertices[:, 2] > chin[2] - 0.03)]
    low = middle[middle[:, 1] < chin[1] + 0.02]
    their_chin = low[np.argmin(low[:, 2] + 0.5 * low[:, 1])]
    our_chin = jaw[np.argmin(jaw[:, 2] + 0.5 * jaw[:, 1])] + np.array([0.0, -FACE, -FACE])
    our_chin[0] = 0.0
    crown, our_crown = head[:, 2].max(), skull[:, 2].max() + SCALP
    pairs = [(their_chin * [0.0, 1.0, 1.0], our_chin)]
    eye = (mesh.joints["l-eye"][2] - their_chin[2]) / (crown - their_chin[2])
    for part, kinds in (
        (eye - 0.03, ("back",)),
        (eye + 0.1, ("front", "back", "sides")),
        (0.8, ("front", "back", "sides")),
        (1.0, ("top",)),
    ):
        z, our_z = their_chin[2] + part * (crown - their_chin[2]), our_chin[2] + part * (our_crown - our_chin[2])
        ring = head[np.abs(head[:, 2] - z) < 0.012]
        our_ring = skull[np.abs(skull[:, 2] - our_z) < 0.012]
        if "top" in kinds:
            at, our_at = head[np.argmax(head[:, 2])], skull[np.argmax(skull[:, 2])]
            pairs.append((np.array([0.0, at[1], z]), np.array([0.0, our_at[1], our_z])))
            continue
        mid, our_mid = ring[np.abs(ring[:, 0]) < 0.015], our_ring[np.abs(our_ring[:, 0]) < 0.015]
        for kind, sign, grow in (("back", 1.0, SCALP), ("front", -1.0, FACE)):
            if kind not in kinds:
                continue
            at, our_at = sign * (sign * mid[:, 1]).max(), sign * (sign * our_mid[:, 1]).max()
            pairs.append((np.array([0.0, at, z]), np.array([0.0, our_at + sign * grow, our_z])))
        if part > 0.7:  # the ears are below
            for sign in (1.0, -1.0):
                far, our_far = (sign * ring[:, 0]).argmax(), (sign * our_ring[:, 0]).argmax()
                wide = our_ring[our_far] + [sign * SCALP, 0.0, 0.0]
                pairs.append((np.array([*ring[far][:2], z]), np.array([*wide[:2], our_z])))
    return pairs


def biharmonic_warp(source: Array, goal: Array, scale: float) -> Map:
    """Smooth map that takes each source point to its goal: uniform scale and shift plus Σ wᵢ ‖x − xᵢ‖."""
    shift = goal.mean(axis=0) - scale * source.mean(axis=0)
    distance = np.linalg.norm(source[:, None] - source[None], axis=2)
    n = len(source)
    system = np.zeros((n + 4, n + 4))
    system[:n, :n] = distance
    system[:n, n] = system[n, :n] = 1.0
    system[:n, n + 1 :] = source
    system[n + 1 :, :n] = source.T
    right = np.zeros((n + 4, 3))
    right[:n] = goal - (scale * source + shift)
    # marks lie symmetric about the midline and may be coplanar in part: least squares keeps the affine part small
    solution = np.linalg.lstsq(system, right, rcond=1e-9)[0]

    def move(x: Array) -> Array:
        d = np.linalg.norm(x[:, None] - source[None], axis=2)
        return scale * x + shift + d @ solution[:n] + solution[n] + x @ solution[n + 1 :]

    return move


def _segment(a: Array, b: Array, axis: Array, our_a: Array, our_b: Array, our_axis: Array, scale: float) -> Map:
    turn = _frame(our_b - our_a, our_axis) @ _frame(b - a, axis).T
    return _affine(a, our_a, turn, b - a, _stretch(a, b, our_a, our_b), scale)


def _affine(source: Array, goal: Array, turn: Array, along: Array, stretch: float, scale: float) -> Map:
    """x -> goal + turn (scale 1 + (stretch − scale) d dᵀ)(x − source), d the direction `along`."""
    d = along / np.linalg.norm(along)
    matrix = turn @ (scale * np.eye(3) + (stretch - scale) * np.outer(d, d))
    # the turn may leave the segment's end off its goal where the frames' first axes differ; `turn` is built so that
    # it does not
    return lambda x: goal + (x - source) @ matrix.T


def _stretch(a: Array, b: Array, our_a: Array, our_b: Array) -> float:
    return float(np.linalg.norm(our_b - our_a) / np.linalg.norm(b - a))


def _frame(direction: Array, across: Array) -> Array:
    """Columns: the direction, the part of `across` normal to it, and their cross product."""
    d = direction / np.linalg.norm(direction)
    a = across - (across @ d) * d
    a = a / np.linalg.norm(a)
    return np.stack([d, a, np.cross(d, a)], axis=1)


def _shortest_turn(a: Array, b: Array) -> Array:
    """The rotation of least angle that turns direction a into direction b."""
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    v, c = np.cross(a, b), float(a @ b)
    k = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    return np.eye(3) + k + k @ k / (1.0 + c)


def _partial_turn(first: Array, last: Array, part: float) -> Array:
    """Between two rotations, by angle."""
    from vitruvian.spatial import exp_so3, log_so3

    return first @ exp_so3(part * log_so3(first.T @ last))


def _floor(ours: SkinLandmarks) -> float:
    return float(ours.foot[:, 2].min())
