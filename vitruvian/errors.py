"""The errors that a user may meet, and what the command line does with each.

`InputError`     something the user gave is wrong          -> one line, exit status 2
`MissingExtra`   an optional package is not installed      -> one line that names the install command, exit status 2
`Diverged`       a time step could not be taken            -> rolled back and retried smaller by the world
`RunFailed`      a run had to end (divergence, full disk)  -> one line, exit status 1; the recording so far is whole
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

MOST_NAMES = 40  # that an error lists


class VitruvianError(Exception):
    """Base of all errors raised on purpose."""


class InputError(VitruvianError):
    """The input is wrong; the message names the part, parameter or file at fault."""


class MissingExtra(InputError):
    """A feature needs a package that is not installed."""

    def __init__(self, what: str, command: str) -> None:
        super().__init__(f"{what} is not installed; `{command}` brings it")


class Diverged(VitruvianError):
    """A time step failed; `part` names the bone, muscle or field at fault."""

    def __init__(self, part: str, reason: str) -> None:
        super().__init__(f"{part}: {reason}")
        self.part = part
        self.reason = reason


class RunFailed(VitruvianError):
    """A run had to stop; what was recorded before is whole."""


def unknown_name(kind: str, name: str, known: Iterable[str]) -> InputError:
    """An error for a name that does not exist, with the nearest ones that do."""
    names = sorted(known)
    near = get_close_matches(name, names, n=3, cutoff=0.5)
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(names[:MOST_NAMES])}{more}"
    return InputError(f"unknown {kind} '{name}'; {hint}")
