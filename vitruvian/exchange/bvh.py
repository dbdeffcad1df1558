"""Motion capture in BVH files: reading, checking, and mapping onto the joints of a body.

A BVH file is a tree of joints with offsets and Euler channels, then one line of numbers per frame. `read_bvh` gives
that as arrays; `bvh_motion` turns it into a motion of our body: for every mapped joint the rotation of the file's joint
relative to the file's first frame or rest pose, expressed in our axes (x left, y back, z up; files mostly have y up
and z front). Files are untrusted: sizes and depth are limited, and everything that does not fit is one line that
names it.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from vitruvian.anatomy import Body
from vitruvian.control import SampledMotion
from vitruvian.control.spine import bend_spine
from vitruvian.errors import InputError
from vitruvian.given_file import read_bytes
from vitruvian.skeleton.joints import Ball, Joint, Revolute, Universal

Array = np.ndarray
MOST_BYTES = 200_000_000
MOST_HEAD = 2_000_000  # characters of the hierarchy
LARGEST = 1e6  # of an angle [degrees], a length or a place [unit of the file]
FRAME_TIMES = (1e-5, 10.0)  # [s]
MOST_JOINTS = 2000
DEEPEST = 200
_CHANNELS = {"Xposition", "Yposition", "Zposition", "Xrotation", "Yrotation", "Zrotation"}


@dataclass(frozen=True)
class Bvh:
    """A file as read: n joints, f frames; angles in degrees and lengths in the file's own unit."""

    names: tuple[str, ...]
    parent: Array  # shape (n,), -1 for the root
    offset: Array  # shape (n, 3)
    channels: tuple[tuple[str, ...], ...]  # of each joint
    frames: Array  # shape (f, total channels)
    frame_time: float  # [s]

    def rotations(self) -> dict[str, Rotation]:
        """Local rotation of every joint that has rotation channels, each of length f."""
        out, start = {}, 0
        for name, channels in zip(self.names, self.channels):
            at = [start + k for k, c in enumerate(channels) if c.endswith("rotation")]
            order = "".join(c[0] for c in channels if c.endswith("rotation"))
            if order:
                out[name] = Rotation.from_euler(order, np.atleast_2d(self.frames[:, at]), degrees=True)
            start += len(channels)
        return out

    def root_positions(self) -> Array:
        """Position of the first joint, shape (f, 3), in the file's unit."""
        names = self.channels[0]
        if not {"Xposition", "Yposition", "Zposition"} <= set(names):
            return np.tile(self.offset[0], (len(self.frames), 1))
        return self.frames[:, [names.index(f"{c}position") for c in "XYZ"]]


# CMU and Biovision names first; a joint that a file lacks is left alone.
BODY_MAP: Mapping[str, tuple[str, ...]] = {
    "Hu_l": ("LeftArm", "LeftShoulder", "lShldr"),
    "Ul_l": ("LeftForeArm", "LeftElbow", "lForeArm"),
    "Ha_l": ("LeftHand", "LeftWrist", "lHand"),
    "Hu_r": ("RightArm", "RightShoulder", "rShldr"),
    "Ul_r": ("RightForeArm", "RightElbow", "rForeArm"),
    "Ha_r": ("RightHand", "RightWrist", "rHand"),
    "Fe_l": ("LeftUpLeg", "LeftHip", "lThigh"),
    "Tfp_l": ("LeftLeg", "LeftKnee", "lShin"),
    "Fo_l": ("LeftFoot", "LeftAnkle", "lFoot"),
    "Fe_r": ("RightUpLeg", "RightHip", "rThigh"),
    "Tfp_r": ("RightLeg", "RightKnee", "rShin"),
    "Fo_r": ("RightFoot", "RightAnkle", "rFoot"),
}
# File axes (x left, y up, z front) to ours (x left, y back, z up).
Y_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


def joint_rotations(
    bvh: Bvh, mapping: Mapping[str, tuple[str, ...]] | None = None, axes: Array = Y_UP
) -> dict[str, Rotation]:
    """Rotation of each of our bones against its parent [f frames], in our axes, from the joints that `mapping` names.

    The file's rest pose is a T pose with parallel frames, as ours is. A mapped name that the file lacks is an error
    when the mapping is the caller's own, since a misspelling would else go unseen.
    """
    local, turn = bvh.rotations(), Rotation.from_matrix(axes)
    out = {}
    for bone, words in (mapping or BODY_MAP).items():
        found = next((w for w in words if w in local), None)
        if found is None:
            if mapping is not None:
                raise InputError(f"the BVH file has no joint {' or '.join(words)} for bone '{bone}'")
            continue
        out[bone] = turn * local[found] * turn.inv()
    return out


def bvh_motion(
    bvh: Bvh,
    body: Body,
    *,
    mapping: Mapping[str, tuple[str, ...]] | None = None,
    axes: Array = Y_UP,
    metre: float | None = None,
) -> SampledMotion:
    """A motion of our body that follows the file at its own rate.

    Ball joints take the file's rotation, hinges and universal joints the part of it that they can do. Spine and head
    follow the file's chest and head through `control.spine`. The root moves relative to the file's first frame; metre:
    length of a metre in the file's unit, by default such that the file's figure is as tall as the body's legs need.
    """
    s = body.skeleton
    rotations = joint_rotations(bvh, mapping, axes)
    rotations = {bone: r for bone, r in rotations.items() if bone in s.names and s.joints[s.index(bone)].n_v}
    if not rotations:
        raise InputError("the BVH file has no joint that this body knows; give a mapping")
    whole, frames = _world_rotations(bvh, axes), len(bvh.frames)
    shift = _root_shift(bvh, body, axes, metre) if body.free_root else np.zeros((frames, 3))
    out = np.empty((frames, s.n_q))
    for f in range(frames):
        q = body.default_q.copy()
        root = whole.get("root")
        if body.free_root and root is not None:
            q[:3] += shift[f]
            q[3:7] = root[f].as_quat(scalar_first=True)
        for bone, turn in rotations.items():
            q[s.q_slice(bone)] = _as_coordinates(s.joints[s.index(bone)], turn[f])
        targets = {}
        for word in ("chest", "head"):
            if word in whole and root is not None:
                targets[word] = (root[f].inv() * whole[word][f]).as_rotvec()
        out[f] = bend_spine(body, q, **targets) if targets and "T1" in s.names else q
    return SampledMotion.from_poses(body, bvh.frame_time, out)


def read_bvh(path: str | Path) -> Bvh:
    """Read and check a BVH file."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"no BVH file '{path}'")
    return parse_bvh(read_bytes(path, MOST_BYTES, "BVH").decode("utf-8", errors="replace"), path.name)


def parse_bvh(text: str, what: str = "BVH") -> Bvh:
    """Parse the text of a BVH file; `what` names it in errors."""
    head, found, tail = text.partition("MOTION")
    if len(head) > MOST_HEAD:
        raise InputError(f"{what}: the hierarchy is longer than {MOST_HEAD} characters")
    if not head.lstrip().startswith("HIERARCHY") or not found:
        raise InputError(f"{what}: not a BVH file (HIERARCHY and MOTION expected)")
    names, parents, offsets, channels = _hierarchy(iter(head.split()[1:]), what)
    frames, frame_time = _motion(tail, sum(map(len, channels)), what)
    return Bvh(tuple(names), np.array(parents), np.array(offsets), tuple(channels), frames, frame_time)


TRUNK_MAP = {
    "root": ("Hips", "hip", "Root"),
    "chest": ("Spine3", "Spine2", "Chest", "Spine1", "chest", "Spine"),
    "head": ("Head", "head"),
}
UP_CHAIN = ("LeftLeg", "LeftKnee", "lShin"), ("LeftFoot", "LeftAnkle", "lFoot")


def _world_rotations(bvh: Bvh, axes: Array) -> dict[str, Rotation]:
    """Orientation of hips, chest and head in our world axes [f frames], for those that the file has."""
    local, turn = bvh.rotations(), Rotation.from_matrix(axes)
    total: list[Rotation] = []
    for i, name in enumerate(bvh.names):
        own = local.get(name, Rotation.identity(len(bvh.frames)))
        total.append(own if bvh.parent[i] < 0 else total[bvh.parent[i]] * own)
    found = {}
    for word, names in TRUNK_MAP.items():
        there = [n for n in names if n in bvh.names]
        if there:
            found[word] = turn * total[bvh.names.index(there[0])] * turn.inv()
    return found


def _root_shift(bvh: Bvh, body: Body, axes: Array, metre: float | None) -> Array:
    """Displacement of the pelvis from the first frame [m], shape (f, 3)."""
    if metre is None:
        s = body.skeleton
        ours = np.linalg.norm(s.bodies[s.index("Tfp_l"), 9:12]) if "Tfp_l" in s.names else 0.5
        shin = next((i for i, n in enumerate(bvh.names) if n in UP_CHAIN[0]), None)
        theirs = np.linalg.norm(bvh.offset[shin]) if shin is not None else 0.0
        metre = float(theirs / ours) if theirs > 0 else 1.0
    place = bvh.root_positions()
    return (place - place[0]) @ axes.T / metre


def _as_coordinates(joint: Joint, turn: Rotation) -> Array:
    """The joint's coordinates that come closest to a rotation."""
    if isinstance(joint, Ball):
        return turn.as_quat(scalar_first=True)
    if isinstance(joint, Revolute):
        return np.array([_twist(turn, np.asarray(joint.axis))])
    if isinstance(joint, Universal):
        first = _twist(turn, np.asarray(joint.axis1))
        rest = Rotation.from_rotvec(-first * np.asarray(joint.axis1)) * turn
        return np.array([first, _twist(rest, np.asarray(joint.axis2))])
    raise InputError(f"motion capture cannot drive a joint of type {type(joint).__name__}")


def _twist(turn: Rotation, axis: Array) -> float:
    """Angle about `axis` of the twist in a swing-twist split [rad]."""
    w, *v = turn.as_quat(scalar_first=True)
    angle = 2.0 * np.arctan2(np.dot(v, axis), w)
    return float((angle + np.pi) % (2.0 * np.pi) - np.pi)


def _hierarchy(
    words: Iterator[str], what: str
) -> tuple[list[str], list[int], list[list[float]], list[tuple[str, ...]]]:
    names: list[str] = []
    parents: list[int] = []
    offsets: list[list[float]] = []
    channels: list[tuple[str, ...]] = []
    stack: list[int] = []  # -2 stands for an end site
    opening: int | None = None
    for word in words:
        if word in ("ROOT", "JOINT"):
            if len(names) >= MOST_JOINTS or len(stack) >= DEEPEST:
                raise InputError(f"{what}: more than {MOST_JOINTS} joints or {DEEPEST} levels")
            if word == "ROOT" and names:
                raise InputError(f"{what}: a second ROOT; one figure a file can be read")
            if word == "JOINT" and (not stack or stack[-1] < 0):
                raise InputError(f"{what}: a JOINT outside of the ROOT or in an end site")
            name = next(words, "")
            if name in names:
                raise InputError(f"{what}: joint '{name:.60}' appears twice")
            names.append(name)
            parents.append(stack[-1] if stack else -1)
            offsets.append([0.0, 0.0, 0.0])
            channels.append(())
            opening = len(names) - 1
        elif word == "End":
            next(words, "")
            opening = -2
        elif word == "{":
            if opening is None:
                raise InputError(f"{what}: '{{' without a joint")
            stack.append(opening)
            opening = None
        elif word == "}":
            if not stack:
                raise InputError(f"{what}: '}}' without '{{'")
            stack.pop()
        elif word == "OFFSET" and stack:
            values = [_number(next(words, ""), what, "OFFSET") for _ in range(3)]
            if stack[-1] >= 0:
                offsets[stack[-1]] = values
        elif word == "CHANNELS" and stack and stack[-1] >= 0:
            count = _number(next(words, ""), what, "CHANNELS")
            if count != int(count) or not 0 <= count <= 6:
                raise InputError(f"{what}: joint '{names[stack[-1]]}' has {count:g} channels")
            mine = tuple(next(words, "") for _ in range(int(count)))
            for c in mine:
                if c not in _CHANNELS:
                    raise InputError(f"{what}: joint '{names[stack[-1]]}' has an unknown channel '{c:.60}'")
            if len(set(mine)) < len(mine):
                raise InputError(f"{what}: joint '{names[stack[-1]]}' has a channel twice: {' '.join(mine)}")
            channels[stack[-1]] = mine
        else:
            raise InputError(f"{what}: unexpected '{word:.60}' in the hierarchy")
    if stack or not names:
        raise InputError(f"{what}: the hierarchy is not closed" if stack else f"{what}: no joints")
    return names, parents, offsets, channels


def _motion(text: str, width: int, what: str) -> tuple[Array, float]:
    """Frames, shape (f, width), and the time between them [s]; lines are read one by one, which takes little memory."""
    lines = (line.strip() for line in io.StringIO(text))
    rows = (line for line in lines if line)
    announced, timed = next(rows, "").split(), next(rows, "").split()
    if announced[:1] != ["Frames:"] or timed[:2] != ["Frame", "Time:"]:
        raise InputError(f"{what}: 'Frames:' and 'Frame Time:' expected after MOTION")
    count = _number(announced[1] if len(announced) > 1 else "", what, "Frames")
    time = _number(timed[2] if len(timed) > 2 else "", what, "Frame Time")
    if not time > 0:
        raise InputError(f"{what}: Frame Time must be positive, got {time:g}")
    if not FRAME_TIMES[0] <= time <= FRAME_TIMES[1]:
        raise InputError(f"{what}: Frame Time must be {FRAME_TIMES[0]:g} to {FRAME_TIMES[1]:g} s, got {time:g}")
    body: list[Array] = []
    for row in rows:
        try:
            body.append(np.array(row.split(maxsplit=width), dtype=float))
        except ValueError:
            if len(row.split(maxsplit=width)) <= width:
                raise InputError(f"{what}: frame {len(body) + 1} contains something that is not a number") from None
            body.append(np.zeros(width + 1))
        if len(body[-1]) != width:
            raise InputError(f"{what}: frame {len(body)} has {len(row.split())} numbers, the channels need {width}")
    if count != len(body):
        raise InputError(f"{what}: {count:g} frames announced, {len(body)} found")
    frames = np.array(body).reshape(len(body), width)
    if not len(frames) or not (np.abs(frames) <= LARGEST).all():
        raise InputError(f"{what}: the motion has no frames, or numbers beyond ±{LARGEST:g}")
    return frames, time


def _number(word: str, what: str, field: str) -> float:
    try:
        value = float(word)
    except ValueError:
        raise InputError(f"{what}: {field} needs a number, got '{word:.60}'") from None
    if not abs(value) <= LARGEST:
        raise InputError(f"{what}: {field} must be within ±{LARGEST:g}, got {word:.60}")
    return value
