"""A body as OSIM, the model format of OpenSim 4: bones, custom joints, muscles with path points, springs.

What is exact: frames, joints, masses and muscle paths, so that muscle lengths and moment arms equal ours
(`agreement.osim_agreement` measures it). Every moving joint is a `CustomJoint`; a ball joint turns by three angles
about the child's x, then y, then z axis, R = R_x(a) R_y(b) R_z(c), which is singular at b = ±90°. OpenSim's ground
has y up and x forward: the root hangs in it by a turned frame, so that the body stands there, while its coordinates
stay ours.

Approximate: muscles are `Millard2012EquilibriumMuscle`s with our F_max, rest length and fastest shortening but
OpenSim's curves (or plain path actuators, `muscles="actuator"`); joint springs act on the three angles of a ball
joint instead of its rotation vector; joint ranges are given as the coordinates' ranges, without stops; cartilage
springs lose their damping.

Elliptic, spline and user-made joints are not written: an error names the bone, unless they are to be held at their
neutral position (`hold=True`).
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vitruvian.errors import InputError
from vitruvian.exchange.parts import (
    com_and_inertia,
    neutral_placement,
    number,
    numbers,
    placement,
    warn_of_laws,
    write_surfaces,
)
from vitruvian.muscle import FibreTendon, LinearHill
from vitruvian.skeleton import Skeleton
from vitruvian.skeleton.joints import (
    Ball,
    Cylindrical,
    Fixed,
    Free,
    Joint,
    Planar,
    Prismatic,
    Revolute,
    Universal,
)
from vitruvian.spatial import rotation_from_quaternion

if TYPE_CHECKING:
    from vitruvian.anatomy import Body

Array = np.ndarray
VERSION = "40500"  # of the document's layout; OpenSim 4.5 and later read it
MUSCLES = ("millard", "actuator")
# Our axes (x left, y back, z up) to OpenSim's (x forward, y up, z right).
TO_OPENSIM = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]])
X, Y, Z = np.eye(3)
TENDON = 1e-3  # share of a muscle's rest length that is tendon: our muscles have none, OpenSim's must

# A joint as OpenSim sees it: (coordinate suffix, turning or sliding, axis, factor) in the order of our velocities.
Axis = tuple[str, str, Array, float]


def write_osim(
    body: Body, path: str | Path, *, muscles: str = "millard", meshes: bool = False, hold: bool = False
) -> None:
    """Write `body` to the file `path`.

    muscles: "millard" or "actuator". meshes: also write bone surfaces as STL files into the folder `Geometry` beside.
    hold: fix joints that cannot be written.
    """
    if muscles not in MUSCLES:
        raise InputError(f"OSIM: muscles must be one of {', '.join(MUSCLES)}, not '{muscles}'")
    warn_of_laws(body, "OSIM", "a Millard muscle" if muscles == "millard" else "a path actuator")
    path = Path(path)
    skeleton = body.skeleton
    root = ET.Element("OpenSimDocument", Version=VERSION)
    model = ET.SubElement(root, "Model", name=body.name.replace(" ", "_"))
    _text(model, "gravity", numbers(TO_OPENSIM @ skeleton.gravity))
    bodies, joints, forces = (_set(model, kind) for kind in ("BodySet", "JointSet", "ForceSet"))
    surfaces = set(write_surfaces(body, path.parent / "Geometry")) if meshes else set()
    for i, name in enumerate(skeleton.names):
        _add_body(bodies, skeleton, i, name in surfaces)
        _add_joint(joints, skeleton, i, hold)
    for m in range(body.muscles.n_muscles):
        _add_muscle(forces, body, m, muscles)
    _add_springs(forces, skeleton)
    ET.indent(root, space=" ")
    text = '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"
    path.write_text(text, encoding="utf-8")


def coordinate_names(skeleton: Skeleton) -> list[str]:
    """OpenSim's name of each coordinate, one per velocity of ours; joints that are held have none."""
    return [f"{skeleton.names[i]}_{axis[0]}" for i, joint in enumerate(skeleton.joints) for axis in _axes(joint) or ()]


def coordinate_values(skeleton: Skeleton, q: Array) -> Array:
    """OpenSim's coordinates [rad or m] for ours, `q` (n_q,), in the order of `coordinate_names`."""
    values: list[float] = []
    for i, joint in enumerate(skeleton.joints):
        part = np.asarray(q[skeleton.q_start[i] : skeleton.q_start[i + 1]], dtype=float)
        if isinstance(joint, (Ball, Free)):
            values += _angles(rotation_from_quaternion(part[-4:])).tolist() + part[:-4].tolist()
        elif _axes(joint) is not None:
            values += part[: joint.n_v].tolist()
    return np.array(values)


def moment_arm_map(skeleton: Skeleton, q: Array) -> Array:
    """E with v = E · (rates of OpenSim's coordinates) at `q`, shape (n_v, n coordinates): dl/dx = Eᵀ dl/dq."""
    E = np.zeros((skeleton.n_v, len(coordinate_names(skeleton))))
    column = 0
    for i, joint in enumerate(skeleton.joints):
        axes = _axes(joint)
        if axes is None:
            continue
        n, row = len({axis[0] for axis in axes}), int(skeleton.v_start[i])
        block = np.eye(n)
        if isinstance(joint, (Ball, Free)):
            R = rotation_from_quaternion(q[skeleton.q_start[i + 1] - 4 : skeleton.q_start[i + 1]])
            _, b, c = _angles(R)
            block[:3, :3] = np.stack([_turn(Z, c).T @ _turn(Y, b).T @ X, _turn(Z, c).T @ Y, Z], axis=1)
            if isinstance(joint, Free):
                block[3:, 3:] = R.T
        E[row : row + n, column : column + n] = block
        column += n
    return E


def _axes(joint: Joint) -> list[Axis] | None:
    """Its axes; None if the joint cannot be written."""
    turns = [(f"r{k}", "rotation", axis, 1.0) for k, axis in zip("xyz", (X, Y, Z))]
    slides = [(f"t{k}", "translation", axis, 1.0) for k, axis in zip("xyz", (X, Y, Z))]
    if isinstance(joint, Fixed):
        return []
    if isinstance(joint, Ball):
        return turns
    if isinstance(joint, Free):
        return turns + slides
    if isinstance(joint, Revolute):
        return [("angle", "rotation", np.asarray(joint.axis), 1.0)]
    if isinstance(joint, Prismatic):
        return [("slide", "translation", np.asarray(joint.axis), 1.0)]
    if isinstance(joint, Universal):
        return [
            ("angle1", "rotation", np.asarray(joint.axis1), 1.0),
            ("angle2", "rotation", np.asarray(joint.axis2), 1.0),
        ]
    if isinstance(joint, Cylindrical):
        axis = np.asarray(joint.axis)
        return [("angle", "rotation", axis, 1.0), ("slide", "translation", axis, 1.0)]
    if isinstance(joint, Planar):
        normal, first, second = joint.parameters(np.eye(4))[:9].reshape(3, 3)
        return [
            ("slide1", "translation", first, 1.0),
            ("slide2", "translation", second, 1.0),
            ("angle", "rotation", normal, 1.0),
        ]
    return None


def _add_body(bodies: ET.Element, skeleton: Skeleton, i: int, surface: bool) -> None:
    element = ET.SubElement(bodies, "Body", name=skeleton.names[i])
    if surface:
        mesh = ET.SubElement(ET.SubElement(element, "attached_geometry"), "Mesh", name=f"{skeleton.names[i]}_surface")
        _text(mesh, "socket_frame", "..")
        _text(mesh, "mesh_file", f"{skeleton.names[i]}.stl")
    mass = float(skeleton.masses[i])
    com, about_com = com_and_inertia(skeleton, i) if mass > 0.0 else (np.zeros(3), np.zeros((3, 3)))
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = about_com
    _text(element, "mass", number(mass))
    _text(element, "mass_center", numbers(com))
    _text(element, "inertia", numbers((xx, yy, zz, xy, xz, yz)))


def _add_joint(joints: ET.Element, skeleton: Skeleton, i: int, hold: bool) -> None:
    name, joint, above = skeleton.names[i], skeleton.joints[i], int(skeleton.parent[i])
    place = placement(skeleton, i)
    axes = _axes(joint)
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
    _text(element, "socket_parent_frame", f"{name}_place")
    _text(element, "socket_child_frame", f"/bodyset/{name}")
    if axes:
        _add_coordinates(ET.SubElement(element, "coordinates"), skeleton, i, axes)
    frame = ET.SubElement(ET.SubElement(element, "frames"), "PhysicalOffsetFrame", name=f"{name}_place")
    _text(frame, "socket_parent", "/ground" if above < 0 else f"/bodyset/{skeleton.names[above]}")
    _text(frame, "translation", numbers(place[:3, 3]))
    _text(frame, "orientation", numbers(_angles(place[:3, :3])))
    if axes:
        _add_axes(ET.SubElement(element, "SpatialTransform"), name, axes)


def _add_coordinates(parent: ET.Element, skeleton: Skeleton, i: int, axes: list[Axis]) -> None:
    start = coordinate_values(skeleton, skeleton.neutral)
    first = sum(len(_axes(joint) or ()) for joint in skeleton.joints[:i])
    at = int(skeleton.v_start[i])
    ball = isinstance(skeleton.joints[i], Ball)
    for k, axis in enumerate(axes):
        coordinate = ET.SubElement(parent, "Coordinate", name=f"{skeleton.names[i]}_{axis[0]}")
        # The pose of the tables is where limb joints are zero; the root stands where it starts.
        _text(coordinate, "default_value", number(start[first + k]) if isinstance(skeleton.joints[i], Free) else "0")
        low, high = skeleton.forces.low[at + k], skeleton.forces.high[at + k]
        if np.isfinite(low) and np.isfinite(high) and low < high:
            shift = start[first + k] if ball else 0.0  # limits of a ball count from neutral
            _text(coordinate, "range", numbers((low + shift, high + shift)))
        _text(coordinate, "clamped", "false")


def _add_axes(parent: ET.Element, name: str, axes: list[Axis]) -> None:
    """Three turns about body-fixed axes, three slides along the parent's; the unused ones complete the frame."""
    for kind in ("rotation", "translation"):
        used = [axis for axis in axes if axis[1] == kind]
        rest = _completed([axis[2] for axis in used])
        for k in range(3):
            element = ET.SubElement(parent, "TransformAxis", name=f"{kind}{k + 1}")
            if k < len(used):
                _text(element, "coordinates", f"{name}_{used[k][0]}")
                _text(element, "axis", numbers(used[k][2]))
                function = ET.SubElement(element, "LinearFunction", name="function")
                _text(function, "coefficients", numbers((used[k][3], 0.0)))
            else:
                _text(element, "coordinates", "")
                _text(element, "axis", numbers(rest[k]))
                _text(ET.SubElement(element, "Constant", name="function"), "value", "0")


def _add_muscle(forces: ET.Element, body: Body, m: int, kind: str) -> None:
    muscles = body.muscles
    tag = "Millard2012EquilibriumMuscle" if kind == "millard" else "PathActuator"
    element = ET.SubElement(forces, tag, name=muscles.names[m])
    _text(element, "min_control", "0.01" if kind == "millard" else "0")  # Millard muscles are never quite off
    _text(element, "max_control", "1")
    path = ET.SubElement(element, "GeometryPath", name="path")
    points = ET.SubElement(ET.SubElement(path, "PathPointSet"), "objects")
    for k, p in enumerate(range(muscles.offsets[m], muscles.offsets[m + 1])):
        point = ET.SubElement(points, "PathPoint", name=f"p{k}")
        _text(point, "socket_parent_frame", f"/bodyset/{body.skeleton.names[muscles.bone[p]]}")
        _text(point, "location", numbers(muscles.local[p]))
    force, rest = float(muscles.f_max[m]), float(muscles.rest_length[m])
    if kind == "actuator":
        _text(element, "optimal_force", number(force))
        return
    _text(element, "max_isometric_force", number(force))
    law = muscles.elements[m]
    if isinstance(law, FibreTendon):
        _text(element, "optimal_fiber_length", number(law.fibre_length))
        _text(element, "tendon_slack_length", number(law.slack_length))
        _text(element, "pennation_angle_at_optimal", number(law.pennation))
        _text(element, "max_contraction_velocity", number(law.fastest))
        _text(element, "ignore_tendon_compliance", "true" if law.tendon == "rigid" else "false")
        return
    _text(element, "optimal_fiber_length", number((1.0 - TENDON) * rest))
    _text(element, "tendon_slack_length", number(TENDON * rest))
    _text(element, "pennation_angle_at_optimal", "0")
    if isinstance(law, LinearHill):
        _text(element, "max_contraction_velocity", number(law.fastest))
    _text(element, "ignore_tendon_compliance", "true")


def _add_springs(forces: ET.Element, skeleton: Skeleton) -> None:
    springs = skeleton.springs
    for s, name in enumerate(springs.names):
        element = ET.SubElement(forces, "PointToPointSpring", name=f"spring_{name.replace('~', '_')}")
        for end in range(2):
            bone = int(springs.bones[s, end])
            _text(element, f"socket_body{end + 1}", f"/bodyset/{skeleton.names[bone]}" if bone >= 0 else "/ground")
        for end in range(2):
            _text(element, f"point{end + 1}", numbers(springs.points[s, end]))
        _text(element, "stiffness", number(springs.stiffness[s]))
        _text(element, "rest_length", number(springs.rest_length[s]))
    rest = coordinate_values(skeleton, skeleton.neutral)
    column = 0
    for i, joint in enumerate(skeleton.joints):
        for k, axis in enumerate(_axes(joint) or ()):
            v = int(skeleton.v_start[i]) + k
            stiffness, damping = skeleton.forces.stiffness[v], skeleton.forces.damping[v]
            if stiffness or damping:
                name = f"{skeleton.names[i]}_{axis[0]}"
                element = ET.SubElement(forces, "SpringGeneralizedForce", name=f"{name}_spring")
                _text(element, "coordinate", name)
                _text(element, "stiffness", number(stiffness))
                _text(element, "rest_length", number(rest[column]))
                _text(element, "viscosity", number(damping))
            column += 1


def _angles(R: Array) -> Array:
    """Angles about x, then y, then z (body-fixed) of a rotation, R = R_x(a) R_y(b) R_z(c), shape (3,)."""
    b = np.arctan2(R[0, 2], np.hypot(R[0, 0], R[0, 1]))
    return np.array([np.arctan2(-R[1, 2], R[2, 2]), b, np.arctan2(-R[0, 1], R[0, 0])])


def _turn(axis: Array, angle: float) -> Array:
    K = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K


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


def _text(parent: ET.Element, tag: str, text: str) -> None:
    ET.SubElement(parent, tag).text = text
