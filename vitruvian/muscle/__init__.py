"""Line muscles: paths, force laws, activation dynamics, and what they do to the joints."""

from vitruvian.muscle.activation import ActivationDynamics
from vitruvian.muscle.elements import CurvedHill, Element, FibreTendon, LinearHill, SpringMuscle
from vitruvian.muscle.forces import ForceLaws, Tension, fibre_lengths, force_laws, stored_energy, tension, tension_into
from vitruvian.muscle.laws import ForceLaw, LawElement
from vitruvian.muscle.model import MuscleBuilder, MuscleModel
from vitruvian.muscle.paths import MomentArms, carrier_poses, lengths, moment_arms, path_curves, path_points
from vitruvian.muscle.stiffness import joint_damping, joint_stiffness
from vitruvian.muscle.wrapping import Carrier, Cylinder

__all__ = [
    "ActivationDynamics",
    "Carrier",
    "CurvedHill",
    "Cylinder",
    "Element",
    "FibreTendon",
    "ForceLaw",
    "ForceLaws",
    "LawElement",
    "LinearHill",
    "MomentArms",
    "MuscleBuilder",
    "MuscleModel",
    "SpringMuscle",
    "Tension",
    "carrier_poses",
    "fibre_lengths",
    "force_laws",
    "joint_damping",
    "joint_stiffness",
    "lengths",
    "moment_arms",
    "path_curves",
    "path_points",
    "stored_energy",
    "tension",
    "tension_into",
]
