"""Controls that are shipped, with whom and what they were found for.

who, cycle = cycle_for(Policy.read(found_file("michelin-run")))
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vitruvian.anatomy.characters import Character, character
from vitruvian.control.search import Reference
from vitruvian.control.search.actors import RigidActor
from vitruvian.control.search.cycle import Cycle, cycle_of
from vitruvian.control.search.policy import Policy
from vitruvian.exchange import read_trial
from vitruvian.measured.retarget import ready


def motion_of(who: Character, told: Mapping[str, Any], *, loop: bool) -> Reference:
    """The captured clip on a character for which a control was found."""
    how = {key: told[key] for key in ("slower", "grounded", "rolling", "tuck", "even") if key in told}
    return ready(read_trial(told["clip"]), who, loop=loop, **how)


def cycle_for(policy: Policy) -> tuple[Character, Cycle]:
    """Whom and which cycle a policy that is shipped was found for."""
    who = character(policy.told["character"])
    return who, mixed_cycle(RigidActor(who), motion_of(who, policy.told, loop=True), policy.told)


def mixed_cycle(actor: RigidActor, motion: Reference, told: Mapping[str, Any], step: float = 0.004) -> Cycle:
    """The cycle of a motion, in rows of `step` [s]; with arms, and a share of all the rest, of the clip `mixed` where
    there is one."""
    if not told.get("mixed"):
        return cycle_of(actor, motion, step)
    other = ready(read_trial(told["mixed"]), actor.who, loop=True)
    return cycle_of(actor, motion, step, mixed=other, legs=told["legs"])
