"""Heads with minds: one that watches things (`Watcher`), and several that also see each other (`Company`).

Each head is simulated in its own axes (left, back, up), facing -y; a `Place` says where it stands in the room. What a
head sees of another is where that is, what its face shows, and what it looks at; all of the last step, so that no
order among them matters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from vitruvian.control.controls import Controls
from vitruvian.control.face import FaceDriver, FaceState, blend
from vitruvian.control.head import GazeControl
from vitruvian.control.head.eyes import BETWEEN, lids
from vitruvian.control.head.gaze import GazeState
from vitruvian.control.mind.idle import spot, sway
from vitruvian.control.mind.mind import Look, Mind, MindState, Seen
from vitruvian.control.mind.rules import Character
from vitruvian.couple import BodyState
from vitruvian.errors import InputError
from vitruvian.skeleton import bone_poses
from vitruvian.spatial import exp_so3

Array = np.ndarray
FACE = 1.0 / 30.0  # [s] between balances of a face


@dataclass(frozen=True)
class Thing:
    """Something to look at in the room."""

    name: str
    position: Callable[[float], Array]  # [m] (3,) at a time [s]
    kind: str = "doll"


@dataclass(frozen=True)
class Place:
    """Where a head's axes lie in the room."""

    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)  # [m]
    yaw: float = 0.0  # about the vertical [rad], left positive

    @cached_property
    def rotation(self) -> Array:
        """From the head's axes to the room's, (3, 3)."""
        return exp_so3(np.array([0.0, 0.0, self.yaw]))

    def into(self, point: Array) -> Array:
        """A point of the room [m] in the head's axes."""
        return np.asarray(self.rotation.T @ (np.asarray(point, float) - self.origin))

    def out(self, point: Array) -> Array:
        """A point of the head's axes [m] in the room."""
        return np.asarray(self.rotation @ np.asarray(point, float) + self.origin)


@dataclass
class WatcherState:
    gaze: GazeState
    mind: MindState
    face: FaceState | None = None
    shown: float = -np.inf  # [s] when the face was last moved
    phase: float = 0.0  # of its idling, 0 to 1


class Watcher:
    """A `Controller` of one head: looks at what its mind attends to, moves as it feels. `told["mood"]` is a `Look`,
    `told["face"]` the face, if there is one."""

    def __init__(
        self,
        gaze: GazeControl,
        character: Character,
        things: Sequence[Thing],
        faces: Sequence[str] = (),
        driver: FaceDriver | None = None,
    ):
        """things: in the head's own axes; faces: names of other heads, given at each step; driver: of its own face."""
        names = [*(t.name for t in things), *faces]
        if len(set(names)) < len(names):
            raise InputError(f"two things that a head may see have one name: {', '.join(names)}")
        self.gaze, self.things, self.mind, self.driver = gaze, tuple(things), Mind(character, names), driver

    def start(self, rng: np.random.Generator) -> WatcherState:
        gaze, face = self.gaze.start(rng), None if self.driver is None else self.driver.start()
        return WatcherState(gaze, self.mind.start(), face, phase=float(rng.random()))

    def act(self, own: WatcherState, state: BodyState, time: float, dt: float) -> Controls:
        return self.live(own, state, time, dt, (), {})

    def live(
        self, own: WatcherState, state: BodyState, time: float, dt: float, faces: Sequence[tuple[str, Array, Array]],
        regarded: dict[str, int],
    ) -> Controls:  # fmt: skip
        """faces: name, place in own axes [m] (3,) and shown emotions (7,) of each other head; regarded: by how many."""
        poses = bone_poses(self.gaze.control.body.skeleton, state.q)
        base, eyes = poses[self.gaze.control.chain.base, :3, :3], self.between_eyes(poses)

        def local(x: Array) -> Array:
            return np.asarray(base.T @ (x - eyes))

        seen = [
            Seen(t.name, t.kind, local(np.asarray(t.position(time), float)), None, regarded.get(t.name, 0))
            for t in self.things
        ]
        seen += [Seen(name, "face", local(at), shown, regarded.get(name, 0)) for name, at, shown in faces]
        self.mind.decide(own.mind, seen, time)
        look: Look = self.mind.look(own.mind, seen, time)
        idle, target = self.mind.character.idle, look.target
        if look.thing >= 0 and seen[look.thing].kind == "face":
            target = spot(idle, own.phase, time, target)
        turn = look.turn + sway(idle, own.phase, time)
        controls = self.gaze.aim(own.gaze, state, time, dt, eyes + base @ target, turn, poses)
        controls.told["mood"] = look
        if self.driver is not None and own.face is not None:
            if time >= own.shown + FACE - 1e-9:
                since, own.shown = FACE if not np.isfinite(own.shown) else time - own.shown, time
                shut = max(lids(own.gaze.eyes, time), look.lids)
                self.driver.step(own.face, blend(look.emotions), since, gaze=own.gaze.eyes.angle, shut=shut)
            controls.told["face"] = own.face
        return controls

    def between_eyes(self, poses: Array) -> Array:
        """[m] (3,), from the poses of the bones (n_bones, 4, 4)."""
        head = poses[self.gaze.skull]
        return np.asarray(head[:3, :3] @ BETWEEN + head[:3, 3])


@dataclass
class CompanyState:
    heads: list[WatcherState]
    places: Array  # of the eyes' middle in the room at the last step [m], (n, 3)


class Company:
    """A `Controller` of several heads, as `LanesSystem` steps them; things are given in the room's axes."""

    def __init__(
        self,
        heads: dict[str, tuple[GazeControl, Character, Place]],
        things: Sequence[Thing] = (),
        driver: FaceDriver | None = None,
    ):
        """driver: of a face that all of them have."""
        self.names, self.places = tuple(heads), tuple(place for _, _, place in heads.values())
        self.watchers = []
        for name, (gaze, character, place) in heads.items():
            mine = [Thing(t.name, _seen_from(place, t), t.kind) for t in things]
            self.watchers.append(Watcher(gaze, character, mine, [n for n in heads if n != name], driver))

    def start(self, rng: np.random.Generator) -> CompanyState:
        heads = [w.start(rng) for w in self.watchers]
        places = np.array([self._eyes(k, w.gaze.control.body.default_q) for k, w in enumerate(self.watchers)])
        return CompanyState(heads, places)

    def act(self, own: CompanyState, state: Any, time: float, dt: float) -> list[Controls]:
        """state: a `LanesState`."""
        shown = [h.mind.emotions.copy() for h in own.heads]
        attends = [
            w.mind.names[h.mind.attended] if h.mind.attended >= 0 else "" for w, h in zip(self.watchers, own.heads)
        ]
        at, out = own.places.copy(), []
        for k, (watcher, head, lane) in enumerate(zip(self.watchers, own.heads, state.lanes, strict=True)):
            others = [j for j in range(len(self.names)) if j != k]
            faces = [(self.names[j], self.places[k].into(at[j]), shown[j]) for j in others]
            regarded: dict[str, int] = {}
            for j in others:
                regarded[attends[j]] = regarded.get(attends[j], 0) + 1
            out.append(watcher.live(head, lane, time, dt, faces, regarded))
            own.places[k] = self._eyes(k, lane.q)
        return out

    def _eyes(self, k: int, q: Array) -> Array:
        watcher = self.watchers[k]
        return self.places[k].out(watcher.between_eyes(bone_poses(watcher.gaze.control.body.skeleton, q)))


def _seen_from(place: Place, thing: Thing) -> Callable[[float], Array]:
    return lambda time: place.into(thing.position(time))
