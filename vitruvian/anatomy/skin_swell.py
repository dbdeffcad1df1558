"""A skin that swells smoothly where our bones are larger than those it was made for.

Where a bone with the muscle and fat that always lie over it reaches through the surface, the surface must move out.
Moved point by point it would show every rib; so the outward way d of each vertex is the smoothest that is enough:

    d <- max(need, S d),      S: averaging over neighbours

repeated, which stretches a membrane over the needs: how far along its normal each vertex must go to leave the bone.
Hands, feet and head are left as they are. Each gluteus maximus, which the muscle table gives no more than a line or
two, counts as an ellipsoid over its sitting bone.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from vitruvian.mesh import LevelSet, add_mesh, empty_level_set, sphere, vertex_normals
from vitruvian.mesh.remesh import neighbour_average

Array = np.ndarray
Shape = tuple[Array, Array]
# Muscle and fat over bone [m], by the beginning of the bone's name; other bones are left to the cover.
OVER = {
    "Pel": 0.010, "Fe_": 0.010, "Cla_": 0.006, "Rb": 0.005, "Cc": 0.005, "Ste": 0.005, "Hu_": 0.005, "Ul_": 0.004,
    "Rad_": 0.004, "Tfp_": 0.005, **{f"T{i}": 0.005 for i in range(1, 13)}, **{f"L{i}": 0.008 for i in range(1, 6)},
    **{f"C{i}": 0.006 for i in range(2, 8)},
}  # fmt: skip
# Gluteus maximus: middle against the hip joint's height and the back of the pelvis, half-axes [m]; 4 to 6 cm thick.
SEAT_OUT, SEAT_IN, SEAT_DOWN, SEAT_AXES = 0.075, 0.018, 0.035, np.array([0.066, 0.070, 0.082])
GRID, BAND = 0.006, 0.04  # [m]
ARM = ("Hu_", "Ul_", "Rad_")  # bones with sharp ends under thin skin
ROUNDS = 12, 40  # of the membrane, elsewhere and on arms: it spreads over the root of this many edges
BLUNT = 2  # rings of neighbours that share a need, on arms
FARTHEST, PITCH = 0.04, 0.001  # of a need, and how finely it is found [m]


def over_bones(vertices: Array, faces: Array, bones: dict[str, Shape]) -> Array:
    """Vertices [m] (n, 3) of a skin moved outward so that bones are covered, smoothly."""
    average = neighbour_average(len(vertices), faces)
    normal = vertex_normals(vertices, faces)
    for _ in range(4):  # folds in a posed skin have wild normals
        normal = average @ normal
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-9)
    # the insides of the thighs face each other: there is nothing to cover, and no room
    crotch = vertices[:, 2] < bones["Pel"][0][:, 2].min() + 0.05 if "Pel" in bones else np.zeros(len(vertices), bool)
    inner = crotch & (np.abs(vertices[:, 0]) < 0.1) & (-np.sign(vertices[:, 0]) * normal[:, 0] > 0.3)
    way = np.zeros(len(vertices))
    for names, rings, rounds in (
        ([n for n in bones if n.startswith(ARM)], BLUNT, ROUNDS[1]),
        ([n for n in bones if not n.startswith(ARM)], 0, ROUNDS[0]),
    ):
        level = empty_level_set(vertices.min(axis=0), vertices.max(axis=0), GRID, BAND)
        for name in names:
            over = next((OVER[k] for k in sorted(OVER, key=len, reverse=True) if name.startswith(k)), None)
            if over is not None:
                add_mesh(level, *bones[name], grow=over, crossing=True, name=f"bone '{name}'")
        for centre in _seats({n: bones[n] for n in names}):
            ball, ball_faces = sphere(1.0)
            add_mesh(level, centre + SEAT_AXES * ball, ball_faces, name="gluteus maximus")
        need = np.where(inner, 0.0, _need(level, vertices, normal))
        way = np.maximum(way, _membrane(need, faces, average, rings, rounds))
    way = average @ way
    way[inner] = 0.0
    return vertices + way[:, None] * normal


def over_level(vertices: Array, faces: Array, level: LevelSet, free: Array, rounds: int = ROUNDS[0]) -> Array:
    """Vertices [m] (n, 3) of a skin moved outward, smoothly, until those that are `free` (n,) lie out of a level."""
    average = neighbour_average(len(vertices), faces)
    normal = vertex_normals(vertices, faces)
    need = np.where(free, _need(level, vertices, normal), 0.0)
    way = np.where(free, _membrane(need, faces, average, 0, rounds), 0.0)
    return vertices + way[:, None] * normal


def _need(level: LevelSet, vertices: Array, normal: Array) -> Array:
    """How far along its normal each vertex must go until it is out for the first time [m], shape (n,)."""
    need, covered = np.zeros(len(vertices)), np.ones(len(vertices), bool)
    for far in np.arange(0.0, FARTHEST, PITCH):
        left = np.flatnonzero(covered)
        covered[left] = level(vertices[left] + far * normal[left]) < 0.0
        need[covered] = far + PITCH
    return need


def _membrane(need: Array, faces: Array, average: csr_matrix, rings: int, rounds: int) -> Array:
    """The smooth way that is enough [m], shape (n,). A membrane over a point is a spike; so each vertex needs what its
    neighbours need, `rings` of them, and what comes out is rounded off."""
    for _ in range(rings):
        widest = need.copy()
        for a, b in ((0, 1), (1, 2), (2, 0)):
            np.maximum.at(widest, faces[:, a], need[faces[:, b]])
            np.maximum.at(widest, faces[:, b], need[faces[:, a]])
        need = widest
    way = need
    for _ in range(rounds):
        way = np.maximum(need, average @ way)
    for _ in range(2 * rings):
        way = average @ way
    return way


def _seats(bones: dict[str, Shape]) -> list[Array]:
    """Centres of both buttocks [m], from pelvis and femoral heads."""
    if "Pel" not in bones or "Fe_l" not in bones:
        return []
    pelvis, head = bones["Pel"][0], bones["Fe_l"][0][:, 2].max()
    near = pelvis[(np.abs(pelvis[:, 2] - head + 0.02) < 0.03) & (np.abs(np.abs(pelvis[:, 0]) - SEAT_OUT) < 0.03)]
    back = float(near[:, 1].max())
    return [np.array([side * SEAT_OUT, back - SEAT_IN, head - SEAT_DOWN]) for side in (1.0, -1.0)]
