"""Behaviours of a trunk: curves of muscle groups (`curves`), their files (`file`), and who plays them (`behave`)."""

from vitruvian.control.behaviour.behave import Behave
from vitruvian.control.behaviour.curves import GROUPS, Behaviour, Curve, blend
from vitruvian.control.behaviour.file import behaviour_names, load_behaviour, read_behaviour, write_behaviour

__all__ = [
    "GROUPS",
    "Behave",
    "Behaviour",
    "Curve",
    "behaviour_names",
    "blend",
    "load_behaviour",
    "read_behaviour",
    "write_behaviour",
]
