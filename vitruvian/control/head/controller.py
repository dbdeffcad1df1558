"""The head's controller (Lee 2008, chapter 4): a slow voluntary part, and the reflex in every step.

Every 40 ms: the goal gives the wanted orientation now and one decision ahead; the setpoint gives the joints' angles,
hence strain and strain rate that the muscles shall have; networks (or the solved problem) give pose and tone,

    a_f = a_p + c a_t.

Tone c and reflex gain s are raised while the head is off its goal by more than `calm` and lowered after (4.3.3):
c' = ± c_max / rise, s likewise between 1 and s_max. In between the body's own reflex closes the loop
(`Controls.reflex`).

Nerves take time: with a `delay` muscles answer to what was felt that long ago. The loop can then not be part of
the implicit step: the same law is then given as excitation. Lee's reflex has none.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control.controls import Controls
from vitruvian.control.head.goals import HeadGoal, Steered, Still
from vitruvian.control.head.networks import HeadNetworks
from vitruvian.control.head.reflex import Reflex, Spindles
from vitruvian.control.head.setpoint import turn_between
from vitruvian.control.head.solutions import HeadStatics
from vitruvian.couple import BodyState, StretchReflex
from vitruvian.errors import InputError
from vitruvian.skeleton import bone_poses

Array = np.ndarray
TICK = 1e-3  # [s] between what is remembered of strains, where the reflex is late


@dataclass(frozen=True)
class HeadSettings:
    """How the head is held."""

    interval: float = 0.04  # [s] between voluntary decisions
    feedforward: bool = True
    feedback: bool = True
    tone: float = 0.0  # c, where it is not modulated
    gain: float = 1.0  # s
    tone_rises: bool = False  # whether tone and gain are raised while the head is off
    gain_rises: bool = False
    most_tone: float = 0.4
    most_gain: float = 3.0
    calm: float = np.radians(1.0)  # [rad] error below which they sink again
    rise: float = 0.5  # [s] from least to most; sinking takes four times as long
    delay: float = 0.0  # [s] of the reflex; 0.05 to 0.08 in people

    def __post_init__(self) -> None:
        for name, high in (("tone", 1.0), ("most_tone", 1.0), ("gain", 10.0), ("most_gain", 10.0), ("delay", 0.5)):
            value = getattr(self, name)
            if not 0.0 <= value <= high:
                raise InputError(f"head control: {name} must be between 0 and {high:g}, got {value:g}")


@dataclass
class HeadState:
    """What the controller remembers."""

    feedforward: Array  # a_f, shape (n_muscles,)
    strain: Array  # e_d at the last decision, shape (n_muscles,)
    rate: Array  # e_d' [1/s], shape (n_muscles,)
    angles: Array  # of the neck's joints at the last setpoint [rad]
    decided: float = -np.inf  # [s] when
    tone: float = 0.0  # c in force
    gain: float = 1.0  # s in force
    error: float = 0.0  # of the head's orientation at the last decision [rad]
    unreached: float = 0.0  # by how much the goal lies beyond the neck's range [rad]
    asked: Array = field(default_factory=lambda: np.eye(3))  # orientation asked for at the last decision
    # with a delay: strain and rate [1/s] beyond those wanted, every TICK from now back, shape (ticks, 2, n_muscles)
    felt: Array = field(default_factory=lambda: np.zeros((0, 2, 0)))
    sensed: float = -np.inf  # [s] when last


class HeadControl:
    """A `Controller` of the muscles that cross a neck; the other muscles stay off."""

    def __init__(
        self,
        body: Body,
        goal: HeadGoal | None = None,
        settings: HeadSettings | None = None,
        *,
        networks: HeadNetworks | None = None,
        reflex: Reflex | None = None,
        statics: HeadStatics | None = None,
    ):
        """networks: without them pose and tone are solved at every decision."""
        self.body, self.goal = body, Still() if goal is None else goal
        self.settings = HeadSettings() if settings is None else settings
        self.reflex = Reflex() if reflex is None else reflex
        self.statics = HeadStatics(body) if statics is None else statics
        self.chain, self.networks = self.statics.chain, networks
        self.spindles = Spindles(body)
        self._head = body.skeleton.index(self.chain.bones[-1])
        if networks is not None:
            names = tuple(body.muscles.names[i] for i in self.statics.muscles)
            if names != networks.muscles:
                raise InputError("the head's networks were trained for other muscles than this body has")

    def start(self, rng: np.random.Generator) -> HeadState:
        n = self.body.muscles.n_muscles
        zero = np.zeros(n)
        c = self.settings
        return HeadState(
            zero, zero.copy(), zero.copy(), np.zeros(len(self.chain.reach)), tone=c.tone, gain=c.gain,
            felt=np.zeros((round(c.delay / TICK) if c.feedback else 0, 2, n)),
        )  # fmt: skip

    def act(self, own: HeadState, state: BodyState, time: float, dt: float) -> Controls:
        if time >= own.decided + self.settings.interval - 1e-9:
            self._decide(own, state, time)
        told, r = {"head": own}, self.reflex
        if not self.settings.feedback:
            return Controls(excitation=own.feedforward, told=told)
        since = time - own.decided
        if len(own.felt):
            return Controls(excitation=self._late(own, state, time, since), told=told)
        reflex = StretchReflex(
            self.statics.muscles, own.feedforward, own.strain, own.rate, since, own.gain, r.k_p, r.k_v, r.most
        )
        return Controls(reflex=reflex, told=told)

    def _late(self, own: HeadState, state: BodyState, time: float, since: float) -> Array:
        """Activations (n_muscles,) by what was felt a delay ago; before that nothing was."""
        if time >= own.sensed + TICK - 1e-9:
            off = self.spindles.strain(state.q) - own.strain - own.rate * since
            rate = (off - own.felt[0, 0]) / (time - own.sensed) if np.isfinite(own.sensed) else np.zeros(len(off))
            own.felt[1:] = own.felt[:-1].copy()
            own.felt[0], own.sensed = (off, rate), time
        off, rate = own.felt[-1]
        none, mine = np.zeros(len(off)), self.statics.muscles
        out = own.feedforward.copy()
        out[mine] = self.reflex.activation(own.feedforward, off, rate, none, none, own.gain)[mine]
        return out

    def head_now(self, q: Array) -> Array:
        """The head in its base against the default pose, (3, 3)."""
        return self._turned(bone_poses(self.body.skeleton, q))

    def _turned(self, poses: Array) -> Array:
        return np.asarray(poses[self.chain.base, :3, :3].T @ poses[self._head, :3, :3])

    def _decide(self, own: HeadState, state: BodyState, time: float) -> None:
        c, chain = self.settings, self.chain
        poses = bone_poses(self.body.skeleton, state.q)
        now, wanted = self._turned(poses), self.goal.wanted(time)
        own.error = float(turn_between(wanted, now))
        first, then = wanted, self.goal.wanted(time + c.interval)
        if isinstance(self.goal, Steered):
            first, then = now, self.goal.step(now, time, c.interval)
        self._modulate(own, time)
        own.angles, own.unreached = chain.solve(first, own.angles)
        later, _ = chain.solve(then, own.angles)
        q, q_later = chain.placed(state.q, own.angles), chain.placed(state.q, later)
        own.strain = self.spindles.strain(q)
        own.rate = (self.spindles.strain(q_later) - own.strain) / c.interval
        own.asked, own.decided = then, time
        own.feedforward[:] = 0.0
        if c.feedforward:
            own.feedforward[self.statics.muscles] = self._activations(q_later, poses[self.chain.base], then, own.tone)

    def _activations(self, q: Array, base: Array, head: Array, tone: float) -> Array:
        """a_p + c a_t of the neck's muscles; base: its pose (4, 4)."""
        gravity = self.statics.gravity_in(base)
        if self.networks is not None:
            return self.networks.mixed(head, gravity, tone)
        at = self.statics.balance(q, gravity)
        pose = self.statics.pose(at)[0] + (tone * self.statics.tone(at) if tone else 0.0)
        return np.clip(pose[self.statics.muscles], 0.0, 1.0)

    def _modulate(self, own: HeadState, time: float) -> None:
        c = self.settings
        step = c.interval / c.rise * (1.0 if own.error > c.calm else -0.25)
        if c.tone_rises:
            own.tone = float(np.clip(own.tone + step * c.most_tone, c.tone, c.most_tone))
        if c.gain_rises:
            own.gain = float(np.clip(own.gain + step * (c.most_gain - c.gain), c.gain, c.most_gain))
