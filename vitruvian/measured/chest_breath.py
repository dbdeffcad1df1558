"""The average breath of a chest with markers (DiLorenzo 2009, 5.3.2).

Markers of known names (`SITES`: sternum to navel, both sides, flanks) tell how the subject stands: turned about the
vertical by the least-squares angle onto our own sites. The breath is the first principal component of the cloud's
change of shape; breaths are cut where it rises through its mean, freed from drift, brought to one length and averaged,
so that sway and noise that are not of the breath's rhythm go away.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.signal import detrend, find_peaks

from vitruvian.errors import InputError
from vitruvian.measured.trial import Trial, filled

Array = np.ndarray
PHASES = 64  # instants of an average breath
RATE = 50.0  # [1/s] at which breaths are looked for
HARMONICS = 8  # of an average breath that are kept; those above are noise
ENDS = 5  # frames on both sides over which the drift of a breath is taken
PERIODS = (0.8, 12.0)  # [s] that a breath may take
SPAN = (0.15, 1.2)  # [m] from the first to the last marker of a torso
STILL = 1e-5  # [m] below which nothing moves
MOST = 0.15  # [m] that a marker may move in a breath
# name -> where on the skin of our body in its default pose: to the left, up [m], and whether it lies in front or aside
SITES: dict[str, tuple[float, float, str]] = {
    "sternum1": (0.0, 1.52, "front"), "sternum2": (0.0, 1.47, "front"), "sternum3": (0.0, 1.41, "front"),
    "belly1": (0.0, 1.33, "front"), "belly2": (0.0, 1.25, "front"), "navel": (0.0, 1.18, "front"),
    **{f"{word}{k}": (sign * x, z, "front") for word, sign in (("left", 1.0), ("right", -1.0))
       for k, (x, z) in enumerate(((0.07, 1.50), (0.08, 1.43), (0.08, 1.36), (0.08, 1.28), (0.08, 1.20)), 1)},
    **{f"flank_{word}{k}": (sign, z, "side") for word, sign in (("left", 1.0), ("right", -1.0))
       for k, z in enumerate((1.40, 1.31, 1.22), 1)},
}  # fmt: skip
COLUMN = ("sternum1", "sternum2", "sternum3", "belly1", "belly2", "navel")  # along the middle of the body


@dataclass(frozen=True, eq=False)
class ChestBreath:
    """One breath of markers, from the middle of inhalation on, about its mean."""

    names: tuple[str, ...]
    period: float  # [s]
    moved: Array  # from the mean place [m], our axes, (PHASES, markers, 3)
    breaths: int  # that were averaged
    spread: float  # rms of single breaths about the average [m]
    remarks: tuple[str, ...] = ()

    def only(self, names: tuple[str, ...]) -> ChestBreath:
        """Of some markers."""
        at = [self.names.index(n) for n in names if n in self.names]
        return ChestBreath(
            tuple(self.names[i] for i in at), self.period, self.moved[:, at], self.breaths, self.spread, self.remarks
        )


def chest_breath(trial: Trial, sites: dict[str, Array], *, longest: float = 0.1) -> ChestBreath:
    """Of a trial with markers; sites: where those of known names lie on our body [m], name -> (3,); longest: gap [s]
    that is filled."""
    if not trial.markers:
        raise InputError(f"{trial.name}: holds no markers")
    for name, x in trial.markers.items():
        if np.isinf(x).any():
            raise InputError(f"{trial.name}: marker '{name}' has a place that is not finite")
    trial = filled(trial, longest)
    known = [n for n in trial.markers if n in sites]
    if len(known) < 3:
        raise InputError(
            f"{trial.name}: at least 3 markers must have names that we know; it has "
            f"{', '.join(list(trial.markers)[:8])}; known: {', '.join(sites)}"
        )
    remarks = list(trial.remarks)
    other = [n for n in trial.markers if n not in sites]
    if other:
        remarks.append(f"names that are not known, left out: {', '.join(other[:8])}")
    x = np.stack([trial.markers[n] for n in known], axis=1)  # (frames, markers, 3)
    middle = x.mean(axis=0)
    span = float(np.linalg.norm(middle[:, None] - middle[None], axis=2).max())
    if not SPAN[0] <= span <= SPAN[1]:
        raise InputError(
            f"{trial.name}: its markers lie within {span:.3g} m, a torso's within {SPAN[0]:g} to {SPAN[1]:g} m: is the "
            "unit of length right?"
        )
    turn = _facing(middle, np.array([sites[n] for n in known]))
    time = np.arange(trial.time[0], trial.time[-1], 1.0 / RATE)
    flat = x.reshape(len(x), -1)
    x = np.stack([np.interp(time, trial.time, flat[:, k]) for k in range(flat.shape[1])], axis=1)
    x = x.reshape(len(time), -1, 3) @ turn.T
    starts = _starts(trial.name, time, x)
    cycles = np.array([_cycle(x, a, b) for a, b in pairwise(starts)])
    cycles -= cycles.mean(axis=1, keepdims=True)
    series = np.fft.rfft(cycles.mean(axis=0), axis=0)
    series[HARMONICS + 1 :] = 0.0
    moved = np.fft.irfft(series, PHASES, axis=0)
    most = float(np.linalg.norm(np.ptp(moved, axis=0), axis=1).max())
    if most > MOST:
        raise InputError(
            f"{trial.name}: a marker moves by {most:.2g} m in a breath: is the unit of length right, and does the "
            "subject stay in place?"
        )
    spread = float(np.sqrt(np.mean((cycles - moved) ** 2)))
    period = float(np.mean(np.diff(starts)) / RATE)
    return ChestBreath(tuple(known), period, moved, len(cycles), spread, tuple(remarks))


def _facing(middle: Array, own: Array) -> Array:
    """The turn about the vertical that brings markers (n, 3) nearest to our own sites (n, 3), (3, 3)."""
    a, b = middle[:, :2] - middle[:, :2].mean(axis=0), own[:, :2] - own[:, :2].mean(axis=0)
    angle = np.arctan2((a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum(), (a * b).sum())
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _starts(name: str, time: Array, x: Array) -> Array:
    """Frames at which breaths are half in, ascending, with fractions."""
    shape = x - x.mean(axis=1, keepdims=True)  # sway moves all markers alike
    flat = detrend(shape.reshape(len(x), -1), axis=0)
    u, size, _ = np.linalg.svd(flat, full_matrices=False)
    s = u[:, 0] * size[0]
    # in inhalation all go up and forward
    outward = s @ detrend(x.mean(axis=1), axis=0) @ np.array([0.0, -1.0, 1.0])
    s = s * (1.0 if outward >= 0.0 else -1.0)
    width = max(3, int(0.25 * RATE))
    s = np.convolve(np.pad(s, width // 2, mode="edge"), np.ones(width) / width, "valid")[: len(time)]
    if not s.std() > STILL:
        raise InputError(f"{name}: its markers do not move")
    lag = np.correlate(s, s, "full")[len(s) - 1 :]
    low, high = int(PERIODS[0] * RATE), min(int(PERIODS[1] * RATE), len(s) - 2)
    peaks, _ = find_peaks(lag[: high + 1]) if high > low else (np.zeros(0, int), None)
    peaks = peaks[peaks >= low]
    if not len(peaks):
        raise InputError(f"{name}: shows no breath that comes again within {PERIODS[0]:g} to {PERIODS[1]:g} s")
    about = int(peaks[np.argmax(lag[peaks])])
    found, _ = find_peaks(-s, distance=max(1, int(0.6 * about)), prominence=0.5 * s.std())
    level, rises = s.mean(), []
    for n, end in pairwise([*found, len(s)]):
        above = np.flatnonzero(s[n:end] > level)
        if len(above) and above[0] > 0:
            k = n + int(above[0])
            rises.append(k - (s[k] - level) / (s[k] - s[k - 1]))
    if len(rises) < 2:
        raise InputError(f"{name}: shows no whole breath; record two or more")
    return np.array(rises)


def _cycle(x: Array, a: float, b: float) -> Array:
    """One breath from frame a to frame b at PHASES instants, less the even drift of all markers within it."""
    phase = np.arange(PHASES) / PHASES
    at = a + (b - a) * phase
    k = np.minimum(at.astype(int), len(x) - 2)
    part = (at - k)[:, None, None]
    ends = [x[max(0, round(n) - ENDS) : round(n) + ENDS + 1].mean(axis=(0, 1)) for n in (a, b)]
    return np.asarray((1.0 - part) * x[k] + part * x[k + 1] - phase[:, None, None] * (ends[1] - ends[0]))
