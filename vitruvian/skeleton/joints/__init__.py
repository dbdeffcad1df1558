"""Joints, one file per family."""

from vitruvian.skeleton.joints.ball import Ball
from vitruvian.skeleton.joints.base import Joint
from vitruvian.skeleton.joints.curve_spline import CurveSpline
from vitruvian.skeleton.joints.custom import Custom
from vitruvian.skeleton.joints.cylindrical import Cylindrical
from vitruvian.skeleton.joints.elliptic import Elliptic
from vitruvian.skeleton.joints.fixed import Fixed
from vitruvian.skeleton.joints.free import Free
from vitruvian.skeleton.joints.helical import Helical
from vitruvian.skeleton.joints.planar import Planar
from vitruvian.skeleton.joints.prismatic import Prismatic
from vitruvian.skeleton.joints.revolute import Revolute
from vitruvian.skeleton.joints.surface_spline import SurfaceSpline
from vitruvian.skeleton.joints.universal import Universal

__all__ = [
    "Ball",
    "CurveSpline",
    "Custom",
    "Cylindrical",
    "Elliptic",
    "Fixed",
    "Free",
    "Helical",
    "Joint",
    "Planar",
    "Prismatic",
    "Revolute",
    "SurfaceSpline",
    "Universal",
]
