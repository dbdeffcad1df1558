"""A mind that lives by a character's rules: it sees things, attends to one, feels, and says what face and head do.

Decided every INTERVAL. Of each thing it keeps a mean velocity u and a mean square speed w over MEMORY seconds, so that
"shaken" is sqrt(w - |u|²), large for to and fro and zero for a steady course. Emotions follow what the rules and other
faces ask for,

    E' = (E* - E) / rise or fall,    E* = (1 - damps f) max(rules, share of the face that it looks at),

and fatigue f grows with the strongest emotion and recovers without: f' = E (1 - f)/tires - (1 - E) f/rests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from vitruvian.control.mind.rules import EMOTIONS, Character, Feel
from vitruvian.errors import InputError

Array = np.ndarray
INTERVAL = 0.04  # [s] between decisions
MEMORY = 0.4  # [s]
JUMP = 10.0  # [m/s] a thing that is faster has been put elsewhere, not moved
AWAY = (0.5, 0.0, -0.15)  # [m] past the thing, per metre of distance: aside and down
BLENDED = 0.5  # an emotion beyond it directs gaze


@dataclass(frozen=True)
class Seen:
    """A thing in sight, in the axes of the head's base (left, back, up) with the origin between the eyes."""

    name: str
    kind: str  # "doll", "face", ...
    position: Array  # [m] (3,)
    emotions: Array | None = None  # that a face shows, (7,)
    regarded: int = 0  # how many others look at it


@dataclass
class MindState:
    """What a mind remembers; things in the order in which they are always given."""

    emotions: Array  # as shown, 0 to 1, (7,)
    held: Array  # how long each rule's conditions have held [s], (n_rules,)
    place: Array  # of each thing at the last decision [m], (n, 3)
    drift: Array  # its mean velocity [m/s], (n, 3)
    square: Array  # its mean square speed [m²/s²], (n,)
    worth: Array  # how new each thing still is, 0 to 1, (n,)
    attended: int = -1  # index of the thing; -1: none
    fatigue: float = 0.0
    decided: float = -np.inf  # [s]


@dataclass(frozen=True)
class Look:
    """What the mind asks of face, eyes and head."""

    emotions: dict[str, float]  # weights of expressions, 0 to 1
    target: Array  # to look at [m] (3,), in the axes of `Seen`
    turn: Array  # of the head on top of where it looks, rotation vector [rad] (3,): nodding, tilting, turning
    lids: float  # how far they sink, 0 to 1
    attended: str  # name of the thing, or ""
    thing: int  # its number, or -1
    fatigue: float


@dataclass
class Mind:
    """Decides by a character's rules; all that changes is in a `MindState`."""

    character: Character
    names: Sequence[str]  # of the things that it may ever see, in their order
    _rise: Array = field(init=False)
    _fall: Array = field(init=False)

    def __post_init__(self) -> None:
        own = self.character.feel
        pick = [[r for r in own if r.emotion == e] for e in EMOTIONS]
        self._rise = np.array([min((r.rise for r in rules), default=self.character.mimicry.rise) for rules in pick])
        self._fall = np.array([max((r.fall for r in rules), default=1.0) for rules in pick])

    def start(self) -> MindState:
        n = len(self.names)
        return MindState(
            np.zeros(len(EMOTIONS)), np.zeros(len(self.character.feel)), np.full((n, 3), np.nan), np.zeros((n, 3)),
            np.zeros(n), np.ones(n),
        )  # fmt: skip

    def decide(self, own: MindState, seen: Sequence[Seen], time: float) -> None:
        """Once every INTERVAL: attend and feel. seen: all things of `names`, in their order."""
        if time < own.decided + INTERVAL - 1e-9:
            return
        if [s.name for s in seen] != list(self.names):
            raise InputError(f"a mind that knows {', '.join(self.names)} was shown {', '.join(s.name for s in seen)}")
        dt = INTERVAL if np.isfinite(own.decided) else 0.0
        own.decided = time
        self._follow(own, seen, dt)
        self._attend(own, seen, dt)
        self._feel(own, seen, dt)

    def look(self, own: MindState, seen: Sequence[Seen], time: float) -> Look:
        """What it asks for at `time` [s]."""
        fatigue = self.character.fatigue
        target = np.array([0.0, -2.0, 0.0]) if own.attended < 0 else np.array(seen[own.attended].position)
        turn = np.radians([fatigue.droop * own.fatigue, 0.0, 0.0])
        strongest = int(np.argmax(own.emotions))
        for rule in self.character.do:
            share = float(own.emotions[EMOTIONS.index(rule.emotion)])
            swing = np.sin(2.0 * np.pi * rule.rate * time)
            turn += share * np.radians(
                [rule.head[0] + rule.nod * swing, rule.head[1], rule.head[2] + rule.shake * swing]
            )
            if share > BLENDED and EMOTIONS[strongest] == rule.emotion:
                target = _gaze(rule.gaze, target)
        return Look(
            dict(zip(EMOTIONS, own.emotions.tolist(), strict=True)), target, turn, fatigue.lids * own.fatigue,
            self.names[own.attended] if own.attended >= 0 else "", own.attended, own.fatigue,
        )  # fmt: skip

    # --- parts of a decision

    def _follow(self, own: MindState, seen: Sequence[Seen], dt: float) -> None:
        at = np.array([s.position for s in seen]).reshape(-1, 3)
        if dt > 0.0:
            velocity = np.where(np.isfinite(own.place), (at - own.place) / dt, 0.0)
            velocity[np.linalg.norm(velocity, axis=1) > JUMP] = 0.0
            share = 1.0 - np.exp(-dt / MEMORY)
            own.drift = own.drift + share * (velocity - own.drift)
            own.square = own.square + share * ((velocity**2).sum(axis=1) - own.square)
        own.place = at

    def _attend(self, own: MindState, seen: Sequence[Seen], dt: float) -> None:
        a = self.character.attention
        worth = np.full(len(seen), -np.inf)
        for k, s in enumerate(seen):
            far = float(np.linalg.norm(s.position))
            aside = abs(float(np.degrees(np.arctan2(s.position[0], -s.position[1]))))
            if far > a.reach or aside > a.field:
                continue
            felt = 0.0 if s.emotions is None else float(s.emotions.max())
            worth[k] = (
                a.moving * min(float(np.sqrt(own.square[k])), 1.0)
                + a.near * min(1.0 / max(far, 1e-6), 1.0)
                + a.new * own.worth[k]
                + (a.face * (1.0 + felt) if s.emotions is not None else 0.0)
                + a.shown * s.regarded
                + (a.keep if k == own.attended else 0.0)
            )
        own.attended = int(np.argmax(worth)) if len(worth) and np.isfinite(worth).any() else -1
        fades = np.exp(-dt / a.bored)
        mine = np.arange(len(seen)) == own.attended
        own.worth = np.where(mine, own.worth * fades, 1.0 - (1.0 - own.worth) * np.sqrt(fades))

    def _feel(self, own: MindState, seen: Sequence[Seen], dt: float) -> None:
        c, asked = self.character, np.zeros(len(EMOTIONS))
        rise = self._rise
        if own.attended >= 0:
            thing, k = seen[own.attended], own.attended
            for n, rule in enumerate(c.feel):
                own.held[n] = own.held[n] + dt if self._holds(rule, own, thing, k) else -dt
                if own.held[n] >= rule.lasting:
                    e = EMOTIONS.index(rule.emotion)
                    asked[e] = max(asked[e], rule.strength)
            if thing.emotions is not None:
                taken = c.mimicry.share * thing.emotions
                rise = np.where(taken > asked, np.maximum(rise, c.mimicry.rise), rise)
                asked = np.maximum(asked, taken)
        else:
            own.held[:] = -dt
        asked *= 1.0 - c.fatigue.damps * own.fatigue
        lag = np.where(asked > own.emotions, rise, self._fall)
        own.emotions = own.emotions + (1.0 - np.exp(-dt / lag)) * (asked - own.emotions)
        felt = float(own.emotions.max())
        own.fatigue += dt * (
            felt * (1.0 - own.fatigue) / c.fatigue.tires - (1.0 - felt) * own.fatigue / c.fatigue.rests
        )

    @staticmethod
    def _holds(rule: Feel, own: MindState, thing: Seen, k: int) -> bool:
        x, y, z = thing.position
        far, up = float(np.linalg.norm(thing.position)), float(np.degrees(np.arctan2(z, np.hypot(x, y))))
        drift = float(np.linalg.norm(own.drift[k]))
        speed = float(np.sqrt(own.square[k]))
        shaken = float(np.sqrt(max(own.square[k] - drift**2, 0.0)))
        return (
            rule.kind in ("", thing.kind)
            and rule.above <= up <= rule.below
            and rule.farther <= far <= rule.nearer
            and rule.faster <= speed <= rule.slower
            and shaken >= rule.shaken
            and own.fatigue >= rule.tired
        )


def _gaze(way: str, target: Array) -> Array:
    far = float(np.linalg.norm(target))
    if way == "away":
        aside = 1.0 if target[0] <= 0.0 else -1.0
        return np.asarray(target + far * np.array(AWAY) * (aside, 1.0, 1.0))
    if way == "down":
        return np.asarray(target - (0.0, 0.0, 0.5 * far))
    return target
