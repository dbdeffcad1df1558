"""Which way `Orient` turns a body: roll, pitch, and the bend between pelvis and chest, however he stands."""

from __future__ import annotations

import numpy as np
import pytest

from vitruvian.anatomy import human
from vitruvian.control.tasks import Orient
from vitruvian.control.tasks.gather import memories
from vitruvian.control.tasks.tasks import turn_needed
from vitruvian.spatial import exp_so3

UP = np.array([0.0, 0.0, 1.0])


class Lying:
    """A body whose bones are where they are put; nothing of it moves."""

    skeleton = human().skeleton

    def __init__(self):
        self.poses = np.tile(np.eye(4), (self.skeleton.n_bones, 1, 1))

    def turning(self, bone):
        return np.zeros((3, 1))

    def turned_soon(self, axis, rate, moment):
        return np.zeros(1), np.array([rate])


class Asked(list):
    """Targets, as tasks ask for them."""

    def want(self, rows, target, weight):
        self.append(float(target[0]))


def asked_of(now, task, memory=None):
    asked = Asked()
    task.add(now, asked, memories([task])[task.name] if memory is None else memory)
    return asked


def pitched(degrees, turned=0.0):
    """A bone [its rotation] that stands with its front to -y, then leans forward; turned: about its long axis."""
    return exp_so3(np.radians([degrees, 0.0, 0.0])) @ exp_so3(np.radians([0.0, 0.0, turned]))


@pytest.mark.parametrize("face_up", [False, True])
@pytest.mark.parametrize(
    "lean", [0.0, 2.0, -2.0, 5.0, -5.0, 20.0, -20.0, 60.0, -60.0, 85.0, 120.0, 175.0, 178.0, 182.0]
)
@pytest.mark.parametrize("bend", [-15.0, -8.0, 8.0, 15.0])
def test_a_bent_pelvis_is_straightened_however_he_stands(face_up, lean, bend):
    """lean: of the chest from upright, forward; bend: of the pelvis, more than that. The pelvis is asked to turn back
    by gain x bend, on a body that is twisted too."""
    now, task = Lying(), Orient(face_up)
    chest = pitched(lean)
    now.poses[now.skeleton.index("T6"), :3, :3] = chest
    now.poses[0, :3, :3] = pitched(lean + bend, turned=10.0)
    rate = asked_of(now, task)[2]
    across = turn_needed(now.poses[now.skeleton.index("T6")], face_up).across
    assert rate * across[0] == pytest.approx(-task.gain * np.radians(bend), rel=1e-6)


@pytest.mark.parametrize("face_up", [False, True])
@pytest.mark.parametrize("heading", [0.0, 140.0])
@pytest.mark.parametrize("lean", [0.0, 2.0, 5.0, 178.0, 180.0])
def test_from_upright_or_upside_down_he_falls_to_the_side_that_he_wants_to_lie_on(face_up, heading, lean):
    pose = np.eye(4)
    pose[:3, :3] = exp_so3(np.radians([0.0, 0.0, heading])) @ pitched(lean)
    turn = turn_needed(pose, face_up)
    lies = exp_so3(turn.pitch * turn.across) @ exp_so3(turn.roll * turn.long) @ pose[:3, :3]
    assert lies[:, 2] @ UP == pytest.approx(0.0, abs=1e-9)
    assert lies[:, 1] @ UP == pytest.approx(-1.0 if face_up else 1.0, abs=2e-3)


def test_near_half_a_turn_he_keeps_to_the_side_once_chosen():
    now, task = Lying(), Orient(False)
    memory, rates = memories([task])[task.name], []
    lying = exp_so3(np.array([np.pi / 2.0, 0.0, 0.0]))
    for roll in (170.0, -170.0, -100.0):
        now.poses[now.skeleton.index("T6"), :3, :3] = lying @ exp_so3(np.array([0.0, 0.0, np.radians(roll)]))
        rates.append(asked_of(now, task, memory)[0])
    assert abs(rates[0]) > 1.0
    assert rates[0] * rates[1] > 0.0
    assert rates[0] * rates[2] < 0.0
