"""What decides a face: action units, expressions, and the driver that brings them to the tissue."""

from vitruvian.control.face.driver import FaceDriver, FaceState
from vitruvian.control.face.units import (
    ActionUnit,
    FaceEffort,
    action_units,
    blend,
    effort,
    expression,
    expressions,
    muscle_names,
    read_units,
)

__all__ = [
    "ActionUnit",
    "FaceDriver",
    "FaceEffort",
    "FaceState",
    "action_units",
    "blend",
    "effort",
    "expression",
    "expressions",
    "muscle_names",
    "read_units",
]
