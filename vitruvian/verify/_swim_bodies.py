"""Humans in water whose floating and swimming is weighed."""

from __future__ import annotations

from functools import cache

import numpy as np

from vitruvian.anatomy import Body, balanced, bound_skin, breathing_skin, buoyancy, human
from vitruvian.control.rhythm import StrokeMotion, load_stroke
from vitruvian.couple import StillWater
from vitruvian.skeleton import bone_poses
from vitruvian.skin import BoundSkin
from vitruvian.systems import SwimmerSystem
from vitruvian.water import Tank
from vitruvian.world import World

Array = np.ndarray


@cache
def lying_human(lungs: str) -> tuple[Body, BoundSkin]:
    """A human whose trunk is as dense as flesh, and his skin."""
    body = human()
    skin = bound_skin(body)
    body = balanced(body, skin)
    return body, breathing_skin(body, skin, lungs)


def let_go(lungs: str, water: StillWater | Tank | None = None) -> World:
    """A human face down in water, still if not told otherwise, all muscles off."""
    body, skin = lying_human(lungs)
    q, _, _ = StrokeMotion(body, load_stroke("crawl"), 0.0).sample(0.0)
    q[7:] = body.skeleton.neutral_q()[7:]
    q[2] -= 0.15 + buoyancy(body, skin, q).centre_of_mass[2]
    world = World(SwimmerSystem(body, skin, water=water or StillWater(), q=q, drawn=False), None, frame_rate=96.0)
    world.start()
    return world


def displaced(skin: BoundSkin, body: Body, q: Array) -> float:
    """Volume [m^3] of a body below the calm surface at height 0."""
    place = skin.place(bone_poses(body.skeleton, q))
    still, links = StillWater(), np.zeros(len(skin.faces), np.int64)
    lift = still.forces(place.vertices, np.zeros_like(place.vertices), skin.faces, links, 1).lift
    return float(lift[0, 5]) / (still.density * still.gravity)
