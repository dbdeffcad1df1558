"""The verification book: claims about the physics, each measured anew when asked.

A chapter is a module of this package (`verify/skeleton.py`); its claims are functions marked with `@claim`.
A claim returns a `Finding`: the value measured, the reference that it should equal, and the tolerance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from vitruvian.chapters import find_cases
from vitruvian.errors import MissingExtra


@dataclass(frozen=True)
class Finding:
    """|value - reference| <= tolerance is what a claim means by true."""

    value: float
    reference: float
    tolerance: float
    unit: str = ""
    detail: str = ""  # one line for the reader: sizes, where the worst case was

    @property
    def passed(self) -> bool:
        return bool(abs(self.value - self.reference) <= self.tolerance)  # NaN fails

    @classmethod
    def error(cls, value: float, tolerance: float, unit: str = "", detail: str = "") -> Finding:
        """An error that should vanish: reference 0."""
        return cls(float(value), 0.0, tolerance, unit, detail)

    @classmethod
    def within(cls, value: float, low: float, high: float, unit: str = "", detail: str = "") -> Finding:
        """A value that should lie in a band: reference is its middle, tolerance half its width."""
        return cls(float(value), 0.5 * (low + high), 0.5 * (high - low), unit, detail)


def worst(values: Iterable[float], reference: float = 0.0) -> float:
    """The value farthest from the reference; NaN if any is NaN, for Python's `max` would pass over it.

    No value at all means that a claim measured nothing, which is an error."""
    found = np.fromiter(values, dtype=float)
    if not len(found):
        raise ValueError("nothing was measured")
    return float(found[np.argmax(np.abs(found - reference))])  # argmax gives the first NaN if there is one


@dataclass(frozen=True)
class Claim:
    """One line of the book."""

    name: str  # chapter/claim
    text: str  # first line of the function's docstring
    measure: Callable[[], Finding]


def claim(function: Callable[[], Finding]) -> Claim:
    """Mark a function of a chapter as a claim; `aba_equals_pinocchio` becomes `chapter/aba-equals-pinocchio`.

    A claim that needs a peer that is not installed raises `MissingExtra`; it is then reported as skipped. Claims of a
    long chapter may stand in files of their own, `_chapter_idea.py`, from which the chapter imports them.
    """
    chapter = function.__module__.rsplit(".", 1)[-1]
    if chapter.startswith("_"):
        chapter = chapter.split("_")[1]
    text = (function.__doc__ or "").strip().splitlines()
    return Claim(f"{chapter}/{function.__name__.replace('_', '-')}", text[0] if text else "", function)


@dataclass(frozen=True)
class Outcome:
    """What became of a claim: found true or false, skipped for want of a peer, or failed to be measured at all."""

    claim: Claim
    finding: Finding | None
    seconds: float
    reason: str = ""  # why it was skipped or could not be measured
    skipped: bool = False

    @property
    def passed(self) -> bool | None:
        if self.skipped:
            return None
        return self.finding is not None and self.finding.passed


def find_claims(asked: Sequence[str] = ()) -> list[Claim]:
    """Claims by chapter (`skeleton`), by name (`skeleton/aba-equals-pinocchio`) or its beginning; else all."""
    import vitruvian.verify

    return find_cases(vitruvian.verify, asked, Claim, besides=("book",), what="claim")


def check_claim(claim: Claim) -> Outcome:
    """Measure a claim. Whatever it raises is its own failure, so that the rest of the book can go on."""
    begun = perf_counter()
    try:
        finding = claim.measure()
        return Outcome(claim, finding, perf_counter() - begun)
    except MissingExtra as error:
        return Outcome(claim, None, perf_counter() - begun, str(error), skipped=True)
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        return Outcome(claim, None, perf_counter() - begun, reason)
