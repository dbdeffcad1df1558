"""What the commands print: tables and JSON on stdout, remarks, complaints and progress on stderr."""

from __future__ import annotations

import json
import math
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any

REFRESH_SECONDS = 0.1
TELL_SECONDS = 30.0  # between lines where there is no terminal
PATIENCE_SECONDS = 2.0
BUILDING = "building the scene (the first run after an install also compiles kernels, for about a minute)"
DRAWING = "drawing (the first picture after an install also compiles kernels, for about half a minute)"


def print_json(value: Any) -> None:
    """One JSON object on one line; numbers that JSON has no word for become null."""
    print(json.dumps(_plain(value), ensure_ascii=False, allow_nan=False), flush=True)


def complain(message: str) -> None:
    """One line about what is wrong."""
    print(f"vitruvian: {' '.join(message.split())}", file=sys.stderr, flush=True)


def remark(message: str) -> None:
    """A line for the person who watches."""
    print(message, file=sys.stderr, flush=True)


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str] = ()) -> None:
    """A table on stdout; columns in `right` are aligned to the right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(soft_wrap=False) if sys.stdout.isatty() else Console(width=160)
    table = Table(title=title or None, title_justify="left", box=None, header_style="bold", pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell, style=_STYLES.get(cell, "")) for cell in row))
    console.print(table)


_STYLES = {"passed": "green", "failed": "bold red", "skipped": "yellow"}


@contextmanager
def patience(message: str = BUILDING) -> Iterator[Callable[[], None]]:
    """Says on stderr why nothing happens yet, unless the block ends or the function that it yields is called soon."""
    timer = threading.Timer(PATIENCE_SECONDS, remark, [message])
    timer.daemon = True
    timer.start()
    try:
        yield timer.cancel
    finally:
        timer.cancel()


@contextmanager
def progress_bar(
    what: str, unit: str = "", *, slow_start: bool | str = False
) -> Iterator[Callable[[float, float], None]]:
    """A bar with remaining time on stderr, if that is a terminal; yields `update(done, total)`, cheap to call often.

    Where it is none, a slow start is explained (in words of its own, if they are given), and a line now and then says
    how far it is.
    """
    if not sys.stderr.isatty():
        told = perf_counter()

        def tell(done: float, total: float) -> None:
            nonlocal told
            if perf_counter() - told >= TELL_SECONDS and done < total:
                told = perf_counter()
                remark(f"{what}: {done:.4g} of {total:.4g} {unit}".rstrip())

        if not slow_start:
            yield tell
            return
        with patience(slow_start if isinstance(slow_start, str) else BUILDING) as begun:

            def under_way(done: float, total: float) -> None:
                begun()
                tell(done, total)

            yield under_way
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[count]}"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None, count="starting (the first time compiles)")
        last = 0.0

        def update(done: float, total: float) -> None:
            nonlocal last
            now = perf_counter()
            if now - last >= REFRESH_SECONDS or done >= total:
                last = now
                count = f"{done:.4g} / {total:.4g} {unit}" if unit else f"{done:.0f} / {total:.0f}"
                progress.update(task, completed=done, total=total, count=count)

        yield update


def number(value: float | None) -> str:
    """A number for a table."""
    if value is None:
        return ""
    return f"{value:.6g}"


def duration(seconds: float | None) -> str:
    """A duration for a table, in the unit that reads best."""
    if seconds is None or not math.isfinite(seconds):
        return ""
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= scale or unit == "µs":
            return f"{seconds / scale:.3g} {unit}"
    return ""


def size(count: int) -> str:
    """A number of bytes for people."""
    value = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            return f"{value:.3g} {unit}"
        value /= 1000
    return ""


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, bool | int | float | str) or value is None:
        return value
    return str(value)
