"""Ctrl-C and SIGTERM: a command stops, says so in one line, and ends with status 130.

While a world is stepped `world.run` listens itself, so as to end between two steps. Everywhere else a signal raises
`KeyboardInterrupt`, which becomes `Interrupted` before typer, which would be silent about it, sees it.
"""

from __future__ import annotations

import functools
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

KINDS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(Exception):
    """The user wants no more; the message says what became of the work."""


def telling(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command, with `KeyboardInterrupt` turned into `Interrupted`."""

    @functools.wraps(command)
    def told(*arguments: Any, **options: Any) -> Any:
        try:
            return command(*arguments, **options)
        except KeyboardInterrupt as error:
            raise Interrupted(str(error) or "interrupted") from None

    return told


@contextmanager
def terminable() -> Iterator[None]:
    """Inside, SIGTERM is heard like Ctrl-C, unless someone else listens to it."""
    if not _in_main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@dataclass
class Stop:
    asked: bool = False


@contextmanager
def at_once() -> Iterator[Stop]:
    """Inside, a signal raises `KeyboardInterrupt` at once, even while a world is run, which leaves signals to us.

    `asked` remembers it, in case the exception is swallowed on its way (from a callback out of compiled code it is).
    """
    stop = Stop()
    if not _in_main_thread():
        yield stop
        return

    def ask(*_: Any) -> None:
        stop.asked = True
        raise KeyboardInterrupt

    before = {kind: signal.signal(kind, ask) for kind in KINDS}
    try:
        yield stop
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
