"""Files that are whole or not there: written under another name in the same folder, then renamed.

A folder that is not there or may not be written is bad input; a disk that fills up ends the command. Whatever goes
wrong, interruption included, a file that had the name before is left as it was.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vitruvian.errors import InputError, RunFailed


@contextmanager
def whole_file(out: str | Path) -> Iterator[Path]:
    """Yields the path to write to; it has the suffix of `out`, and becomes `out` when the block ends well."""
    target = check_writable(out)
    special = target.exists() and not target.is_file()  # a pipe or a device is written as it is
    partial = target.with_name(f".{target.stem[:80]}.{os.getpid()}.partial{target.suffix}")
    try:
        if not special:
            with open(partial, "wb"):
                pass
    except OSError as error:
        raise InputError(f"cannot write {out}: {error.strerror or error}") from error
    try:
        yield Path(out) if special else partial
        if not special:
            os.replace(partial, target)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise RunFailed(f"cannot write {out}: {'the disk is full' if full else error.strerror or error}") from error
    finally:
        if not special:
            partial.unlink(missing_ok=True)


def check_writable(out: str | Path) -> Path:
    """The file that `out` means, links followed; `InputError` where there is no folder for it."""
    target = Path(out).resolve()
    if target.is_dir():
        raise InputError(f"cannot write {out}: it is a folder")
    if not target.parent.is_dir():
        raise InputError(f"cannot write {out}: there is no folder {Path(out).parent}")
    return target
