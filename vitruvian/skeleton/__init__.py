"""Bones, joints, kinematics, dynamics."""

from vitruvian.skeleton import joints
from vitruvian.skeleton.aba import forward_dynamics
from vitruvian.skeleton.builder import SkeletonBuilder
from vitruvian.skeleton.coordinates import coordinate_rates, difference, integrate, normalized
from vitruvian.skeleton.crba import mass_matrix
from vitruvian.skeleton.inertia import Inertia
from vitruvian.skeleton.kinematics import (
    bone_poses,
    bone_velocities,
    frame_jacobian,
    joint_transforms,
    point_jacobian,
    world_twists,
)
from vitruvian.skeleton.model import BodySprings, JointForces, Skeleton, Workspace
from vitruvian.skeleton.rnea import inverse_dynamics
from vitruvian.skeleton.state import SkeletonState

__all__ = [
    "BodySprings",
    "Inertia",
    "JointForces",
    "Skeleton",
    "SkeletonBuilder",
    "SkeletonState",
    "Workspace",
    "bone_poses",
    "bone_velocities",
    "coordinate_rates",
    "difference",
    "forward_dynamics",
    "frame_jacobian",
    "integrate",
    "inverse_dynamics",
    "joint_transforms",
    "joints",
    "mass_matrix",
    "normalized",
    "point_jacobian",
    "world_twists",
]
