"""With what a body touches: rounded cones fitted to its skin, segment by segment (`data/contact_shapes.csv`).

    BodySystem(body, pelvis="free", contacts=body_contacts(body))

The flesh of the trunk is carried by the vertebrae that move its skin, not by single ribs. Two segments may touch
each other unless they share a joint, both belong to trunk and neck, or are one piece of flesh in the tables' pose
(arms out, legs apart).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from vitruvian.anatomy.body import Body
from vitruvian.anatomy.tables import read_csv
from vitruvian.couple import Contacts, RoundCone, pairs_apart
from vitruvian.errors import InputError

Array = np.ndarray
COLUMNS = ("from_x_mm", "from_y_mm", "from_z_mm", "to_x_mm", "to_y_mm", "to_z_mm", "from_radius_mm", "to_radius_mm")
SOLE = "Fo"
TRUNK = ("Pel", "L3", "T12", "T9", "T6", "T3", "C6", "C3", "Cla_l", "Cla_r")  # one piece of flesh


def contact_shapes(body: Body) -> tuple[RoundCone, ...]:
    """The rounded cones of all segments that this body has, in the frames of their bones."""
    shapes = []
    for row in read_csv("contact_shapes.csv"):
        ax, ay, az, bx, by, bz, ra, rb = (1e-3 * float(row[c]) for c in COLUMNS)
        for bone in (row["bone"], row["bone"] + "_l", row["bone"] + "_r"):
            if bone in body.skeleton.names:
                flip = -1.0 if bone.endswith("_r") else 1.0
                size, across = body.size(bone), body.breadth(bone)
                a, b = (tuple(size @ (flip * x, y, z)) for x, y, z in ((ax, ay, az), (bx, by, bz)))
                shapes.append(RoundCone(bone, a, b, (across * ra, across * rb)))
    return tuple(shapes)


def body_contacts(body: Body, *, itself: bool = True, extra: Iterable[RoundCone] = (), **law: Any) -> Contacts:
    """Contacts of a body with the level ground and, unless `itself` is False, with itself; extra: balls and rounded
    cones of the world or on bones; law: planes, boxes, stiffness, friction and the rest of `Contacts`."""
    shapes = (*contact_shapes(body), *extra)
    if not shapes:
        raise InputError(f"'{body.name}' has no segment with a contact shape")
    pairs = pairs_apart(body.skeleton, shapes, body.default_q)
    known = TRUNK if itself else body.skeleton.names
    one = np.array([[shapes[i].bone in known for i in pair] for pair in pairs]).reshape(-1, 2).all(axis=1)
    pairs = pairs[~one]
    return Contacts(shapes, pairs=pairs, **law)


def sole_balls(body: Body) -> list[tuple[str, Array, float]]:
    """Balls of the soles: bone, centre in its frame [m] (3,), radius [m]; eight a foot, from heel to toes."""
    found: dict[tuple[Any, ...], tuple[str, Array, float]] = {}
    for cone in contact_shapes(body):
        if cone.bone and cone.bone.startswith(SOLE):
            for end, radius in ((cone.start, cone.radius[0]), (cone.end, cone.radius[1])):
                if end[2] < -0.03 * body.scale:
                    found[(cone.bone, end)] = (cone.bone, np.array(end), radius)
    return list(found.values())
