"""The books of energy: what torques give goes into the water and the body, or is lost in joints."""

import pytest

from vitruvian.scenes import find


@pytest.mark.parametrize(
    ("actuation", "water", "cell", "most"),
    [("pd", "still", 0.09, 0.25), ("inverse-dynamics", "simulated", 0.12, 0.25)],
)
def test_torques_give_what_the_water_takes_and_a_little_more(actuation, water, cell, most):
    """Joints are damped, so some is lost; `most` of it in parts of what the torques gave."""
    crawl = find("crawl")
    defaults = {name: p.default for name, p in crawl.parameters.items()}
    world = crawl.build({**defaults, "water": water, "cell": cell, "actuation": actuation})
    world.start()
    first = world.observe().signals
    world.advance(0.5)
    last = world.observe().signals
    given, taken = last["work"][0], -last["work"][1]
    lost = given - taken - (last["energy"].sum() - first["energy"].sum())
    assert given > 20.0
    assert 0.0 <= lost < most * given
