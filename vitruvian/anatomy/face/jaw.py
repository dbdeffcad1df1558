"""The jaw opens about its joint: a hinge through the condyles that slides forward, 0.4 mm per degree.

Incisors are then 17 mm apart at 10 degrees and 48 mm at 30 (people open to 40 to 55 mm). Tissue that is in balance with
the jaw shut is carried along, x + w (T x − x), w being how much a place goes with the jaw.
"""

from __future__ import annotations

import numpy as np

from vitruvian.spatial import exp_so3

Array = np.ndarray
HINGE = np.array([0.0, -0.0287, 1.818])  # [m] between the condyles of the jaw, in the default pose
SLIDE = 0.0004  # [m] forward per degree


def jaw_pose(angle: float) -> Array:
    """From the jaw at rest to the jaw opened by `angle` [rad], both in the world of the default pose, (4, 4)."""
    pose = np.eye(4)
    pose[:3, :3] = exp_so3(np.array([angle, 0.0, 0.0]))
    pose[:3, 3] = HINGE - pose[:3, :3] @ HINGE + (0.0, -SLIDE * np.degrees(angle), 0.0)
    return pose


def carried(points: Array, share: Array, angle: float) -> Array:
    """Points [m] (n, 3) that go with the jaw by their share (n,)."""
    pose = jaw_pose(angle)
    return points + share[:, None] * (points @ pose[:3, :3].T + pose[:3, 3] - points)
