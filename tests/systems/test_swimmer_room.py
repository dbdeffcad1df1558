"""What a swimmer is told who leaves his water."""

from types import SimpleNamespace

import numpy as np
import pytest

from vitruvian.anatomy import bound_skin, human
from vitruvian.errors import InputError
from vitruvian.skeleton import bone_poses
from vitruvian.systems import SwimmerSystem, pool
from vitruvian.systems.swimmer_room import check_room
from vitruvian.world import World

SKIN = SimpleNamespace(names=("Pel", "Ha_l", "Fo_r"), influence=np.array([[0, 1], [1, 0], [2, 0]]))
TANK = pool(0.2)  # 2.2 by 3.4 m, 0.95 m deep
ORIGIN = np.array([-1.1, -1.7, -0.95])


def told(hips=(0.0, 0.0, 0.0), hand=(0.0, 0.0, 0.0), foot=(0.0, 0.0, 0.0)):
    check_room(TANK, ORIGIN, SKIN, np.array([hips, hand, foot], float), 2.5)


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ({"foot": (0, 0, -0.99)}, r"touches the floor with his right foot at t = 2\.5 s; the water is 0\.95 m deep"),
        ({"hand": (1.3, 0, 0)}, r"left hand reaches 0\.\d+ m beyond the window of water .* it is 2\.2\d* m wide"),
        ({"hips": (0, -1.9, 0)}, r"hips reaches 0\.\d+ m beyond the window .* 3\.4\d* m long"),
        ({"hand": (0, 0, float("nan"))}, "touches the floor"),
    ],
)
def test_the_part_that_leaves_the_water_is_named_with_what_helps(where, words):
    with pytest.raises(InputError, match=words) as error:
        told(**where)
    assert "pool(" in str(error.value)
    assert "RigidBodies" not in str(error.value)


def test_a_swimmer_may_reach_into_the_air_and_lie_anywhere_within():
    told(hand=(1.0, -1.5, 5.0), foot=(-1.0, 1.5, -0.94))


def test_a_run_that_sinks_to_the_floor_ends_in_these_words():
    body = human()
    skin = bound_skin(body, triangles=1000)
    q = body.default_q.copy()
    feet = skin.place(bone_poses(body.skeleton, q)).vertices[:, 2].min()  # he stands
    q[2] -= feet + 1.0
    swimmer = SwimmerSystem(body, skin, water=pool(0.2), q=q, muscles=False, drawn=False)
    with pytest.raises(InputError, match=r"the swimmer touches the floor with his (left|right) foot at t = 0 s"):
        World(swimmer).start()
    q[2] += 0.06
    v = np.zeros(body.skeleton.n_v)
    v[5] = -3.0
    swimmer = SwimmerSystem(body, skin, water=pool(0.2), q=q, v=v, muscles=False, drawn=False)
    with pytest.raises(InputError, match=r"the swimmer touches the floor with his (left|right) foot at t = 0\.0\d+ s"):
        World(swimmer, frame_rate=96.0).advance(0.1)
