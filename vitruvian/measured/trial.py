"""What a measured file holds, whatever its format: markers or segment orientations over time, and force plates.

Readers of `exchange` turn C3D, TRC, MOT, BVH and clip files into a `Trial` in SI units with +z up. Nothing is filled or
guessed there: a marker that was not seen is NaN, and `filled` closes gaps up to a stated length and names the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from vitruvian.errors import InputError

Array = np.ndarray
LONGEST_GAP = 0.1  # [s] that is filled by a cubic spline unless the caller says otherwise
MOST_FRAMES = 200_000
MOST_NAMED = 12  # markers or gaps that an error lists
PASSED = 0.4  # cut-off of the filter before frames are left out, in parts of the rate that stays


@dataclass(frozen=True, eq=False)
class ForcePlate:
    """What one plate measured: the force on the subject, and its moment about the world's origin."""

    name: str
    time: Array  # [s], ascending, shape (n,)
    force: Array  # [N] in the trial's axes, shape (n, 3)
    moment: Array  # about the origin [N m], shape (n, 3)

    def centre(self, ground: float = 0.0) -> Array:
        """Centre of pressure at the ground's height [m], shape (n, 3); NaN where the plate carries less than 1 N."""
        f, m = self.force, self.moment
        with np.errstate(divide="ignore", invalid="ignore"):
            x = (-m[:, 1] + ground * f[:, 0]) / f[:, 2]
            y = (m[:, 0] + ground * f[:, 1]) / f[:, 2]
        out = np.column_stack([x, y, np.full(len(f), ground)])
        out[f[:, 2] < 1.0] = np.nan
        return out


@dataclass(frozen=True, eq=False)
class Segments:
    """Orientation of bones and places of joints that a file's own figure has (BVH, clips)."""

    turns: Mapping[str, Array]  # bone -> rotation from our default pose to the world, shape (f, 3, 3)
    joints: Mapping[str, Array]  # bone -> place of its joint to the parent [m], shape (f, 3)
    along: Mapping[str, Array]  # bone -> where its far joint lies, seen in our default pose, shape (3,)


@dataclass(frozen=True, eq=False)
class Trial:
    """One measured motion: either markers or segments, and plates if there were any."""

    name: str
    source: str  # file format, for the report
    time: Array  # [s], ascending from 0, shape (f,)
    markers: Mapping[str, Array] = field(default_factory=dict)  # name -> [m], shape (f, 3), NaN where unseen
    segments: Segments | None = None
    plates: Sequence[ForcePlate] = ()
    remarks: Sequence[str] = ()  # what the reader did, one line each
    began: float = 0.0  # [s] on the file's own clock when time is 0

    def __post_init__(self) -> None:
        t = np.asarray(self.time, dtype=float)
        if t.ndim != 1 or not 3 <= len(t) <= MOST_FRAMES:
            raise InputError(f"{self.name}: needs 3 to {MOST_FRAMES} frames, has {t.size}")
        if not np.isfinite(t).all():
            raise InputError(f"{self.name}: time is not finite in frame {int(np.argmin(np.isfinite(t))) + 1}")
        if (np.diff(t) <= 0).any():
            k = int(np.argmax(np.diff(t) <= 0))
            raise InputError(
                f"{self.name}: times must ascend; frame {k + 2} is at {t[k + 1]:g} s after frame {k + 1} at {t[k]:g} s"
            )
        if bool(self.markers) == (self.segments is not None):
            raise InputError(f"{self.name}: holds neither markers nor joints" if not self.markers else
                             f"{self.name}: holds markers and joints; one of them is needed")  # fmt: skip

    @property
    def duration(self) -> float:
        """[s] from the first frame to the last."""
        return float(self.time[-1] - self.time[0])

    @property
    def rate(self) -> float:
        """Mean frames a second [1/s]."""
        return (len(self.time) - 1) / self.duration


def filled(trial: Trial, longest: float = LONGEST_GAP) -> Trial:
    """The trial with gaps of markers up to `longest` [s] closed by cubic splines; longer ones are an error.

    A marker that was never seen is left out and said so. Gaps at the beginning or end have nothing beyond them to
    lead to and count as long at any length above one frame; they are cut off if all markers' gaps there agree to
    within `longest`, which is said too."""
    if not (np.isfinite(longest) and longest >= 0.0):
        raise InputError(f"gap must be a time of 0 s or more, got {longest:g}")
    if not trial.markers:
        return trial
    remarks, kept = list(trial.remarks), {}
    never = [name for name, x in trial.markers.items() if np.isnan(x).any(axis=1).all()]
    if never:
        remarks.append(f"never seen, left out: {', '.join(never)}")
    seen = {n: ~np.isnan(x).any(axis=1) for n, x in trial.markers.items() if n not in never}
    if not seen:
        raise InputError(f"{trial.name}: no marker is ever seen")
    first = max(int(np.argmax(ok)) for ok in seen.values())
    last = min(len(ok) - 1 - int(np.argmax(ok[::-1])) for ok in seen.values())
    if last - first < 2:
        raise InputError(f"{trial.name}: the markers are never all seen at the same time")
    t = trial.time
    if max(t[first] - t[0], t[-1] - t[last]) > longest:
        late = [n for n, ok in seen.items() if t[int(np.argmax(ok))] - t[0] > longest]
        early = [n for n, ok in seen.items() if t[-1] - t[len(ok) - 1 - int(np.argmax(ok[::-1]))] > longest]
        raise InputError(
            f"{trial.name}: {_listed(sorted({*late, *early}))} not seen at the beginning or end for more than "
            f"{longest:g} s; cut the file, leave the marker out, or allow longer gaps (`vitruvian track` has --gap)"
        )
    if first or last < len(t) - 1:
        remarks.append(f"cut to {t[first]:.3g} to {t[last]:.3g} s, where all markers have been seen")
    long: list[str] = []
    closed = 0
    for name in seen:
        x, ok = trial.markers[name][first : last + 1], seen[name][first : last + 1]
        if not ok.all():
            for a, b in _gaps(ok):
                length = t[first + b] - t[first + a - 1]
                if length > longest + 1e-9:
                    long.append(f"{name} from {t[first + a]:.3g} to {t[first + b - 1]:.3g} s")
                else:
                    closed += 1
            x = _splined(t[first : last + 1], x, ok)
        kept[name] = x
    if long:
        raise InputError(
            f"{trial.name}: gaps longer than {longest:g} s are not filled: {_listed(long)}; leave the marker "
            "out, or allow longer gaps (`vitruvian track` has --without and --gap)"
        )
    if closed:
        remarks.append(f"{closed} gaps of up to {longest:g} s filled by cubic splines")
    plates = [replace(p, time=p.time - t[first]) for p in trial.plates]
    time, began = t[first : last + 1] - t[first], trial.began + float(t[first])
    return replace(trial, time=time, markers=kept, remarks=remarks, plates=plates, began=began)


def seen_only(markers: Mapping[str, Array], remarks: list[str]) -> dict[str, Array]:
    """Markers [m] (f, 3 each) with NaN where a file has (0, 0, 0): laboratories write that for a marker not seen."""
    out, lost = {}, []
    for name, x in markers.items():
        zero = (x == 0.0).all(axis=1)
        if zero.any():
            lost.append(f"{name} in {int(zero.sum())}")
        out[name] = np.where(zero[:, None], np.nan, x)
    if lost:
        remarks.append(f"at (0, 0, 0), taken as not seen: {_listed(lost)} frames")
    return out


def thinned(trial: Trial, rate: float) -> Trial:
    """The trial with every k-th frame, the fewest that are still `rate` [1/s] or more; said if frames are left out.

    Markers are low-pass filtered at `PASSED` of the new rate first, so that noise does not fold back."""
    k = int(trial.rate / rate + 1e-6)
    if k < 2:
        return trial
    own = trial.segments
    kept = None
    if own is not None:
        turns, joints = ({name: x[::k] for name, x in part.items()} for part in (own.turns, own.joints))
        kept = Segments(turns, joints, own.along)
    told = f"every {k}. frame used: {trial.rate / k:.0f} of {trial.rate:.0f} a second"
    markers = {name: _low_passed(x, k)[::k] for name, x in trial.markers.items()}
    return replace(trial, time=trial.time[::k], markers=markers, segments=kept, remarks=[*trial.remarks, told])


def _gaps(ok: Array) -> list[tuple[int, int]]:
    """Runs of unseen frames [a, b) within a marker that is seen at both ends."""
    edge = np.diff(ok.astype(np.int8))
    return list(zip((np.flatnonzero(edge == -1) + 1).tolist(), (np.flatnonzero(edge == 1) + 1).tolist()))


def _splined(t: Array, x: Array, ok: Array) -> Array:
    from scipy.interpolate import CubicSpline, PchipInterpolator

    make = CubicSpline if ok.sum() > 3 else PchipInterpolator
    out = x.copy()
    out[~ok] = make(t[ok], x[ok])(t[~ok])
    return out


def _low_passed(x: Array, k: int) -> Array:
    """A marker without gaps (f, 3), filtered without lag at `PASSED` of a k-th of its rate."""
    from scipy.signal import butter, filtfilt

    b, a = butter(2, 2.0 * PASSED / k)
    return np.asarray(filtfilt(b, a, x, axis=0, padlen=min(len(x) - 2, 6 * k)))


def _listed(words: Sequence[str]) -> str:
    more = f" and {len(words) - MOST_NAMED} more" if len(words) > MOST_NAMED else ""
    return ", ".join(words[:MOST_NAMED]) + more
