"""Forces in OSIM: muscles, springs and stops of joints, springs between bones.

A stop is a `CoordinateLimitForce`, whose stiffness and damping grow over `EASE` beyond the range's end; a spring
between bones without rest length is a `BushingForce` (a point-to-point spring has no direction at length zero and
would make every acceleration NaN).
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.interpolate import CubicSpline

from vitruvian.exchange.osim_coordinates import angles, coordinate_values, joint_axes, turning_order, velocity_index
from vitruvian.exchange.parts import element_text, moves_with_a_hinge, neutral_placement, number, numbers, placement
from vitruvian.muscle import ActivationDynamics, Cylinder, FibreTendon, LinearHill
from vitruvian.muscle.wrapping import cylinder_frame
from vitruvian.skeleton import Skeleton
from vitruvian.skeleton.joints import Ball
from vitruvian.spatial import rotation_about

if TYPE_CHECKING:
    from vitruvian.anatomy import Body

Array = np.ndarray
TENDON = 1e-3  # share of a muscle's rest length that is tendon: our muscles have none, OpenSim's must
WIDEST = 0.05  # [m] radius of cylinders that are written: round the chest wall OpenSim's paths go the long way
REACH = 0.1  # [m] distance from a ball joint of the points whose dampers make up its own
KNOTS = 40  # of the splines by which a patella rides
EASE = 0.05  # [degrees, m] over which a stop's stiffness sets in


def add_muscle(
    forces: ET.Element,
    bodies: ET.Element,
    body: Body,
    points: tuple[Array, Array],
    m: int,
    kind: str,
    cylinders: Sequence[Cylinder],
) -> None:
    """One muscle round `cylinders`: a `DeGrooteFregly2016Muscle` (whose curves are ours) for fibre and tendon, else
    Millard's; or, by kind "actuator", a plain path actuator."""
    muscles, law = body.muscles, body.muscles.elements[m]
    tag = "DeGrooteFregly2016Muscle" if isinstance(law, FibreTendon) else "Millard2012EquilibriumMuscle"
    element = ET.SubElement(forces, tag if kind == "muscle" else "PathActuator", name=muscles.names[m])
    # Millard muscles are never quite off.
    lowest = "0.01" if kind == "muscle" and not isinstance(law, FibreTendon) else "0"
    element_text(element, "min_control", lowest)
    element_text(element, "max_control", "1")
    path = ET.SubElement(element, "GeometryPath", name="path")
    listed = ET.SubElement(ET.SubElement(path, "PathPointSet"), "objects")
    for k, p in enumerate(range(muscles.offsets[m], muscles.offsets[m + 1])):
        if moves_with_a_hinge(body, p):
            _add_riding_point(listed, body, p, f"p{k}")
            continue
        point = ET.SubElement(listed, "PathPoint", name=f"p{k}")
        element_text(point, "socket_parent_frame", f"/bodyset/{body.skeleton.names[points[0][p]]}")
        element_text(point, "location", numbers(points[1][p]))
    narrow = [cylinder for cylinder in cylinders if 0.0 < cylinder.radius <= WIDEST]
    if narrow:
        wraps = ET.SubElement(ET.SubElement(path, "PathWrapSet"), "objects")
        for cylinder in narrow:
            _add_cylinder(bodies, wraps, f"{muscles.names[m]}_round{cylinder.segment}", cylinder)
    force, rest = float(muscles.f_max[m]), float(muscles.rest_length[m])
    if kind == "actuator":
        element_text(element, "optimal_force", number(force))
        return
    element_text(element, "max_isometric_force", number(force))
    if isinstance(law, FibreTendon):
        _describe_fibre(element, law)
        return
    element_text(element, "optimal_fiber_length", number((1.0 - TENDON) * rest))
    element_text(element, "tendon_slack_length", number(TENDON * rest))
    element_text(element, "pennation_angle_at_optimal", "0")
    if isinstance(law, LinearHill):
        element_text(element, "max_contraction_velocity", number(law.fastest))
    element_text(element, "ignore_tendon_compliance", "true")


def _add_riding_point(listed: ET.Element, body: Body, p: int, name: str) -> None:
    """A point that rides on a carrier (a patella): its place as splines of the hinge's angle, in the frame of the bone
    beyond the hinge (OpenSim takes no force from a segment between two points of one body)."""
    muscles, skeleton = body.muscles, body.skeleton
    carrier = muscles.frames[muscles.riding[p]]
    place = muscles.carriers.place[int(np.flatnonzero(muscles.carriers.point == p)[0])]
    curve = CubicSpline(carrier.at, np.column_stack([carrier.place, carrier.angle]))
    hinge = placement(skeleton, skeleton.index(carrier.driver))
    pivot, axis = np.asarray(carrier.pivot), np.asarray(carrier.axis)
    angle = np.linspace(carrier.at[0], carrier.at[-1], KNOTS)
    where = np.empty((KNOTS, 3))
    for k, a in enumerate(angle):
        in_base = curve(a)[:3] + rotation_about(pivot, curve(a)[3]) @ place
        where[k] = (hinge[:3, :3] @ rotation_about(axis, a)).T @ (in_base - hinge[:3, 3])
    point = ET.SubElement(listed, "MovingPathPoint", name=name)
    element_text(point, "socket_parent_frame", f"/bodyset/{carrier.driver}")
    for c, word in enumerate("xyz"):
        element_text(point, f"socket_{word}_coordinate", f"/jointset/{carrier.driver}_joint/{carrier.driver}_angle")
        spline = ET.SubElement(ET.SubElement(point, f"{word}_location"), "SimmSpline", name="function")
        element_text(spline, "x", numbers(angle))
        element_text(spline, "y", numbers(where[:, c]))


def _add_cylinder(bodies: ET.Element, wraps: ET.Element, name: str, cylinder: Cylinder) -> None:
    """A `WrapCylinder` on its bone, passed on the side of its own x axis, for one segment of a path."""
    bone = next(one for one in bodies if one.get("name") == cylinder.bone)
    held = bone.find("WrapObjectSet")
    if held is None:
        held = ET.SubElement(bone, "WrapObjectSet", name="wrapobjectset")
        ET.SubElement(held, "objects")
    shape = ET.SubElement(held.find("objects"), "WrapCylinder", name=name)  # type: ignore[arg-type]
    element_text(shape, "translation", numbers(cylinder.centre))
    element_text(shape, "xyz_body_rotation", numbers(angles(cylinder_frame(name, cylinder).T)))
    element_text(shape, "quadrant", "+x")
    element_text(shape, "radius", number(cylinder.radius))
    element_text(shape, "length", "1")
    wrap = ET.SubElement(wraps, "PathWrap", name=f"{name}_wrap")
    element_text(wrap, "wrap_object", name)
    element_text(wrap, "range", f"{cylinder.segment + 1} {cylinder.segment + 2}")


def _describe_fibre(element: ET.Element, law: FibreTendon) -> None:
    dynamics = ActivationDynamics()
    for tag, value in (
        ("optimal_fiber_length", law.fibre_length),
        ("tendon_slack_length", law.slack_length),
        ("pennation_angle_at_optimal", law.pennation),
        ("max_contraction_velocity", law.fastest),
        ("fiber_damping", law.damping),
        ("tendon_strain_at_one_norm_force", law.strain),
        ("activation_time_constant", dynamics.on),
        ("deactivation_time_constant", dynamics.off),
        ("default_activation", 1e-6),  # must not be zero
    ):
        element_text(element, tag, number(value))
    element_text(element, "ignore_tendon_compliance", "true" if law.tendon == "rigid" else "false")
    element_text(element, "ignore_passive_fiber_force", "false" if law.passive else "true")


def add_springs(forces: ET.Element, skeleton: Skeleton) -> None:
    """Springs between bones, then springs, dampers and stops of joints."""
    for s in range(len(skeleton.springs)):
        _add_spring(forces, skeleton, s)
    rest = coordinate_values(skeleton, skeleton.neutral)
    column = 0
    for i in range(skeleton.n_bones):
        for k, axis in enumerate(joint_axes(skeleton, i) or ()):
            v, name = velocity_index(skeleton, i, k), f"{skeleton.names[i]}_{axis[0]}"
            stiffness, damping = skeleton.forces.stiffness[v], skeleton.forces.damping[v]
            if (stiffness or damping) and not _round(skeleton, i):
                element = ET.SubElement(forces, "SpringGeneralizedForce", name=f"{name}_spring")
                element_text(element, "coordinate", name)
                element_text(element, "stiffness", number(stiffness))
                element_text(element, "rest_length", number(rest[column]))
                element_text(element, "viscosity", number(damping))
            # limits of a ball count from neutral
            _add_stops(forces, skeleton, v, name, axis[1], rest[column] if isinstance(skeleton.joints[i], Ball) else 0)
            column += 1
        if _round(skeleton, i):
            _add_round_spring(forces, skeleton, i)


def _round(skeleton: Skeleton, i: int) -> bool:
    """Whether bone i hangs on a ball joint that is equally stiff and damped about all its axes."""
    at = slice(int(skeleton.v_start[i]), int(skeleton.v_start[i]) + 3)
    k, d = skeleton.forces.stiffness[at], skeleton.forces.damping[at]
    return isinstance(skeleton.joints[i], Ball) and bool(k.any() and np.ptp(k) == 0.0 and np.ptp(d) == 0.0)


def _add_round_spring(forces: ET.Element, skeleton: Skeleton, i: int) -> None:
    """A ball's spring and damper, the same about all axes, for turns of any size.

    The spring's energy k θ²/2 depends on the trace of the rotation alone, 1 + 2 cos θ; a bushing takes its slopes in
    its three angles. The damper is one of points: three points at distance r, each with d/(2 r²) against its motion.
    """
    name, at = skeleton.names[i], int(skeleton.v_start[i])
    above = int(skeleton.parent[i])
    k, d = skeleton.forces.stiffness[at], skeleton.forces.damping[at]
    order = turning_order(skeleton, i)
    turned = np.eye(3)[list(order)].T  # columns: the axes about which it turns first, second and third
    turned[:, 2] = np.cross(turned[:, 0], turned[:, 1])
    place = placement(skeleton, i) if above >= 0 else np.eye(4)
    neutral = neutral_placement(skeleton, i)
    ends = [
        ("/ground" if above < 0 else f"/bodyset/{skeleton.names[above]}", place[:3, 3], neutral[:3, :3] @ turned),
        (f"/bodyset/{name}", np.zeros(3), turned),
    ]
    spring = _bushing(forces, f"{name}_spring", ends, "ExpressionBasedBushingForce")
    slopes = (
        "-sin(theta_x)*cos(theta_z)-cos(theta_x)*sin(theta_y)*sin(theta_z)-sin(theta_x)*cos(theta_y)",
        "-sin(theta_y)*cos(theta_z)-sin(theta_x)*cos(theta_y)*sin(theta_z)-cos(theta_x)*sin(theta_y)",
        "-cos(theta_y)*sin(theta_z)-cos(theta_x)*sin(theta_z)-sin(theta_x)*sin(theta_y)*cos(theta_z)",
    )
    where = (
        "; c=(1-1e-13)*(cos(theta_y)*cos(theta_z)+cos(theta_x)*cos(theta_z)"
        "-sin(theta_x)*sin(theta_y)*sin(theta_z)+cos(theta_x)*cos(theta_y)-1)/2"
    )
    for axis, slope in zip("xyz", slopes):
        element_text(spring, f"M{axis}_expression", f"-{number(k)}*acos(c)/(2*sqrt(1-c*c))*({slope}){where}")
    for axis in "xyz":
        element_text(spring, f"F{axis}_expression", "0")
    for c, arm in enumerate(REACH * np.eye(3)):
        ends = [(ends[0][0], neutral[:3, 3] + neutral[:3, :3] @ arm, np.eye(3)), (ends[1][0], arm, np.eye(3))]
        damper = _bushing(forces, f"{name}_damper{c + 1}", ends, "BushingForce")
        for what, value in (("stiffness", 0.0), ("damping", d / (2.0 * REACH**2))):
            element_text(damper, f"rotational_{what}", "0 0 0")
            element_text(damper, f"translational_{what}", numbers((value,) * 3))


def _bushing(forces: ET.Element, name: str, ends: list[tuple[str, Array, Array]], kind: str) -> ET.Element:
    """A force between two frames, each (bone, place [m], turn), fixed to a bone."""
    element = ET.SubElement(forces, kind, name=name)
    for k in (1, 2):
        element_text(element, f"socket_frame{k}", f"end{k}")
    frames = ET.SubElement(element, "frames")
    for k, (bone, where, turn) in enumerate(ends, start=1):
        frame = ET.SubElement(frames, "PhysicalOffsetFrame", name=f"end{k}")
        element_text(frame, "socket_parent", bone)
        element_text(frame, "translation", numbers(where))
        element_text(frame, "orientation", numbers(angles(turn)))
    return element


def _add_stops(forces: ET.Element, skeleton: Skeleton, v: int, name: str, kind: str, shift: float) -> None:
    """Stops of one coordinate; OpenSim counts those of angles in degrees. An end at infinity is put out of reach."""
    own = skeleton.forces
    if not own.limit_stiffness[v] and not own.limit_damping[v]:
        return
    unit = np.degrees(1.0) if kind == "rotation" else 1.0
    low, high = (np.clip(unit * (end + shift), -1e6, 1e6) for end in (own.low[v], own.high[v]))
    element = ET.SubElement(forces, "CoordinateLimitForce", name=f"{name}_stop")
    element_text(element, "coordinate", name)
    for side, at in (("upper", high), ("lower", low)):
        element_text(element, f"{side}_stiffness", number(own.limit_stiffness[v] / unit))
        element_text(element, f"{side}_limit", number(at))
    element_text(element, "damping", number(own.limit_damping[v] / unit))
    element_text(element, "transition", number(EASE if kind == "rotation" else EASE * 1e-3))


def _add_spring(forces: ET.Element, skeleton: Skeleton, s: int) -> None:
    springs = skeleton.springs
    name = f"spring_{springs.names[s].replace('~', '_')}"
    bones = [f"/bodyset/{skeleton.names[b]}" if b >= 0 else "/ground" for b in springs.bones[s]]
    if springs.rest_length[s] > 0.0:
        element = ET.SubElement(forces, "PointToPointSpring", name=name)
        for end in range(2):
            element_text(element, f"socket_body{end + 1}", bones[end])
        for end in range(2):
            element_text(element, f"point{end + 1}", numbers(springs.points[s, end]))
        element_text(element, "stiffness", number(springs.stiffness[s]))
        element_text(element, "rest_length", number(springs.rest_length[s]))
        return
    element = _bushing(forces, name, [(bones[e], springs.points[s, e], np.eye(3)) for e in range(2)], "BushingForce")
    for what, value in (("stiffness", springs.stiffness[s]), ("damping", springs.damping[s])):
        element_text(element, f"rotational_{what}", "0 0 0")
        element_text(element, f"translational_{what}", numbers((value,) * 3))
