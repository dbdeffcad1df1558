"""Building a skeleton bone by bone; everything that can be wrong is found here, with the bone's name in the error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from vitruvian.errors import InputError, unknown_name
from vitruvian.skeleton.evaluate import BODY_WIDTH, CODE, CUSTOM_ROW, GENERAL, NV, PARAM, PARENT, Q0, SD, V0
from vitruvian.skeleton.inertia import Inertia
from vitruvian.skeleton.joints import Ball, Custom, Fixed, Free, Joint
from vitruvian.skeleton.joints.base import CYLINDRICAL, check_finite
from vitruvian.skeleton.model import BodySprings, JointForces, Skeleton

Array = np.ndarray


@dataclass(frozen=True)
class _Bone:
    name: str
    parent: str | None
    joint: Joint
    placement: Array
    inertia: Inertia
    neutral: Array
    forces: dict[str, Array]


class SkeletonBuilder:
    """Collects bones and springs, then `build()` checks the whole and returns a `Skeleton`."""

    def __init__(self, gravity: ArrayLike = (0.0, 0.0, -9.81)) -> None:
        check_finite(gravity, "gravity")
        self.gravity = np.array(gravity, dtype=float).reshape(3)
        self._bones: dict[str, _Bone] = {}
        self._springs: list[tuple[str, str | None, Array, str | None, Array, float, float, float | None]] = []

    def add_bone(
        self,
        name: str,
        *,
        parent: str | None = None,
        joint: Joint,
        placement: ArrayLike | None = None,
        inertia: Inertia,
        stiffness: ArrayLike = 0.0,
        damping: ArrayLike = 0.0,
        neutral: ArrayLike | None = None,
        limits: tuple[ArrayLike, ArrayLike] | None = None,
        limit_stiffness: ArrayLike = 0.0,
        limit_damping: ArrayLike = 0.0,
    ) -> None:
        """Add a bone whose frame is the joint's child frame: T_bone = T_parent · placement · G(q).

        placement: where the joint stands in the parent's frame, (4, 4) or a position (3,); identity if None.
        stiffness, damping, limit_stiffness, limit_damping: numbers or (n_v,), SI per rad or m.
        neutral: coordinates (n_q,) at which joint springs rest and at which the skeleton starts.
        limits: (low, high) of the coordinates; for ball and free joints of the rotation vector (and displacement) from
        neutral. A spline joint with an open domain takes the domain as its limits when limit_stiffness is given
        without them.

        The parent may be added later.
        """
        _check_name(name, "bone")
        what = f"bone '{name}'"
        if parent is not None and not isinstance(parent, str):
            raise InputError(f"{what}: parent must be the name of a bone, not {parent!r}")
        if name in self._bones:
            raise InputError(f"{what}: this name is used twice")
        if not isinstance(joint, Joint):
            raise InputError(f"{what}: joint must be one of vitruvian.skeleton.joints, not {type(joint).__name__}")
        if not isinstance(inertia, Inertia):
            raise InputError(f"{what}: inertia must be an Inertia, not {type(inertia).__name__}")
        joint.check(name)
        start = joint.zero() if neutral is None else np.array(neutral, dtype=float).reshape(-1)
        check_finite(start, f"{what}: neutral")
        if start.shape != (joint.n_q,):
            raise InputError(f"{what}: neutral needs {joint.n_q} numbers, got {start.shape}")
        if isinstance(joint, (Ball, Free)):
            length = float(np.linalg.norm(start[-4:]))
            if abs(length - 1.0) > 1e-6:
                raise InputError(f"{what}: neutral quaternion is not of unit length ({length:.6g})")
            start[-4:] /= length
        forces = {}
        for key, value in (
            ("stiffness", stiffness),
            ("damping", damping),
            ("limit_stiffness", limit_stiffness),
            ("limit_damping", limit_damping),
        ):
            forces[key] = _per_dof(value, joint.n_v, f"{what}: {key}")
            if (forces[key] < 0.0).any():
                raise InputError(f"{what}: {key} is negative")
        if limits is None and joint.domain is not None and (forces["limit_stiffness"] > 0.0).any():
            low, high = (np.array(side, dtype=float) for side in zip(*joint.domain))
        elif limits is None:
            low, high = np.full(joint.n_v, -np.inf), np.full(joint.n_v, np.inf)
        else:
            low, high = (_per_dof(side, joint.n_v, f"{what}: limits", infinite=True) for side in limits)
        if not (low <= high).all():
            raise InputError(f"{what}: a lower limit lies above its upper limit")
        forces["low"], forces["high"] = low, high
        self._bones[name] = _Bone(name, parent, joint, _placement(placement, what), inertia, start, forces)

    def add_spring(
        self,
        name: str,
        bone_a: str | None,
        point_a: ArrayLike,
        bone_b: str | None,
        point_b: ArrayLike,
        stiffness: float,
        damping: float = 0.0,
        rest_length: float | None = None,
    ) -> None:
        """A damped spring between a point of bone_a and one of bone_b [m] in their frames; None is the world.

        rest_length [m]: None takes the distance in the neutral pose."""
        _check_name(name, "spring")
        what = f"spring '{name}'"
        for bone in (bone_a, bone_b):
            if bone is not None and not isinstance(bone, str):
                raise InputError(f"{what}: an end must be the name of a bone or None, not {bone!r}")
        if bone_a == bone_b:
            where = "the world" if bone_a is None else f"bone '{bone_a}'"
            raise InputError(f"{what}: both ends are on {where}, where it pulls nothing")
        if any(name == other[0] for other in self._springs):
            raise InputError(f"{what}: this name is used twice")
        points = []
        for point in (point_a, point_b):
            check_finite(point, f"{what}: point")
            points.append(np.array(point, dtype=float).reshape(3))
        for key, value in (("stiffness", stiffness), ("damping", damping), ("rest_length", rest_length)):
            if value is not None:
                check_finite(value, f"{what}: {key}")
                if value < 0.0:
                    raise InputError(f"{what}: {key} is negative")
        self._springs.append((name, bone_a, points[0], bone_b, points[1], stiffness, damping, rest_length))

    def build(self) -> Skeleton:
        """Check the whole tree and freeze it."""
        if not self._bones:
            raise InputError("a skeleton needs at least one bone")
        bones = self._ordered()
        index = {bone.name: i for i, bone in enumerate(bones)}
        parent = np.array([-1 if b.parent is None else index[b.parent] for b in bones], dtype=np.int64)
        self._check_masses(bones, parent)
        q_start = np.concatenate([[0], np.cumsum([b.joint.n_q for b in bones])]).astype(np.int64)
        v_start = np.concatenate([[0], np.cumsum([b.joint.n_v for b in bones])]).astype(np.int64)
        topology = np.zeros((len(bones), 8), dtype=np.int64)
        bodies = np.zeros((len(bones), BODY_WIDTH))
        params: list[Array] = []
        customs = changing = 0
        for i, bone in enumerate(bones):
            topology[i, [PARENT, CODE, Q0, V0, NV]] = (
                parent[i],
                bone.joint.code,
                q_start[i],
                v_start[i],
                bone.joint.n_v,
            )
            topology[i, PARAM] = sum(len(p) for p in params)
            topology[i, CUSTOM_ROW] = customs
            customs += isinstance(bone.joint, Custom)
            changes = bone.joint.code > CYLINDRICAL  # the families before have a constant Jacobian
            topology[i, GENERAL] = changing if changes else -1
            changing += changes
            params.append(bone.joint.parameters(bone.placement))
            bodies[i, :9], bodies[i, 9:12] = bone.placement[:3, :3].ravel(), bone.placement[:3, 3]
            bodies[i, 12:22] = bone.inertia.flat()
        keys = ("stiffness", "damping", "low", "high", "limit_stiffness", "limit_damping")
        skeleton = Skeleton(
            names=tuple(b.name for b in bones),
            joints=tuple(b.joint for b in bones),
            parent=parent,
            q_start=q_start,
            v_start=v_start,
            dof_bone=np.repeat(np.arange(len(bones)), np.diff(v_start)),
            gravity=self.gravity.copy(),
            neutral=np.concatenate([b.neutral for b in bones]),
            forces=JointForces(**{k: np.concatenate([b.forces[k] for b in bones]) for k in keys}),
            springs=_NO_SPRINGS,
            topology=topology,
            bodies=bodies,
            params=np.concatenate([*params, np.zeros(1)]),  # never empty, so that kernels may index it
            jacobian=np.concatenate([b.joint.constant_jacobian() for b in bones]).reshape(-1, 6),
        )
        _check_resistance(skeleton)
        if self._springs:
            object.__setattr__(skeleton, "springs", self._body_springs(skeleton))
        return skeleton

    def _ordered(self) -> list[_Bone]:
        """Bones with parents first, otherwise in the order in which they were added."""
        for bone in self._bones.values():
            if bone.parent is not None and bone.parent not in self._bones:
                raise InputError(f"bone '{bone.name}': {unknown_name('parent', bone.parent, self._bones)}")
        done: dict[str, _Bone] = {}
        for bone in self._bones.values():
            chain: dict[str, _Bone] = {}
            at: _Bone | None = bone
            while at is not None and at.name not in done:
                if at.name in chain:
                    raise InputError(f"bone '{at.name}': it is its own ancestor ({' -> '.join(chain)} -> {at.name})")
                chain[at.name] = at
                at = None if at.parent is None else self._bones[at.parent]
            done.update(reversed(chain.items()))
        return list(done.values())

    @staticmethod
    def _check_masses(bones: list[_Bone], parent: Array) -> None:
        """A bone may be massless only if it is fixed, or if something with mass is fixed to it or moves beyond it."""
        carried = np.array([b.inertia.mass for b in bones], dtype=float)
        for i in range(len(bones) - 1, -1, -1):
            may = isinstance(bones[i].joint, Fixed) or carried[i] > 0.0
            bones[i].inertia.check(bones[i].name, may_be_massless=bool(may))
            if parent[i] >= 0:
                carried[parent[i]] += max(carried[i], 0.0)

    def _body_springs(self, skeleton: Skeleton) -> BodySprings:
        from vitruvian.skeleton.kinematics import bone_poses  # the poses need a finished skeleton

        poses = np.concatenate([bone_poses(skeleton, skeleton.neutral), np.eye(4)[None]])
        names, bones, points, numbers = [], [], [], []
        for name, bone_a, point_a, bone_b, point_b, stiffness, damping, rest_length in self._springs:
            try:
                ends = [-1 if b is None else skeleton.index(b) for b in (bone_a, bone_b)]
            except InputError as error:
                raise InputError(f"spring '{name}': {error}") from None
            a, b = (poses[e][:3, :3] @ p + poses[e][:3, 3] for e, p in zip(ends, (point_a, point_b)))
            length = float(np.linalg.norm(b - a))
            names.append(name)
            bones.append(ends)
            points.append([point_a, point_b])
            numbers.append([stiffness, damping, length if rest_length is None else rest_length])
        k, d, l0 = np.array(numbers, dtype=float).T
        return BodySprings(tuple(names), np.array(bones, dtype=np.int64), np.array(points), k, d, l0)


_NO_SPRINGS = BodySprings((), np.zeros((0, 2), np.int64), np.zeros((0, 2, 3)), np.zeros(0), np.zeros(0), np.zeros(0))


def _check_resistance(skeleton: Skeleton) -> None:
    """Every velocity must meet inertia: no pivot of the articulated-body recursion may vanish in the neutral pose."""
    from vitruvian.skeleton.hybrid import hybrid_dynamics  # the recursion needs a finished skeleton

    nothing = np.zeros(skeleton.n_v)
    nobody = np.zeros(skeleton.n_v, dtype=bool)
    with np.errstate(all="ignore"):
        hybrid_dynamics(skeleton, skeleton.neutral, nothing, nobody, nothing, nothing)
        pivots = 1.0 / skeleton.workspace.dofs[:, SD]
    weak = ~(pivots > 1e-13 * np.max(pivots, initial=0.0))
    if weak.any():
        bone = skeleton.names[skeleton.dof_bone[int(np.flatnonzero(weak)[-1])]]
        raise InputError(f"bone '{bone}': nothing resists its joint; it needs rotational inertia or mass off the axis")


def _check_name(name: object, kind: str) -> None:
    if not (isinstance(name, str) and name.strip()):
        raise InputError(f"the name of a {kind} must be a string that is not empty, not {name!r}")


def _per_dof(value: ArrayLike, n: int, what: str, *, infinite: bool = False) -> Array:
    array = np.asarray(value, dtype=float)
    if np.isnan(array).any() or not (infinite or np.isfinite(array).all()):
        raise InputError(f"{what} is not finite")
    if array.ndim > 1 or (array.ndim == 1 and len(array) != n):
        raise InputError(f"{what} needs one number or {n}, got the shape {array.shape}")
    return np.broadcast_to(array, (n,)).copy()


def _placement(placement: ArrayLike | None, what: str) -> Array:
    T = np.eye(4)
    if placement is None:
        return T
    check_finite(placement, f"{what}: placement")
    given = np.asarray(placement, dtype=float)
    if given.shape == (3,):
        T[:3, 3] = given
        return T
    if given.shape != (4, 4):
        raise InputError(f"{what}: placement must have the shape (4, 4) or (3,), not {given.shape}")
    R = given[:3, :3]
    if np.abs(R @ R.T - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0.0:
        raise InputError(f"{what}: placement is not a rigid motion (its rotation is not orthonormal)")
    return given.copy()
