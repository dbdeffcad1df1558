"""Commands for a swimmer, each given to (actuation, what it remembers), and plans of them: [(time, command), ...]."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from vitruvian.control.rhythm import GROUPS
from vitruvian.errors import InputError

Command = Callable[[Any, Any], None]  # of (actuation, own)


def rate(cycles: float, groups: Sequence[str] = GROUPS) -> Command:
    """Stroke rate [1/s], slid to."""
    return lambda act, own: act.rhythm.set_rate(own.rhythm, cycles, groups)


def stroke(name: str) -> Command:
    """Another stroke, learned beforehand."""
    return lambda act, own: act.rhythm.set_stroke(own.rhythm, name)


def heading(angle: float) -> Command:
    """Another heading [rad], positive to the left."""

    def give(act: Any, own: Any) -> None:
        if own.pilot is None:
            raise InputError("a heading needs a pilot")
        own.pilot.wanted_heading = float(angle)

    return give


def hold(groups: Sequence[str], at: tuple[str, float] | None = None) -> Command:
    """Hold muscle groups as they are, or as at (stroke, phase)."""

    def give(act: Any, own: Any) -> None:
        act.rhythm.hold(own.rhythm, groups, None if at is None else act.rhythm.cycle(*at)[0])

    return give


def release(groups: Sequence[str] = GROUPS) -> Command:
    """Let held groups swim again."""
    return lambda act, own: act.rhythm.release(own.rhythm, groups)


def checked_plan(
    plan: Sequence[tuple[float, Command]],
) -> tuple[tuple[float, Command], ...]:
    times = [t for t, _ in plan]
    if times != sorted(times):
        raise InputError(f"times of a plan must ascend, got {times}")
    return tuple(plan)


def give_commands(act: Any, own: Any, time: float) -> None:
    """All commands of the plan that are due."""
    while own.next_command < len(act.plan) and act.plan[own.next_command][0] <= time + 1e-9:
        act.plan[own.next_command][1](act, own)
        own.next_command += 1
