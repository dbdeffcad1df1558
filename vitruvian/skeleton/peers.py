"""The same skeleton in Pinocchio and in MuJoCo, to be tested and timed against them.

Both are optional packages. Their free and ball joints use other orders and frames than ours, so each twin carries
the maps of coordinates, velocities, accelerations and forces. Joints of several axes (universal, cylindrical, planar)
become composites of one-axis joints in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from vitruvian.errors import InputError, MissingExtra
from vitruvian.skeleton.joints import (
    Ball,
    Cylindrical,
    Fixed,
    Free,
    Helical,
    Joint,
    Planar,
    Prismatic,
    Revolute,
    Universal,
)
from vitruvian.skeleton.model import Skeleton
from vitruvian.spatial import (
    pose_from_transform,
    quaternion_from_rotation,
    rotation_from_quaternion,
    transform,
    transform_from_pose,
)

Array = np.ndarray


@dataclass
class PinocchioTwin:
    """model, data: Pinocchio's own. Only the order of numbers differs."""

    pin: Any
    model: Any
    data: Any
    skeleton: Skeleton

    at_q: Array  # where our coordinates stand in theirs
    at_v: Array  # where our velocities stand in theirs

    def q(self, q: Array) -> Array:
        """Our coordinates in Pinocchio's order."""
        out = np.empty(len(self.at_q))
        out[self.at_q] = q
        return out

    def v(self, v: Array) -> Array:
        """Velocities, accelerations or forces in Pinocchio's order."""
        out = np.empty(len(self.at_v))
        out[self.at_v] = v
        return out

    def ours(self, v: Array) -> Array:
        """Pinocchio's velocities, accelerations or forces in our order."""
        return np.asarray(v)[self.at_v]

    def our_matrix(self, upper: Array) -> Array:
        """Pinocchio's symmetric matrix, of which it fills the upper half, in our order."""
        M = np.triu(upper)
        return (M + np.triu(M, 1).T)[np.ix_(self.at_v, self.at_v)]


def pinocchio_twin(skeleton: Skeleton) -> PinocchioTwin:
    """Our skeleton as a Pinocchio model; InputError if a joint has no counterpart there."""
    try:
        import pinocchio as pin
    except ImportError:
        raise MissingExtra("Pinocchio", "pip install pin") from None
    model = pin.Model()
    model.gravity.linear = skeleton.gravity
    joint_of: dict[int, int] = {-1: 0}
    offset: dict[int, Any] = {-1: pin.SE3.Identity()}  # where a bone stands in the frame of the joint that carries it
    at_q, at_v = np.empty(skeleton.n_q, dtype=int), np.empty(skeleton.n_v, dtype=int)
    for i in _depth_first(skeleton):  # Pinocchio wants each subtree in one piece
        joint, p = skeleton.joints[i], int(skeleton.parent[i])
        placement = offset[p] * pin.SE3(skeleton.bodies[i, :9].reshape(3, 3).copy(), skeleton.bodies[i, 9:12].copy())
        if isinstance(joint, Fixed):
            joint_of[i], offset[i] = joint_of[p], placement
        else:
            theirs = _pinocchio_joint(pin, joint, skeleton.names[i])
            joint_of[i] = model.addJoint(joint_of[p], theirs, placement, skeleton.names[i])
            offset[i] = pin.SE3.Identity()
            added = model.joints[joint_of[i]]
            # quaternions are (x, y, z, w) there, and a free joint's velocity is linear first
            q_order = {Ball: [3, 0, 1, 2], Free: [0, 1, 2, 6, 3, 4, 5]}.get(type(joint), range(joint.n_q))
            v_order = [3, 4, 5, 0, 1, 2] if isinstance(joint, Free) else range(joint.n_v)
            at_q[skeleton.q_start[i] : skeleton.q_start[i + 1]] = added.idx_q + np.array(q_order)
            at_v[skeleton.v_start[i] : skeleton.v_start[i + 1]] = added.idx_v + np.array(v_order)
        inertia = pin.Inertia(float(skeleton.bodies[i, 12]), skeleton.coms[i], _about_com(skeleton, i))
        model.appendBodyToJoint(joint_of[i], inertia, offset[i])
    return PinocchioTwin(pin, model, model.createData(), skeleton, at_q, at_v)


@dataclass
class MujocoTwin:
    """model, data: MuJoCo's own. A free joint's linear velocity is along world axes there."""

    mujoco: Any
    model: Any
    data: Any
    skeleton: Skeleton

    at_q: Array  # where our coordinates stand in qpos
    at_v: Array  # where our velocities stand in qvel

    def set(self, q: Array, v: Array, tau: Array | None = None) -> None:
        """Our coordinates, velocities and forces into `data`."""
        ours = np.array(q, dtype=float)  # positions first, quaternions (w, x, y, z): as theirs
        for i in self._free_bones():  # a free body's coordinates there are its pose in the world
            at = slice(self.skeleton.q_start[i], self.skeleton.q_start[i + 1])
            ours[at] = pose_from_transform(self._placement(i) @ transform_from_pose(q[at]))
        self.data.qpos[self.at_q] = ours
        self.data.qvel[:] = self.velocity_map(q) @ v
        if tau is not None:
            self.data.qfrc_applied[:] = self.velocity_map(q) @ tau  # orthogonal, so forces map as velocities do

    def acceleration(self, q: Array, v: Array, qacc: Array) -> Array:
        """MuJoCo's accelerations in our velocity coordinates: a_body = Rᵀ a_world - ω × v_body."""
        out = self.velocity_map(q).T @ qacc
        for a, _ in self._frees(q):
            out[a + 3 : a + 6] -= np.cross(v[a : a + 3], v[a + 3 : a + 6])
        return out

    def theirs(self, q: Array, v: Array, a: Array) -> Array:
        """Our accelerations in MuJoCo's velocity coordinates: the inverse of `acceleration`."""
        out = np.array(a, dtype=float)
        for k, _ in self._frees(q):
            out[k + 3 : k + 6] += np.cross(v[k : k + 3], v[k + 3 : k + 6])
        return self.velocity_map(q) @ out

    def velocity_map(self, q: Array) -> Array:
        """Orthogonal B (n_v, n_v) with MuJoCo's velocity = B v; M_ours = Bᵀ M_theirs B."""
        B = np.eye(self.skeleton.n_v)
        for a, R in self._frees(q):
            B[a : a + 6, a : a + 6] = 0.0
            B[a : a + 3, a + 3 : a + 6] = R
            B[a + 3 : a + 6, a : a + 3] = np.eye(3)
        out = np.empty_like(B)
        out[self.at_v] = B
        return out

    def _free_bones(self) -> list[int]:
        return [i for i, joint in enumerate(self.skeleton.joints) if isinstance(joint, Free)]

    def _placement(self, i: int) -> Array:
        return transform(self.skeleton.bodies[i, :9].reshape(3, 3), self.skeleton.bodies[i, 9:12])

    def _frees(self, q: Array) -> list[tuple[int, Array]]:
        """First velocity and world rotation of each free bone."""
        s = self.skeleton
        return [
            (
                int(s.v_start[i]),
                self._placement(i)[:3, :3] @ rotation_from_quaternion(q[s.q_start[i] + 3 : s.q_start[i] + 7]),
            )
            for i in self._free_bones()
        ]


def mujoco_twin(skeleton: Skeleton) -> MujocoTwin:
    """Our skeleton as a MuJoCo model without contacts; InputError if a joint has no counterpart there."""
    try:
        import mujoco
    except ImportError:
        raise MissingExtra("MuJoCo", "pip install mujoco") from None
    children: dict[int, list[int]] = {}
    for i, p in enumerate(skeleton.parent):
        children.setdefault(int(p), []).append(i)

    def body(i: int) -> str:
        P, p = skeleton.bodies[i, :9].reshape(3, 3), skeleton.bodies[i, 9:12]
        m, c, I = skeleton.bodies[i, 12], skeleton.coms[i], _about_com(skeleton, i)
        moments = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
        joints = _mujoco_joints(skeleton.joints[i], skeleton.names[i])
        inner = "".join(body(k) for k in children.get(i, []))
        return (
            f"<body name={quoteattr(skeleton.names[i])} pos='{_text(p)}' quat='{_text(quaternion_from_rotation(P))}'>"
            f"{joints}<inertial pos='{_text(c)}' mass='{float(m)!r}' fullinertia='{_text(moments)}'/>{inner}</body>"
        )

    xml = (
        "<mujoco><compiler angle='radian' inertiafromgeom='false' balanceinertia='false' boundmass='0' "
        "boundinertia='0'/><option integrator='Euler'><flag contact='disable' constraint='disable'/></option>"
        f"<worldbody>{''.join(body(i) for i in children[-1])}</worldbody></mujoco>"
    )
    model = mujoco.MjModel.from_xml_string(xml)
    model.opt.gravity[:] = skeleton.gravity
    at_q, at_v = np.empty(skeleton.n_q, dtype=int), np.empty(skeleton.n_v, dtype=int)
    for i, name in enumerate(skeleton.names):  # MuJoCo numbers bodies depth first
        first = int(model.body(name).jntadr[0])
        if first >= 0:
            for at, start, address in ((at_q, skeleton.q_start, "qposadr"), (at_v, skeleton.v_start, "dofadr")):
                base = int(getattr(model.jnt(first), address)[0])
                at[start[i] : start[i + 1]] = base + np.arange(start[i + 1] - start[i])
    return MujocoTwin(mujoco, model, mujoco.MjData(model), skeleton, at_q, at_v)


def _depth_first(skeleton: Skeleton) -> list[int]:
    children: dict[int, list[int]] = {}
    for i, p in enumerate(skeleton.parent):
        children.setdefault(int(p), []).append(i)
    order: list[int] = []
    waiting = list(reversed(children[-1]))
    while waiting:
        order.append(waiting.pop())
        waiting += reversed(children.get(order[-1], []))
    return order


def _about_com(skeleton: Skeleton, i: int) -> Array:
    b = skeleton.bodies[i]
    xx, xy, xz, yy, yz, zz = b[16:22]
    c = skeleton.coms[i]
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) - b[12] * ((c @ c) * np.eye(3) - np.outer(c, c))


def _pinocchio_joint(pin: Any, joint: Joint, name: str) -> Any:
    def axis(a: object) -> Array:
        return np.asarray(a, dtype=float)

    def chain(*parts: Any) -> Any:
        composite = pin.JointModelComposite()
        for part in parts:
            composite.addJoint(part)
        return composite

    if isinstance(joint, Revolute):
        return pin.JointModelRevoluteUnaligned(axis(joint.axis))
    if isinstance(joint, Prismatic):
        return pin.JointModelPrismaticUnaligned(axis(joint.axis))
    if isinstance(joint, Helical):
        return pin.JointModelHelicalUnaligned(axis(joint.axis), joint.pitch)
    if isinstance(joint, Ball):
        return pin.JointModelSpherical()
    if isinstance(joint, Free):
        return pin.JointModelFreeFlyer()
    if isinstance(joint, Universal):
        return chain(
            pin.JointModelRevoluteUnaligned(axis(joint.axis1)), pin.JointModelRevoluteUnaligned(axis(joint.axis2))
        )
    if isinstance(joint, Cylindrical):
        return chain(
            pin.JointModelRevoluteUnaligned(axis(joint.axis)), pin.JointModelPrismaticUnaligned(axis(joint.axis))
        )
    if isinstance(joint, Planar):
        normal, x, y = joint.parameters(np.eye(4)).reshape(3, 3)
        return chain(
            pin.JointModelPrismaticUnaligned(x),
            pin.JointModelPrismaticUnaligned(y),
            pin.JointModelRevoluteUnaligned(normal),
        )
    raise InputError(f"bone '{name}': Pinocchio has no {type(joint).__name__} joint")


def _mujoco_joints(joint: Joint, name: str) -> str:
    def one(kind: str, axis: object) -> str:
        return f"<joint type='{kind}' axis='{_text(axis)}'/>"

    if isinstance(joint, Fixed):
        return ""
    if isinstance(joint, Revolute):
        return one("hinge", joint.axis)
    if isinstance(joint, Prismatic):
        return one("slide", joint.axis)
    if isinstance(joint, Ball):
        return "<joint type='ball'/>"
    if isinstance(joint, Free):
        return "<freejoint/>"
    if isinstance(joint, Universal):
        return one("hinge", joint.axis1) + one("hinge", joint.axis2)
    if isinstance(joint, Cylindrical):
        return one("hinge", joint.axis) + one("slide", joint.axis)
    if isinstance(joint, Planar):
        normal, x, y = joint.parameters(np.eye(4)).reshape(3, 3)
        return one("slide", x) + one("slide", y) + one("hinge", normal)
    raise InputError(f"bone '{name}': MuJoCo has no {type(joint).__name__} joint")


def _text(values: object) -> str:
    return " ".join(repr(float(x)) for x in np.asarray(values, dtype=float))
