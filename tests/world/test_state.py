from dataclasses import dataclass, field

import numpy as np
import pytest

from vitruvian.world.state import copy_state, first_non_finite, flatten_state, restore_state, unflatten_state


@dataclass
class Inner:
    a: np.ndarray
    n: int = 3


@dataclass
class Outer:
    inner: Inner
    parts: list = field(default_factory=list)
    cache: np.ndarray | None = None
    x: float = 0.1
    on: bool = True
    word: str = "é"
    big: int = 2**80


def make():
    return Outer(Inner(np.arange(3.0)), [Inner(np.arange(2, dtype=np.float32)), Inner(np.zeros((0, 3), np.int8))])


def test_copy_shares_no_memory_and_restore_brings_it_back():
    state = make()
    snapshot = copy_state(state)
    state.inner.a[0] = 9.0
    state.parts[0].a = np.ones(7)
    state.cache, state.x, state.inner.n = np.ones(2), 5.0, 8
    restore_state(state, snapshot)
    assert state.inner.a.tolist() == [0.0, 1.0, 2.0]
    assert (state.cache, state.x, state.inner.n, len(state.parts[0].a)) == (None, 0.1, 3, 2)
    state.inner.a[1] = -1.0
    assert snapshot.inner.a[1] == 1.0


def test_flat_names_and_back_to_the_same_bits_even_when_sizes_and_kinds_changed():
    state = make()
    state.cache = np.array([np.nan, np.inf, 1e-320])
    state.inner.a = np.random.default_rng(0).normal(size=11)
    flat = flatten_state(state)
    assert "inner.a" in flat
    assert "parts.1.n" in flat
    again = unflatten_state(make(), flat)
    assert again.cache.tobytes() == state.cache.tobytes()
    assert again.inner.a.tobytes() == state.inner.a.tobytes()
    assert again.parts[0].a.dtype == np.float32
    assert again.parts[1].a.shape == (0, 3)
    assert (again.x, again.on, again.word, again.big) == (0.1, True, "é", 2**80)


def test_a_field_on_one_side_only_is_named():
    flat = flatten_state(make())
    del flat["inner.n"]
    with pytest.raises(ValueError, match=r"inner\.n"):
        unflatten_state(make(), flat)


@dataclass
class Planning:
    memory: dict[str, float] = field(default_factory=dict)
    tasks: dict = field(default_factory=lambda: {"reach": {"time": np.zeros(0)}, "hold": {}})


def test_a_dictionary_of_numbers_may_gain_and_lose_words():
    state = Planning({"left foot": 1.0, "down": 0.25})
    state.tasks["reach"]["time"] = np.array([0.5])
    again = unflatten_state(Planning({"gone": 3.0}), flatten_state(state))
    assert again.memory == state.memory
    assert again.tasks["reach"]["time"].tolist() == [0.5]
    assert again.tasks["hold"] == {}


@pytest.mark.parametrize("name", ["memory.deep.word", "memory.", "tasks.other", "tasks.reach.more", "memory.list"])
def test_a_dictionary_gains_only_numbers(name):
    leaf = np.zeros(3) if name == "memory.list" else 1.0
    with pytest.raises(ValueError, match=name):
        unflatten_state(Planning(), flatten_state(Planning()) | {name: leaf})


def test_two_fields_that_share_one_array_are_refused_because_they_would_part_on_resume():
    state = make()
    state.cache = state.inner.a
    with pytest.raises(TypeError, match=r"inner\.a and cache share"):
        flatten_state(state)


def test_things_that_are_not_state_are_refused_by_name():
    state = make()
    state.cache = np.array([object()])
    with pytest.raises(TypeError, match="cache"):
        flatten_state(state)
    state.cache = {1, 2}
    with pytest.raises(TypeError, match="cache"):
        flatten_state(state)


def test_the_first_field_that_is_not_finite_is_named():
    state = make()
    assert first_non_finite(state) is None
    state.parts[0].a[1] = np.inf
    assert first_non_finite(state) == "parts.0.a"
    state.parts[0].a[0] = -np.inf  # the sum of both is not a number
    assert first_non_finite(state) == "parts.0.a"
    state = make()
    state.x = float("nan")
    assert first_non_finite(state) == "x"
