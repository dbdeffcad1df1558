"""Soft characters: what they are made of, as folders of readable files.

`three`      mascot, panda and baby, drawn up from level sets; `design` the parts and bones that they are drawn with
`build`      from a shape and bones to tetrahedra, fixed nodes, weights and skin
`character`  what comes out; `folder` how it is written down
"""

from pathlib import Path

from vitruvian.anatomy.characters.body import soft_body
from vitruvian.anatomy.characters.build import from_design
from vitruvian.anatomy.characters.character import Character, Patch
from vitruvian.anatomy.characters.design import Bone, Design
from vitruvian.anatomy.characters.folder import read_character, write_character
from vitruvian.anatomy.characters.three import DESIGNS

FOLDERS = Path(__file__).parent / "folders"


def character(name: str) -> Character:
    """One of our own by name (mascot, panda, baby), or the folder of any."""
    return read_character(FOLDERS / name if name in DESIGNS else name)


__all__ = [
    "DESIGNS",
    "FOLDERS",
    "Bone",
    "Character",
    "Design",
    "Patch",
    "character",
    "from_design",
    "read_character",
    "soft_body",
    "write_character",
]
