"""`map`: a function over items, on any engine, with finished results kept.

Items are handed out in order, one to each free worker. A worker that dies costs the item that it had in hand, which is
handed out again first, at most `TRIES` times in all. When a function raises, no later item is begun, those in hand are
waited for and kept, and the error is that of the first item that failed: the same one whatever the engine.
"""

from __future__ import annotations

import pickle
import reprlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from heapq import heapify, heappop, heappush
from pathlib import Path
from typing import Any, Protocol

from vitruvian.errors import InputError, RunFailed
from vitruvian.swarm.cores import Cores, Here
from vitruvian.swarm.keeping import Kept
from vitruvian.swarm.work import Outcome, Task, inside, pack

TRIES = 3  # of an item over which worker processes die


class Engine(Protocol):
    """Somewhere to do items."""

    @property
    def slots(self) -> int:
        """Items that can be in hand at once; may change."""
        ...

    def start(self, index: int, task: Task) -> None:
        """Take an item in hand."""
        ...

    def finished(self) -> list[tuple[int, Outcome]]:
        """Items that ended since the last call; waits a while for the next where there is none."""
        ...

    def close(self) -> None:
        """Let go of everything, whatever is in hand."""
        ...


def map(
    function: Callable[[Any], Any],
    items: Iterable[Any],
    *,
    processes: int | None = None,
    scheduler: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    keep: str | Path | None = None,
    workers: Engine | None = None,
) -> list[Any]:
    """`[function(item) for item in items]`, with the same result on every engine.

    `processes`: 1 is this process; several are worker processes with one thread each; None is one for each core.
    `scheduler`: address of a Dask scheduler, such as "tcp://10.0.0.1:8786"; its workers do the work instead.
    `keep`: folder in which each result is stored as JSON when it is there. A second call with the same function and
    items does what is missing; one with another function (other code, other values that it holds) is refused. Results
    are then what JSON makes of them (tuples become lists).
    `progress(done, total)` is called at the start and after each item.
    `workers`: those of `swarm.workers`, for several calls, instead of `processes` and `scheduler`.

    Function, items and results must be picklable. `RunFailed` names the item whose function raised or whose worker
    died three times.
    """
    check_engine(processes, scheduler)
    listed = list(items)
    packed = pack(function, "the function")
    for index, item in enumerate(listed):
        pack(item, _name(index, item))
    with Kept(keep, function, listed) if keep is not None else nullcontext() as kept:
        results = kept.load() if kept else {}
        todo = [index for index in range(len(listed)) if index not in results]

        def take(index: int, value: Any) -> None:
            results[index] = kept.save(index, value) if kept else value
            if progress:
                progress(len(results), len(listed))

        if progress:
            progress(len(results), len(listed))
        if todo:
            engine = _engine(processes, scheduler, len(todo)) if workers is None else workers
            try:
                _drive(engine, packed, listed, todo, take)
            finally:
                if workers is None:
                    engine.close()
    return [results[index] for index in range(len(listed))]


@contextmanager
def workers(processes: int | None = None, scheduler: str | None = None) -> Iterator[Engine]:
    """Workers for several calls of `map`, started once: to start one takes seconds. They end with the block."""
    check_engine(processes, scheduler)
    engine = _engine(processes, scheduler, None)
    try:
        yield engine
    finally:
        engine.close()


def check_engine(processes: int | None, scheduler: str | None) -> None:
    """`InputError` where there can be no such engine."""
    if processes is not None and (not isinstance(processes, int) or isinstance(processes, bool) or processes < 1):
        raise InputError(f"processes must be a whole number of at least 1, not {processes}")
    if processes is not None and scheduler is not None:
        raise InputError("choose processes of this machine or the scheduler of a cluster, not both")
    if scheduler is not None:
        from vitruvian.swarm.cluster import check_scheduler

        check_scheduler(scheduler)


def _drive(
    engine: Engine, function: bytes, items: Sequence[Any], todo: list[int], take: Callable[[int, Any], None]
) -> None:
    """Hand out and take in until all is done, or until the first failure is known."""
    heapify(todo)
    in_hand: set[int] = set()
    deaths: Counter[int] = Counter()
    failed: dict[int, Outcome] = {}
    while True:
        while todo and len(in_hand) < engine.slots and (not failed or todo[0] < min(failed)):
            index = heappop(todo)
            engine.start(index, Task(function, pack(items[index], _name(index, items[index]))))
            in_hand.add(index)
        if not in_hand and (failed or not todo):
            break
        for index, outcome in engine.finished():
            in_hand.discard(index)
            deaths[index] += outcome.died
            if outcome.error:
                failed[index] = outcome
            elif not outcome.died:
                take(index, pickle.loads(outcome.result))
            elif deaths[index] < TRIES:
                heappush(todo, index)
            else:
                failed[index] = Outcome(error=f"its worker process died, {deaths[index]} times in a row")
    if failed:
        first = min(failed)
        error = RunFailed(f"{_name(first, items[first])}: {failed[first].error}")
        if failed[first].trace:
            error.add_note(failed[first].trace)
        raise error


def _engine(processes: int | None, scheduler: str | None, most: int | None) -> Engine:
    if scheduler is not None:
        from vitruvian.swarm.cluster import Cluster

        return Cluster(scheduler)
    if processes is None and not inside.get():
        import joblib

        processes = int(joblib.cpu_count())
    if processes is None or processes == 1:
        return Here()
    return Cores(processes if most is None else min(processes, most))


def _name(index: int, item: Any) -> str:
    short = reprlib.Repr()
    short.maxdict = short.maxlist = short.maxtuple = 8
    short.maxstring = short.maxother = 60
    return f"item {index}, {short.repr(item)}"
