"""What the swimmer's timings are worth."""

from dataclasses import replace

import pytest

from vitruvian.benchmarks import swim


class Clock:
    """Time that passes only when a step says so."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def timed(monkeypatch):
    """A draft frame in coarse water on a clock of our own, and how long each step shall take [s]."""
    clock, steps = Clock(), []
    monkeypatch.setattr(swim, "perf_counter", clock)
    real = swim.find

    def build(settings):
        world = real("crawl").build(settings)
        step = world.step

        def slow():
            step()
            steps.append(world.time)
            clock.now += 5.0 if len(steps) % 4 == 3 else 1.0  # now and then a step is slow

        world.step = slow
        return world

    monkeypatch.setattr(swim, "find", lambda name: replace(real(name), build=build))
    monkeypatch.setattr(swim, "SWUM", 3.0 / 96.0)
    return steps


def test_the_median_step_after_the_warm_up_is_told_and_a_slow_one_does_not_count(timed):
    coarse = {"cell": 0.1, "triangles": 1000, "actuation": "pd"}
    found = swim._frame("draft", steps=5, **coarse)
    assert len(timed) == 3 + 5
    assert found.figures["swum before [s]"] == pytest.approx(3.0 / 96.0)
    assert found.seconds == pytest.approx(0.5)  # a step of 1/96 s is two frames
    assert found.figures["of real time"] == pytest.approx(1.0 / 192.0 / 0.5)
    assert found.figures["slowest step [s]"] == pytest.approx(2.5)
    assert found.figures["steps measured"] == 5


def test_a_slow_machine_is_not_kept_for_ever(timed, monkeypatch):
    monkeypatch.setattr(swim, "WARM", 2.0)
    monkeypatch.setattr(swim, "MEASURE", 0.0)
    found = swim._frame("draft", steps=50, cell=0.1, triangles=1000, actuation="pd")
    assert found.figures["steps measured"] == swim.LEAST
    assert found.figures["swum before [s]"] == pytest.approx(2.0 / 96.0)


def test_parts_of_the_water_are_timed_and_let_go_again():
    from importlib import import_module

    story = import_module("vitruvian.water.substep")
    before = story.project
    parts = {name: 0.0 for name, _ in swim.WATER}
    with swim._watched_water(parts):
        assert story.project is not before
        with pytest.raises(TypeError):
            story.project()
    assert story.project is before
    assert parts["pressure"] > 0.0
