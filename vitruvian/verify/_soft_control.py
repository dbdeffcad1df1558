"""What the control of soft characters must keep: references that do not fold, forces a ground can give, one result."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from vitruvian.anatomy.characters import Character, character, soft_body
from vitruvian.control.search import Reference
from vitruvian.control.search.actors import RigidActor, SoftActor
from vitruvian.control.search.cycle import Cycle, cycle_of
from vitruvian.control.search.inverse import torques
from vitruvian.control.search.playing import found_file
from vitruvian.control.search.policy import PADDED, Policy, first_policy, learn, stays_up
from vitruvian.exchange import read_trial
from vitruvian.exchange.found import cycle_for
from vitruvian.flesh.posed.blocks import P, scratch
from vitruvian.flesh.posed.shapes import LEAST, shape_rotations
from vitruvian.measured.retarget import retargeted
from vitruvian.verify.book import Finding, claim, worst


@lru_cache(maxsize=1)
def _mascot() -> Character:
    return character("mascot")


@lru_cache(maxsize=1)
def _walk() -> Cycle:
    motion = retargeted(read_trial("walk"), _mascot(), loop=True, grounded=True).smoothed(0.015)
    return cycle_of(RigidActor(_mascot(), ground=PADDED), motion)


@claim
def reference_shapes_do_not_fold() -> Finding:
    """Least volume of an element's reference shape in the poses of a captured run, of that at rest."""
    body = soft_body(_mascot())
    motion = retargeted(read_trial("run"), _mascot(), loop=True)
    w, least = scratch(), np.inf
    plain: list[float] = []
    for q in motion.q[::8]:
        pose = body.carried(q)
        plain.append(float(_mascot().tetrahedra.folded(pose)))
        for block in range(len(body.flesh.corners)):
            count = shape_rotations(body.flesh, pose, pose, block, w)
            least = min(least, float(np.linalg.det(w[P : P + 9, :count].T.reshape(-1, 3, 3)).min()))
    # Rotations are iterated to 1e-9, so the volume is known to a few times that.
    return Finding.within(least, LEAST - 1e-8, 1.0, "", f"{worst(plain):.0f} folded by skinning alone")


@claim
def inverse_dynamics_bears_who_stands() -> Finding:
    """Of a standing mascot's weight, what inverse dynamics with forces that a ground can give leaves at the root."""
    still = Reference(_mascot().skeleton, 1.0, np.stack([_mascot().standing_q] * 3))
    found = torques(RigidActor(_mascot()), still, 1.0)
    return Finding.error(float(np.abs(found[3:6]).max() / (9.81 * _mascot().mass)), 1e-6)


@claim
def a_policy_is_learned_the_same_on_two_workers() -> Finding:
    """Two rounds of CMA-ES over a walk: the same bits in one process and on two workers."""
    actor = RigidActor(_mascot(), ground=PADDED)
    one, two = (learn(actor, _walk(), first_policy(), rounds=2, population=6, processes=n).flat for n in (1, 2))
    return Finding.error(float(np.abs(one - two).max()), 0.0)


@claim
def a_policy_keeps_a_soft_mascot_up() -> Finding:
    """For how long of ten seconds the soft mascot runs under the policy that is shipped, without a fall."""
    policy = Policy.read(found_file("michelin-run"))
    who, cycle = cycle_for(policy)
    up, _ = stays_up(SoftActor(who, young=policy.told["young"]), cycle, policy, 10.0)
    return Finding.within(up, 10.0 - 1e-6, 10.0 + 1e-6, "s")
