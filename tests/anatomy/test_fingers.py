"""The grip: a drawn pose of the finger bones."""

import numpy as np
import pytest

from vitruvian.anatomy import human
from vitruvian.anatomy.fingers import finger_names, gripping
from vitruvian.skeleton import bone_poses
from vitruvian.systems import BodySystem
from vitruvian.systems.things import BAR, GRIP


@pytest.fixture(scope="module")
def body():
    return human()


@pytest.mark.parametrize("side", ["l", "r"])
def test_gripping_fingers_keep_their_lengths_and_close_round_the_bar(body, side):
    s, fist = body.skeleton, gripping(body, side)
    rest = bone_poses(s, body.default_q)[:, :3, 3]
    assert sorted(fist) == sorted(s.index(n) for n in finger_names(side))
    bar = GRIP * (1.0 if side == "l" else -1.0, 1.0, 1.0)
    for i, T in fist.items():
        assert T[:3, :3] @ T[:3, :3].T == pytest.approx(np.eye(3), abs=1e-12)
        above = fist.get(int(s.parent[i]), np.eye(4))[:3, 3]
        assert np.linalg.norm(T[:3, 3] - above) == pytest.approx(np.linalg.norm(rest[i] - rest[s.parent[i]]))
        finger, phalanx = s.names[i].split("_")[:2]
        if phalanx == "distal" and finger != "thumb":
            away = np.hypot(*(T[:3, 3] - bar)[:2])
            assert 0.020 < away < 0.030, s.names[i]  # radius of the bar 14 mm, of the finger 6 mm
            assert T[1, 3] < bar[1], s.names[i]  # on the far side of the bar from the palm
            assert abs(T[2, 3]) < BAR / 2


def test_right_grip_mirrors_the_left(body):
    left, right = gripping(body, "l"), gripping(body, "r")
    for a, b in zip(left.values(), right.values()):
        assert b[:3, 3] == pytest.approx(a[:3, 3] * (-1, 1, 1), abs=1e-12)


def test_a_grip_changes_what_is_shown_and_nothing_else(body):
    simulations = [BodySystem(body, drawn=False, grips=g) for g in ((), ("l",))]
    states = [x.start(np.random.default_rng(0)) for x in simulations]
    open_, closed = (x.observe(y, None, 0.0) for x, y in zip(simulations, states))
    moved = {body.skeleton.names[i] for i in np.flatnonzero(np.abs(open_.poses - closed.poses).max(axis=1) > 1e-9)}
    assert moved == set(finger_names("l"))
    assert (states[0].q == states[1].q).all()
