"""What every model format asks of a skeleton, and how numbers and surfaces are written."""

from __future__ import annotations

import warnings
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vitruvian.muscle.wrapping import TURN
from vitruvian.skeleton import Skeleton, joint_transforms
from vitruvian.skeleton.joints import Revolute

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


def moves_with_a_hinge(body: Body, p: int) -> bool:
    """Whether path point p rides on a carrier that follows a hinge's angle (a patella)."""
    muscles = body.muscles
    if muscles.riding[p] < 0:
        return False
    carrier = muscles.frames[muscles.riding[p]]
    return carrier.kind == TURN and isinstance(body.skeleton.joints[body.skeleton.index(carrier.driver)], Revolute)


def warn_of_riding(body: Body, form: str) -> None:
    """Say that the format `form` fixes points that ride on carriers which follow more than a hinge."""
    fixed = [p for p in np.flatnonzero(body.muscles.riding >= 0) if not moves_with_a_hinge(body, int(p))]
    if fixed:
        names = ", ".join(sorted({body.muscles.frames[body.muscles.riding[p]].name for p in fixed}))
        warnings.warn(
            f"{form} cannot hold frames that ride on bones ({names}): {len(fixed)} points of muscles are fixed "
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
