"""The mouth of a swimmer: where it is, and whether a swim counts as breathing."""

import numpy as np
import pytest

from vitruvian.scenes import find
from vitruvian.scenes._swim import _least_breath
from vitruvian.spatial import transform_from_pose
from vitruvian.systems.swimmer_signals import LIPS


def test_the_lips_lie_on_the_skin_of_the_face_and_are_measured_from_calm_water():
    crawl = find("crawl")
    defaults = {name: p.default for name, p in crawl.parameters.items()}
    world = crawl.build({**defaults, "water": "still", "actuation": "course"})
    world.start()
    seen = world.observe()
    body = world.simulation.body
    jaw, skull = (body.skeleton.index(name) for name in ("Man", "Sku"))
    pose = np.asarray(seen.poses)
    lips = (transform_from_pose(pose[jaw]) @ LIPS)[:3]
    off = np.linalg.norm(seen.surfaces["skin"].vertices - lips, axis=1)
    assert off.min() < 0.015
    ahead = np.linalg.inv(transform_from_pose(pose[skull])) @ np.append(lips, 1.0)
    assert ahead[1] < -0.08  # a face looks along -y
    assert abs(ahead[0]) < 0.01
    assert seen.signals["mouth_height"] == pytest.approx(lips[2])


def test_the_breath_of_a_swim_is_that_of_its_worst_stroke():
    time = np.linspace(0.0, 3.0, 301)
    mouth = -0.1 + np.where(time < 1.0, 0.3, 0.0) + 0.12 * ((time > 1.4) & (time < 1.6)) + 0.09 * (time > 2.5)
    assert _least_breath(time, mouth, np.array([1.0, 2.0])) == pytest.approx(0.02)
    assert _least_breath(time, mouth, np.array([1.0, 2.0, 3.0])) == pytest.approx(-0.01)
