"""Incompressible flow with a free surface and moving bodies in it."""

from vitruvian.water.anisotropic import spray_surface
from vitruvian.water.bodies import Mechanism, RigidBodies, RigidBody, RigidState
from vitruvian.water.depths import depths
from vitruvian.water.distance import redistance
from vitruvian.water.energy import WaterEnergy, drag, water_energy
from vitruvian.water.filling import fill
from vitruvian.water.forces import FORCES, buoyancy_correction, link_wrenches, pressure_forces, velocity_forces
from vitruvian.water.model import WATER_DENSITY, Tank
from vitruvian.water.narrow import NarrowLink, NarrowWarning, narrow_links
from vitruvian.water.patches import Patch, Patches, PatchState, cover, cover_narrow, start_patches
from vitruvian.water.pressure import Boundary, Projection, divergence, open_boundary, project
from vitruvian.water.pseudo import extend_under_bodies
from vitruvian.water.solids import Links, WetShape, WetSurface, rasterise, set_body_velocity
from vitruvian.water.state import WaterState, spray_total
from vitruvian.water.step import largest_substep, step
from vitruvian.water.substep import StepResult
from vitruvian.water.surface import surface_mesh
from vitruvian.water.volume import surface_area, water_volume
from vitruvian.water.window import check_inside, follow, move_window

__all__ = [
    "FORCES",
    "WATER_DENSITY",
    "Boundary",
    "Links",
    "Mechanism",
    "NarrowLink",
    "NarrowWarning",
    "Patch",
    "PatchState",
    "Patches",
    "Projection",
    "RigidBodies",
    "RigidBody",
    "RigidState",
    "StepResult",
    "Tank",
    "WaterEnergy",
    "WaterState",
    "WetShape",
    "WetSurface",
    "buoyancy_correction",
    "check_inside",
    "cover",
    "cover_narrow",
    "depths",
    "divergence",
    "drag",
    "extend_under_bodies",
    "fill",
    "follow",
    "largest_substep",
    "link_wrenches",
    "move_window",
    "narrow_links",
    "open_boundary",
    "pressure_forces",
    "project",
    "rasterise",
    "redistance",
    "set_body_velocity",
    "spray_surface",
    "spray_total",
    "start_patches",
    "step",
    "surface_area",
    "surface_mesh",
    "velocity_forces",
    "water_energy",
    "water_volume",
]
