"""A soft character in a tank: it and the water move each other.

tank = Tank.of_size((2.4, 2.4, 1.8), 0.1, origin=(-1.2, -1.2, -1.1), rest_level=0.0)
WetCharacterSystem(character("mascot"), tank, q)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitruvian.anatomy.characters import Character, soft_body
from vitruvian.control import Controls, honoured
from vitruvian.couple.soft_water import SoftInWater
from vitruvian.flesh.posed.ground import Ground
from vitruvian.systems.character import CharacterState, CharacterSystem
from vitruvian.systems.layers import water_layers
from vitruvian.systems.measures import Measure, Now
from vitruvian.water import Tank, WaterState, fill, rasterise, spray_total, step, water_volume
from vitruvian.world import Camera, Signal

Array = np.ndarray


@dataclass
class WetState(CharacterState):
    """A character, the water about it, and the mean force of that in the latest step."""

    water: WaterState
    water_force: Array  # [N] (3,)


class WetCharacterSystem(CharacterSystem):
    """See `world.simulation.Simulation`; the floor of the tank is the character's ground."""

    def __init__(self, character: Character, tank: Tank, q: Array, v: Array | None = None) -> None:
        gravity = (float(tank.gravity[0]), float(tank.gravity[1]), float(tank.gravity[2]))
        body = soft_body(character, ground=Ground(height=float(tank.origin[2])), gravity=gravity)
        size, low = np.asarray(tank.size), np.asarray(tank.origin)
        eye, middle = low + size * np.array([1.5, -1.0, 1.15]), low + size * np.array([0.5, 0.5, 0.55])
        cameras = (
            Camera("corner", tuple(eye), tuple(middle)),
            Camera("side", tuple(middle + size * np.array([2.2, 0.0, 0.1])), tuple(middle)),
        )
        super().__init__(
            character, q, v, body=body, cameras=cameras,
            measures=(
                Measure(Signal("water_force", "N", "force of the water on it", ("x", "y", "z")), _water_force),
                Measure(Signal("displaced", "m^3", "skin below the level of calm water"), self._displaced),
                Measure(Signal("volume_error", "", "water lost or gained, relative"), self._volume_error),
            ),
        )  # fmt: skip
        self.tank = tank
        self.layers = [*self.layers, *water_layers(tank, closed=True, opacity=0.5)]
        self.faces = np.concatenate([p.faces for p in character.patches if p.faces.max() < character.n_skin])
        weights = np.asarray(character.skin.matrix[: character.n_skin] @ character.weights)
        owner = weights[self.faces].sum(axis=1).argmax(axis=1)
        self.wet = SoftInWater(body, character.rigid, character.skin, self.faces, owner)

    def start(self, rng: np.random.Generator) -> WetState:
        state = CharacterSystem.start(self, rng)
        wading = self.wet.step(self.q0, np.zeros(self.skeleton.n_v))
        water = fill(self.tank, None, seed=int(rng.integers(2**31)), mechanism=wading, body=state)
        return WetState(**vars(state), water=water, water_force=np.zeros(3))

    def step(self, state: WetState, controls: Controls | None, time: float, dt: float) -> None:  # type: ignore[override]
        given = honoured(controls, ("posture",), "a soft character").posture
        target, rate = (self.q0, np.zeros(self.skeleton.n_v)) if given is None else (given.q, given.rate)
        wading = self.wet.step(target, rate, self.pushed(state, time))
        done = step(self.tank, state.water, dt, mechanism=wading, body=state)
        state.water_force[:] = done.impulses[:, 3:].sum(axis=0) / dt

    def _displaced(self, now: Now) -> float:
        """Volume [m³] of the skin under the level that the water would have, calm, with that volume in it."""
        skin, area = self.character.skin.positions(now.state.x), float(self.tank.size[0] * self.tank.size[1])
        out, empty = 0.0, float(self.tank.origin[2]) + now.state.water.volume / area
        for _ in range(6):  # each gains a digit: a body is much narrower than its tank
            out = volume_below(skin, self.faces, empty + out / area)
        return out

    def _volume_error(self, now: Now) -> float:
        water, wading = now.state.water, self.wet.step(self.q0, np.zeros(self.skeleton.n_v))
        skins, links = wading.skins(now.state), wading.links(now.state)
        opened = rasterise(self.tank, water, skins, links.origins).volume
        return float((spray_total(water) + water_volume(self.tank, water.phi, opened)) / water.volume - 1.0)


def _water_force(now: Now) -> Array:
    return np.asarray(now.state.water_force)


def volume_below(vertices: Array, faces: Array, level: float) -> float:
    """Of a closed surface, what is under a level [m³]: prisms from each triangle up to it, cut at the level."""
    corners = vertices[faces]
    out = 0.0
    order = np.argsort(corners[..., 2], axis=1)
    sign = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 2]
    low, mid, high = (np.take_along_axis(corners, order[:, k : k + 1, None], axis=1)[:, 0] for k in range(3))
    d = level - np.stack([low[:, 2], mid[:, 2], high[:, 2]], axis=1)
    area = 0.5 * sign  # of the shadow on the level, up positive
    whole = d[:, 2] >= 0.0
    out -= float((area * d.mean(axis=1))[whole].sum())
    one = (d[:, 0] > 0.0) & (d[:, 1] <= 0.0)  # a corner under water: a smaller similar triangle
    a, b = (d[one, 0] / (d[one, 0] - d[one, k]) for k in (1, 2))
    out -= float((area[one] * a * b * d[one, 0] / 3.0).sum())
    two = (d[:, 1] > 0.0) & (d[:, 2] < 0.0)  # all but a corner
    e, f = (d[two, 2] / (d[two, 2] - d[two, k]) for k in (0, 1))
    out -= float((area[two] * (d[two].mean(axis=1) - e * f * d[two, 2] / 3.0)).sum())
    return out
