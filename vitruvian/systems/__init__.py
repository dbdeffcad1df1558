"""Whole things that live: each is a `Simulation` (see `world/simulation.py`) made of the floors below.

BonesSystem         a mechanism stepped explicitly: joints, drives, moving spline surfaces
BodySystem          bones and muscles, things held, pushes, ground contact
FleshedBodySystem   the same in its flesh, both ways
SwimmerSystem       a body in still or simulated water; `pool` is a window of it
TorsoSystem         a body whose trunk breathes
Breathing           a recorded breath for any of the bodies above
TissueSystem        a piece of flesh by itself
TankSystem          water with rigid bodies
LanesSystem         several systems side by side

Each honours some of the `Controls` and refuses the others. What is seen of them are layers (`layers`), what is plotted
are measures (`measures`).
"""

from vitruvian.systems.body import BodySystem
from vitruvian.systems.bones import BonesState, BonesSystem, steady_rate
from vitruvian.systems.breathing import Breathing, StrokeLock
from vitruvian.systems.cover import Cover
from vitruvian.systems.fleshed import FleshedBodySystem, FleshedState, Outside
from vitruvian.systems.fleshed_look import Look
from vitruvian.systems.lanes import LanesController, LaneSignal, LanesSystem
from vitruvian.systems.layers import (
    BodiesLayer,
    Drawn,
    Layer,
    LinesLayer,
    PointsLayer,
    SurfaceLayer,
    body_layers,
    water_layers,
)
from vitruvian.systems.measures import Measure, Now
from vitruvian.systems.played import PlayedSystem, PushedSystem, follower_world, played_world
from vitruvian.systems.surroundings import Held, Push
from vitruvian.systems.swimmer import POOL, SwimmerPreview, SwimmerSystem, SwimState, pool
from vitruvian.systems.tank import TankState, TankSystem
from vitruvian.systems.tissue import TissueState, TissueSystem
from vitruvian.systems.torso import TorsoSystem
from vitruvian.systems.tracking import tracking_measures, tracking_world

__all__ = [
    "POOL",
    "BodiesLayer",
    "BodySystem",
    "BonesState",
    "BonesSystem",
    "Breathing",
    "Cover",
    "Drawn",
    "FleshedBodySystem",
    "FleshedState",
    "Held",
    "LaneSignal",
    "LanesController",
    "LanesSystem",
    "Layer",
    "LinesLayer",
    "Look",
    "Measure",
    "Now",
    "Outside",
    "PlayedSystem",
    "PointsLayer",
    "Push",
    "PushedSystem",
    "StrokeLock",
    "SurfaceLayer",
    "SwimState",
    "SwimmerPreview",
    "SwimmerSystem",
    "TankState",
    "TankSystem",
    "TissueState",
    "TissueSystem",
    "TorsoSystem",
    "body_layers",
    "follower_world",
    "played_world",
    "pool",
    "steady_rate",
    "tracking_measures",
    "tracking_world",
    "water_layers",
]
