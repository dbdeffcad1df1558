"""A head on its neck: a body on a base that may shake, with eyes that look at something.

The bones are computed in the frame of the base. When the base is shaken by an acceleration a(t) without turning, every
bone feels -m a on top of its weight, which is exact. What is drawn moves with the base.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control.head.eyes import EYES, EyeState
from vitruvian.couple import BodyState
from vitruvian.mesh import sphere
from vitruvian.skeleton import bone_poses
from vitruvian.spatial import exp_so3, pose_from_transform, transform
from vitruvian.systems.body import BodySystem
from vitruvian.systems.layers import BodiesLayer, Layer
from vitruvian.systems.measures import Now
from vitruvian.world import Camera, Mesh

Array = np.ndarray
HEAD_CAMERAS = (
    Camera("front", (0.35, -0.95, 1.83), (0.0, -0.02, 1.74)),
    Camera("side", (1.0, -0.1, 1.80), (0.0, -0.02, 1.74)),
    Camera("above", (0.3, -0.7, 2.4), (0.0, -0.02, 1.76)),
)
EYE_RADIUS, IRIS, PUPIL = 0.012, 0.0062, 0.0028  # [m]
WHITE, BROWN, BLACK, RED = (0.95, 0.95, 0.93), (0.28, 0.17, 0.10), (0.02, 0.02, 0.02), (0.80, 0.22, 0.18)


class HeadSystem(BodySystem):
    """See `BodySystem`."""

    def __init__(
        self, body: Body, q: Array | None = None, *, ride: Callable[[float], Array] | None = None, **rest: Any
    ):
        """ride: acceleration of the base [m/s²] (3,) at a time [s]."""
        self.ride = ride
        super().__init__(body, q, **{"cameras": HEAD_CAMERAS, "ground": None} | rest)

    def surround(self, state: BodyState, time: float) -> None:
        super().surround(state, time)
        if self.ride is not None:
            a = np.asarray(self.ride(time), dtype=float)
            s = self.skeleton
            force = -s.masses[:, None] * (bone_poses(s, state.q)[:, :3, :3].transpose(0, 2, 1) @ a)
            state.wrench[:, 3:] += force
            state.wrench[:, :3] += np.cross(s.coms, force)


def eye_layers(skull: str = "Sku") -> list[Layer]:
    """Eyeballs that turn; the controller tells them (`told["eyes"]`)."""

    def meshes() -> Sequence[Mesh]:
        ball, iris, pupil = (sphere(r, subdivisions=2) for r in (EYE_RADIUS, IRIS, PUPIL))
        out = []
        for side in "lr":
            name = f"eye_{side}"
            out.append(Mesh(name, name, *ball, layer="eyes", colour=WHITE))
            for what, (v, f), r, colour in (("iris", iris, IRIS, BROWN), ("pupil", pupil, PUPIL, BLACK)):
                flat = v * (1.0, 0.35, 1.0) - (0.0, np.sqrt(EYE_RADIUS**2 - r**2) - 0.1 * r, 0.0)
                out.append(Mesh(f"{what}_{side}", name, flat, f, layer="eyes", colour=colour))
        return out

    def poses(now: Now) -> Array:
        head = now.pose(skull)
        eyes = EyeState() if now.controls is None else now.controls.told.get("eyes", EyeState())
        out = []
        for at, (yaw, pitch) in zip(EYES, eyes.angle):
            turn = exp_so3(np.array([0.0, 0.0, yaw])) @ exp_so3(np.array([-pitch, 0.0, 0.0]))
            out.append(pose_from_transform(head @ transform(turn, at)))
        return np.array(out)

    return [BodiesLayer(("eye_l", "eye_r"), meshes, poses)]


def target_layer(target: Callable[[float], Array], radius: float = 0.03) -> Layer:
    """A ball where the target is."""
    return BodiesLayer(
        ("target",),
        lambda: [Mesh("target", "target", *sphere(radius, subdivisions=2), layer="things", colour=RED)],
        lambda now: np.array([[*target(now.time), 1.0, 0.0, 0.0, 0.0]]),
    )
