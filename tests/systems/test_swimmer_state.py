"""A swimmer's state is all there is: another system that is handed a copy goes on to the same bits."""

import numpy as np
import pytest

from vitruvian.anatomy import body_flesh, bound_skin, human
from vitruvian.control import Controls
from vitruvian.couple import StillWater
from vitruvian.errors import InputError
from vitruvian.systems import Push, SwimmerSystem, pool
from vitruvian.world.state import copy_state, flatten_state

DT = 1.0 / 96.0


@pytest.fixture(scope="module")
def parts():
    body = human()
    return body, bound_skin(body, triangles=1000), body_flesh(body, spacing=0.045)


def made(parts, kind):
    body, skin, flesh = parts
    q = body.default_q.copy()
    q[2] -= 2.0 if kind == "patches" else 1.2  # the arms, out to the sides, are in the water
    water = pool(0.2, deep=2.4, size=(2.4, 2.4, 3.0)) if kind in ("simulated", "patches") else StillWater()
    return SwimmerSystem(
        body, skin, water=water, flesh=flesh if kind == "flesh" else None, q=q, drawn=False,
        patches="hands" if kind == "patches" else "none",
        pushes=[Push("T6", (30.0, 0.0, 0.0), 0.0, 0.03)],
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["still", "simulated", "patches", "flesh"])
def test_another_system_goes_on_from_a_copy_to_the_same_bits(parts, kind):
    controls = Controls(excitation=np.full(parts[0].muscles.n_muscles, 0.05))
    first, second = made(parts, kind), made(parts, kind)
    state = first.start(np.random.default_rng(0))
    second.start(np.random.default_rng(1))  # whatever it has seen before must not matter
    for n in range(2):
        first.step(state, controls, n * DT, DT)
    other = copy_state(state)
    for n in range(2, 4):
        first.step(state, controls, n * DT, DT)
        second.step(other, controls, n * DT, DT)
    one, two = flatten_state(state), flatten_state(other)
    assert all(np.array_equal(one[k], two[k]) for k in one)


def test_patches_ride_with_hands_and_push_them(parts):
    system = made(parts, "patches")
    state = system.start(np.random.default_rng(0))
    system.step(state, None, 0.0, DT)
    hands = [system.skin.names.index(name) for name in ("Ha_l", "Ha_r")]
    assert list(system.patches.links) == hands
    assert all(p.awake for p in state.water.patches)
    # under water each hand is lifted by what its closed skin displaces, before it moves
    assert np.all(state.link_force[hands, 5] > 1.0)
    assert np.all(state.link_force[hands, 5] < 20.0)


def test_patches_need_simulated_water_and_known_limbs(parts):
    body, skin, _ = parts
    with pytest.raises(InputError, match="simulated water"):
        SwimmerSystem(body, skin, water=StillWater(), patches="hands", drawn=False)
    with pytest.raises(InputError, match="unknown patches 'ears'"):
        SwimmerSystem(body, skin, water=pool(0.2), patches="ears", drawn=False)


def test_torques_and_a_course_at_once_are_refused(parts):
    from vitruvian.couple import JointCourse

    system = made(parts, "still")
    state = system.start(np.random.default_rng(0))
    both = Controls(torque=np.zeros(system.skeleton.n_v), course=JointCourse(lambda time: system.q0))
    with pytest.raises(InputError, match="not both"):
        system.step(state, both, 0.0, DT)
