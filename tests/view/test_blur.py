"""Motion blur: frames in between, and the light of an open shutter."""

import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.view import Shooting, render_film
from vitruvian.view.blur import between, blurred, frame_between
from vitruvian.world import Frame


def test_bodies_go_straight_and_turn_the_short_way():
    quarter = np.sqrt(0.5)
    a = Frame(poses=np.array([[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]]))
    b = Frame(poses=np.array([[2.0, 0.0, 0.0, -quarter, 0.0, 0.0, -quarter]]))  # a quarter turn, told the long way
    half = between(a, b, 0.5).poses[0]
    assert half[:3].tolist() == [1.0, 0.0, 0.0]
    assert np.allclose(np.abs(half[3:]), [np.cos(np.pi / 8), 0.0, 0.0, np.sin(np.pi / 8)])


def test_a_frame_between_is_between_and_a_recorded_one_as_recorded(demo):
    recording = demo.demo(3, rate=25.0)
    a, b = recording.frame(0), recording.frame(1)
    at = frame_between(recording, 0.25 / 25.0)
    lines = recording.stage.lines[0].name
    assert np.allclose(at.lines[lines].points, 0.75 * a.lines[lines].points + 0.25 * b.lines[lines].points)
    assert np.array_equal(frame_between(recording, 1.0 / 25.0).poses, b.poses)
    assert np.allclose(frame_between(recording, 2.0 / 25.0).poses, recording.frame(2).poses)


def test_an_open_shutter_adds_light_not_bytes(demo):
    recording = demo.demo(3, rate=25.0)
    times = []

    def shoot(frame, time):
        times.append(time)
        return np.full((2, 2, 3), 255 if len(times) % 2 else 0, np.uint8)

    picture = blurred(recording, 1, 0.02, shoot)
    assert picture[0, 0].tolist() == [188, 188, 188]  # half the light of white
    assert min(times) > 0.04 - 0.0101
    assert max(times) < 0.04 + 0.0101


def test_what_moves_is_blurred_and_what_stands_is_not(demo):
    shooting = Shooting(demo.demo(5, rate=5.0), size=(160, 120), words=False)
    sharp, soft = (shooting.shoot(2, shutter).astype(float) for shutter in (0.0, 0.2))
    changed = np.abs(sharp - soft).max(axis=2) > 12
    assert 0.01 < changed.mean() < 0.5


def test_blur_is_a_part_of_a_frame(demo, tmp_path):
    with pytest.raises(InputError, match="shutter"):
        render_film(demo.demo(3), tmp_path / "a.mp4", blur=1.5)
