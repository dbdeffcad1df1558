"""A skin that swells smoothly where our bones are larger than those it was made for.

Where a bone with the muscle and fat that always lie over it reaches through the surface, the surface must move out.
Moved point by point it would show every rib; so the outward way d of each vertex is the smoothest that is enough:

    d <- max(need(v + d n), S d),      S: averaging over neighbours within some centimetres,
repeated, which stretches a membrane over the needs. Hands, feet and head are left as they are. Each gluteus maximus,
which the muscle table gives no more than a line or two, counts as an ellipsoid over its sitting bone.
"""

from __future__ import annotations

import numpy as np

from vitruvian.mesh.levelset import add_mesh, empty_level_set
from vitruvian.mesh.remesh import neighbour_average, vertex_normals
from vitruvian.mesh.shapes import sphere

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
ROUNDS, SPREAD = 7, 2  # of the membrane, and averages in each
SMOOTH = 0.7  # part of the way to the neighbours' average in each


def over_bones(vertices: Array, faces: Array, bones: dict[str, Shape]) -> Array:
    """Vertices [m] (n, 3) of a skin moved outward so that bones are covered, smoothly."""
    level = empty_level_set(vertices.min(axis=0), vertices.max(axis=0), GRID, BAND)
    for name, (points, triangles) in bones.items():
        over = next((OVER[k] for k in sorted(OVER, key=len, reverse=True) if name.startswith(k)), None)
        if over is not None:
            add_mesh(level, points, triangles, grow=over, crossing=True, name=f"bone '{name}'")
    for centre in _seats(bones):
        ball, ball_faces = sphere(1.0)
        add_mesh(level, centre + SEAT_AXES * ball, ball_faces, name="gluteus maximus")
    average = neighbour_average(len(vertices), faces)
    normal = vertex_normals(vertices, faces)
    for _ in range(4):  # folds in a posed skin have wild normals
        normal = average @ normal
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-9)
    # the insides of the thighs face each other: there is nothing to cover, and no room
    crotch = vertices[:, 2] < bones["Pel"][0][:, 2].min() + 0.05 if "Pel" in bones else np.zeros(len(vertices), bool)
    inner = crotch & (np.abs(vertices[:, 0]) < 0.1) & (-np.sign(vertices[:, 0]) * normal[:, 0] > 0.3)
    way = np.zeros(len(vertices))
    for _ in range(ROUNDS):
        for _ in range(SPREAD):
            way = (1.0 - SMOOTH) * way + SMOOTH * (average @ way)
        way[inner] = 0.0
        way = way + np.maximum(-level(vertices + way[:, None] * normal), 0.0)
    way = average @ (average @ way)
    way[inner] = 0.0
    return vertices + way[:, None] * normal


def _seats(bones: dict[str, Shape]) -> list[Array]:
    """Centres of both buttocks [m], from pelvis and femoral heads."""
    if "Pel" not in bones or "Fe_l" not in bones:
        return []
    pelvis, head = bones["Pel"][0], bones["Fe_l"][0][:, 2].max()
    near = pelvis[(np.abs(pelvis[:, 2] - head + 0.02) < 0.03) & (np.abs(np.abs(pelvis[:, 0]) - SEAT_OUT) < 0.03)]
    back = float(near[:, 1].max())
    return [np.array([side * SEAT_OUT, back - SEAT_IN, head - SEAT_DOWN]) for side in (1.0, -1.0)]
