"""Activations that make the lungs follow a wanted pressure, call by call (DiLorenzo 2009, 6.3.2).

Seven numbers a call: one wave for the abdomen (amplitude, start, frequency), whose timing the internal intercostals
share (their amplitude), and one for the diaphragm (amplitude, start, frequency). They are found by least squares
between simulated and wanted pressure, each call from where the one before has left the trunk; the runs of a
finite-difference Jacobian are shared between two threads. While voiced the glottis is a quarter open. A breath in goes
before each bout, the deeper the more air the bout will lose, and its muscles let go slowly during the bout, as they do
in speech (Draper, Ladefoged and Whitteridge 1959): else full lungs press too hard for a first quiet call.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from scipy.optimize import least_squares

from vitruvian.control.behaviour import Behave, Behaviour, Curve
from vitruvian.control.behaviour.sound import Call, Laughter
from vitruvian.couple import TorsoState
from vitruvian.systems.torso import TorsoSystem
from vitruvian.world.state import copy_state

Array = np.ndarray
VOICED = 0.75  # closure of the glottis
LEAD = 1.2  # [s] before the sound begins, to breathe in
DEPTH = 180.0  # activation of the diaphragm for that, for a m³ that the bout will lose: about two thirds goes in before
SHALLOW, DEEP = 0.04, 0.3  # its limits
BRAKE = 0.25  # of the breath's activation is left as a bout begins, none as it ends
ROUNDS = 4  # of least squares
MISSED = 0.2  # error of a call, of the wanted pressure, above which it is searched for anew from a plain guess
NUDGE = 0.05  # of SCALE, for finite differences
THREADS = 2  # each with a trunk of its own
LOW = np.array([0.0, -0.1, 2.5, 0.0, 0.0, -0.1, 2.5])
HIGH = np.array([1.0, 0.12, 9.0, 1.0, 0.3, 0.12, 9.0])
SCALE = np.array([0.2, 0.03, 1.0, 0.3, 0.05, 0.03, 1.0])


@dataclass(frozen=True)
class Fit:
    """A behaviour that laughs as a sound does."""

    behaviour: Behaviour
    lead: float  # [s] by which the sound begins later
    time: Array  # [s] of the behaviour
    wanted: Array  # pressure in the lungs [Pa]
    simulated: Array
    errors: Array  # of each call: rms of the difference, of the wanted pressure
    seconds: float  # that a call took to be found

    @property
    def correlation(self) -> float:
        """Of simulated and wanted pressure over the bouts."""
        on = self.wanted > 0.0
        return float(np.corrcoef(self.wanted[on], self.simulated[on])[0, 1])


def fit_laughter(
    torso: TorsoSystem,
    sound: Laughter,
    step: float,
    *,
    intensity: float = 1.0,
    depth: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Fit:
    """The behaviour whose lung pressure follows the sound's, in steps of `step` [s]; intensity: of a loud call, 1 for
    1 kPa; depth: activation of the diaphragm in the breath before a bout, by default as the bout will need."""
    calls = sound.calls
    first = calls[0].start
    lead = LEAD - min(first, LEAD - 0.2)
    curves = _body(sound, lead)
    before = 0.0
    for bout in sound.bouts:
        start, end = bout[0].start + lead, bout[-1].end + lead
        lost = _air_lost(sound, bout, intensity, torso.trunk.lungs.airway)
        curves += _breath_in(
            before, start, end, float(np.clip(DEPTH * lost, SHALLOW, DEEP)) if depth is None else depth
        )
        span = end - start
        keys = ((0.0, 0.0), (0.05, 1.0), (span + 0.1, 1.0), (span + 0.2, 0.0))
        curves.append(Curve("closure", "keys", VOICED, start=start - 0.05, end=end + 0.15, keys=keys))
        before = end + 0.15
    torsos = [torso, *(TorsoSystem(torso.trunk, skin=False, drawn=False, layers=()) for _ in range(THREADS - 1))]
    state = torso.start(np.random.default_rng(0))
    at, errors, wanted, simulated = 0, [], [], []
    best: Array | None = None
    began = perf_counter()
    for number, call in enumerate(calls):
        until = round((call.start + lead) / step)
        if until > at:
            found = _run(torso, curves, state, at, until, step)
            wanted += [0.0] * (until - at) if number == 0 else list(_wanted(sound, at, until, step, lead, intensity))
            simulated += list(found)
            at = until
        end = max(round((call.end + lead) / step), at + 5)
        aim = _wanted(sound, at, end, step, lead, intensity)
        best = _fit_call(torsos, curves, state, at, end, step, call, aim, lead, best)
        curves += _curves(best, call, lead)
        found = _run(torso, curves, state, at, end, step)
        errors.append(float(np.sqrt(np.mean((found - aim) ** 2) / max(np.mean(aim**2), 1e-9))))
        wanted += list(aim)
        simulated += list(found)
        at = end
        if progress is not None:
            progress(number + 1, len(calls))
    took = (perf_counter() - began) / len(calls)
    behaviour = Behaviour(
        "laughter", (*curves, *_face(sound, lead)), f"Laughter of {len(calls)} calls, from a sound",
        {"lead": (lead,), "calls": tuple(c.start + lead for c in calls)},
    )  # fmt: skip
    time = step * np.arange(1, len(wanted) + 1)
    return Fit(behaviour, lead, time, np.array(wanted), np.array(simulated), np.array(errors), took)


def _wanted(sound: Laughter, at: int, until: int, step: float, lead: float, intensity: float) -> Array:
    return sound.pressure(step * np.arange(at + 1, until + 1) - lead, intensity)


def _air_lost(sound: Laughter, bout: tuple[Call, ...], intensity: float, airway: float) -> float:
    """What the wanted pressure blows out through the glottis in a bout [m³]: ∫ g sqrt(P / k) dt."""
    time = np.arange(bout[0].start, bout[-1].end, 2e-3)
    flow = (1.0 - VOICED) * np.sqrt(sound.pressure(time, intensity) / airway)
    return float(2e-3 * flow.sum())


def _breath_in(since: float, until: float, stop: float, depth: float) -> list[Curve]:
    """Before a bout from `until` to `stop` [s], not before `since`."""
    span = max(0.2, min(1.0, until - since))
    start = until - span
    keys = ((0.0, 0.0), (0.75 * span, 1.0), (0.85 * span, 1.0), (span + 0.1, BRAKE), (stop - start, 0.0))
    amplitudes = {"diaphragm": depth, "external intercostals": min(1.0, 4.0 * depth)}
    return [Curve(g, "keys", a, start=start, end=stop, keys=keys, smooth=True) for g, a in amplitudes.items()]


def _body(sound: Laughter, lead: float) -> list[Curve]:
    """Clavicles and head go along, our choice for the look; the muscles are found with that. The spine stays: bending
    it by a few degrees would suck in a quarter of a litre, and quiet calls could not be met."""
    start, end = sound.calls[0].start + lead, sound.calls[-1].end + lead
    keys = {
        "clavicles": ((0.0, 0.0), (start - 0.1, 3.0), (start + 0.3, 0.5), (end + 0.8, 0.0)),
        "head": ((0.0, 0.0), (start - 0.1, -3.0), (start + 0.4, -7.0), (end, -4.0), (end + 0.8, 0.0)),
    }
    moved = [Curve(group, keys=points, end=end + 0.8, smooth=True) for group, points in keys.items()]
    return [*moved, *(_wave("head", 3.0 * sound.level(c.peak), c, lead) for c in sound.calls)]


def _face(sound: Laughter, lead: float) -> list[Curve]:
    """A breath in through an open mouth, joy, and a jaw that drops with every call, the more the louder it is."""
    start, end = sound.calls[0].start + lead, sound.calls[-1].end + lead
    keys = {
        "AU2": ((start - 0.9, 0.0), (start - 0.2, 0.5), (start + 0.1, 0.0)),
        "AU25": ((start - 0.9, 0.0), (start - 0.2, 0.3), (start + 0.1, 0.0)),
        "AU27": ((start - 0.9, 0.0), (start - 0.2, 0.2), (end, 0.2), (end + 0.4, 0.0)),
        "joy": ((start - 0.6, 0.0), (start - 0.1, 0.4), (start + 0.3, 1.0), (end, 1.0), (end + 2.0, 0.0)),
    }
    shown = [Curve(group, keys=points, smooth=True) for group, points in keys.items()]
    return [*shown, *(_wave("AU27", 0.2 + 0.6 * sound.level(c.peak), c, lead) for c in sound.calls)]


def _wave(group: str, amplitude: float, call: Call, lead: float) -> Curve:
    start, end = call.start + lead, call.end + lead
    return Curve(group, "wave", amplitude, period=end - start, start=start, end=end)


def _curves(p: Array, call: Call, lead: float) -> list[Curve]:
    start, breath = call.start + lead + p[1], call.start + lead + p[5]
    wave = {"shape": "wave", "period": 1.0 / p[2], "start": start, "end": start + 1.0 / p[2]}
    other = {"shape": "wave", "period": 1.0 / p[6], "start": breath, "end": breath + 1.0 / p[6]}
    return [
        Curve("abdomen", amplitude=float(p[0]), **wave),
        Curve("internal intercostals", amplitude=float(p[3]), **wave),
        Curve("diaphragm", amplitude=float(p[4]), **other),
    ]


def _fit_call(
    torsos: list[TorsoSystem], curves: list[Curve], state: TorsoState, at: int, end: int, step: float, call: Call,
    aim: Array, lead: float, last: Array | None,
) -> Array:  # fmt: skip
    """last: what the call before has, from which it starts; calls can be too unlike for that."""
    rate = 1.0 / max(call.end - call.start, 0.12)
    scale = max(float(np.sqrt(np.mean(aim**2))), 1.0)
    low, high = LOW / SCALE, HIGH / SCALE

    def miss(u: Array, torso: TorsoSystem = torsos[0]) -> Array:
        p = np.clip(u * SCALE, LOW, HIGH)
        found = _run(torso, [*curves, *_curves(p, call, lead)], copy_state(state), at, end, step)
        return np.asarray((found - aim) / scale)

    def jacobian(u: Array) -> Array:
        nudge = np.where(u + NUDGE <= high, NUDGE, -NUDGE)
        points = [u, *(u + nudge * row for row in np.eye(len(u)))]

        def share(k: int) -> list[Array]:
            return [miss(point, torsos[k]) for point in points[k :: len(torsos)]]

        with ThreadPoolExecutor(len(torsos)) as pool:
            shares = list(pool.map(share, range(len(torsos))))
        found = [shares[n % len(torsos)][n // len(torsos)] for n in range(len(points))]
        return np.stack([(f - found[0]) / h for f, h in zip(found[1:], nudge)], axis=1)

    def search(first: Array) -> tuple[float, Array]:
        start = np.clip(first, LOW + 1e-6, HIGH - 1e-6) / SCALE
        result = least_squares(miss, start, jacobian, bounds=(low, high), max_nfev=ROUNDS)
        error = float(np.sqrt(2.0 * result.cost / len(aim)))
        return error, np.asarray(np.clip(result.x * SCALE, LOW, HIGH))

    plain = np.array([min(0.6, aim.max() / 4000.0), 0.0, rate, 0.1, 0.01, 0.0, rate])
    error, found = search(plain if last is None else last)
    if last is not None and error > MISSED:
        error, found = min((error, found), search(plain), key=lambda one: one[0])
    if error > MISSED:
        error, found = min((error, found), search(found), key=lambda one: one[0])
    return found


def _run(torso: TorsoSystem, curves: list[Curve], state: TorsoState, at: int, end: int, step: float) -> Array:
    """Pressure in the lungs [Pa] after each step from `at` to `end`; moves the state."""
    near = [c for c in curves if c.start < end * step and c.end > at * step]
    behave = Behave(torso.trunk, Behaviour("", tuple(near)))
    out = np.zeros(end - at)
    for n in range(at, end):
        torso.step(state, behave.act(None, state, n * step, step), n * step, step)
        out[n - at] = state.breath.pressure
    return out
