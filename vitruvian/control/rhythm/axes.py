"""The joint coordinates that a stroke file may name: axes, order and sense.

A joint turns by the product, in the order below, of rotations about axes that are fixed in the default pose (arms out,
palms forward; +x left, +y back, +z up) and move with the child: R = R(a_1, q_1) R(a_2, q_2) R(a_3, q_3). Axes are those
of the left side and the midline; on the right they are (ax, -ay, -az), so that equal angles give mirrored poses. Hinges
have their own axis in the body's tables; the axis here only gives its sense.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray
Axis = tuple[float, float, float]
_SPINE: dict[str, Axis] = {"flexion": (1, 0, 0), "bend": (0, 1, 0), "twist": (0, 0, 1)}
_LEVELS = (
    *(f"L{i}" for i in range(5, 0, -1)),
    *(f"T{i}" for i in range(12, 0, -1)),
    *(f"C{i}" for i in range(7, 0, -1)),
    "Sku",
)

# Bone without side -> coordinate -> axis about which + turns.
AXES: dict[str, dict[str, Axis]] = {
    **dict.fromkeys(("Pel", *_LEVELS), _SPINE),  # + forward; to the left; front turns to the left
    "Cla": {"retraction": (0, 0, 1), "depression": (0, 1, 0)},
    "Hu": {"abduction": (0, -1, 0), "horizontal_flexion": (0, 0, -1), "rotation": (1, 0, 0)},  # + up, forward, medial
    "Ul": {"flexion": (0, 0, -1)},
    "Rad": {"pronation": (1, 0, 0)},
    "Ha": {"flexion": (0, 0, -1), "radial_deviation": (0, -1, 0)},
    "Fe": {"flexion": (-1, 0, 0), "abduction": (0, -1, 0), "rotation": (0, 0, -1)},  # + forward, outward, medial
    "Tfp": {"flexion": (1, 0, 0)},
    "Fo": {"plantarflexion": (1, 0, 0)},
}
MIRROR = np.array([1.0, -1.0, -1.0])  # of an axis of rotation under x -> -x


def axes_of(bone: str) -> tuple[tuple[str, ...], Array]:
    """Coordinates of a bone's joint in order and their axes, shape (n, 3); none if strokes cannot move it."""
    base = bone.removesuffix("_l").removesuffix("_r")
    known = AXES.get(base, {})
    axes = np.array(list(known.values()), dtype=float).reshape(-1, 3)
    return tuple(known), axes * MIRROR if bone.endswith("_r") else axes
