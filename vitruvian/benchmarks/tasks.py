"""Control by tasks: what a control step costs, by part. All on one core."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vitruvian.anatomy import balanced, bound_skin, breathing_skin, human
from vitruvian.benchmarks.suite import Timing, interleaved, timing
from vitruvian.control.tasks import Apart, Effort, Gathered, TaskControl, fit_capsules, random_start, turning_tasks
from vitruvian.control.tasks.latent import LatentWeights, next_points
from vitruvian.control.tasks.limbs import condensed, limb_columns, limb_poses, shipped
from vitruvian.couple import StillWater
from vitruvian.systems import SwimmerSystem


@timing
def control_step() -> Timing:
    """The program and the latent step of a turn to prone together; beside it looking at body and water, and all."""
    body = human()
    skin = bound_skin(body)
    body = balanced(body, skin)
    skin = breathing_skin(body, skin, "full")
    control = TaskControl(body, skin, turning_tasks(body, False), simulated=False, actuation="muscles")
    control.tasks += [Effort(control.limits), Apart(fit_capsules(body, skin))]
    q = random_start(body, skin, 4)
    system = SwimmerSystem(body, skin, water=StillWater(), q=q, drawn=False)
    state, own, dt = system.start(np.random.default_rng(0)), control.start(np.random.default_rng(0)), 1.0 / 96.0
    for k in range(30):
        system.step(state, control.act(own, state, k * dt, dt), k * dt, dt)
    now = control.look(own, state, 0.3, dt)
    low, high = control.limits.bounds(now)
    n = len(control.joints)
    gathered = Gathered(now, low, high, np.full(n, 1e-6), np.zeros(n), own.wanted)
    for task in control.tasks:
        task.add(now, gathered, own.memory.setdefault(task.name, {}))
    program, models = gathered.program(), shipped()
    y = limb_poses(body.skeleton, state.q)
    order = np.argsort(control.joints)
    at = order[np.searchsorted(control.joints[order], limb_columns(body.skeleton).ravel())]
    before = models.nearest(y)

    def latent() -> None:
        Q, u = condensed(gathered, at)
        next_points(models, LatentWeights(), before, y, Q, u, 1.0 / 30.0, 0.5)

    def both() -> None:
        program.solve()
        latent()

    def whole() -> None:
        own.next_decision = -np.inf  # else the last decision would still hold
        control.act(own, state, 0.3, dt)

    runs: dict[str, Callable[[], object]] = {
        "both": both,
        "program": program.solve,
        "latent": latent,
        "look": lambda: control.look(own, state, 0.3, dt),
        "decide": lambda: control.decide(own, now),
        "all": whole,
    }
    found = interleaved(runs, repeats=9, least_seconds=0.03)
    rest = {f"{name}_ms": 1e3 * value for name, value in found.items() if name != "both"}
    detail = f"{n} velocities, {len(program.target)} rows, {program.solve().steps} Newton steps, 4 limbs of 150 points"
    return Timing(found["both"], {}, detail, rest)
