"""A recording that lives in memory: what the eyes need of a `Recording`, for frames that were never on disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from vitruvian.world import Frame, Stage

Array = np.ndarray


@dataclass
class MemoryRecording:
    """Frames of a stage at given times [s], shape (n,)."""

    stage: Stage
    frames: Sequence[Frame]
    time: Array
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def frame(self, i: int) -> Frame:
        """Frame i."""
        return self.frames[i]

    @property
    def signals(self) -> dict[str, Array]:
        """Each signal over time, shape (n,) or (n, components); a frame that lacks it counts as not a number."""
        series = {}
        for signal in self.stage.signals:
            blank = np.full(len(signal.components), np.nan) if signal.components else np.nan
            series[signal.name] = np.array([f.signals.get(signal.name, blank) for f in self.frames], dtype=float)
        return series


def one_frame(stage: Stage, frame: Frame, **attributes: Any) -> MemoryRecording:
    """A recording of a single frame at time 0: a model before it runs."""
    return MemoryRecording(stage, [frame], np.zeros(1), attributes)
