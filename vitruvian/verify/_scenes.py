"""A scene run in memory, without a recording on disk, and judged by its own check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vitruvian.scenes import find
from vitruvian.world import scene_parameters

Array = np.ndarray


@dataclass(frozen=True)
class Signals:
    """What a scene's check reads of a recording."""

    time: Array
    signals: dict[str, Array]


def scene_metrics(name: str, seconds: float | None = None, **settings: Any) -> dict[str, float]:
    """Metrics of a scene at draft quality; seconds [s]: its own duration if None. Frames only are kept, no bodies."""
    scene = find(name)
    parameters = scene_parameters(scene, "draft", settings)
    world = scene.build(parameters)
    frames, times = [world.observe().signals], [0.0]
    for _ in range(round((scene.seconds if seconds is None else seconds) * world.frame_rate)):
        for _ in range(world.substeps):
            world.step()
        frames.append(world.observe().signals)
        times.append(world.time)
    kept = Signals(np.array(times), {key: np.array([f[key] for f in frames]) for key in frames[0]})
    return scene.check(kept, parameters).metrics  # type: ignore[arg-type]
