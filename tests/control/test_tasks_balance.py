"""Which way `Balance` pushes: towards the moment of the water that turns the body as it should."""

from __future__ import annotations

import numpy as np
import pytest

from vitruvian.control.tasks import Balance, Gathered, TaskControl
from vitruvian.control.tasks.smooth import turn_between
from vitruvian.couple import StillWater
from vitruvian.skeleton import integrate
from vitruvian.systems import SwimmerSystem
from vitruvian.verify._tasks_common import moving, swimmer


def seen(q, v=None):
    """What tasks see of a body that comes to q [rad, m] with velocities v [rad/s, m/s], at rest without them."""
    body, skin = swimmer()
    control = TaskControl(body, skin, [], simulated=False)
    v = np.zeros(body.skeleton.n_v) if v is None else v
    before = integrate(body.skeleton, q, v, -control.lead(0.01))  # seen where forces will be met: at q
    state = SwimmerSystem(body, skin, water=StillWater(), q=before, v=v, drawn=False).start(np.random.default_rng(0))
    return control.look(control.start(np.random.default_rng(0)), state, 0.0, 0.01)


def pushed(now, wish):
    """Joint velocities (n,) that a task pushes towards."""
    nothing = (np.zeros(len(now.joints)) for _ in range(4))
    gathered = Gathered(now, *nothing, np.zeros(0))
    wish.add(now, gathered, {})
    return gathered.pull


def moment(now, gives):
    """Of the water's flow or lift about the centre of mass [N m], (3,)."""
    wrenches = getattr(now.water, gives)
    return (wrenches[:, :3] + np.cross(now.water.origins - now.centre, wrenches[:, 3:])).sum(axis=0)


@pytest.mark.parametrize("gives", ["flow", "lift"])
@pytest.mark.parametrize("way", [[0.4, 0.0], [-0.4, 0.0], [0.0, 0.4], [0.0, -0.4]])
def test_the_push_is_towards_a_moment_of_the_water_that_turns_him_his_way(way, gives):
    """The water's own law is asked, on a body that moves, or has moved, a little more as he is pushed to."""
    q, v = moving(1, 0.5)
    now = seen(q, v)
    chest = now.poses[now.skeleton.index("T6")]
    wanted = chest[:3, 2] + chest[:3, :2] @ way
    wish = Balance(wanted, push=1.0, lead=0.0, kept=0.0 if gives == "flow" else 1e6)
    change = np.zeros(len(v))
    change[now.joints] = pushed(now, wish)
    change[:6] = now.pelvis[0] @ change[now.joints]
    change *= 0.05 / np.abs(change).max()
    after = seen(q, v + change) if gives == "flow" else seen(integrate(now.skeleton, q, change, 1.0), v)
    axis, _ = turn_between(chest, wanted / np.linalg.norm(wanted))
    assert axis @ (moment(after, gives) - moment(now, gives)) > 0.1


@pytest.mark.parametrize(("rate", "side"), [(0.0, 1.0), (2.0, -1.0)])
def test_the_push_is_the_other_way_once_he_turns_too_fast(rate, side):
    """From 0.3 rad off at 2 rad/s he would be far beyond the direction in 0.6 s."""
    q, _ = moving(1)
    now = seen(q)
    axis, _, long = now.poses[now.skeleton.index("T6"), :3, :3].T
    v = np.zeros(len(now.v))
    v[:6] = np.linalg.solve(now.screws[:6].T, rate * np.r_[axis, np.cross(now.centre, axis)])
    now = seen(q, v)
    wish = Balance(np.cos(0.3) * long + np.sin(0.3) * np.cross(axis, long), push=1.0)
    row = axis @ now.lasting_moment(wish.kept)
    gains = row[now.joints] + row[:6] @ now.pelvis[0]
    assert side * (pushed(now, wish) @ gains) > 0.0
