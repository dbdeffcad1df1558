"""Rigid motions: SE(3), twists, splines on SE(3)."""

from vitruvian.spatial.bspline import basis, open_knots, periodic_knots, uniform_knots
from vitruvian.spatial.fit import CurveFit, control_influence, fit_curve, natural_coordinates
from vitruvian.spatial.motion import (
    adjoint,
    bracket,
    exp_se3,
    inverse,
    log_se3,
    pose_from_transform,
    right_jacobian_se3,
    transform,
    transform_from_pose,
)
from vitruvian.spatial.rotation import (
    exp_so3,
    log_so3,
    quaternion_from_rotation,
    quaternion_from_vector,
    quaternion_product,
    rotation_about,
    rotation_between,
    rotation_from_quaternion,
    rotation_vector,
    skew,
)
from vitruvian.spatial.se3_spline import Se3Spline

__all__ = [
    "CurveFit",
    "Se3Spline",
    "adjoint",
    "basis",
    "bracket",
    "control_influence",
    "exp_se3",
    "exp_so3",
    "fit_curve",
    "inverse",
    "log_se3",
    "log_so3",
    "natural_coordinates",
    "open_knots",
    "periodic_knots",
    "pose_from_transform",
    "quaternion_from_rotation",
    "quaternion_from_vector",
    "quaternion_product",
    "right_jacobian_se3",
    "rotation_about",
    "rotation_between",
    "rotation_from_quaternion",
    "rotation_vector",
    "skew",
    "transform",
    "transform_from_pose",
    "uniform_knots",
]
