"""A body as OSIM, the model format of OpenSim 4: bones, custom joints, muscles with path points, springs.

What is exact: frames, joints, masses and muscle paths, so that muscle lengths and moment arms equal ours
(`agreement.osim_agreement` measures it). Every moving joint is a `CustomJoint`; a ball joint turns by three angles
about axes of its own, R = R_1(a) R_2(b) R_3(c), which is singular at b = ±90°: the middle axis is the one of the
smallest range (x, y, z for most; z, x, y for the shoulder). OpenSim's ground has y up and x forward: the root hangs in
it by a turned frame, so that the body stands there, while its coordinates stay ours.

Muscles with fibre and tendon are `DeGrooteFregly2016Muscle`s, whose curves are ours. Approximate: other muscles are
`Millard2012EquilibriumMuscle`s with our F_max, rest length and fastest shortening but OpenSim's curves (or, all of
them, plain path actuators, `muscles="actuator"`); springs and stops of a ball joint act on its three
angles instead of its rotation vector; springs between bones that have a rest length lose their damping.
`falls.osim_fall` measures how far bones part from ours in a fall.

Elliptic, spline and user-made joints are not written: an error names the bone, unless they are to be held at their
neutral position (`hold=True`).
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vitruvian.errors import InputError
from vitruvian.exchange.osim_coordinates import Axis, angles, coordinate_values, joint_axes, velocity_index
from vitruvian.exchange.osim_forces import add_muscle, add_springs
from vitruvian.exchange.parts import (
    com_and_inertia,
    element_text,
    neutral_placement,
    number,
    numbers,
    placement,
    warn_of_laws,
    warn_of_riding,
    write_surfaces,
)
from vitruvian.exchange.written_cylinders import written_cylinders
from vitruvian.skeleton import Skeleton
from vitruvian.skeleton.joints import Ball, Free

if TYPE_CHECKING:
    from vitruvian.anatomy import Body

Array = np.ndarray
VERSION = "40500"  # of the document's layout; OpenSim 4.5 and later read it
MUSCLES = ("muscle", "actuator")
# Our axes (x left, y back, z up) to OpenSim's (x forward, y up, z right).
TO_OPENSIM = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]])


def write_osim(
    body: Body, path: str | Path, *, muscles: str = "muscle", meshes: bool = False, hold: bool = False
) -> None:
    """Write `body` to the file `path`.

    muscles: "muscle" or "actuator". meshes: also write bone surfaces as STL files into the folder `Geometry` beside.
    hold: fix joints that cannot be written.
    """
    if muscles not in MUSCLES:
        raise InputError(f"OSIM: muscles must be one of {', '.join(MUSCLES)}, not '{muscles}'")
    warn_of_laws(body, "OSIM", "a Millard muscle" if muscles == "muscle" else "a path actuator")
    warn_of_riding(body, "OSIM")
    path = Path(path)
    skeleton = body.skeleton
    root = ET.Element("OpenSimDocument", Version=VERSION)
    model = ET.SubElement(root, "Model", name=body.name.replace(" ", "_"))
    element_text(model, "gravity", numbers(TO_OPENSIM @ skeleton.gravity))
    bodies, joints, forces = (_set(model, kind) for kind in ("BodySet", "JointSet", "ForceSet"))
    surfaces = set(write_surfaces(body, path.parent / "Geometry")) if meshes else set()
    for i, name in enumerate(skeleton.names):
        _add_body(bodies, skeleton, i, name in surfaces)
        _add_joint(joints, skeleton, i, hold)
    points = body.muscles.bone, body.muscles.local  # one that rides stands where it does in the default pose
    cylinders = iter(written_cylinders(body))
    for m in range(body.muscles.n_muscles):
        bends = [next(cylinders) for _ in body.muscles.cylinders[m]]
        add_muscle(forces, bodies, body, points, m, muscles, bends)
    add_springs(forces, skeleton)
    ET.indent(root, space=" ")
    text = '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"
    path.write_text(text, encoding="utf-8")


def _add_body(bodies: ET.Element, skeleton: Skeleton, i: int, surface: bool) -> None:
    element = ET.SubElement(bodies, "Body", name=skeleton.names[i])
    if surface:
        mesh = ET.SubElement(ET.SubElement(element, "attached_geometry"), "Mesh", name=f"{skeleton.names[i]}_surface")
        element_text(mesh, "socket_frame", "..")
        element_text(mesh, "mesh_file", f"{skeleton.names[i]}.stl")
    mass = float(skeleton.masses[i])
    com, about_com = com_and_inertia(skeleton, i) if mass > 0.0 else (np.zeros(3), np.zeros((3, 3)))
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = about_com
    element_text(element, "mass", number(mass))
    element_text(element, "mass_center", numbers(com))
    element_text(element, "inertia", numbers((xx, yy, zz, xy, xz, yz)))


def _add_joint(joints: ET.Element, skeleton: Skeleton, i: int, hold: bool) -> None:
    name, joint, above = skeleton.names[i], skeleton.joints[i], int(skeleton.parent[i])
    place = placement(skeleton, i)
    axes = joint_axes(skeleton, i)
    if axes is None:
        if not hold:
            raise InputError(
                f"OSIM: the {type(joint).__name__} joint of bone '{name}' cannot be written; "
                "hold=True fixes such joints at their neutral position"
            )
        place, axes = neutral_placement(skeleton, i), []
    if above < 0:
        turned = np.eye(4)
        turned[:3, :3] = TO_OPENSIM
        place = turned @ place
    element = ET.SubElement(joints, "CustomJoint" if axes else "WeldJoint", name=f"{name}_joint")
    element_text(element, "socket_parent_frame", f"{name}_place")
    element_text(element, "socket_child_frame", f"/bodyset/{name}")
    if axes:
        _add_coordinates(ET.SubElement(element, "coordinates"), skeleton, i, axes)
    frame = ET.SubElement(ET.SubElement(element, "frames"), "PhysicalOffsetFrame", name=f"{name}_place")
    element_text(frame, "socket_parent", "/ground" if above < 0 else f"/bodyset/{skeleton.names[above]}")
    element_text(frame, "translation", numbers(place[:3, 3]))
    element_text(frame, "orientation", numbers(angles(place[:3, :3])))
    if axes:
        _add_axes(ET.SubElement(element, "SpatialTransform"), name, axes)


def _add_coordinates(parent: ET.Element, skeleton: Skeleton, i: int, axes: list[Axis]) -> None:
    start = coordinate_values(skeleton, skeleton.neutral)
    first = sum(len(joint_axes(skeleton, j) or ()) for j in range(i))
    ball = isinstance(skeleton.joints[i], Ball)
    for k, axis in enumerate(axes):
        at = velocity_index(skeleton, i, k)
        coordinate = ET.SubElement(parent, "Coordinate", name=f"{skeleton.names[i]}_{axis[0]}")
        # The pose of the tables is where limb joints are zero; the root stands where it starts.
        element_text(
            coordinate, "default_value", number(start[first + k]) if isinstance(skeleton.joints[i], Free) else "0"
        )
        low, high = skeleton.forces.low[at], skeleton.forces.high[at]
        if np.isfinite(low) and np.isfinite(high) and low < high:
            shift = start[first + k] if ball else 0.0  # limits of a ball count from neutral
            element_text(coordinate, "range", numbers((low + shift, high + shift)))
        element_text(coordinate, "clamped", "false")


def _add_axes(parent: ET.Element, name: str, axes: list[Axis]) -> None:
    """Three turns about body-fixed axes, three slides along the parent's; the unused ones complete the frame."""
    for kind in ("rotation", "translation"):
        used = [axis for axis in axes if axis[1] == kind]
        rest = _completed([axis[2] for axis in used])
        for k in range(3):
            element = ET.SubElement(parent, "TransformAxis", name=f"{kind}{k + 1}")
            if k < len(used):
                element_text(element, "coordinates", f"{name}_{used[k][0]}")
                element_text(element, "axis", numbers(used[k][2]))
                function = ET.SubElement(element, "LinearFunction", name="function")
                element_text(function, "coefficients", numbers((used[k][3], 0.0)))
            else:
                element_text(element, "coordinates", "")
                element_text(element, "axis", numbers(rest[k]))
                element_text(ET.SubElement(element, "Constant", name="function"), "value", "0")


def _completed(axes: list[Array]) -> list[Array]:
    """The axes, made three by unit vectors square to all before them."""
    out = list(axes)
    while len(out) < 3:
        best = max(np.eye(3), key=lambda e: np.linalg.norm(_without(e, out)))
        new = _without(best, out)
        out.append(new / np.linalg.norm(new))
    return out


def _without(vector: Array, axes: list[Array]) -> Array:
    """What of a vector is square to all the axes."""
    if not axes:
        return vector
    A = np.stack(axes, axis=1)
    return vector - A @ np.linalg.lstsq(A, vector, rcond=None)[0]


def _set(model: ET.Element, kind: str) -> ET.Element:
    return ET.SubElement(ET.SubElement(model, kind, name=kind.lower()), "objects")
