"""The skeleton: a tree of bones on joints, as frozen arrays. Built by `SkeletonBuilder`, read by every algorithm.

T_bone = T_parent · placement · G(q). Bones are ordered so that a parent comes before its children.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from vitruvian.errors import InputError, unknown_name
from vitruvian.skeleton.evaluate import COORDINATES, DOF_WIDTH, GENERAL, PARAM, ROW_WIDTH, SCRATCH_SIZE, S
from vitruvian.skeleton.joints import Custom, Joint, SurfaceSpline
from vitruvian.skeleton.joints.custom import ROW as CUSTOM_WIDTH

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Workspace:
    """Scratch memory of the kernels; holds no state between calls. One per thread if several run at once."""

    rows: Array  # (n_bones, ROW_WIDTH)
    dofs: Array  # (n_v, DOF_WIDTH); constant Jacobians are written once, here
    hessians: Array  # (joints whose Jacobian changes, 7, 7, 6): [a, b] = ∂s_a/∂q_b
    scratch: Array


@dataclass(frozen=True, eq=False)
class JointForces:
    """Passive force of each degree of freedom: τ = -k y - d v, and beyond a limit also -k_l (y - limit) - d_l v.

    y is q - neutral, or for ball and free joints the rotation vector from neutral (and displacement). All (n_v,)."""

    stiffness: Array  # [N m/rad or N/m]
    damping: Array  # [N m s/rad or N s/m]
    low: Array  # of y for ball and free joints, of q for others; -inf where there is none
    high: Array
    limit_stiffness: Array
    limit_damping: Array


@dataclass(frozen=True, eq=False)
class BodySprings:
    """Damped springs between points of two bones; bone -1 is the world."""

    names: tuple[str, ...]
    bones: Array  # (n, 2)
    points: Array  # [m] in each bone's frame, (n, 2, 3)
    stiffness: Array  # [N/m], (n,)
    damping: Array  # [N s/m], (n,)
    rest_length: Array  # [m], (n,)

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True, eq=False)
class Skeleton:
    """What never changes about a skeleton."""

    names: tuple[str, ...]
    joints: tuple[Joint, ...]
    parent: Array  # index of each bone's parent, -1 for the world, (n_bones,)
    q_start: Array  # first coordinate of each bone's joint, (n_bones + 1,)
    v_start: Array  # first velocity of each bone's joint, (n_bones + 1,)
    dof_bone: Array  # the bone that each velocity moves, (n_v,)
    gravity: Array  # [m/s²], (3,)
    neutral: Array  # coordinates at which joint springs rest, (n_q,)
    forces: JointForces
    springs: BodySprings
    topology: Array  # kernels' integers, one row per bone
    bodies: Array  # kernels' placement and inertia, one row per bone
    params: Array  # kernels' joint parameters, flat
    jacobian: Array  # S where it is constant, (n_v, 6)
    n_bones: int = field(init=False)
    n_q: int = field(init=False)
    n_v: int = field(init=False)
    q_shape: tuple[int, ...] = field(init=False)  # (n_q,), ready for comparison
    v_shape: tuple[int, ...] = field(init=False)  # (n_v,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_bones", len(self.names))
        object.__setattr__(self, "n_q", int(self.q_start[-1]))
        object.__setattr__(self, "n_v", int(self.v_start[-1]))
        object.__setattr__(self, "q_shape", (self.n_q,))
        object.__setattr__(self, "v_shape", (self.n_v,))

    def index(self, name: str) -> int:
        """The number of the bone called `name`."""
        try:
            return self._indices[name]
        except KeyError:
            raise unknown_name("bone", name, self.names) from None

    def neutral_q(self) -> Array:
        """A fresh copy of the neutral coordinates, shape (n_q,)."""
        return self.neutral.copy()

    def q_slice(self, name: str) -> slice:
        """Where the coordinates of a bone's joint stand in q."""
        i = self.index(name)
        return slice(int(self.q_start[i]), int(self.q_start[i + 1]))

    def v_slice(self, name: str) -> slice:
        """Where the velocities of a bone's joint stand in v."""
        i = self.index(name)
        return slice(int(self.v_start[i]), int(self.v_start[i + 1]))

    @property
    def mass(self) -> float:
        """Total mass [kg]."""
        return float(self.bodies[:, 12].sum())

    @property
    def masses(self) -> Array:
        """Mass of each bone [kg], (n_bones,)."""
        return self.bodies[:, 12].copy()

    @cached_property
    def coms(self) -> Array:
        """Centre of mass of each bone in its own frame [m], (n_bones, 3)."""
        m = self.bodies[:, 12]
        return self.bodies[:, 13:16] / np.where(m > 0.0, m, 1.0)[:, None]

    @cached_property
    def supports(self) -> Array:
        """supports[b, k]: whether velocity k moves bone b. Bool, (n_bones, n_v)."""
        moved = np.zeros((self.n_bones, self.n_v), dtype=bool)
        for i, p in enumerate(self.parent):
            if p >= 0:
                moved[i] = moved[p]
            moved[i, self.v_start[i] : self.v_start[i + 1]] = True
        return moved

    @cached_property
    def still(self) -> Array:
        """Zero velocity, (n_v,)."""
        return np.zeros(self.n_v)

    @cached_property
    def workspace(self) -> Workspace:
        """The scratch memory that algorithms use when they are given none."""
        return self.new_workspace()

    def new_workspace(self) -> Workspace:
        dofs = np.zeros((self.n_v, DOF_WIDTH))
        dofs[:, S : S + 6] = self.jacobian
        changing = int((self.topology[:, GENERAL] >= 0).sum())
        return Workspace(
            np.zeros((self.n_bones, ROW_WIDTH)),
            dofs,
            np.zeros((changing, COORDINATES, COORDINATES, 6)),
            np.zeros(SCRATCH_SIZE),
        )

    def custom_rows(self, q: Array) -> Array:
        """Joints of the user's own, evaluated at q for the kernels, (n_custom, CUSTOM_WIDTH)."""
        if not self._customs:
            return _NO_CUSTOM
        return np.array([joint.row(q[a:b]) for joint, a, b in self._customs])

    def with_offsets(self, offsets: ArrayLike) -> Skeleton:
        """The same skeleton with its joints elsewhere in their parents' frames [m], (n_bones, 3); masses stay. For
        kinematics of joints that turn or shift, not of splines."""
        bodies = self.bodies.copy()
        bodies[:, 9:12] = offsets
        return replace(self, bodies=bodies)

    @property
    def offsets(self) -> Array:
        """Where each joint stands in its parent's frame [m], (n_bones, 3)."""
        return self.bodies[:, 9:12].copy()

    def with_moving_surfaces(self, surfaces: Mapping[str, tuple[ArrayLike, ArrayLike, ArrayLike]]) -> Skeleton:
        """The same skeleton at an instant at which moving spline surfaces have these (controls, rates, accelerations).

        surfaces: bone name -> three arrays of the shape of the joint's controls; [m, rad], per s, per s²."""
        params = self.params.copy()
        for name, (controls, rates, accelerations) in surfaces.items():
            i = self.index(name)
            joint = self.joints[i]
            if not (isinstance(joint, SurfaceSpline) and joint.moving):
                raise InputError(f"bone '{name}': its joint is not a moving spline surface")
            tail = joint.motion_parameters(controls, rates, accelerations)
            end = self.topology[i + 1, PARAM] if i + 1 < self.n_bones else len(params)
            params[end - len(tail) : end] = tail
        moved = replace(self, params=params)
        object.__setattr__(moved, "workspace", self.workspace)
        return moved

    @cached_property
    def _indices(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def _customs(self) -> tuple[tuple[Custom, int, int], ...]:
        return tuple(
            (joint, int(self.q_start[i]), int(self.q_start[i + 1]))
            for i, joint in enumerate(self.joints)
            if isinstance(joint, Custom)
        )


_NO_CUSTOM = np.zeros((0, CUSTOM_WIDTH))
