import numpy as np
import pytest
from toys import DoublePendulum, Pusher, Stiff, make_world

from vitruvian.errors import InputError, RunFailed
from vitruvian.world import World
from vitruvian.world.state import flatten_state


def test_time_is_steps_over_rate_without_summing():
    world = World(Stiff(1.0), frame_rate=30.0, substeps=7)
    world.start()
    world.step_index = 10**9
    assert world.time == 10**9 / 210.0


@pytest.mark.parametrize("way", ["raise", "nan", "solve"])
def test_a_step_that_diverges_is_rolled_back_and_taken_in_smaller_pieces(way):
    world = World(Stiff(0.3, way), frame_rate=1.0)
    world.step()
    assert world.state.x == 1.0  # four pieces of a quarter, exact; nothing of the failed attempts is left
    assert world.state.pieces == 4
    assert world.retried == 1
    assert world.time == 1.0


@pytest.mark.parametrize("way", ["raise", "nan"])
def test_when_64_pieces_fail_too_the_message_names_part_and_time_and_the_state_stays(way):
    world = World(Stiff(1e-3, way, from_time=2.0), frame_rate=1.0)
    world.advance(2.0)
    before = flatten_state(world.state)
    with pytest.raises(RunFailed, match=r"left knee.*t = 2 s" if way == "raise" else r"v.*finite.*t = 2 s"):
        world.step()
    after = flatten_state(world.state)
    assert all(np.array_equal(before[name], after[name]) for name in before)
    assert world.time == 2.0


def test_the_controllers_own_state_is_rolled_back_too():
    class Counter(Pusher):
        def act(self, own, state, time, dt):
            own.memory += dt

    world = World(Stiff(0.3), Counter(), frame_rate=1.0)
    world.step()
    assert world.own.memory == 1.0  # not 1 (whole) + 0.5 (first half) + 1


def test_same_seed_same_bits_other_seed_other_bits():
    worlds = [World(DoublePendulum(), Pusher(), seed=seed) for seed in (1, 1, 2)]
    for world in worlds:
        world.advance(1.0)
    a, b, c = (world.state.angles.q.tobytes() for world in worlds)
    assert a == b != c


def test_observing_changes_nothing():
    watched, unwatched = make_world(), make_world()
    for _ in range(100):
        watched.observe()
        watched.step()
        unwatched.step()
    assert watched.state.angles.q.tobytes() == unwatched.state.angles.q.tobytes()
    assert watched.own.noise == unwatched.own.noise


def test_bad_rates_are_refused():
    for options in ({"frame_rate": 0.0}, {"frame_rate": float("nan")}, {"substeps": 0}, {"substeps": 1.5}):
        with pytest.raises(InputError, match=next(iter(options))):
            World(Stiff(1.0), **options)


def test_a_start_that_is_not_finite_is_refused_by_name():
    class Broken(Stiff):
        def start(self, rng):
            state = super().start(rng)
            state.v[0] = np.nan
            return state

    with pytest.raises(InputError, match="v is not finite"):
        World(Broken(1.0)).start()
