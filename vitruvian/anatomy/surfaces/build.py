"""All bones of a body as surfaces in their own frames: built once, kept in the user's cache folder, scaled to the body.

A bone's frame has its origin in the joint to the parent and axes parallel to the world's in the default pose.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vitruvian.anatomy.surfaces import hands, templates, thorax, throat
from vitruvian.anatomy.surfaces.landmarks import Landmarks, table_landmarks
from vitruvian.anatomy.surfaces.shaping import Shape, components, joined, mirrored
from vitruvian.array_cache import cached_arrays
from vitruvian.errors import MissingExtra
from vitruvian.mesh import capsule
from vitruvian.mesh.packages import myo_sim_folder
from vitruvian.muscle.wrapping import carrier_frame
from vitruvian.skeleton import Skeleton, bone_poses

if TYPE_CHECKING:
    from vitruvian.anatomy.body import Body

Array = np.ndarray
CREDIT = (
    "Bone surfaces: after the bone geometry of OpenSim's models (Delp et al. 2007, IEEE TBME 54:1940; "
    "CC BY 3.0) as distributed in myo-sim 0.2.3 (Apache-2.0), fitted to this body; "
    "ribs, cartilages, sternum, hyoid and thyroid are our own."
)

PATELLA_FORWARD = np.array([0.0, -0.004, 0.0])  # [m] out of the femur, which it overlaps where the tables put it


def bone_surfaces(body: Body, *, fallback: bool = False) -> dict[str, Shape]:
    """A surface for each bone of the body: name -> vertices [m] in the bone's frame, shape (n, 3), and faces (m, 3).

    Without the `myo-sim` package this is a `MissingExtra`; with `fallback` it is a warning, and bones are plain rods.
    """
    try:
        shapes = template_surfaces()
    except MissingExtra as missing:
        if not fallback:
            raise
        warnings.warn(f"{missing}; drawing bones as rods", stacklevel=2)
        return capsule_surfaces(body.skeleton, body.default_q)
    names = set(body.skeleton.names)
    own: dict[str, Shape] = {}
    for name, (vertices, faces) in shapes.items():
        # Where clavicle and scapula are one bone, its surface is that of both.
        owner = name.replace("Sca", "Cla") if name not in names else name
        if owner not in names:
            continue
        shift = _joint(name) - _joint(owner) if owner != name else 0.0
        part = ((vertices + shift) @ body.size(owner), faces)
        own[owner] = joined([own[owner], part]) if owner in own else part
    own |= _fingers(body.skeleton, body.default_q, body.scale)
    return {name: own[name] for name in body.skeleton.names if name in own}


def shown_surfaces(body: Body, *, fallback: bool = False, scapulas: bool = False) -> dict[str, Shape]:
    """As `bone_surfaces`, with the patella, which rides on the femur (`body.muscles.frames`), apart in its own frame.

    The scapula is drawn on the clavicle, where its mass, its joint and its muscles from the trunk are. With `scapulas`
    it is apart, too, in the frame that carries the arm's muscles: with the arm hanging, that frame is turned down by
    24 degrees against the surface, which would then reach 35 mm out of the skin.
    """
    shapes = bone_surfaces(body, fallback=fallback)
    try:
        templates = template_surfaces()
    except MissingExtra:
        return shapes
    for frame in body.muscles.frames:
        if frame.base not in shapes or (frame.name.startswith("Sca") and not scapulas):
            continue
        side, origin = frame.name[-2:], carrier_frame(frame)[:3, 3]
        if frame.name.startswith("Pat"):
            pieces = components(templates[f"Tfp{side}"])
            cap = max(pieces, key=lambda part: part[0][:, 2].max())  # the only piece of the shank above the knee
            rest, whole = joined([part for part in pieces if part is not cap]), f"Tfp{side}"
            poses = bone_poses(body.skeleton, body.default_q)
            down = poses[body.skeleton.index(whole), :3, 3] - poses[body.skeleton.index(frame.base), :3, 3]
            shift = (down - origin) / body.scale + PATELLA_FORWARD
        else:
            cap, rest, whole = templates[f"Sca{side}"], templates[f"Cla{side}"], f"Cla{side}"
            shift = _joint(f"Sca{side}") - _joint(whole) - np.linalg.solve(body.size(whole), origin)
        shapes[whole] = (rest[0] @ body.size(whole), rest[1])
        size = body.size(whole) if frame.name.startswith("Sca") else body.scale * np.eye(3)
        shapes[frame.name] = ((cap[0] + shift) @ size, cap[1])
    return shapes


def template_surfaces() -> dict[str, Shape]:
    """Every tabulated bone (`_l` and `_r` for paired ones) at the tables' size, hands apart; from the cache."""
    return dict(_template_surfaces(str(myo_sim_folder())))


def capsule_surfaces(skeleton: Skeleton, q: Array) -> dict[str, Shape]:
    """Plain rods from each bone's joint to those of its children [m], in the bones' frames; `q` is the default pose."""
    poses = bone_poses(skeleton, q)
    parent = np.asarray(skeleton.parent)
    shapes: dict[str, Shape] = {}
    for i, name in enumerate(skeleton.names):
        ends = [poses[i, :3, :3].T @ (poses[c, :3, 3] - poses[i, :3, 3]) for c in np.flatnonzero(parent == i)]
        ends = [e for e in ends if np.linalg.norm(e) > 1e-3]
        if not ends:
            com = np.asarray(skeleton.coms[i])
            ends = [2.0 * com if np.linalg.norm(com) > 1e-3 else np.array([0.0, 0.0, -0.02])]
        rods = [capsule(np.zeros(3), e, min(0.010, 0.2 * float(np.linalg.norm(e)))) for e in ends]
        shapes[name] = joined(rods)
    return shapes


@lru_cache(maxsize=2)
def _template_surfaces(folder: str) -> dict[str, Shape]:
    return _cached("bones", b"", Path(folder), lambda: _build(table_landmarks()))


def _build(marks: Landmarks) -> dict[str, Shape]:
    """Surfaces in the bones' frames; the right side mirrors the left."""
    world: dict[str, Shape] = {}
    for part in (
        templates.head,
        templates.vertebrae,
        templates.shoulder,
        templates.arm,
        thorax.ribs,
        thorax.cartilages,
    ):
        world |= part(marks)
    singles = {"Pel": templates.pelvis, "Fe": templates.femur, "Tfp": templates.shank, "Fo": templates.foot}
    singles |= {"Ste": thorax.sternum, "Hyo": throat.hyoid, "Thy": throat.thyroid}
    world |= {name: make(marks) for name, make in singles.items()}
    for number in (11, 12):  # the last two ribs grow from their vertebrae
        world[f"T{number}"] = joined([world[f"T{number}"], world.pop(f"Rb{number}")])
    shapes: dict[str, Shape] = {}
    for name, (vertices, faces) in world.items():
        own = (_rounded(vertices - marks.joints[name]), faces)
        if name in marks.midline:
            shapes[name] = own
        else:
            shapes[f"{name}_l"] = own
            shapes[f"{name}_r"] = mirrored(own)
    return shapes


def _fingers(skeleton: Skeleton, q: Array, scale: float) -> dict[str, Shape]:
    """Palms and finger bones, laid between the finger joints that the skeleton has."""
    poses = bone_poses(skeleton, q)
    where = {name: poses[i, :3, 3] / scale for i, name in enumerate(skeleton.names)}
    shapes: dict[str, Shape] = {}
    for side, flip in (("l", 1.0), ("r", -1.0)):
        hand = f"Ha_{side}"
        if hand not in where:
            continue
        ends = (f"_{side}", hand)
        own = {n[:-2]: (p - where[hand]) * (flip, 1.0, 1.0) for n, p in where.items() if n.endswith(ends) and n != hand}
        joints = {n: tuple(np.round(p, 9).tolist()) for n, p in own.items() if n.startswith(hands.FINGERS)}
        for name, shape in _hand(tuple(sorted(joints.items()))).items():
            vertices, faces = shape if side == "l" else mirrored(shape)
            shapes[f"{name}_{side}"] = (scale * vertices, faces)
    return shapes


@lru_cache(maxsize=4)
def _hand(joints: tuple[tuple[str, tuple[float, ...]], ...]) -> dict[str, Shape]:
    """A left palm and its fingers in their own frames; `joints`: finger bone -> joint [m] in the hand's frame."""
    return _cached("hand", repr(joints).encode(), myo_sim_folder(), lambda: _build_hand(dict(joints)))


def _build_hand(where: dict[str, tuple[float, ...]]) -> dict[str, Shape]:
    marks = table_landmarks()
    natural = hands.template_finger_joints()
    shapes: dict[str, Shape] = {}
    knuckles = {}
    for finger, chain in hands.PHALANGES.items():
        names = [f"{finger}_{phalanx}" for phalanx in chain]
        if not all(name in where for name in names):
            knuckles[finger] = natural[finger][0] + marks.joints["Ha"]
            continue
        joints = [np.array(where[name]) for name in names]
        last = joints[-1] - joints[-2]
        reach = np.linalg.norm(natural[finger][-1] - natural[finger][-2])
        joints.append(joints[-1] + reach * last / np.linalg.norm(last))
        knuckles[finger] = joints[0] + marks.joints["Ha"]
        for k, name in enumerate(names):
            vertices, faces = hands.phalanx(finger, k, joints[k], joints[k + 1])
            shapes[name] = (_rounded(vertices - joints[k]), faces)
    vertices, faces = hands.palm(marks, knuckles)
    shapes["Ha"] = (_rounded(vertices - marks.joints["Ha"]), faces)
    return shapes


def _rounded(vertices: Array) -> Array:
    """To 10 nm, so that how many threads the linear algebra had cannot be seen in the shapes."""
    return np.round(vertices, 8)


def _joint(name: str) -> Array:
    """Joint centre [m] of a tabulated bone with its side."""
    base, _, side = name.partition("_")
    return table_landmarks().joints[base] * (-1.0 if side == "r" else 1.0, 1.0, 1.0)


# --- cache -------------------------------------------------------------------------------------------------------


def _cached(kind: str, extra: bytes, folder: Path, make: Callable[[], dict[str, Shape]]) -> dict[str, Shape]:
    """What `make` returns, kept under all that it depends on: code, tables, source surfaces and `extra`."""
    data = files("vitruvian.anatomy") / "data"
    tables = ("bones.csv", "muscle_points.csv", "corrections.csv", "cartilage_springs.csv")
    meshes = [(mesh.name, mesh.stat().st_size) for mesh in sorted(folder.glob("*.stl"))]
    given = (extra, *((data / table).read_bytes() for table in tables), meshes)

    def make_arrays() -> dict[str, Array]:
        shapes = make()
        vertices = {f"v:{name}": vertices for name, (vertices, _) in shapes.items()}
        return vertices | {f"f:{name}": faces for name, (_, faces) in shapes.items()}

    kept = cached_arrays(kind, __name__, given, make_arrays)
    return {name[2:]: (kept[name], kept[f"f:{name[2:]}"]) for name in kept if name.startswith("v:")}
