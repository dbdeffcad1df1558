"""The engines of one machine: this process, or one worker process for each of several cores.

Workers are processes of loky, the engine of joblib: started afresh rather than forked (threads and compiled kernels do
not survive a fork), and in such a way that functions of a notebook or of a script without a main guard will do. When a
worker dies loky gives up the whole pool. Here each worker is a pool of its own, so that a death costs the one item that
this worker had in hand, and we know which.
"""

from __future__ import annotations

import os
import signal
import threading
import warnings
from collections import deque
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from time import sleep
from typing import Any

from vitruvian.swarm.work import Outcome, Task, work

# Each worker keeps to one thread: the cores are taken by the other workers. Read when NumPy and Numba are imported.
ONE_THREAD = {
    "NUMBA_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
}
SIGNALS = (signal.SIGINT, signal.SIGTERM)
LOOK_SECONDS = 1.0  # between a worker's looks at whether its parent lives


class Here:
    """Does items in this process, one after the other, with as many threads as it has."""

    slots = 1

    def __init__(self) -> None:
        self.waiting: deque[tuple[int, Task]] = deque()

    def start(self, index: int, task: Task) -> None:
        self.waiting.append((index, task))

    def finished(self) -> list[tuple[int, Outcome]]:
        index, task = self.waiting.popleft()
        return [(index, work(task))]

    def close(self) -> None:
        self.waiting.clear()


class Cores:
    """Does items in `slots` worker processes of this machine."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.idle: list[Any] = []
        self.busy: dict[Future[Outcome], tuple[int, Any]] = {}
        # loky replaces a worker whose memory has grown between two items, which costs nothing, and warns in its thread
        self.filters = warnings.catch_warnings()
        self.filters.__enter__()
        warnings.filterwarnings("ignore", message="A worker stopped while some jobs")

    def start(self, index: int, task: Task) -> None:
        with _held():
            worker = self.idle.pop() if self.idle else self._worker()
            self.busy[worker.submit(work, task)] = (index, worker)

    def finished(self) -> list[tuple[int, Outcome]]:
        """What came in, at least one; waits for it."""
        from joblib.externals.loky.process_executor import BrokenProcessPool

        done, _ = wait(self.busy, return_when=FIRST_COMPLETED)
        came = []
        for future in done:
            index, worker = self.busy.pop(future)
            try:
                came.append((index, future.result()))
                self.idle.append(worker)
            except BrokenProcessPool:
                worker.shutdown(wait=False, kill_workers=True)
                came.append((index, Outcome(died=1)))
        return came

    def close(self) -> None:
        """End all workers at once, whatever they are at."""
        for worker in [*self.idle, *(worker for _, worker in self.busy.values())]:
            worker.shutdown(wait=True, kill_workers=True)
        self.idle, self.busy = [], {}
        self.filters.__exit__(None, None, None)

    def _worker(self) -> Any:
        from joblib.externals.loky import ProcessPoolExecutor

        return ProcessPoolExecutor(max_workers=1, env=ONE_THREAD, initializer=_begin, initargs=(os.getpid(),))


@contextmanager
def _held() -> Iterator[None]:
    """Signals wait: no worker is started and not known of, and none meets Ctrl-C before it has come to `_begin`."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(parent: int) -> None:
    """What a worker does first."""
    # Ctrl-C reaches every process of a terminal: it is for the first of them to say what becomes of the work.
    signal.signal(signal.SIGINT, _unheard)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)  # held since before this process was started
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _unheard(*_: Any) -> None:
    pass


def _end_with(parent: int) -> None:
    """End this process when the one that it works for is gone, which may have had no time to say so."""
    while os.getppid() == parent:
        sleep(LOOK_SECONDS)
    os._exit(1)
