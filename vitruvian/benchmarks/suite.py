"""Timings, with peers measured in the same run so that ratios mean something on a noisy machine.

A chapter is a module of this package (`benchmarks/skeleton.py`); its cases are functions marked with `@timing`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from vitruvian.chapters import find_cases
from vitruvian.errors import MissingExtra


@dataclass(frozen=True)
class Timing:
    """Seconds for our way and for each peer's; `ratio` is ours over the fastest peer's, None without peers."""

    seconds: float
    peers: dict[str, float] = field(default_factory=dict)
    detail: str = ""  # sizes: bodies, DOF, cells, steps
    figures: dict[str, float] = field(default_factory=dict)  # anything else measured: iterations, memory in MB

    @property
    def ratio(self) -> float | None:
        return self.seconds / min(self.peers.values()) if self.peers else None


@dataclass(frozen=True)
class Case:
    name: str  # chapter/case
    text: str
    measure: Callable[[], Timing]


def timing(function: Callable[[], Timing]) -> Case:
    """Mark a function of a chapter as a benchmark case."""
    chapter = function.__module__.rsplit(".", 1)[-1]
    text = (function.__doc__ or "").strip().splitlines()
    return Case(f"{chapter}/{function.__name__.replace('_', '-')}", text[0] if text else "", function)


def interleaved(
    runs: dict[str, Callable[[], object]], *, repeats: int = 7, least_seconds: float = 0.02
) -> dict[str, float]:
    """Best seconds per call of each function, measured turn by turn so that all meet the same noise."""
    calls = {}
    for name, run in runs.items():
        run()  # compile, warm caches
        start = perf_counter()
        run()
        calls[name] = max(1, int(least_seconds / max(perf_counter() - start, 1e-9)))
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(repeats):
        for name, run in runs.items():
            start = perf_counter()
            for _ in range(calls[name]):
                run()
            best[name] = min(best[name], (perf_counter() - start) / calls[name])
    return best


@dataclass(frozen=True)
class Outcome:
    """What became of a case: timed, skipped for want of a package, or failed."""

    case: Case
    timing: Timing | None
    reason: str = ""
    skipped: bool = False

    @property
    def failed(self) -> bool:
        return self.timing is None and not self.skipped


def find_timings(asked: Sequence[str] = ()) -> list[Case]:
    """Cases by chapter (`skeleton`), by name (`skeleton/aba`) or its beginning; all without `asked`."""
    import vitruvian.benchmarks

    return find_cases(vitruvian.benchmarks, asked, Case, besides=("suite",), what="benchmark")


def measure(case: Case) -> Outcome:
    """Time a case. Whatever it raises is its own failure, so that the rest can go on."""
    try:
        return Outcome(case, case.measure())
    except MissingExtra as error:
        return Outcome(case, None, str(error), skipped=True)
    except Exception as error:
        return Outcome(case, None, " ".join(f"{type(error).__name__}: {error}".split()))
