"""Three characters of our own: a round mascot of rings, a panda with a belly and short legs, a baby with a large head.

Drawn up with arms out and legs apart, so that no part melts with or is glued to another. x to the left, -y ahead, z up.
Figures answer to Liu & al. 2013, table 1: about 1,200 nodes and 4,000 tetrahedra, 15 or 17 joints.
"""

from __future__ import annotations

import numpy as np

from vitruvian.anatomy.characters.design import Bone, Design, Part, Point, rings, tube

GAINS = {  # kp [N m/rad] of a character of 50 kg; kd is a tenth
    "spine": 1000.0, "chest": 1000.0, "neck": 200.0, "head": 100.0, "thigh": 500.0, "shank": 500.0, "foot": 1000.0,
    "upper_arm": 200.0, "forearm": 100.0, "hand": 40.0,
}  # fmt: skip


def mascot() -> Design:
    """1.4 m tall, 50 kg, all rings."""
    parts = rings((0.0, 0.0, 0.44), (0.0, 0.0, 0.98), (0.205, 0.262, 0.288, 0.282, 0.252, 0.2), "white", thick=0.72)
    parts += rings((0.0, 0.0, 1.09), (0.0, 0.0, 1.31), (0.135, 0.165, 0.15, 0.095), "white", thick=0.75)
    limbs = Limbs(
        hip=(0.11, 0.0, 0.43), knee=(0.165, 0.0, 0.255), ankle=(0.215, 0.0, 0.085), toe=(0.225, -0.13, 0.05),
        shoulder=(0.2, 0.0, 0.93), elbow=(0.39, 0.0, 0.82), wrist=(0.56, 0.0, 0.72), finger=(0.66, 0.0, 0.665),
    )  # fmt: skip
    for side in (1.0, -1.0):
        at = limbs.on(side)
        parts += rings(at["hip"], at["ankle"], (0.125, 0.125, 0.115, 0.105, 0.095), "white", thick=0.8)
        parts += rings(at["shoulder"], at["wrist"], (0.1, 0.1, 0.095, 0.088, 0.08, 0.072), "white", thick=0.75)
        x, y, z = at["finger"]
        parts += [
            Part((x, y, z), (0.075, 0.07, 0.075), "white"),
            Part((side * 0.222, -0.045, 0.045), (0.092, 0.155, 0.085), "blue"),
        ]
    features = _eyes(0.062, -0.145, 1.235, 0.03, "black")
    features += [Part((0.0, -0.165, 1.165), (0.05, 0.018, 0.014), "red")]
    bones = _bones(limbs, pelvis=0.48, trunk={"chest": 0.68, "head": 1.03}, top=1.36, mass=50.0)
    colours = {
        "white": (0.93, 0.93, 0.9),
        "blue": (0.2, 0.38, 0.68),
        "black": (0.08, 0.08, 0.09),
        "red": (0.75, 0.2, 0.2),
    }
    return Design("mascot", parts, features, bones, colours, mass=50.0, young=1e5)


def panda() -> Design:
    """1.35 m tall, 60 kg: belly, short legs, black limbs and ears."""
    parts = [
        Part((0.0, -0.03, 0.6), (0.3, 0.29, 0.27), "white"),
        Part((0.0, 0.0, 0.83), (0.25, 0.21, 0.2), "black"),
        Part((0.0, 0.0, 1.12), (0.215, 0.2, 0.185), "white"),
        Part((0.0, -0.16, 1.06), (0.09, 0.09, 0.075), "white"),
        Part((0.0, 0.3, 0.5), (0.06, 0.06, 0.06), "white"),
    ]
    limbs = Limbs(
        hip=(0.13, 0.0, 0.41), knee=(0.185, 0.0, 0.25), ankle=(0.23, 0.0, 0.09), toe=(0.24, -0.12, 0.05),
        shoulder=(0.2, 0.0, 0.87), elbow=(0.38, 0.0, 0.77), wrist=(0.54, 0.0, 0.68), finger=(0.62, 0.0, 0.635),
    )  # fmt: skip
    for side in (1.0, -1.0):
        at = limbs.on(side)
        parts += tube(at["hip"], at["ankle"], 0.135, 0.115, "black")
        parts += tube(at["shoulder"], at["finger"], 0.115, 0.095, "black", 8)
        parts += [
            Part((side * 0.235, -0.045, 0.05), (0.105, 0.15, 0.09), "black"),
            Part((side * 0.16, 0.02, 1.27), (0.075, 0.05, 0.075), "black"),
        ]
    features = [Part((s * 0.085, -0.178, 1.155), (0.045, 0.022, 0.055), "patch", (0.0, 0.0, 1.0)) for s in (1.0, -1.0)]
    features += _eyes(0.08, -0.197, 1.16, 0.018, "eye")
    features += [Part((0.0, -0.25, 1.085), (0.03, 0.02, 0.022), "patch")]
    trunk = {"spine": 0.58, "chest": 0.74, "neck": 0.93, "head": 1.0}
    bones = _bones(limbs, pelvis=0.46, trunk=trunk, top=1.28, mass=60.0)
    colours = {
        "white": (0.94, 0.93, 0.9),
        "black": (0.13, 0.13, 0.14),
        "patch": (0.05, 0.05, 0.06),
        "eye": (0.95, 0.95, 0.95),
    }
    return Design("panda", parts, features, bones, colours, mass=60.0, young=1e5)


def baby() -> Design:
    """0.78 m tall, 10 kg, a large head."""
    parts = [
        Part((0.0, 0.0, 0.61), (0.118, 0.125, 0.13), "skin"),
        Part((0.0, -0.045, 0.565), (0.088, 0.09, 0.07), "skin"),
        Part((0.0, 0.0, 0.45), (0.095, 0.075, 0.075), "skin"),
        Part((0.0, -0.012, 0.345), (0.1, 0.095, 0.1), "skin"),
        Part((0.0, 0.01, 0.26), (0.108, 0.1, 0.085), "nappy"),
    ]
    limbs = Limbs(
        hip=(0.055, 0.0, 0.225), knee=(0.092, 0.0, 0.135), ankle=(0.122, 0.0, 0.045), toe=(0.13, -0.065, 0.025),
        shoulder=(0.085, 0.0, 0.455), elbow=(0.18, 0.0, 0.405), wrist=(0.262, 0.0, 0.36), finger=(0.31, 0.0, 0.335),
    )  # fmt: skip
    for side in (1.0, -1.0):
        at = limbs.on(side)
        parts += tube(at["hip"], at["knee"], 0.064, 0.055, "skin", 4) + tube(
            at["knee"], at["ankle"], 0.055, 0.044, "skin", 4
        )
        parts += tube(at["shoulder"], at["wrist"], 0.047, 0.036, "skin", 6)
        parts += [
            Part(at["finger"], (0.04, 0.034, 0.034), "skin"),
            Part((side * 0.124, -0.028, 0.024), (0.044, 0.072, 0.044), "skin"),
            Part((side * 0.12, 0.01, 0.595), (0.02, 0.022, 0.03), "skin"),
        ]
    features = _eyes(0.045, -0.118, 0.615, 0.015, "eye")
    features += [Part((0.0, -0.136, 0.585), (0.013, 0.014, 0.012), "skin")]
    features += [Part((0.0, -0.128, 0.55), (0.022, 0.01, 0.007), "mouth")]
    trunk = {"spine": 0.29, "chest": 0.38, "neck": 0.48, "head": 0.515}
    bones = _bones(limbs, pelvis=0.245, trunk=trunk, top=0.69, mass=10.0, height=0.78 / 1.4)
    colours = {
        "skin": (0.9, 0.72, 0.62),
        "nappy": (0.92, 0.93, 0.95),
        "eye": (0.12, 0.13, 0.2),
        "mouth": (0.75, 0.3, 0.3),
    }
    return Design("baby", parts, features, bones, colours, mass=10.0, young=4e4, melt=0.01)


DESIGNS = {"mascot": mascot, "panda": panda, "baby": baby}


class Limbs:
    """Joints of the left limbs [m] as they are drawn; `on(side)` gives either side, 1 left, -1 right."""

    def __init__(self, **joints: Point) -> None:
        self.joints = joints

    def on(self, side: float) -> dict[str, Point]:
        return {name: (side * x, y, z) for name, (x, y, z) in self.joints.items()}


def _eyes(x: float, y: float, z: float, radius: float, colour: str) -> list[Part]:
    return [Part((s * x, y, z), (radius, 0.6 * radius, 1.15 * radius), colour) for s in (1.0, -1.0)]


def _bones(
    limbs: Limbs, *, pelvis: float, trunk: dict[str, float], top: float, mass: float, height: float = 1.0
) -> list[Bone]:
    """The usual tree. trunk: heights [m] of the joints above the pelvis, upwards; gains go with weight times height."""
    scale = mass / 50.0 * height
    bones: list[Bone] = []

    def add(name: str, parent: str | None, joint: str, at: Point, tip: Point, bind: Point = (0.0, 0.0, 0.0)) -> None:
        kp = scale * GAINS.get(name.removesuffix("_l").removesuffix("_r"), 0.0)
        bones.append(Bone(name, parent, joint, at, tip, bind, stiffness=kp, damping=0.1 * kp))

    levels = [*trunk.values(), top]
    add("pelvis", None, "free", (0.0, 0.0, pelvis), (0.0, 0.0, levels[0]))
    above = "pelvis"
    for name, low, high in zip(trunk, levels, levels[1:]):
        add(name, above, "ball", (0.0, 0.0, low), (0.0, 0.0, high))
        above = name
    for side, sign in (("l", 1.0), ("r", -1.0)):
        at = limbs.on(sign)
        leg, arm = outward(at["hip"], at["ankle"]), outward(at["shoulder"], at["wrist"])
        add(f"thigh_{side}", "pelvis", "ball", at["hip"], at["knee"], leg)
        add(f"shank_{side}", f"thigh_{side}", "hinge", at["knee"], at["ankle"], leg)
        add(f"foot_{side}", f"shank_{side}", "ball", at["ankle"], at["toe"])
        add(f"upper_arm_{side}", "chest", "ball", at["shoulder"], at["elbow"], arm)
        add(f"forearm_{side}", f"upper_arm_{side}", "hinge", at["elbow"], at["wrist"], arm)
        add(f"hand_{side}", f"forearm_{side}", "ball", at["wrist"], at["finger"], arm)
    return bones


def outward(start: Point, end: Point) -> Point:
    """Rotation vector [rad] about y that takes a limb from hanging down to where it is drawn."""
    along = np.asarray(end) - np.asarray(start)
    return (0.0, float(np.arctan2(-along[0], -along[2])), 0.0)
