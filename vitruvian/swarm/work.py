"""What happens to one item, in whatever process: unpack function and item, call, pack the result.

Every engine goes through `work`, also the one in this process: the function gets its own copy of the item, and only
bytes come back. So an engine cannot be told from another by what is shared, and an error that cannot be pickled breaks
no worker.
"""

from __future__ import annotations

import pickle
import traceback
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from vitruvian.errors import InputError

# True while a function of `map` is at work, so that a `map` inside it starts no processes of its own
inside: ContextVar[bool] = ContextVar("inside", default=False)


@dataclass(frozen=True)
class Outcome:
    """What became of one item: the packed result, or why there is none."""

    result: bytes = b""
    error: str = ""  # type and message
    trace: str = ""  # where it happened
    died: int = 0  # processes that died over it


@dataclass(frozen=True)
class Task:
    """A function and one of its items, packed."""

    function: bytes
    item: bytes


def work(task: Task) -> Outcome:
    """Do one item."""
    mark = inside.set(True)
    try:
        function, item = pickle.loads(task.function), pickle.loads(task.item)
        return Outcome(result=_packed(function(item)))
    except Exception as error:
        if broken_off(error):
            raise KeyboardInterrupt from error
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return Outcome(error=reason, trace=traceback.format_exc())
    finally:
        inside.reset(mark)


def broken_off(error: BaseException) -> bool:
    """True if the error came of Ctrl-C: a compiler that is broken off may trip over what it left undone."""
    seen = set()
    while error.__context__ is not None and id(error) not in seen:
        seen.add(id(error))
        error = error.__context__
        if isinstance(error, KeyboardInterrupt):
            return True
    return False


def pack(value: Any, what: str) -> bytes:
    """`value` as bytes; `InputError` that names it where it cannot travel to another process."""
    try:
        return _packed(value)
    except Exception as error:  # whatever its own __reduce__ raises
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{what} cannot be sent to another process: {type(error).__name__}: {reason}") from error


def _packed(value: Any) -> bytes:
    import cloudpickle

    return cloudpickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
