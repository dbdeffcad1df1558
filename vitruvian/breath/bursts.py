"""How fast bursts of pressure follow each other, as in laughter."""

from __future__ import annotations

import numpy as np
from scipy.signal import find_peaks

Array = np.ndarray


def burst_rate(time: Array, pressure: Array) -> float:
    """Peaks of pressure [Pa] (n,) at times [s] (n,), a second [Hz], 0 if there are fewer than three."""
    peaks, _ = find_peaks(pressure, prominence=0.25 * float(np.ptp(pressure)), distance=3)
    return float((len(peaks) - 1) / (time[peaks[-1]] - time[peaks[0]])) if len(peaks) > 2 else 0.0
