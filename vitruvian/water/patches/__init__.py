"""Refined patches that ride with links of a body inside a coarser tank."""

from vitruvian.water.patches.model import Patch, Patches, cover, cover_narrow
from vitruvian.water.patches.ride import Ride
from vitruvian.water.patches.state import PatchState, start_patches

__all__ = ["Patch", "PatchState", "Patches", "Ride", "cover", "cover_narrow", "start_patches"]
