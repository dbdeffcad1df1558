"""A soft character: a skin, tetrahedra that enclose it, a skeleton in them, and weights that tie the two.

Nodes near a bone's axis are fixed in it; the mass of those nodes is the bone's, that of the others is flesh. Joints
turn from the zero pose, in which arms hang and legs stand together; the mesh is bound at `bind_q`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial.transform import Rotation

from vitruvian.anatomy.characters.design import Bone, Colour
from vitruvian.errors import InputError
from vitruvian.flesh import Embedding, Tetrahedra, embed
from vitruvian.skeleton import Inertia, Skeleton, SkeletonBuilder, bone_poses
from vitruvian.skeleton.joints import Ball, Free, Joint, Revolute

Array = np.ndarray


@dataclass(frozen=True)
class Patch:
    """Triangles of one colour."""

    name: str
    faces: Array  # vertex numbers, shape (m, 3)
    colour: Colour


@dataclass(frozen=True)
class Character:
    """Everything about a character that never changes."""

    name: str
    bones: tuple[Bone, ...]
    tetrahedra: Tetrahedra  # as drawn up, in the bind pose
    fixed: Array  # bone in which each node is fixed, -1 for flesh, shape (n_nodes,)
    weights: Array  # of the bones on each node, rows of sum 1, shape (n_nodes, n_bones)
    vertices: Array  # of the fine surface in the bind pose [m], shape (n, 3); those of features come last
    n_skin: int  # how many of them are skin, and touch things
    patches: tuple[Patch, ...]
    mass: float  # [kg]
    young: float  # [Pa]
    poisson: float

    @cached_property
    def node_mass(self) -> Array:
        """[kg], shape (n_nodes,): even density over the tetrahedra."""
        volume = self.tetrahedra.node_volume
        return np.asarray(self.mass * volume / volume.sum())

    @cached_property
    def skin(self) -> Embedding:
        """The fine surface in the tetrahedra."""
        return embed(self.tetrahedra, self.vertices)

    @cached_property
    def skeleton(self) -> Skeleton:
        """Bones that weigh what the nodes fixed in them do."""
        return self._skeleton((self.fixed[:, None] == np.arange(len(self.bones))).astype(float))

    @cached_property
    def rigid(self) -> Skeleton:
        """The same bones with all of the flesh, shared out by weights: for inverse dynamics and first searches."""
        return self._skeleton(self.weights)

    @cached_property
    def bind_q(self) -> Array:
        """Joint coordinates at which the mesh is drawn up, shape (n_q,)."""
        parts = []
        turns = {bone.name: Rotation.from_rotvec(bone.bind) for bone in self.bones}
        for bone in self.bones:
            own = turns[bone.name] if bone.parent is None else turns[bone.parent].inv() * turns[bone.name]
            if bone.joint == "hinge":
                parts.append(np.array([own.as_rotvec() @ np.asarray(bone.axis)]))
            else:
                place = np.asarray(bone.at) if bone.joint == "free" else np.zeros(0)
                parts.append(np.concatenate([place, own.as_quat(scalar_first=True)]))
        return np.concatenate(parts)

    @cached_property
    def standing_q(self) -> Array:
        """As drawn up, leaning from the ankles until the centre of mass is over the middle of the soles, (n_q,)."""
        feet = [b for b in self.bones if b.name.startswith("foot")]
        if not feet:
            return self.bind_q
        soles = self.vertices[: self.n_skin][self.vertices[: self.n_skin, 2] < 0.004 * self.vertices[:, 2].max()]
        ankle = np.mean([b.at for b in feet], axis=0)
        centre = self.node_mass @ self.tetrahedra.nodes / self.mass
        wanted = 0.5 * (soles[:, 1].min() + soles[:, 1].max()) - ankle[1]
        arm = centre[1:] - ankle[1:]
        lean = np.arcsin(np.clip(-wanted / np.hypot(*arm), -1.0, 1.0)) + np.arctan2(arm[0], arm[1])
        turn = Rotation.from_rotvec([lean, 0.0, 0.0])
        q, s = self.bind_q.copy(), self.skeleton
        q[:3] = ankle + turn.apply(q[:3] - ankle)
        q[3:7] = (turn * Rotation.from_quat(q[3:7], scalar_first=True)).as_quat(scalar_first=True)
        for foot in feet:
            at, leg = (
                s.q_slice(foot.name),
                Rotation.from_rotvec(next(b.bind for b in self.bones if b.name == foot.parent)),
            )
            own = Rotation.from_quat(q[at], scalar_first=True)
            q[at] = ((turn * leg).inv() * leg * own).as_quat(scalar_first=True)
        return np.asarray(q)

    @cached_property
    def zero_q(self) -> Array:
        """Upright with hanging arms; the pelvis where it is drawn, shape (n_q,)."""
        q = self.skeleton.neutral.copy()
        q[:3] = self.bones[0].at
        return np.asarray(q)

    @cached_property
    def gains(self) -> tuple[Array, Array]:
        """kp [N m/rad] and kd [N m s/rad] of the joints' servos, shape (n_v,) each; none at the root."""
        counts = [joint.n_v for joint in self.skeleton.joints]
        return tuple(  # type: ignore[return-value]
            np.repeat([getattr(b, name) for b in self.bones], counts) for name in ("stiffness", "damping")
        )

    def _skeleton(self, share: Array) -> Skeleton:
        """Bones that weigh `share` (n_nodes, n_bones) of the nodes' masses."""
        builder = SkeletonBuilder()
        turns = {b.name: Rotation.from_rotvec(b.bind).as_matrix() for b in self.bones}
        at = {b.name: np.asarray(b.at) for b in self.bones}
        for k, bone in enumerate(self.bones):
            mass = share[:, k] * self.node_mass
            local = (self.tetrahedra.nodes - at[bone.name]) @ turns[bone.name]
            placement = np.zeros(3)
            if bone.parent is not None:
                placement = turns[bone.parent].T @ (at[bone.name] - at[bone.parent])
            builder.add_bone(
                bone.name, parent=bone.parent, joint=_joint(bone), placement=placement, inertia=_inertia(mass, local)
            )
        return builder.build()

    def check(self) -> None:
        """Refuse what cannot be simulated, with the part at fault."""
        poses = bone_poses(self.skeleton, self.bind_q)
        for k, bone in enumerate(self.bones):
            if np.abs(poses[k, :3, 3] - bone.at).max() > 1e-9:
                raise InputError(
                    f"character {self.name}: bone '{bone.name}' does not meet its parent at its hinge's axis"
                )


def _joint(bone: Bone) -> Joint:
    if bone.joint == "hinge":
        return Revolute(bone.axis)
    return Free() if bone.joint == "free" else Ball()


def _inertia(mass: Array, at: Array) -> Inertia:
    """Of points [kg] (n,) at [m] (n, 3)."""
    total = float(mass.sum())
    centre = mass @ at / total
    arm = at - centre
    spread = (mass * np.sum(arm**2, axis=1)).sum() * np.eye(3) - np.einsum("n,ni,nj->ij", mass, arm, arm)
    return Inertia(total, centre, spread)


def fixed_nodes(
    tetrahedra: Tetrahedra, bones: Sequence[Bone], spacing: float, feet: Sequence[str], inside: Array
) -> Array:
    """Bone of each node that is fixed in one, else -1.

    Nodes within 0.75 of the lattice's spacing of the middle 60 % of a bone's axis, in feet within 0.95 of all of it,
    since a foot that hangs on few nodes cannot hold its owner up; four nodes at least, not on one line. inside: signed
    distance of the nodes from the surface [m]."""
    out = np.full(tetrahedra.n_nodes, -1)
    axes = [(np.asarray(b.at, float), np.asarray(b.tip, float)) for b in bones]
    far = np.stack([_to_segment(tetrahedra.nodes, *axis) for axis in axes], axis=1)
    nearest = far.argmin(axis=1)
    for k, bone in enumerate(bones):
        a, b = axes[k]
        foot = bone.name in feet
        cut = 0.0 if foot else 0.2 * (b - a)
        distance = _to_segment(tetrahedra.nodes, a + cut, b - cut)
        own = (nearest == k) & (out < 0)
        chosen = np.flatnonzero(own & (distance < (0.95 if foot else 0.75) * spacing))
        if len(chosen) < 4 or _on_a_line(tetrahedra.nodes[chosen]):
            order = np.argsort(np.where(own, distance, np.inf))
            chosen = order[:4]
            while _on_a_line(tetrahedra.nodes[chosen]):
                chosen = order[: len(chosen) + 1]
        if not np.isfinite(distance[chosen]).all() or not own[chosen].all():
            raise InputError(f"bone '{bone.name}': fewer than four nodes lie near it; a finer lattice may do")
        if inside[chosen].min() > spacing:
            raise InputError(f"bone '{bone.name}' lies outside the skin")
        out[chosen] = k
    return out


def _to_segment(points: Array, a: Array, b: Array) -> Array:
    along = b - a
    t = np.clip((points - a) @ along / max(float(along @ along), 1e-12), 0.0, 1.0)
    return np.linalg.norm(points - a - t[:, None] * along, axis=1)


def _on_a_line(points: Array) -> bool:
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return bool(spread[1] < 0.05 * spread[0])
