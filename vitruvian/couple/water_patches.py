"""Which limbs of a body in water have refined patches of it: a swimmer's hands, or hands and feet.

A hand is half a cell thick in a swimmer's window; in a patch (`water.patches`) it has six cells to its breadth.
"""

from __future__ import annotations

from typing import Any

from vitruvian.couple.body_water import BodyInWater
from vitruvian.couple.state import SwimmerState
from vitruvian.errors import InputError
from vitruvian.water import Patches, Tank, cover

PATCHES = {"none": (), "hands": ("Ha_l", "Ha_r"), "hands and feet": ("Ha_l", "Ha_r", "Fo_l", "Fo_r")}  # bones


def limb_patches(body: BodyInWater, state: SwimmerState, tank: Tank, limbs: str, **options: Any) -> Patches | None:
    """Patches of `tank` that ride with these limbs of a body in the pose of `state`; options as in `water.cover`."""
    if limbs not in PATCHES:
        raise InputError(f"swim: unknown patches '{limbs}'; known: {', '.join(PATCHES)}")
    if not PATCHES[limbs]:
        return None
    names = [body.skeleton.names[b] for b in body.link_bones]
    if missing := [n for n in PATCHES[limbs] if n not in names]:
        raise InputError(f"swim: no skin is carried by {', '.join(missing)}, which patches should ride with")
    links = [names.index(n) for n in PATCHES[limbs]]
    return cover(tank, body.begin(state), state, links, names=PATCHES[limbs], **options)
