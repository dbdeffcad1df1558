"""What is recorded of a swimmer: forces by part of the body."""

import numpy as np

from vitruvian.scenes import find
from vitruvian.systems.swimmer_signals import BODY_PARTS, FLOW_BONES, flow_bones_of, parts_of


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


def test_the_flow_on_bones_adds_up_to_the_thrust_of_each_part() -> None:
    links = ["T6", "L4", "Sku", "C6", "Hu_l", "Rad_r", "Ul_r", "Ha_l", "Fe_r", "Tfp_l", "Fo_r"]
    at = [FLOW_BONES[i] for i in flow_bones_of(links)]
    assert at == ["T6", "T6", "Sku", "Sku", "Hu_l", "Ul_r", "Ul_r", "Ha_l", "Fe_r", "Tfp_l", "Fo_r"]
    world = find("crawl").build({**_defaults(), "water": "still", "actuation": "course"})
    world.advance(0.1)
    signals = world.observe().signals
    heading = np.radians(signals["heading"])
    ahead = np.array([np.sin(heading), -np.cos(heading), 0.0])
    on = np.reshape(signals["flow_force"], (-1, 3)) @ ahead
    hands = on[FLOW_BONES.index("Ha_l")] + on[FLOW_BONES.index("Ha_r")]
    assert abs(hands - signals["thrust_by_part"][BODY_PARTS.index("hands")]) < 1e-6
    assert abs(on.sum() - np.sum(signals["thrust_by_part"])) < 1e-6


def _defaults() -> dict:
    return {name: p.default for name, p in find("crawl").parameters.items()}
