"""Bones, joints, kinematics, dynamics."""

from vitruvian.skeleton import joints
from vitruvian.skeleton.aba import forward_dynamics
from vitruvian.skeleton.builder import SkeletonBuilder
from vitruvian.skeleton.coordinates import coordinate_rates, difference, integrate, normalized
from vitruvian.skeleton.crba import mass_matrix
from vitruvian.skeleton.design import SurfaceFit, design_curve, fit_surface
from vitruvian.skeleton.hybrid import hybrid_dynamics
from vitruvian.skeleton.ik import IkResult, Target, solve_ik
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
from vitruvian.skeleton.momentum import (
    Energy,
    centre_of_mass,
    centroidal_momentum,
    centroidal_momentum_matrix,
    energy,
)
from vitruvian.skeleton.passive import (
    beyond_range,
    passive_derivatives,
    passive_energy,
    passive_forces,
    spring_lengths,
)
from vitruvian.skeleton.rnea import inverse_dynamics
from vitruvian.skeleton.state import SkeletonState
from vitruvian.skeleton.step import (
    acceleration,
    step_backward_euler,
    step_forward_euler,
    step_rk4,
    step_semi_implicit,
)
from vitruvian.skeleton.stiffness import generalized_forces, geometric_stiffness

__all__ = [
    "BodySprings",
    "Energy",
    "IkResult",
    "Inertia",
    "JointForces",
    "Skeleton",
    "SkeletonBuilder",
    "SkeletonState",
    "SurfaceFit",
    "Target",
    "Workspace",
    "acceleration",
    "beyond_range",
    "bone_poses",
    "bone_velocities",
    "centre_of_mass",
    "centroidal_momentum",
    "centroidal_momentum_matrix",
    "coordinate_rates",
    "design_curve",
    "difference",
    "energy",
    "fit_surface",
    "forward_dynamics",
    "frame_jacobian",
    "generalized_forces",
    "geometric_stiffness",
    "hybrid_dynamics",
    "integrate",
    "inverse_dynamics",
    "joint_transforms",
    "joints",
    "mass_matrix",
    "normalized",
    "passive_derivatives",
    "passive_energy",
    "passive_forces",
    "point_jacobian",
    "solve_ik",
    "spring_lengths",
    "step_backward_euler",
    "step_forward_euler",
    "step_rk4",
    "step_semi_implicit",
    "world_twists",
]
