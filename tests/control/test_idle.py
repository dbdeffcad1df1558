"""A head at rest: it sways and breathes a little, never twice alike, and looks from spot to spot of a face."""

import numpy as np
import pytest

from vitruvian.control.mind import read_character
from vitruvian.control.mind.idle import SPOTS, Idle, spot, sway
from vitruvian.errors import InputError

RULE = '[[feel]]\nemotion = "joy"\n'


def test_sway_is_small_slow_and_different_for_each_head():
    time = np.arange(0.0, 120.0, 0.05)
    one, other = (np.degrees([sway(Idle(), phase, t) for t in time]) for phase in (0.2, 0.7))
    assert one.std(axis=0).min() > 0.3
    assert np.abs(one).max() < 2.0
    assert np.abs(np.diff(one, axis=0)).max() / 0.05 < 4.0  # degrees per second
    assert np.abs(np.corrcoef(one[:, 2], other[:, 2])[0, 1]) < 0.5


def test_no_sway_and_no_breath_leave_the_head_still():
    assert not sway(Idle(sway=0.0, nod=0.0), 0.3, 7.0).any()


def test_a_face_is_looked_at_in_the_eyes_and_at_the_mouth():
    idle, face = Idle(dwell=0.5), np.array([0.3, -0.8, 0.1])
    seen = np.array([spot(idle, 0.4, t, face) for t in np.arange(0.0, 60.0, 0.02)])
    off = seen - face
    assert np.allclose(off[:, :2] @ face[:2], 0.0)  # across the line of sight
    places, count = np.unique(np.round(off, 6), axis=0, return_counts=True)
    assert len(places) == len(SPOTS)
    assert count.min() / count.sum() > 0.08
    changes = np.any(np.diff(seen, axis=0) != 0.0, axis=1).sum()
    assert 40 < changes < 140


def test_idling_is_part_of_a_character_and_wrong_numbers_are_told():
    assert read_character(RULE + "[idle]\nsway = 0\nbreath = 20\n", "x.toml", "x").idle == Idle(sway=0.0, breath=20.0)
    with pytest.raises(InputError, match="line 4: sway must be a number from 0 to 10"):
        read_character(RULE + "[idle]\nsway = 50\n", "x.toml", "x")
