"""A character from a glTF 2.0 file: a skinned mesh and the skeleton of its skin.

The mesh is taken in its bind pose, the joints where the inverse bind matrices put them. glTF has +y up and the front
towards +z; ours is +z up, -y ahead. Joints of a figure are known by common names (Hips, LeftUpLeg, forearm.R, ...);
fingers, toes and collar bones then ride on what they hang from. In any other skeleton each joint is a ball.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from vitruvian.anatomy.characters import Bone, Character
from vitruvian.anatomy.characters.build import from_mesh
from vitruvian.anatomy.characters.three import GAINS
from vitruvian.errors import InputError
from vitruvian.exchange.beside import read_beside
from vitruvian.exchange.gltf_parts import read_parts
from vitruvian.given_file import read_bytes

Array = np.ndarray
MOST_BYTES, MOST_VERTICES, MOST_JOINTS = 500_000_000, 2_000_000, 500
MOST_METRES = 1e4
TYPES = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTH = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
OURS = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # from the file's axes
NAMES = (  # the first that fits a joint's name, sides and marks taken off
    ("pelvis", r"hips?$|pelvis|root$"), ("chest", r"chest|spine[_ ]?0?[2-9]|upperchest|thorax"),
    ("spine", r"spine|abdomen|torso"),
    ("neck", r"neck"), ("head", r"head$"), ("hand", r"hand$|wrist"),
    ("forearm", r"fore_?arm|lower_?arm|elbow"), ("upper_arm", r"upper_?arm|^arm$|shoulder_?joint"),
    ("thigh", r"up_?leg|upper_?leg|thigh|^hip$"), ("shank", r"lower_?leg|shin|calf|knee|shank|^leg$"),
    ("foot", r"foot$|ankle"),
)  # fmt: skip
NEEDED = ("pelvis", "chest", "head", "thigh_l", "thigh_r", "shank_l", "shank_r", "foot_l", "foot_r")


def character_from_gltf(
    path: str | Path,
    *,
    name: str | None = None,
    mass: float | None = None,
    young: float | None = None,
    nodes: int = 1100,
    say: Callable[[str], None] = lambda line: None,
) -> Character:
    """Read a .glb or .gltf file; numbers as in `from_mesh`."""
    path = Path(path)
    called = name or path.stem
    try:
        table, binary = _read(path)
        vertices, faces, colours, skin = _mesh(table, binary, path)
        at, parents, names = _joints(table, binary, skin, path)
    except (AttributeError, IndexError, KeyError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise InputError(f"'{path.name}': its parts do not fit together as in a glTF file ({error})") from None
    bones = _bones(at, parents, names, called, say)
    low = vertices[:, 2].min()
    bones = [_moved(b, np.array([0.0, 0.0, -low])) for b in bones]
    return from_mesh(called, vertices, faces, colours, bones, mass=mass, young=young, nodes=nodes, say=say)


def _moved(bone: Bone, by: Array) -> Bone:
    from dataclasses import replace

    return replace(bone, at=tuple(np.asarray(bone.at) + by), tip=tuple(np.asarray(bone.tip) + by))


def _read(path: Path) -> tuple[dict[str, Any], list[bytes]]:
    if not path.is_file():
        raise InputError(f"no file '{path}'")
    table, body = read_parts(read_bytes(path, MOST_BYTES, "glTF"), path.name, MOST_VERTICES)
    out = []
    for entry in table.get("buffers", []):
        uri = entry.get("uri")
        if uri is None:
            out.append(body)
        elif uri.startswith("data:"):
            out.append(base64.b64decode(uri.partition(",")[2]))
        else:
            out.append(read_beside(path, uri, MOST_BYTES))
    return table, out


def _array(table: dict[str, Any], binary: list[bytes], index: int, path: Path) -> Array:
    try:
        accessor = table["accessors"][index]
        view = table["bufferViews"][accessor["bufferView"]]
        kind, width, count = np.dtype(TYPES[accessor["componentType"]]), WIDTH[accessor["type"]], int(accessor["count"])
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        stride = view.get("byteStride") or kind.itemsize * width
        length = stride * (count - 1) + kind.itemsize * width
        if min(start, index) < 0 or count < 1 or stride < kind.itemsize * width:
            raise ValueError
        data = np.frombuffer(binary[view["buffer"]], np.uint8)[start : start + length]
        if len(data) < length:
            raise ValueError
        rows = np.lib.stride_tricks.as_strided(data, (count, kind.itemsize * width), (stride, 1), writeable=False)
        return np.ascontiguousarray(rows).view(kind).reshape(count, width)
    except (KeyError, IndexError, ValueError, TypeError):
        raise InputError(f"'{path.name}': array {index} is broken or packed in a way that is not read here") from None


def _mesh(table: dict[str, Any], binary: list[bytes], path: Path) -> tuple[Array, Array, Array, dict[str, Any]]:
    """Vertices in our axes, welded; faces; a colour for each face; the skin."""
    skinned = [n for n in table.get("nodes", []) if "mesh" in n and "skin" in n]
    if not skinned:
        raise InputError(f"'{path.name}' has no skinned mesh: a character needs a mesh with a skeleton (skin)")
    skin = table["skins"][skinned[0]["skin"]]
    points, faces, colours, count = [], [], [], 0
    for node in skinned:
        if node["skin"] != skinned[0]["skin"]:
            continue
        for primitive in table["meshes"][node["mesh"]]["primitives"]:
            if primitive.get("mode", 4) != 4:
                continue
            at = _array(table, binary, primitive["attributes"]["POSITION"], path).astype(float)
            index = (
                np.arange(len(at))
                if "indices" not in primitive
                else _array(table, binary, primitive["indices"], path).ravel()
            )
            if index.dtype.kind not in "iu" or len(index) % 3 or not 0 <= index.min() <= index.max() < len(at):
                raise InputError(f"'{path.name}': its triangles name vertices that are not there")
            points.append(at @ OURS.T)
            faces.append(index.astype(np.int64).reshape(-1, 3) + count)
            count += len(at)
            material = table.get("materials", [{}])[primitive["material"]] if "material" in primitive else {}
            linear = np.asarray(
                material.get("pbrMetallicRoughness", {}).get("baseColorFactor", [0.8, 0.7, 0.6, 1.0])[:3]
            )
            srgb = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * np.maximum(linear, 1e-9) ** (1 / 2.4) - 0.055)
            colours.append(np.repeat(srgb[None], len(index) // 3, axis=0))
    vertices, triangles = np.concatenate(points), np.concatenate(faces)
    if not np.isfinite(vertices).all() or np.abs(vertices).max() > MOST_METRES:
        raise InputError(f"'{path.name}': a vertex is not within {MOST_METRES:g} m of the middle")
    tall = max(float(np.ptp(vertices[:, 2])), 1e-9)
    _, first, same = np.unique(np.round(vertices / (1e-6 * tall)), axis=0, return_index=True, return_inverse=True)
    triangles, colour = same.ravel()[triangles], np.concatenate(colours)
    whole = (triangles != np.roll(triangles, 1, axis=1)).all(axis=1)
    return vertices[first], triangles[whole], colour[whole], skin


def _joints(
    table: dict[str, Any], binary: list[bytes], skin: dict[str, Any], path: Path
) -> tuple[Array, list[int], list[str]]:
    """Places in our axes, parents among them (-1 for the root) and names of the skin's joints."""
    nodes, joints = table["nodes"], [int(j) for j in skin["joints"]]
    if len(joints) > MOST_JOINTS:
        raise InputError(f"'{path.name}' has {len(joints)} joints; at most {MOST_JOINTS} are read")
    above = {int(child): n for n, node in enumerate(nodes) for child in node.get("children", [])}
    for joint in joints:
        up, seen = above.get(joint), 0
        while up is not None:
            up, seen = above.get(up), seen + 1
            if seen > len(nodes):
                raise InputError(f"'{path.name}': joint {joint} hangs from itself")
    if "inverseBindMatrices" in skin:
        inverse = _array(table, binary, skin["inverseBindMatrices"], path).astype(float).reshape(-1, 4, 4)
        at = np.linalg.inv(inverse.transpose(0, 2, 1))[:, :3, 3]
    else:
        at = np.array([_world(nodes, above, j)[:3, 3] for j in joints])
    parents = []
    for joint in joints:
        up = above.get(joint)
        while up is not None and up not in joints:
            up = above.get(up)
        parents.append(-1 if up is None else joints.index(up))
    if len(at) != len(joints) or not np.isfinite(at).all():
        raise InputError(f"'{path.name}': not every joint has a finite place")
    return at @ OURS.T, parents, [str(nodes[j].get("name", f"joint {j}")) for j in joints]


def _world(nodes: list[dict[str, Any]], above: dict[int, int], n: int) -> Array:
    node, own = nodes[n], np.eye(4)
    if "matrix" in node:
        own = np.asarray(node["matrix"], float).reshape(4, 4).T
    else:
        turn = Rotation.from_quat(node.get("rotation", [0.0, 0.0, 0.0, 1.0])).as_matrix()
        own[:3, :3], own[:3, 3] = turn * np.asarray(node.get("scale", [1.0] * 3)), node.get("translation", [0.0] * 3)
    return own if n not in above else _world(nodes, above, above[n]) @ own


def known_name(name: str) -> str | None:
    """Our name of a joint with a common name, None for others."""
    plain = re.sub(r"^.*[:|]", "", name)
    side = ""
    for mark, pattern in (("_l", r"(?i)left|[._ -]l$|^l[._ -]"), ("_r", r"(?i)right|[._ -]r$|^r[._ -]")):
        if re.search(pattern, plain):
            side, plain = mark, re.sub(pattern, "", plain)
    plain = re.sub(r"(?i)^(bip\d*|mixamorig|bone|def)[._ -]*", "", plain).strip("._ -").lower()
    for ours, pattern in NAMES:
        if re.search(pattern, plain):
            middle = ours in ("pelvis", "spine", "chest", "neck", "head")
            return ours if middle and not side else ours + side if side and not middle else None
    return None


def _bones(at: Array, parents: list[int], names: list[str], who: str, say: Callable[[str], None]) -> list[Bone]:
    roots = [n for n, p in enumerate(parents) if p < 0]
    if len(roots) != 1:
        raise InputError(f"character {who}: its skeleton has {len(roots)} roots, not one")
    ours: list[str | None] = [known_name(n) for n in names]
    ours = [n if n is not None and ours.index(n) == k else None for k, n in enumerate(ours)]
    figure = all(n in ours for n in NEEDED)
    if figure:
        left = [n for n, o in zip(names, ours) if o is None]
        if left:
            say(f"{len(left)} joints ride on their parents: {', '.join(left[:6])}{' ...' if len(left) > 6 else ''}")
    else:
        ours = list(names)
        say("not a figure with the usual joints: each joint is a ball, and captured motions do not fit it")
    kept = [k for k, n in enumerate(ours) if n is not None]
    order: list[int] = []
    while len(order) < len(kept):
        order += [k for k in kept if k not in order and _kept_parent(k, parents, kept) in (-1, *order)]
    height = float(np.ptp(at[:, 2]))
    out = []
    for k in order:
        up, called = _kept_parent(k, parents, kept), str(ours[k])
        below = [c for c in kept if _kept_parent(c, parents, kept) == k]
        tip = at[below].mean(axis=0) if below else _end(called, k, up, at, parents, height)
        kind = called[:-2] if called.endswith(("_l", "_r")) else called
        joint = "free" if up < 0 else "hinge" if kind in ("shank", "forearm") and figure else "ball"
        kp = GAINS.get(kind, 200.0) * (height / 1.4) ** 3
        bind = _bind(called, ours, at) if figure else (0.0, 0.0, 0.0)
        parent = None if up < 0 else str(ours[up])
        out.append(
            Bone(
                called, parent, joint, tuple(at[k].tolist()), tuple(tip.tolist()), bind, stiffness=kp, damping=0.1 * kp
            )
        )
    if sum(b.parent is None for b in out) != 1:
        raise InputError(f"character {who}: no joint above all others; name the hips or the pelvis")
    return out


def _kept_parent(k: int, parents: list[int], kept: list[int]) -> int:
    up = parents[k]
    while up >= 0 and up not in kept:
        up = parents[up]
    return up


def _end(name: str, k: int, up: int, at: Array, parents: list[int], height: float) -> Array:
    """Far end of a bone without children of its own: what rides on it, else half as far on as its parent is long."""
    riding = [c for c, p in enumerate(parents) if p == k]
    if riding:
        return np.asarray(at[riding].mean(axis=0))
    if name.startswith("foot"):
        return at[k] + np.array([0.0, -0.09 * height, -0.6 * at[k, 2]])
    return at[k] + (0.5 * (at[k] - at[up]) if up >= 0 else np.array([0.0, 0.0, 0.05 * height]))


def _bind(name: str, ours: list[str | None], at: Array) -> tuple[float, float, float]:
    """Rotation vector that takes a limb from hanging down to where the mesh has it."""
    kind, side = name[:-2], name[-2:]
    ends = {"upper_arm": "arm", "forearm": "arm", "hand": "arm", "thigh": "leg", "shank": "leg"}.get(kind)
    if ends is None:
        return (0.0, 0.0, 0.0)
    first = "upper_arm" if ends == "arm" else "thigh"
    chain = ("hand", "forearm") if ends == "arm" else ("foot", "shank")
    last = next((c + side for c in chain if c + side in ours), None)
    if last is None or first + side not in ours:
        return (0.0, 0.0, 0.0)
    along = at[ours.index(last)] - at[ours.index(first + side)]
    turn = Rotation.align_vectors([along], [[0.0, 0.0, -1.0]])[0].as_rotvec()
    return tuple(turn.tolist())
