"""Time stepping, recording, checkpoint and resume.

World           a simulation under a controller, stepped at a fixed rate
run_world       run it to the end, record it, survive interruption
Recording       what a run left behind, to be read
Recorder        what writes it
Stage, Frame    what can be seen, and what is seen now (`world.stage`)
Scene           an experiment: parameters, a world, checks (`world.scene`)
"""

from vitruvian.world.parameters import scene_parameters
from vitruvian.world.recorder import Recorder
from vitruvian.world.recording import Recording
from vitruvian.world.run import RunResult, Watcher, run_world
from vitruvian.world.scene import Parameter, Report, Scene
from vitruvian.world.simulation import Controller, Simulation
from vitruvian.world.stage import (
    BRICK,
    IVORY,
    SAND,
    Camera,
    Colour,
    Frame,
    Joint,
    Lines,
    LinesFrame,
    Mesh,
    Points,
    Signal,
    Stage,
    Surface,
    SurfaceFrame,
)
from vitruvian.world.world import World

__all__ = [
    "BRICK",
    "IVORY",
    "SAND",
    "Camera",
    "Colour",
    "Controller",
    "Frame",
    "Joint",
    "Lines",
    "LinesFrame",
    "Mesh",
    "Parameter",
    "Points",
    "Recorder",
    "Recording",
    "Report",
    "RunResult",
    "Scene",
    "Signal",
    "Simulation",
    "Stage",
    "Surface",
    "SurfaceFrame",
    "Watcher",
    "World",
    "run_world",
    "scene_parameters",
]
