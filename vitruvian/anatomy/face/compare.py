"""Action units of ours beside the action shapes of the data package: where they move the skin, and which way.

cosine   of the two displacement fields over the skin that the artist's shape moves by 1 mm or more
place    distance between the middles of what moves, weighted by how far it moves [m]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitruvian.anatomy.face.face import Face

Array = np.ndarray
LEAST = 0.001  # [m]
# unit -> shapes of both sides that show the same action
SHAPES = {
    "AU1": ("browInnerUp",),
    "AU2": ("browOuterUpLeft", "browOuterUpRight"),
    "AU4": ("browDownLeft", "browDownRight"),
    "AU5": ("eyeWideLeft", "eyeWideRight"),
    "AU6": ("cheekSquintLeft", "cheekSquintRight"),
    "AU7": ("eyeSquintLeft", "eyeSquintRight"),
    "AU9": ("noseSneerLeft", "noseSneerRight"),
    "AU10": ("mouthUpperUpLeft", "mouthUpperUpRight"),
    "AU12": ("mouthSmileLeft", "mouthSmileRight"),
    "AU14": ("mouthDimpleLeft", "mouthDimpleRight"),
    "AU15": ("mouthFrownLeft", "mouthFrownRight"),
    "AU16": ("mouthLowerDownLeft", "mouthLowerDownRight"),
    "AU17": ("mouthShrugLower",),
    "AU18": ("mouthPucker",),
    "AU20": ("mouthStretchLeft", "mouthStretchRight"),
    "AU22": ("mouthFunnel",),
    "AU24": ("mouthPressLeft", "mouthPressRight"),
    "AU26": ("jawOpen",),
    "AU43": ("eyeBlinkLeft", "eyeBlinkRight"),
}


@dataclass(frozen=True)
class Likeness:
    """One unit beside its shapes."""

    cosine: float
    place: float  # [m]
    ours: float  # largest motion [m]
    theirs: float


def likeness(face: Face, moved: Array, unit: str) -> Likeness:
    """moved: displacement of the head's vertices by the unit from the calm face, its eyes open [m] (n, 3)."""
    theirs = np.sum([face.head.shape(name) for name in SHAPES[unit]], axis=0)
    far, own = np.linalg.norm(theirs, axis=1), np.linalg.norm(moved, axis=1)
    at = far > LEAST
    cosine = float(np.sum(theirs[at] * moved[at]) / np.sqrt(np.sum(theirs[at] ** 2) * np.sum(moved[at] ** 2)))
    folded = np.abs(face.head.vertices * (1.0, 0.0, 0.0)) + face.head.vertices * (0.0, 1.0, 1.0)
    middle = [w**2 @ folded / np.sum(w**2) for w in (own, far)]
    return Likeness(cosine, float(np.linalg.norm(middle[0] - middle[1])), float(own.max()), float(far.max()))
