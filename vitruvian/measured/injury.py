"""What a blow means for head and neck: the head injury criterion and Nij.

    HIC = max over t1 < t2 <= t1 + window of (t2 - t1) [mean of a over t1..t2]^2.5,   a in g, t in s        (FMVSS 208)
    Nij = axial / F_int + moment / M_int,   with the intercepts of the 50th percentile male                  (FMVSS 208)

Limits there: HIC15 700, HIC36 1000, Nij 1. The loads are those between head and neck at the occipital condyles, all
that the neck does to the head taken together, as the load cell of a dummy feels them.
"""

from __future__ import annotations

import numpy as np

from vitruvian.errors import InputError

Array = np.ndarray
EXPONENT = 2.5
TENSION, COMPRESSION = 6806.0, 6160.0  # [N]
FLEXION, EXTENSION = 310.0, 135.0  # [N m]


def head_injury_criterion(time: Array, acceleration: Array, window: float = 0.015) -> float:
    """HIC of an acceleration [g] (n,) at times [s] (n,), over windows of at most `window` [s] that begin and end at
    samples; straight lines between these."""
    t, a = np.asarray(time, float), np.asarray(acceleration, float)
    if t.shape != a.shape or t.ndim != 1 or len(t) < 2 or not (np.diff(t) > 0.0).all():
        raise InputError("HIC needs as many accelerations as times, two at least, times ascending")
    if not (np.isfinite(a).all() and (a >= 0.0).all()):
        raise InputError("HIC needs the size of an acceleration, finite and not negative")
    total = np.concatenate([[0.0], np.cumsum(0.5 * (a[1:] + a[:-1]) * np.diff(t))])
    best = 0.0
    for i in range(len(t) - 1):
        end = int(np.searchsorted(t, t[i] + window * (1.0 + 1e-9), "right"))
        if end > i + 1:
            span = t[i + 1 : end] - t[i]
            best = max(best, float((span * ((total[i + 1 : end] - total[i]) / span) ** EXPONENT).max()))
    return best


def nij(tension: Array, flexion: Array) -> Array:
    """Nij of axial forces [N], tension positive, and moments [N m], flexion positive; same shape."""
    tension, flexion = np.asarray(tension, float), np.asarray(flexion, float)
    axial = np.where(tension > 0.0, tension / TENSION, -tension / COMPRESSION)
    return np.asarray(axial + np.where(flexion > 0.0, flexion / FLEXION, -flexion / EXTENSION))
