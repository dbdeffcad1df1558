"""What `import vitruvian as vt` offers beyond the parts: run a scene, open its recording, look at it.

`running`     `run`: the one way to run a scene, for Python, the command line and sweeps
`opening`     `open`: a recording with its signals as arrays or as a table
`sweeping`    `sweep`: many runs of a scene into one table (`axes` what varies, `plan`, `table`, `plotting`)
`stroke_search`  `search_stroke`: a stroke bettered by trials
`tracking`    `track`: a measured motion into poses, moments, muscle forces and a report
`looking`     `render`, `show`, `share`: pictures, films, the browser, a page to pass on

Each is loaded when it is first used: a picture needs no bodies and no control.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vitruvian.door.looking import render, share, show
    from vitruvian.door.opening import open
    from vitruvian.door.running import Run, RunInterrupted, run
    from vitruvian.door.stroke_search import Swum, search_stroke
    from vitruvian.door.sweeping import SweepInterrupted, sweep
    from vitruvian.door.table import Table
    from vitruvian.door.tracking import Track, track

_FILES = {
    "looking": ("render", "share", "show"),
    "opening": ("open",),
    "running": ("Run", "RunInterrupted", "run"),
    "stroke_search": ("Swum", "search_stroke"),
    "sweeping": ("SweepInterrupted", "sweep"),
    "table": ("Table",),
    "tracking": ("Track", "track"),
}


def __getattr__(name: str) -> Any:
    for file, names in _FILES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{file}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Run",
    "RunInterrupted",
    "SweepInterrupted",
    "Swum",
    "Table",
    "Track",
    "open",
    "render",
    "run",
    "search_stroke",
    "share",
    "show",
    "sweep",
    "track",
]
