"""The one step of bones, and everything that acts on them within it.

`step`          A dv = h f with contributors; `books` where momentum and energy went; `state` what a body carries
`muscle_pull`, `torques`, `wrenches`, `links` (cartilage), `contact`, `still_water`, `FleshPull`: contributors
`stretch_reflex` muscles that answer to their own strain
`cavity_pressure`  a trunk that breathes, with `cavity_solve`
`stepper`       a body's arrangement, in one call where it can (`plain_step`); `response` to later impulses
`body_water`    a body in water; `skin_links`, `bone_parts`, `flesh_skin` the skins that water meets
`bone_flesh`, `muscle_flesh`, `flesh_follower`, `flesh_predictor`: bones wrapped in flesh
"""

from vitruvian.couple.body_water import BodyInWater, Drive, Wading
from vitruvian.couple.bone_flesh import BoneFlesh, BoneFleshState, Inertial
from vitruvian.couple.bone_parts import BonePart, BoneParts
from vitruvian.couple.books import Book
from vitruvian.couple.cavity_pressure import CavityPressure, CavityScratch
from vitruvian.couple.contact import BodyContact
from vitruvian.couple.contact_shapes import Contacts, GroundPlane, RoundCone, SolidBox, ball, pairs_apart
from vitruvian.couple.flesh_follower import Follower
from vitruvian.couple.flesh_skin import FleshMotion, FleshSkin, MovedSkin
from vitruvian.couple.links import BoneLinks
from vitruvian.couple.muscle_flesh import FleshPull, MuscleFlesh, WrapState
from vitruvian.couple.muscle_pull import MuscleLines, MusclePull, resting_fibres
from vitruvian.couple.state import BodyState, SwimmerState, TorsoState
from vitruvian.couple.step import BoneStep, Contributor, System
from vitruvian.couple.stepper import BodyStepper
from vitruvian.couple.still_water import StillWater, StillWaterPush
from vitruvian.couple.stretch_reflex import StretchReflex
from vitruvian.couple.torques import AppliedTorques, JointCourse, JointTorques, PostureTarget
from vitruvian.couple.water_patches import PATCHES, limb_patches
from vitruvian.couple.wrenches import Wrenches

__all__ = [
    "PATCHES",
    "AppliedTorques",
    "BodyContact",
    "BodyInWater",
    "BodyState",
    "BodyStepper",
    "BoneFlesh",
    "BoneFleshState",
    "BoneLinks",
    "BonePart",
    "BoneParts",
    "BoneStep",
    "Book",
    "CavityPressure",
    "CavityScratch",
    "Contacts",
    "Contributor",
    "Drive",
    "FleshMotion",
    "FleshPull",
    "FleshSkin",
    "Follower",
    "GroundPlane",
    "Inertial",
    "JointCourse",
    "JointTorques",
    "MovedSkin",
    "MuscleFlesh",
    "MuscleLines",
    "MusclePull",
    "PostureTarget",
    "RoundCone",
    "SolidBox",
    "StillWater",
    "StillWaterPush",
    "StretchReflex",
    "SwimmerState",
    "System",
    "TorsoState",
    "Wading",
    "WrapState",
    "Wrenches",
    "ball",
    "limb_patches",
    "pairs_apart",
    "resting_fibres",
]
