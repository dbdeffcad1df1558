"""Ribs that breathe: a ball at the rib's head, a stiff spring at its tubercle, soft cartilage (DiLorenzo 2009, 3.1.2).

The tables' ribs are hinges that carry the shoulders and stay out of the way of a body that lifts and throws: ten times
too stiff to breathe with. A ball alone lets the muscles between the ribs squeeze the cage together. With the
costotransverse joint as a point spring on the printed axis the rib turns about its neck and still gives a little in the
other directions, as its ligaments do. Cartilages turn about two axes at the sternum (table 8.2), without twist.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vitruvian.anatomy.tables import CartilageRow, CoordinateRow, Tables

NECK = 0.034  # [m] from a rib's head to its tubercle, along the printed axis
TUBERCLE = 20e3  # [N/m], the costotransverse ligaments; 100e3 halves the cage's compliance
TUBERCLE_DAMPING = 0.01  # [s], times the stiffness
RIB = 0.03  # stiffness of ribs 2 to 10, of the hinges' 15 N m/rad
RIB_FRICTION = 0.1  # damping (eq. 3.1), of the hinges' 1.5 N m s/rad
FIRST = 0.1  # the same of rib 1, of its 150 N m/rad
SOFT = 0.3  # of sternum and cartilages
SWING = float(np.radians(12.0))  # range of a rib about every axis
MOVING = tuple(f"Rb{k}" for k in range(2, 11))


def ball_ribs(tables: Tables) -> Tables:
    """The mirrored tables of a body with a cage that breathes."""
    bones, coordinates = dict(tables.bones), dict(tables.coordinates)
    springs: list[CartilageRow] = []
    for name, bone in tables.bones.items():
        stem = name.removesuffix("_l").removesuffix("_r")
        rows = coordinates.get(name, ())
        if stem in MOVING:
            hinge = rows[0]
            bones[name] = replace(bone, joint_type="ball", axes=())
            coordinates[name] = tuple(
                replace(
                    hinge, coordinate=f"rotvec_{axis}", low=-SWING, high=SWING, neutral=0.0,
                    stiffness=RIB * hinge.stiffness, damping=RIB_FRICTION * hinge.damping,
                )
                for axis in "xyz"
            )  # fmt: skip
            outward = bone.axes[0] * np.sign(bone.axes[0][0]) * np.sign(bone.joint[0])
            springs.append(
                CartilageRow(name, bone.parent, bone.joint + NECK * outward, TUBERCLE, TUBERCLE_DAMPING * TUBERCLE)
            )
        elif stem.startswith("Cc"):
            bones[name] = replace(bone, joint_type="universal", axes=(np.array([0, 1.0, 0]), np.array([0, 0, 1.0])))
            coordinates[name] = tuple(softer(r, SOFT) for r in rows[1:])
        elif stem in ("Rb1", "Ste"):
            coordinates[name] = tuple(softer(r, FIRST if stem == "Rb1" else SOFT) for r in rows)
    return replace(tables, bones=bones, coordinates=coordinates, cartilages=(*tables.cartilages, *springs))


def softer(row: CoordinateRow, factor: float) -> CoordinateRow:
    """Spring and damper times `factor`; the stops stay."""
    return replace(row, stiffness=factor * row.stiffness, damping=factor * row.damping)
