"""The books of energy: what muscles or torques give goes into water, body and damped joints."""

import pytest

from vitruvian.scenes import find


@pytest.mark.parametrize(
    ("actuation", "water", "cell", "most"),
    [("pd", "still", 0.09, 0.08), ("inverse-dynamics", "simulated", 0.12, 0.1), ("muscles", "still", 0.09, 0.15)],
)
def test_what_is_given_goes_into_water_body_and_damped_joints(actuation, water, cell, most):
    """`most` of it, in parts, is lost in cartilages and in the implicit step; none comes from nowhere."""
    crawl = find("crawl")
    defaults = {name: p.default for name, p in crawl.parameters.items()}
    world = crawl.build({**defaults, "water": water, "cell": cell, "actuation": actuation})
    world.start()
    world.advance(0.1)  # cartilages and stops that the stroke's first pose strains let go in the first steps
    first = world.observe().signals
    world.advance(0.4)
    last = world.observe().signals
    work = last["work"] - first["work"]
    given = work[0]
    lost = work.sum() - (last["energy"].sum() - first["energy"].sum())
    assert given > 20.0
    assert work[3] < 0.0
    assert 0.0 <= lost < most * given
    by_part = last["work_by_part"]
    assert abs(by_part).min() > 0.0
    assert by_part.sum() == pytest.approx(last["work"][1], rel=1e-9)
