"""How heavy a body is for its size: volume of the skin, centre of buoyancy, lungs.

The bones' masses are the tables' (86.6 kg); what the skin encloses decides whether they float. People have 0.94 to 0.97
of water's density with full lungs, 0.98 with half-full ones, 1.02 to 1.03 after breathing out. `breathing_skin` brings
the skin to that volume: evenly all over by under a millimetre for the build, and on chest and belly for the lungs.

Where the mass lies decides whether the legs sink. In the tables the pelvis and lowest vertebrae weigh 20.8 kg, more
than flesh of their size in the skin can (16.6 l), and the chest correspondingly less: the centre of buoyancy then lies
29 mm towards the head from the centre of mass with the arms ahead, where people have 10 to 20 mm. `balanced` gives the
lower trunk the density of tissue and hands the rest to the trunk above it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import cKDTree

from vitruvian.anatomy.body import Body
from vitruvian.anatomy.skin import measured, world_bones
from vitruvian.anatomy.skin_weights import speaker
from vitruvian.array_cache import cached_arrays
from vitruvian.errors import InputError, unknown_name
from vitruvian.mesh import mesh_level_set, vertex_normals
from vitruvian.skeleton import bone_poses, centre_of_mass
from vitruvian.skin import BoundSkin

Array = np.ndarray
NORMAL_DENSITY = 980.0  # [kg/m^3] on average, breathing quietly
LUNGS = {"full": 2.2e-3, "normal": 0.0, "empty": -3.5e-3}  # air more than in quiet breathing [m^3]
TISSUE_DENSITY = 1050.0  # [kg/m^3] of trunk without air: muscle 1060, fat 920, bone 1300 to 1900
LOWER_TRUNK = ("Pel", "L4")  # bones that move the skin there, see `skin_weights`
UPPER_TRUNK = ("L2", "T12", "T9", "T6", "T3", "Cla_l", "Cla_r")
GRID = 0.01  # [m] on which volumes by region are counted
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
    quiet = float(body.skeleton.bodies[:, 12].sum()) / density
    even = _grown(skin.rest, skin.faces, np.ones(len(skin.rest)), quiet)
    chest = skin.dense_weights() @ np.array([BREATHING.get(n, 0.0) for n in skin.names])
    volume = quiet + LUNGS[lungs]
    return skin.with_rest(_grown(even, skin.faces, chest, volume), volume)


def balanced(body: Body, skin: BoundSkin, *, tissue: float = TISSUE_DENSITY) -> Body:
    """The same body with the lower trunk as dense as tissue [kg/m^3], the trunk's mass kept."""
    s = body.skeleton
    group = np.array([speaker(n) for n in s.names])
    lower = np.isin(group, LOWER_TRUNK)
    upper = np.isin(group, UPPER_TRUNK)
    mass = s.bodies[:, 12]
    wanted = tissue * lower_trunk_volume(body, skin)
    low, high = float(mass[lower].sum()), float(mass[upper].sum())
    factor = np.ones(len(mass))
    factor[lower] = wanted / low
    factor[upper] = (high + low - wanted) / high
    if factor.min() <= 0.0:
        raise InputError(f"body '{body.name}': a lower trunk of {wanted:.1f} kg leaves nothing for the upper one")
    rows = s.bodies.copy()
    rows[:, 12:22] *= factor[:, None]
    note = f"lower trunk {low:.1f} -> {wanted:.1f} kg, upper trunk {high:.1f} -> {high + low - wanted:.1f} kg"
    return replace(body, skeleton=replace(s, bodies=rows), notes=(*body.notes, note))


def lower_trunk_volume(body: Body, skin: BoundSkin) -> float:
    """Volume [m^3] inside the skin that lies nearest to the pelvis and the lowest vertebrae, in the default pose."""
    bones = world_bones(body)

    given = (skin.rest, skin.faces, *measured(body, bones))

    def make() -> dict[str, Array]:
        level = mesh_level_set(skin.rest, skin.faces, GRID, band=3.0 * GRID, name="skin")
        points = level.origin + GRID * np.argwhere(level.values < 0.0)
        corners = np.concatenate([v for v, _ in bones.values()])
        own = np.concatenate([np.full(len(v), speaker(n) in LOWER_TRUNK) for n, (v, _) in bones.items()])
        nearest = cKDTree(corners).query(points)[1]
        return {"volume": np.array(own[nearest].sum() * GRID**3)}

    return float(cached_arrays("lower-trunk", __name__, given, make)["volume"])


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
