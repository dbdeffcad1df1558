"""What is recorded of a swimmer: forces by part of the body."""

import numpy as np

from vitruvian.scenes import find
from vitruvian.systems.swimmer_signals import BODY_PARTS, parts_of


def test_every_link_of_a_skin_belongs_to_the_part_its_bone_lies_in() -> None:
    links = ["Pel", "L4", "T6", "Cla_l", "C6", "Sku", "Hu_r", "Ul_l", "Rad_l", "Ha_r", "Fe_l", "Tfp_r", "Fo_l"]
    found = [BODY_PARTS[i] for i in parts_of(links)]
    assert found[:6] == ["trunk"] * 4 + ["head and neck"] * 2
    assert found[6:] == ["upper arms", "forearms", "forearms", "hands", "thighs", "shanks", "feet"]


def test_thrust_by_part_adds_up_to_propulsion_less_drag() -> None:
    world = find("crawl").build({**_defaults(), "water": "still", "actuation": "course"})
    world.advance(0.1)
    signals = world.observe().signals
    total = np.sum(signals["thrust_by_part"])
    assert abs(total) > 1.0
    assert abs(total - (signals["propulsion"] - signals["drag"])) < 1e-9


def _defaults() -> dict:
    return {name: p.default for name, p in find("crawl").parameters.items()}
