"""Ctrl-C and SIGTERM: a command stops, says so in one line, and ends with status 130.

While a world is stepped `world.run` listens itself, so as to end between two steps. Everywhere else a signal raises
`KeyboardInterrupt`, which becomes `Interrupted` before typer, which would be silent about it, sees it.
"""

from __future__ import annotations

import functools
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

KINDS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(Exception):
    """The user wants no more; the message says what became of the work."""


def telling(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command, heeding SIGINT and SIGTERM; either ends it with `Interrupted`."""

    @functools.wraps(command)
    def told(*arguments: Any, **options: Any) -> Any:
        with _heeding(yields_to_runs=True) as stop:
            try:
                return command(*arguments, **options)
            except KeyboardInterrupt as error:
                raise Interrupted(str(error) or "interrupted") from None
            except Exception as error:
                if not stop.asked:
                    raise
                # A compiler that is broken off may trip over what it left undone.
                raise Interrupted("interrupted") from error

    return told


@dataclass
class Stop:
    asked: bool = False


@contextmanager
def at_once() -> Iterator[Stop]:
    """Inside, a signal raises `KeyboardInterrupt` at once, even while a world is run, which leaves signals to us.

    `asked` remembers it, in case the exception is swallowed on its way.
    """
    with _heeding(yields_to_runs=False) as stop:
        yield stop


@contextmanager
def _heeding(*, yields_to_runs: bool) -> Iterator[Stop]:
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def ask(*_: Any) -> None:
        stop.asked = True
        raise KeyboardInterrupt

    ask.yields_to_runs = yields_to_runs  # type: ignore[attr-defined]

    def swallowed(unraisable: Any) -> None:
        if unraisable.exc_type is not KeyboardInterrupt:
            return told_before(unraisable)
        # The signal came inside a callback out of compiled code, which cannot pass exceptions on: once more, later.
        again = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
        again.daemon = True
        again.start()

    told_before = sys.unraisablehook
    before = {kind: signal.signal(kind, ask) for kind in KINDS}
    sys.unraisablehook = swallowed
    try:
        yield stop
    finally:
        sys.unraisablehook = told_before
        for kind, handler in before.items():
            signal.signal(kind, handler)
