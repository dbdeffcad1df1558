"""A soft character: flesh and bones that move each other, servos in the joints, ground under the skin.

    system = CharacterSystem(character("mascot"), q)
    World(system, Following(reference), frame_rate=50, substeps=5)        # implicit steps of 4 ms

Honours the control `posture`; without it the servos hold the pose that it starts in. It can be shoved while it runs
(`world.acting`): the force and when it ends are part of the state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vitruvian.anatomy.characters import Character, soft_body
from vitruvian.control import Controls, honoured
from vitruvian.couple.soft_body import SoftBody, SoftState
from vitruvian.skeleton import bone_poses
from vitruvian.systems.layers import BodiesLayer, Drawn, SurfaceLayer
from vitruvian.systems.measures import Measure, Now
from vitruvian.systems.surroundings import Push
from vitruvian.world import Camera, Mesh, Signal, Surface, SurfaceFrame

Array = np.ndarray


SHOVE, SHOVING = 0.3, 0.2  # [N s/kg] and [s] of a shove from someone who watches
SIDES = {"ahead": (0.0, -1.0, 0.0), "left": (1.0, 0.0, 0.0), "back": (0.0, 1.0, 0.0), "right": (-1.0, 0.0, 0.0)}


@dataclass
class CharacterState(SoftState):
    """A soft body, and the shove that it gets."""

    shove: Array  # force on the chest [N], and until when [s] (4,)


class CharacterSystem(Drawn):
    """See `world.simulation.Simulation`."""

    def __init__(
        self,
        character: Character,
        q: Array | None = None,
        v: Array | None = None,
        *,
        body: SoftBody | None = None,
        implicit: bool = True,
        pushes: Sequence[Push] = (),
        measures: Sequence[Measure] = (),
        meshes: Sequence[Mesh] = (),
        cameras: Sequence[Camera] = (),
    ) -> None:
        """q, v: to start with, by default standing. body: with other settings than `soft_body` has.
        implicit: steps of 4 to 8 ms; explicit ones must be half a millisecond or less."""
        self.character, self.implicit, self.pushes = character, implicit, tuple(pushes)
        self.body = soft_body(character) if body is None else body
        self.skeleton = character.skeleton
        self.q0 = character.standing_q if q is None else np.asarray(q, float)
        self.v0 = np.zeros(self.skeleton.n_v) if v is None else np.asarray(v, float)
        for push in self.pushes:
            self.skeleton.index(push.bone)
        self.shoved = "chest" if "chest" in self.skeleton.names else self.skeleton.names[0]
        self.actions = {
            f"shove {side}": f"push its {self.shoved} with {SHOVE * character.mass:.0f} N s" for side in SIDES
        }
        self.layers = [
            BodiesLayer(("pelvis",), lambda: meshes, _pelvis),
            *(_Patch(self, n) for n in range(len(character.patches))),
        ]
        self.measures = (*MEASURES, *measures)
        height = float(character.vertices[:, 2].max())
        self.cameras = tuple(cameras) or character_cameras(height, self.q0[:2])
        self.ground = self.body.ground.height if self.body.ground.present else None

    def start(self, rng: np.random.Generator) -> CharacterState:
        return CharacterState(**vars(self.body.start(self.q0, self.v0)), shove=np.zeros(4))

    def take(self, state: CharacterState, name: str, time: float) -> None:
        """A shove from one side: see `world.acting`."""
        side = SIDES[name.removeprefix("shove ")]
        state.shove[:3] = SHOVE * self.character.mass / SHOVING * np.array(side)
        state.shove[3] = time + SHOVING

    def step(self, state: CharacterState, controls: Controls | None, time: float, dt: float) -> None:
        given = honoured(controls, ("posture",), "a soft character").posture
        target, rate = (self.q0, np.zeros(self.skeleton.n_v)) if given is None else (given.q, given.rate)
        self.body.step(state, target, rate, dt, implicit=self.implicit, push=self.pushed(state, time))

    def pushed(self, state: CharacterState, time: float) -> Array | None:
        """Wrenches on the bones (moment about the world's origin, force) of what pushes now, (n_bones, 6)."""
        active = [p for p in self.pushes if p.start <= time + 1e-9 < p.start + p.duration]
        if time + 1e-9 < state.shove[3]:
            active.append(Push(self.shoved, tuple(state.shove[:3]), time, SHOVING))
        if not active:
            return None
        out, poses = np.zeros((self.skeleton.n_bones, 6)), bone_poses(self.skeleton, state.q)
        for push in active:
            k = self.skeleton.index(push.bone)
            at = poses[k, :3, :3] @ np.asarray(push.point) + poses[k, :3, 3]
            out[k] += np.concatenate([np.cross(at, push.force), push.force])
        return out


class _Patch(SurfaceLayer):
    """Triangles of one colour."""

    def __init__(self, system: CharacterSystem, number: int) -> None:
        patch = system.character.patches[number]
        used, faces = np.unique(patch.faces, return_inverse=True)
        surface = Surface(patch.name, faces.reshape(-1, 3), "skin", patch.colour, 1.0)
        super().__init__(surface, lambda now: SurfaceFrame(now.once(_skin)[used]))


def _skin(now: Now) -> Array:
    return np.asarray(now.system.character.skin.positions(now.state.x))


def _pelvis(now: Now) -> Array:
    return np.asarray(now.q[:7])[None]


def _momentum(now: Now) -> Array:
    return np.asarray(now.system.body.momentum(now.state))


def _tilt(now: Now) -> float:
    return float(np.degrees(np.arccos(np.clip(now.poses[0, 2, 2], -1.0, 1.0))))


def inverted(now: Now) -> float:
    """Elements turned inside out."""
    return float(now.system.character.tetrahedra.folded(now.state.x))


MEASURES = (
    Measure(
        Signal("centre", "m", "centre of mass", ("left", "back", "up")), lambda now: now.system.body.centre(now.state)
    ),
    Measure(
        Signal("spin", "kg m²/s", "angular momentum about it", ("x", "y", "z")), lambda now: now.once(_momentum)[:3]
    ),
    Measure(Signal("push", "kg m/s", "linear momentum", ("x", "y", "z")), lambda now: now.once(_momentum)[3:]),
    Measure(
        Signal("ground_force", "N", "force of the ground on the skin", ("left", "back", "up")),
        lambda now: now.state.ground[3:],
    ),
    Measure(Signal("slip", "m", "how far feet have slid, by load"), lambda now: now.state.slip),
    Measure(
        Signal("shove", "N", "shove by someone who watches", ("left", "back", "up")),
        lambda now: now.state.shove[:3] * (now.time + 1e-9 < now.state.shove[3]),
    ),
    Measure(Signal("tilt", "deg", "tilt of the pelvis from upright"), _tilt),
    Measure(Signal("inverted", "", "elements turned inside out"), inverted),
    Measure(Signal("iterations", "", "iterations of the implicit step"), lambda now: now.state.iterations),
)


def character_cameras(height: float, at: Array) -> tuple[Camera, ...]:
    """Views of a character so tall [m] that starts over the place `at` (2,) [m], and along with it."""
    a, b, (x, y) = 2.4 * height, 0.55 * height, at.tolist()
    return (
        Camera("corner", (x + 0.75 * a, y - a, 1.1 * height), (x, y, b), follow="pelvis"),
        Camera("side", (x + 1.25 * a, y, 0.8 * height), (x, y, b), follow="pelvis"),
        Camera("front", (x, y - 1.25 * a, 0.8 * height), (x, y, b), follow="pelvis"),
    )
