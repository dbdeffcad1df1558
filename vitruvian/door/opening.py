"""`vt.open`: a recording to be read.

recording = vt.open("recordings/crawl-1.zarr")
recording.time, recording["speed"], recording.to_pandas()
"""

from __future__ import annotations

from pathlib import Path

from vitruvian.door.running import Run
from vitruvian.errors import InputError
from vitruvian.world import Recording


def open(recording: str | Path | Run) -> Recording:
    """The recording at a path, or that of a run; one that is still being written is read as far as it is."""
    path = recording.recording if isinstance(recording, Run) else recording
    if not isinstance(path, str | Path):
        raise InputError(f"open takes the path of a recording or a Run, not {type(path).__name__}")
    return Recording.open(path)
