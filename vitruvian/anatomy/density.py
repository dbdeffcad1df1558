"""How heavy a body is for its size: volume of the skin, centre of buoyancy, lungs.

The bones' masses are the tables' (86.6 kg); what the skin encloses decides whether they float. People have 0.94 to 0.97
of water's density with full lungs, 0.98 with half-full ones, 1.02 to 1.03 after breathing out. `breathing_skin` brings
the skin to that volume: evenly all over by under a millimetre for the build, and on chest and belly for the lungs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitruvian.anatomy.body import Body
from vitruvian.anatomy.skinning import BoundSkin
from vitruvian.errors import unknown_name
from vitruvian.mesh.remesh import vertex_normals
from vitruvian.skeleton import bone_poses, centre_of_mass

Array = np.ndarray
NORMAL_DENSITY = 980.0  # [kg/m^3] on average, breathing quietly
LUNGS = {"full": 2.2e-3, "normal": 0.0, "empty": -3.5e-3}  # air more than in quiet breathing [m^3]
BREATHING = {"T12": 0.7, "T9": 1.0, "T6": 1.0, "T3": 0.5, "L2": 0.5}  # how much the skin over a bone moves with breath


@dataclass(frozen=True)
class Buoyancy:
    """A body and the water it can displace, in one pose."""

    mass: float  # [kg]
    volume: float  # [m^3]
    centre_of_mass: Array  # [m], shape (3,)
    centre_of_volume: Array  # [m], shape (3,)

    @property
    def density(self) -> float:
        """[kg/m^3]"""
        return self.mass / self.volume


def buoyancy(body: Body, skin: BoundSkin, q: Array | None = None) -> Buoyancy:
    """Mass, volume and their centres in the pose q (default: the tables' pose)."""
    q = body.default_q if q is None else q
    placed = skin.place(bone_poses(body.skeleton, q))
    volume, centre = enclosed(placed.vertices, skin.faces)
    return Buoyancy(float(body.skeleton.bodies[:, 12].sum()), volume, centre_of_mass(body.skeleton, q), centre)


def breathing_skin(body: Body, skin: BoundSkin, lungs: str = "normal", *, density: float = NORMAL_DENSITY) -> BoundSkin:
    """The skin of a body whose mean density is `density` [kg/m^3] in quiet breathing, with lungs as told."""
    if lungs not in LUNGS:
        raise unknown_name("lungs", lungs, LUNGS)
    volume = float(body.skeleton.bodies[:, 12].sum()) / density
    even = _grown(skin.rest, skin.faces, np.ones(len(skin.rest)), volume)
    chest = skin.dense_weights() @ np.array([BREATHING.get(n, 0.0) for n in skin.names])
    return skin.with_rest(_grown(even, skin.faces, chest, volume + LUNGS[lungs]))


def enclosed(vertices: Array, faces: Array) -> tuple[float, Array]:
    """Volume [m^3] and centroid [m] of a closed surface."""
    a, b, c = vertices[faces[:, 0]], vertices[faces[:, 1]], vertices[faces[:, 2]]
    parts = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
    total = float(parts.sum())
    return total, (parts[:, None] * (a + b + c)).sum(axis=0) / (4.0 * total)


def _grown(vertices: Array, faces: Array, share: Array, volume: float) -> Array:
    """Vertices moved along their normals, in proportion to `share`, until the surface encloses `volume` [m^3]."""
    normal = vertex_normals(vertices, faces) * share[:, None]
    x, reach, have = vertices, 0.0, enclosed(vertices, faces)[0]
    for _ in range(30):
        if abs(have - volume) < 1e-9:
            break
        slope = (enclosed(vertices + (reach + 1e-5) * normal, faces)[0] - have) / 1e-5
        reach += (volume - have) / slope
        x = vertices + reach * normal
        have = enclosed(x, faces)[0]
    return x
