"""What every model format asks of a skeleton, and how numbers and surfaces are written."""

from __future__ import annotations

import warnings
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vitruvian.skeleton import Skeleton, bone_poses, joint_transforms

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vitruvian.anatomy import Body

Array = np.ndarray


def warn_of_laws(body: Body, form: str, written: str) -> None:
    """Say which muscles have a force law of their own, that the format `form` cannot hold it, and what is `written`."""
    for group in body.muscles.custom:
        first = body.muscles.names[group.muscles[0]]
        who = f"muscle '{first}'" + (f" and {len(group.muscles) - 1} more" if len(group.muscles) > 1 else "")
        warnings.warn(
            f"{form} cannot hold the force law '{group.law.name}' of {who}: written as {written} with its F_max and "
            "rest length",
            stacklevel=3,
        )


def written_points(body: Body) -> tuple[Array, Array]:
    """Bone (p,) and place in its frame [m] (p, 3) of every path point, as other programs can have them.

    A point that rides on a carrier (`muscle.wrapping`) is fixed where it stands in the default pose: on the bone whose
    turn moves the carrier if that is a hinge (a patella on the tibia), else on the carrier's base."""
    muscles, skeleton = body.muscles, body.skeleton
    bone, local = muscles.bone.copy(), muscles.local.copy()
    poses = np.asarray(bone_poses(skeleton, body.default_q))
    for p in np.flatnonzero(muscles.riding >= 0):
        carrier = muscles.frames[muscles.riding[p]]
        driver = skeleton.index(carrier.driver)
        if skeleton.joints[driver].n_v == 1:
            place = poses[bone[p], :3, :3] @ local[p] + poses[bone[p], :3, 3]
            bone[p], local[p] = driver, poses[driver, :3, :3].T @ (place - poses[driver, :3, 3])
    return bone, local


def warn_of_riding(body: Body, form: str) -> None:
    """Say that the format `form` fixes points that ride on carriers."""
    riding = body.muscles.riding >= 0
    if riding.any():
        names = ", ".join(sorted({body.muscles.frames[c].name for c in body.muscles.riding[riding]}))
        warnings.warn(
            f"{form} cannot hold frames that ride on bones ({names}): {int(riding.sum())} points of muscles are fixed "
            "where they stand in the default pose",
            stacklevel=3,
        )


def placement(skeleton: Skeleton, i: int) -> Array:
    """Where the joint of bone i stands in its parent's frame, shape (4, 4)."""
    where = np.eye(4)
    where[:3, :3] = skeleton.bodies[i, 0:9].reshape(3, 3)
    where[:3, 3] = skeleton.bodies[i, 9:12]
    return where


def neutral_placement(skeleton: Skeleton, i: int) -> Array:
    """Bone i in its parent's frame with its joint at neutral, shape (4, 4)."""
    return np.asarray(joint_transforms(skeleton, skeleton.neutral_q())[i])


def com_and_inertia(skeleton: Skeleton, i: int) -> tuple[Array, Array]:
    """Centre of mass [m] (3,) and inertia about it [kg m²] (3, 3) of bone i, in its own frame."""
    mass, com = float(skeleton.masses[i]), skeleton.coms[i]
    xx, xy, xz, yy, yz, zz = skeleton.bodies[i, 16:22]
    about_origin = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return com, about_origin - mass * ((com @ com) * np.eye(3) - np.outer(com, com))


def number(value: float) -> str:
    """With all its digits."""
    return repr(float(value))


def numbers(values: Iterable[float]) -> str:
    """Separated by spaces, with all their digits."""
    return " ".join(repr(float(v)) for v in values)


def element_text(parent: ET.Element, tag: str, text: str) -> None:
    """A child element that holds text."""
    ET.SubElement(parent, tag).text = text


def write_surfaces(body: Body, folder: Path) -> list[str]:
    """Write the surface of each bone to `folder`, as `<bone>.stl`, and whom to credit; returns the bones."""
    import trimesh
    from trimesh.exchange.stl import export_stl

    from vitruvian.anatomy import bone_surfaces
    from vitruvian.anatomy.surfaces import CREDIT

    surfaces = bone_surfaces(body)
    folder.mkdir(exist_ok=True)
    (folder / "CREDIT.txt").write_text(CREDIT + "\n", encoding="utf-8")
    for name, (vertices, faces) in surfaces.items():
        (folder / f"{name}.stl").write_bytes(export_stl(trimesh.Trimesh(vertices, faces, process=False)))
    return list(surfaces)
