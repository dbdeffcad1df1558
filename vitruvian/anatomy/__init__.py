"""Tables and meshes -> bodies: `human()` and parts of it."""

from vitruvian.anatomy.bellies import Belly
from vitruvian.anatomy.body import PARTS, Body
from vitruvian.anatomy.bound_skin import bound_skin
from vitruvian.anatomy.contact import body_contacts, contact_shapes, sole_balls
from vitruvian.anatomy.density import LUNGS, balanced, breathing_skin, buoyancy
from vitruvian.anatomy.human import arm, human, legs, neck, torso, upper_body
from vitruvian.anatomy.scaling import stronger
from vitruvian.anatomy.skin import Skin, body_skin
from vitruvian.anatomy.skin_data import SkinShape
from vitruvian.anatomy.skin_flesh import BodyFlesh, body_flesh
from vitruvian.anatomy.surfaces import bone_surfaces

__all__ = [
    "LUNGS",
    "PARTS",
    "Belly",
    "Body",
    "BodyFlesh",
    "Skin",
    "SkinShape",
    "arm",
    "balanced",
    "body_contacts",
    "body_flesh",
    "body_skin",
    "bone_surfaces",
    "bound_skin",
    "breathing_skin",
    "buoyancy",
    "contact_shapes",
    "human",
    "legs",
    "neck",
    "sole_balls",
    "stronger",
    "torso",
    "upper_body",
]
