"""What a head sees, feels and does: readable rules (`rules`), and a mind that lives by them (`mind`).

`company`  several heads that see each other
"""

from vitruvian.control.mind.company import Company, Place, Thing, Watcher
from vitruvian.control.mind.mind import Look, Mind, MindState, Seen
from vitruvian.control.mind.rules import EMOTIONS, Character, character_names, load_character, read_character

__all__ = [
    "EMOTIONS",
    "Character",
    "Company",
    "Look",
    "Mind",
    "MindState",
    "Place",
    "Seen",
    "Thing",
    "Watcher",
    "character_names",
    "load_character",
    "read_character",
]
