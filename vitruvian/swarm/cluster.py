"""The engine of many machines: the workers of a Dask scheduler, wherever they run.

Dask itself hands a dead worker's item to another one, and gives it up when it has seen several workers die over it
(`distributed.scheduler.allowed-failures`, 3). A result lies on its worker until it is fetched, which is at once.
Workers may come and go; as many items are in hand as there are workers. A worker process does one item at a time with
one thread, as those of one machine do: Numba's threads may not be entered from two Python threads at once.
"""

from __future__ import annotations

import logging
import re
import socket
import threading
from concurrent.futures import CancelledError
from importlib.util import find_spec
from time import monotonic
from typing import Any

from vitruvian.errors import InputError, MissingExtra, RunFailed
from vitruvian.swarm.work import Outcome, Task, work

CONNECT_SECONDS = 10.0
JOIN_SECONDS = 30.0  # for the first worker to be there, and for a new one when all are gone
LOOK_SECONDS = 1.0  # between looks at who has joined
FETCH_SECONDS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)  # tries of fetching a finished result, which may be large

LOGGERS = ("distributed", "distributed.client", "distributed.core", "distributed.batched", "tornado")
_one_at_a_time = threading.Lock()


def check_scheduler(address: str) -> None:
    """`InputError` unless Dask is installed and something listens at the address.

    Dask's own client would wait long for nothing, and leave a thread behind.
    """
    if find_spec("distributed") is None:
        raise MissingExtra("Dask", "pip install 'vitruvian[cluster]'")
    match = re.fullmatch(r"(?:(?:tcp|tls)://)?([^/]+):(\d{1,5})", address)
    if not match:
        raise InputError(f"the address of a scheduler is like tcp://10.0.0.1:8786, not '{address}'")
    try:
        socket.create_connection((match[1].strip("[]"), int(match[2])), CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"there is no Dask scheduler at {address}: {reason}") from error


class Cluster:
    """Does items on the workers of the Dask scheduler at `address`."""

    def __init__(self, address: str) -> None:
        import distributed

        self.address, self.distributed = address, distributed
        self.busy: dict[Any, int] = {}
        self.seen = monotonic()  # when there was a worker
        # what Dask logs about lost connections we say ourselves
        self.loggers = {name: logging.getLogger(name) for name in LOGGERS}
        self.levels = {name: logger.level for name, logger in self.loggers.items()}
        for logger in self.loggers.values():
            logger.setLevel(logging.CRITICAL)
        try:
            self.client = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError, TypeError, ImportError) as error:
            self._speak_again()
            raise InputError(f"there is no Dask scheduler at {address}") from error
        try:
            self._welcome()
        except BaseException:
            self.close()
            raise

    @property
    def slots(self) -> int:
        """Workers there are now."""
        threads = self._asked()
        if threads:
            self.seen = monotonic()
        elif monotonic() - self.seen > JOIN_SECONDS:
            raise RunFailed(f"the scheduler at {self.address} has had no workers for {JOIN_SECONDS:g} s")
        return len(threads)

    def start(self, index: int, task: Task) -> None:
        self.busy[self.client.submit(work_alone, task, pure=False)] = index

    def finished(self) -> list[tuple[int, Outcome]]:
        """What came in; waits for it, but not so long that a worker that joins would be idle."""
        came = []
        try:
            with self.client.as_current():
                done, _ = self.distributed.wait(list(self.busy), timeout=LOOK_SECONDS, return_when="FIRST_COMPLETED")
        except CancelledError as error:
            raise RunFailed(f"the scheduler at {self.address} is gone") from error
        except TimeoutError:
            _ = self.slots  # an error where nobody is left to wait for
            return []
        for future in done:
            if (outcome := self._outcome(future)) is not None:
                came.append((self.busy.pop(future), outcome))
                future.release()
        return came

    def close(self) -> None:
        """Take back what is not begun. What a worker has in hand it ends, and nobody hears of it."""
        try:
            if self.busy and self.client.status == "running":
                self.client.cancel(list(self.busy), force=True)
            self.client.close(timeout=LOOK_SECONDS)
        except (OSError, TimeoutError):
            pass  # the scheduler is gone, and everything with it
        finally:
            self.busy = {}
            self._speak_again()

    def _outcome(self, future: Any) -> Outcome | None:
        """What a finished item gave; None where its worker died before it could say so, and it is done again."""
        from distributed.scheduler import KilledWorker

        try:
            for seconds in FETCH_SECONDS:
                try:
                    return future.result(timeout=seconds)
                except TimeoutError:
                    if future.status == "pending":
                        return None
            return Outcome(died=1)  # its worker is there and does not hand it over: as if it were gone
        except KilledWorker as error:
            return Outcome(error=f"{error.allowed_failures + 1} worker processes died over it")
        except Exception as error:
            # our own function raises nothing: it could not be unpacked there, or the connection is lost
            if future.status == "error":
                return Outcome(error=f"a worker could not do it: {type(error).__name__}: {error}")
            raise RunFailed(f"the scheduler at {self.address} is gone: {type(error).__name__}") from error

    def _welcome(self) -> None:
        try:
            self.client.wait_for_workers(1, timeout=JOIN_SECONDS)
        except TimeoutError as error:
            message = f"the scheduler at {self.address} has no workers; start one with `dask worker {self.address}"
            raise InputError(f"{message} --nthreads 1`") from error
        for worker, threads in self._asked().items():
            if threads != 1:
                raise InputError(f"the worker {worker} has {threads} threads; start workers with --nthreads 1")

    def _asked(self) -> dict[str, int]:
        """Threads of each worker, by address."""
        try:
            return dict(self.client.nthreads())
        except (OSError, TimeoutError) as error:
            raise RunFailed(f"the scheduler at {self.address} is gone") from error

    def _speak_again(self) -> None:
        for name, logger in self.loggers.items():
            logger.setLevel(self.levels[name])


def work_alone(task: Task) -> Outcome:
    """Do one item with one thread while this process does no other."""
    import numba

    with _one_at_a_time:
        threads = numba.get_num_threads()
        numba.set_num_threads(1)
        try:
            return work(task)
        finally:
            numba.set_num_threads(threads)
