"""From the sound of laughter to the pressure that made it, and to its calls (DiLorenzo 2009, 6.3).

    envelope   |sound|, low-passed by a first-order Butterworth filter at 10 Hz, forward and backward
    calls      peaks of the envelope in decibels (6 dB prominent, 90 ms apart, above -26 dB), cut at the valleys
    bouts      calls without a pause; between bouts there is time to breathe in

Tracheal pressure follows the envelope (r = 0.84 to 0.92 in Luschei's recordings), so that the envelope times the
pressure of a loud call is what the lungs shall do.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from scipy.signal import butter, filtfilt, find_peaks

from vitruvian.errors import InputError

Array = np.ndarray
CUTOFF = 10.0  # [Hz]
PROMINENCE, APART, FLOOR = 6.0, 0.09, -26.0  # [dB], [s], [dB]
PAUSE = 0.45  # [s] between calls that is more than a valley
RATE = 500.0  # [1/s] of the envelope
LEAST = 3  # calls of a laugh
MOSTLY = 0.75  # part of all beats of a sound that must be calls of laughter; in music it is less
RATES, SPREAD, GAPS, DEPTH = (3.5, 7.0), 0.25, (0.12, 0.36), 0.65
LOUD = 1000.0  # [Pa] of a loud call (Luschei: 0.5 to 2 kPa)


@dataclass(frozen=True)
class Call:
    """One "ha"."""

    start: float  # [s]
    end: float
    peak: float


@dataclass(frozen=True)
class Laughter:
    """What a sound says: the envelope, 1 at its loudest, and the calls, bout by bout."""

    time: Array  # [s]
    envelope: Array
    bouts: tuple[tuple[Call, ...], ...]

    @property
    def calls(self) -> tuple[Call, ...]:
        return tuple(c for bout in self.bouts for c in bout)

    def level(self, time: float) -> float:
        """Of the envelope at `time` [s], 1 at its loudest."""
        return float(np.interp(time, self.time, self.envelope))

    def pressure(self, time: Array, intensity: float = 1.0) -> Array:
        """Wanted in the lungs [Pa] at times [s] from the beginning of the sound; 0 outside the calls."""
        wanted = LOUD * intensity * np.interp(time, self.time, self.envelope, left=0.0, right=0.0)
        inside = np.zeros(len(np.atleast_1d(time)), bool)
        for bout in self.bouts:
            inside |= (time >= bout[0].start) & (time <= bout[-1].end)
        return np.asarray(np.where(inside, wanted, 0.0))


def envelope(sound: Array, rate: float) -> tuple[Array, Array]:
    """Times [s] and envelope (largest 1) of a mono sound, with silence before and after."""
    sound = np.asarray(sound, float)
    if sound.ndim != 1:
        raise InputError(f"a mono sound is needed, got an array of shape {sound.shape}")
    if len(sound) < 0.2 * rate:
        raise InputError(f"a sound of at least 0.2 s is needed, got {len(sound) / rate:.3g} s")
    if not np.isfinite(sound).all():
        raise InputError("the sound holds values that are not numbers")
    pad = np.zeros(int(0.3 * rate))
    b, a = butter(1, CUTOFF / (0.5 * rate))
    smooth = np.maximum(filtfilt(b, a, np.abs(np.concatenate([pad, sound - sound.mean(), pad]))), 0.0)
    time = (np.arange(len(smooth)) - len(pad)) / rate
    at = np.arange(0.0, len(sound) / rate, 1.0 / RATE)
    found = np.interp(at, time, smooth)
    if not found.max() > 1e-4:
        raise InputError("the sound is silent")
    return at, found / found.max()


def laughter(sound: Array, rate: float) -> Laughter:
    """Calls and bouts of a sound; an error that says why if it is no laughter."""
    time, level = envelope(sound, rate)
    decibels = 20.0 * np.log10(np.maximum(level, 1e-4))
    peaks, _ = find_peaks(
        np.concatenate([[-80.0], decibels, [-80.0]]), prominence=PROMINENCE, distance=int(APART * RATE), height=FLOOR
    )
    peaks = peaks - 1
    bouts = _bouts(time, level, peaks)
    good = [bout for bout in bouts if not _not_laughter(bout, level)]
    if not good:
        why = _not_laughter(max(bouts, key=len), level) if bouts else "no calls stand out"
        raise InputError(f"this does not sound like laughter: {why}")
    share = sum(map(len, good)) / len(peaks)
    if share < MOSTLY:
        raise InputError(f"this does not sound like laughter: only {100 * share:.0f} % of its beats are laughed")
    return Laughter(time, level, tuple(good))


def _bouts(time: Array, level: Array, peaks: Array) -> list[tuple[Call, ...]]:
    groups: list[list[int]] = []
    for p in peaks:
        if groups and time[p] - time[groups[-1][-1]] < PAUSE:
            groups[-1].append(int(p))
        else:
            groups.append([int(p)])
    out = []
    for group in groups:
        cuts = [a + int(np.argmin(level[a:b])) for a, b in itertools.pairwise(group)]
        reach = int(0.16 * RATE)
        first, last = max(0, group[0] - reach), min(len(level) - 1, group[-1] + reach)
        edges = [first, *cuts, last]
        out.append(
            tuple(Call(float(time[a]), float(time[b]), float(time[p])) for a, b, p in zip(edges, edges[1:], group))
        )
    return out


def _not_laughter(bout: tuple[Call, ...], level: Array) -> str:
    """Why a bout is no laughter; "" if it is."""
    if len(bout) < LEAST:
        return f"calls in a row: {len(bout)}, laughter has {LEAST} and more"
    gaps = np.diff([c.peak for c in bout])
    rate = 1.0 / float(np.median(gaps))
    if not RATES[0] <= rate <= RATES[1]:
        return f"{rate:.1f} calls a second, laughter has {RATES[0]} to {RATES[1]:g}"
    if gaps.std() > SPREAD * gaps.mean():
        return f"calls come unevenly (gaps vary by {100 * gaps.std() / gaps.mean():.0f} %)"
    if np.mean((gaps >= GAPS[0]) & (gaps <= GAPS[1])) < 0.9:
        return "pauses between calls are too long or too short"
    at = [int(c.peak * RATE) for c in bout]
    valleys = [1.0 - level[a:b].min() / min(level[a], level[b]) for a, b in itertools.pairwise(at)]
    if np.median(valleys) < DEPTH:
        return "the sound does not fall off between calls, as in speech or music"
    return ""


def synthesised(calls: int = 6, period: float = 0.21, rate: float = 16_000.0, seed: int = 0) -> Array:
    """A laugh made from nothing: voiced calls of falling pitch and loudness, each with a breathy beginning."""
    rng = np.random.default_rng(seed)
    out = np.zeros(int((0.25 + calls * period + 0.25) * rate))
    for k in range(calls):
        n = int(0.75 * period * rate)
        t = np.arange(n) / rate
        shape = np.sin(np.pi * np.clip(t / (n / rate), 0.0, 1.0)) ** 1.5
        pitch = (230.0 - 8.0 * k) * (1.0 - 0.25 * t / t[-1])
        phase = 2.0 * np.pi * np.cumsum(pitch) / rate
        voice = sum(np.sin(h * phase) * np.exp(-0.35 * h) for h in range(1, 9))
        breath = rng.normal(size=n) * np.exp(-t / 0.03)
        loud = (0.75 + 0.25 * np.cos(0.8 * k)) * 0.93**k
        first = int((0.25 + k * period) * rate)
        out[first : first + n] += loud * shape * (voice + 0.4 * breath)
    return np.asarray(0.5 * out / np.abs(out).max())
