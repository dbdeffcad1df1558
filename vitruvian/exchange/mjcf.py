"""A body as MJCF, the model format of MuJoCo: bones, joints, inertia, tendons through via sites, muscles, springs.

What is exact: the tree, frames, joints, masses and muscle paths, so that bone poses, mass matrix and tendon lengths
equal ours (`agreement.mjcf_agreement` measures it). Universal joints become two hinges, planar and cylindrical ones
hinges and slides; a ball's frame stands at the joint's neutral turn, so that MuJoCo's spring rests where ours does.
Forces that MuJoCo's joints cannot have are written as actuators behind the muscles (`mjcf_forces`); they need no
control. Frames that muscles ride on are bodies tied to joints (`mjcf_riders`). `falls.mjcf_fall` measures how far
bones part from ours in a fall.

Helical, elliptic, spline and custom joints do not exist in MuJoCo: an error names the bone, unless they are to be held
at their neutral position (`hold=True`). MuJoCo's free joint counts in the world frame, its velocity is (linear,
angular), and it numbers bodies depth first: `qpos_from_q` and `velocity_map` translate between the two.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vitruvian.errors import InputError
from vitruvian.exchange.mjcf_forces import add_ball_springs, add_stops
from vitruvian.exchange.mjcf_muscles import add_muscles
from vitruvian.exchange.mjcf_riders import add_riders, riders
from vitruvian.exchange.parts import (
    com_and_inertia,
    neutral_placement,
    number,
    numbers,
    placement,
    warn_of_laws,
    write_surfaces,
)
from vitruvian.skeleton import Skeleton
from vitruvian.skeleton.joints import Ball, Cylindrical, Fixed, Free, Joint, Planar, Prismatic, Revolute, Universal
from vitruvian.spatial import pose_from_transform, rotation_from_quaternion, transform_from_pose

if TYPE_CHECKING:
    from vitruvian.anatomy import Body

Array = np.ndarray
GEOMS = ("rods", "meshes", "none")


def write_mjcf(
    body: Body, path: str | Path, *, geoms: str = "rods", hold: bool = False, timestep: float = 0.001
) -> None:
    """Write `body` to the XML file `path`.

    geoms: what the eye sees of a bone: "rods", "meshes" (its surface, as STL files in a folder beside `path`) or
    "none"; never anything that collides or weighs. hold: fix joints that MuJoCo has not. timestep [s]: MuJoCo's own.
    """
    if geoms not in GEOMS:
        raise InputError(f"MJCF: geoms must be one of {', '.join(GEOMS)}, not '{geoms}'")
    warn_of_laws(body, "MJCF", "MuJoCo's muscle")
    path = Path(path)
    root = _document(body, timestep)
    passive = ET.Element("actuator")
    bodies = _add_bones(root, passive, body, hold)
    ET.SubElement(root, "tendon")
    add_muscles(root, body, bodies, add_riders(root, body, bodies, timestep))
    _add_bone_springs(root, body, bodies)
    root.find("actuator").extend(passive)  # type: ignore[union-attr]
    if geoms == "rods":
        _add_rods(body.skeleton, bodies)
    elif geoms == "meshes":
        _add_meshes(root, body, bodies, path)
    ET.indent(root, space=" ")
    path.write_text(ET.tostring(root, encoding="unicode") + "\n", encoding="utf-8")


def qpos_from_q(body: Body, q: Array) -> Array:
    """MuJoCo's `qpos` for our coordinates `q`, shape (n_q,): bodies depth first, the root's pose in the world; frames
    that ride on bones have coordinates of their own there (`mjcf_riders`)."""
    skeleton, riding, parts = body.skeleton, riders(body), []
    for i in _depth_first(body):
        if i >= skeleton.n_bones:
            parts.append(riding[i - skeleton.n_bones].coordinates(skeleton, q))
            continue
        part = np.asarray(q[skeleton.q_start[i] : skeleton.q_start[i + 1]], dtype=float)
        if isinstance(skeleton.joints[i], Free):
            part = pose_from_transform(placement(skeleton, i) @ transform_from_pose(part))
        elif isinstance(skeleton.joints[i], Ball):
            part = _from_neutral(skeleton, i, part)
        parts.append(part)
    return np.concatenate(parts)


def velocity_map(body: Body, q: Array) -> Array:
    """T with MuJoCo's `qvel` = T v at coordinates `q`, shape (MuJoCo's velocities, n_v)."""
    skeleton, riding = body.skeleton, riders(body)
    T = np.zeros((skeleton.n_v + sum(len(r.joints) for r in riding), skeleton.n_v))
    row = 0
    for i in _depth_first(body):
        if i >= skeleton.n_bones:
            rates = riding[i - skeleton.n_bones].rates(skeleton, q)
            T[row : row + len(rates)] = rates
            row += len(rates)
            continue
        at, n = int(skeleton.v_start[i]), skeleton.joints[i].n_v
        if isinstance(skeleton.joints[i], Free):
            pose = transform_from_pose(q[skeleton.q_start[i] : skeleton.q_start[i + 1]])
            T[row : row + 3, at + 3 : at + 6] = placement(skeleton, i)[:3, :3] @ pose[:3, :3]
            T[row + 3 : row + 6, at : at + 3] = np.eye(3)
        else:
            T[row : row + n, at : at + n] = np.eye(n)
        row += n
    return T


def _document(body: Body, timestep: float) -> ET.Element:
    root = ET.Element("mujoco", model=body.name)
    ET.SubElement(
        root, "compiler", angle="radian", inertiafromgeom="false", boundmass="0", boundinertia="0", autolimits="true"
    )
    gravity = numbers(body.skeleton.gravity)
    ET.SubElement(root, "option", timestep=number(timestep), gravity=gravity, integrator="implicitfast")
    ET.SubElement(root, "size", memory="64M")
    ET.SubElement(ET.SubElement(root, "visual"), "scale", framewidth="0.02")
    defaults = ET.SubElement(root, "default")
    ET.SubElement(defaults, "geom", contype="0", conaffinity="0", group="1", mass="0", rgba="0.89 0.85 0.76 1")
    ET.SubElement(defaults, "site", group="4", size="0.002")
    ET.SubElement(defaults, "tendon", width="0.002", rgba="0.70 0.20 0.17 1")
    ET.SubElement(root, "asset")
    world = ET.SubElement(root, "worldbody")
    ET.SubElement(world, "light", pos="1 -3 4", dir="-0.2 0.6 -0.8", directional="true")
    return root


def _add_bones(root: ET.Element, actuators: ET.Element, body: Body, hold: bool) -> list[ET.Element]:
    """The tree, with the joints' own forces among the `actuators`; returns the element of each bone."""
    skeleton = body.skeleton
    world = root.find("worldbody")
    elements: list[ET.Element] = []
    for i, name in enumerate(skeleton.names):
        joint, above = skeleton.joints[i], int(skeleton.parent[i])
        place = placement(skeleton, i)
        if isinstance(joint, Free):
            if above >= 0:
                raise InputError(
                    f"MJCF: bone '{name}' has a free joint to another bone; MuJoCo allows that only to the world"
                )
            place = place @ transform_from_pose(skeleton.neutral[skeleton.q_start[i] : skeleton.q_start[i + 1]])
        if isinstance(joint, Ball):
            place = neutral_placement(skeleton, i)
        if not _known(joint):
            if not hold:
                raise InputError(
                    f"MJCF: the {type(joint).__name__} joint of bone '{name}' has no like in MuJoCo; "
                    "hold=True fixes such joints at their neutral position"
                )
            place = neutral_placement(skeleton, i)
        pose = pose_from_transform(place)
        element = ET.SubElement(world if above < 0 else elements[above], "body", name=name)  # type: ignore[arg-type]
        element.set("pos", numbers(pose[:3]))
        if not np.array_equal(place[:3, :3], np.eye(3)):
            element.set("quat", numbers(pose[3:]))
        if _known(joint):
            _add_joint(element, actuators, skeleton, i, joint)
        _add_inertia(element, skeleton, i)
        elements.append(element)
    return elements


def _add_joint(element: ET.Element, actuators: ET.Element, skeleton: Skeleton, i: int, joint: Joint) -> None:
    name = skeleton.names[i]
    if isinstance(joint, Fixed):
        return
    if isinstance(joint, Free):
        ET.SubElement(element, "freejoint", name=name)
        return
    forces, first = skeleton.forces, int(skeleton.v_start[i])
    if isinstance(joint, Ball):
        add_ball_springs(ET.SubElement(element, "joint", name=name, type="ball"), actuators, skeleton, i)
        return
    neutral = skeleton.neutral[skeleton.q_start[i] : skeleton.q_start[i + 1]]
    single = joint.n_v == 1
    for k, (kind, axis) in enumerate(_axes(joint)):
        label = name if single else f"{name}.{k}"
        one = ET.SubElement(element, "joint", name=label, type=kind, axis=numbers(axis))
        one.set("stiffness", number(forces.stiffness[first + k]))
        one.set("damping", number(forces.damping[first + k]))
        one.set("springref", number(neutral[k]))
        add_stops(actuators, skeleton, first + k, label, label)


def _axes(joint: Joint) -> list[tuple[str, Array]]:
    """Hinges and slides, in our order of coordinates, that make up a joint; MuJoCo applies them from first to last."""
    if isinstance(joint, Revolute):
        return [("hinge", np.asarray(joint.axis))]
    if isinstance(joint, Prismatic):
        return [("slide", np.asarray(joint.axis))]
    if isinstance(joint, Universal):
        return [("hinge", np.asarray(joint.axis1)), ("hinge", np.asarray(joint.axis2))]
    if isinstance(joint, Cylindrical):
        return [("hinge", np.asarray(joint.axis)), ("slide", np.asarray(joint.axis))]
    assert isinstance(joint, Planar)
    normal, first, second = (joint.parameters(np.eye(4))[3 * k : 3 * k + 3] for k in range(3))
    return [("slide", first), ("slide", second), ("hinge", normal)]


def _add_inertia(element: ET.Element, skeleton: Skeleton, i: int) -> None:
    """Mass and inertia about the centre of mass; a bone without mass has none (it is fixed to one that has)."""
    mass = float(skeleton.masses[i])
    if mass == 0.0:
        return
    com, about_com = com_and_inertia(skeleton, i)
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = about_com
    inertial = ET.SubElement(element, "inertial", pos=numbers(com), mass=number(mass))
    inertial.set("fullinertia", numbers((xx, yy, zz, xy, xz, yz)))


def _add_bone_springs(root: ET.Element, body: Body, bodies: list[ET.Element]) -> None:
    tendons: ET.Element = root.find("tendon")  # type: ignore[assignment]
    springs = body.skeleton.springs
    for s, name in enumerate(springs.names):
        tendon = ET.SubElement(tendons, "spatial", name=f"spring {name}", rgba="0.35 0.37 0.42 1")
        tendon.set("stiffness", number(springs.stiffness[s]))
        tendon.set("damping", number(springs.damping[s]))
        tendon.set("springlength", number(springs.rest_length[s]))
        for end in range(2):
            label = f"spring {name}.{end}"
            bone = int(springs.bones[s, end])
            holder = bodies[bone] if bone >= 0 else root.find("worldbody")
            ET.SubElement(holder, "site", name=label, pos=numbers(springs.points[s, end]))  # type: ignore[arg-type]
            ET.SubElement(tendon, "site", site=label)


def _add_rods(skeleton: Skeleton, bodies: list[ET.Element]) -> None:
    """A thin rod from each bone's joint to that of each child."""
    for i in range(skeleton.n_bones):
        above = int(skeleton.parent[i])
        step = placement(skeleton, i)[:3, 3]
        if above >= 0 and np.linalg.norm(step) > 1e-3 and not isinstance(skeleton.joints[i], Free):
            ET.SubElement(bodies[above], "geom", type="capsule", size="0.004", fromto=numbers((0.0, 0.0, 0.0, *step)))


def _add_meshes(root: ET.Element, body: Body, bodies: list[ET.Element], path: Path) -> None:
    """Bone surfaces as binary STL in the folder `<name>_bones` beside the file."""
    folder = path.with_name(f"{path.stem}_bones")
    asset = root.find("asset")
    for name in write_surfaces(body, folder):
        # Some bones are open or thin: their inertia as a shell serves the compiler, which must not refuse them.
        ET.SubElement(asset, "mesh", name=name, file=f"{folder.name}/{name}.stl", inertia="shell")  # type: ignore[arg-type]
        ET.SubElement(bodies[body.skeleton.index(name)], "geom", type="mesh", mesh=name)


def _depth_first(body: Body) -> list[int]:
    """Bones in MuJoCo's order: each followed by all that hangs from it. Numbers from n_bones on: the riders."""
    riding = riders(body)
    n = body.skeleton.n_bones
    children: list[list[int]] = [[] for _ in range(n + len(riding) + 1)]
    for i, above in enumerate([*body.skeleton.parent, *(r.base for r in riding)]):
        children[int(above)].append(i)  # -1, the world, is the last entry
    order, waiting = [], children[-1][::-1]
    while waiting:
        bone = waiting.pop()
        order.append(bone)
        waiting += children[bone][::-1]
    return order


def _from_neutral(skeleton: Skeleton, i: int, part: Array) -> Array:
    """A ball joint's quaternion from its neutral turn, shape (4,)."""
    neutral = rotation_from_quaternion(skeleton.neutral[skeleton.q_start[i] : skeleton.q_start[i + 1]])
    turned = np.eye(4)
    turned[:3, :3] = neutral.T @ rotation_from_quaternion(part)
    return np.asarray(pose_from_transform(turned)[3:])


def _known(joint: Joint) -> bool:
    return isinstance(joint, (Fixed, Free, Ball, Revolute, Prismatic, Universal, Cylindrical, Planar))
