"""Says once that kernels are being compiled, so that a first call from Python is not silent for a minute.

The line is a warning of the logger `vitruvian.kernels`, which Python prints to stderr unless told otherwise. To switch
it off: `logging.getLogger("vitruvian.kernels").setLevel("ERROR")`. Worker processes say nothing: one line is enough.
"""

from __future__ import annotations

import logging
from multiprocessing import current_process
from time import perf_counter
from typing import Any

PATIENCE = 2.0  # seconds of compiling before it is said
MESSAGE = (
    "vitruvian: compiling kernels for their first use; this can take a minute or two and is kept "
    "(`vitruvian prepare` does it beforehand)"
)
log = logging.getLogger("vitruvian.kernels")


def tell_of_compiling() -> None:
    """Listen to Numba, which must be loaded, and speak when this package's kernels have been compiled for a while."""
    from numba.core import event

    if current_process().name == "MainProcess":
        event.Listener.register(Compiling)
        event.register("numba:compile", Compiling())


class Compiling:
    """Adds up the time in which kernels of this package are compiled (a `numba.core.event.Listener`).

    Numba tells of each kernel when it begins and ends, of those that it calls in between; a kernel that is read from
    the disk is not told of.
    """

    def __init__(self) -> None:
        self.depth, self.since, self.seconds, self.said = 0, 0.0, 0.0, False

    def notify(self, event: Any) -> None:
        if self.said or not event.data["dispatcher"].py_func.__module__.startswith("vitruvian."):
            return
        now = perf_counter()
        if self.depth > 0:
            self.seconds += now - self.since
        self.since = now
        self.depth += 1 if event.is_start else -1
        if self.seconds > PATIENCE:
            self.said = True
            log.warning(MESSAGE)
