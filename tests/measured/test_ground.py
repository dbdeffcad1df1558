import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.measured import ForcePlate
from vitruvian.measured.dynamics import found_forces
from vitruvian.measured.ground import estimated_contact, feet_without_plates, plate_forces

CENTRE = 0.02


@pytest.fixture(scope="module")
def squat(lab, body):
    return lab.squat(body, 1.0)


def plates_of(lab, body, squat):
    return [ForcePlate(str(k), squat.time, f, m) for k, (_, f, m) in enumerate(lab.squat_plates(body, squat), 1)]


def test_plates_carry_what_newton_asks_for(lab, body, squat):
    ground = plate_forces(body, squat, plates_of(lab, body, squat), 0.0)
    left = found_forces(body, squat, ground, muscles=False).moment[:, :6]
    assert ground.kind == "force plates"
    assert np.abs(left[:, 3:]).max() < 1.0  # N
    assert np.abs(left[:, :3]).max() < 0.5  # N m


def test_estimated_contact_carries_a_squat_within_a_percent(body, squat):
    ground = estimated_contact(body, squat)
    left = found_forces(body, squat, ground, muscles=False).moment[:, :6]
    weight = 9.81 * body.skeleton.mass
    assert np.abs(left[:, 3:]).max() < 0.03 * weight
    assert np.allclose(
        ground.force[:, 0, 2], ground.force[:, 1, 2], atol=0.02 * weight
    )  # a squat is the same on both sides
    assert (ground.force[..., 2] >= 0.0).all()


def test_a_plate_with_no_foot_on_it_is_named(lab, body, squat):
    first, second = plates_of(lab, body, squat)
    shifted = ForcePlate("2", second.time, second.force, second.moment + np.cross((1.0, 0.0, 0.0), second.force))
    with pytest.raises(InputError, match=r"force plate 2 carries \d+ N at \(.*\) m at 0 s with no foot on it"):
        plate_forces(body, squat, [first, shifted], 0.0)


def test_a_plate_under_both_feet_is_named_as_such(lab, body, squat):
    """One plate carries the whole body: its centre of pressure is in the middle between the feet."""
    first, second = plates_of(lab, body, squat)
    both = ForcePlate("1", first.time, first.force + second.force, first.moment + second.moment)
    with pytest.raises(
        InputError, match=r"force plate 1 carries \d+ N at \(.*\) m at 0 s between the feet: both stand"
    ):
        plate_forces(body, squat, [both], 0.0)
    aside = ForcePlate("1", first.time, both.force, both.moment + np.cross((0.0, 0.6, 0.0), both.force))
    with pytest.raises(InputError, match="with no foot on it: the nearest foot is"):
        plate_forces(body, squat, [aside], 0.0)


def test_a_plate_on_which_nobody_stands_is_listed(lab, body, squat):
    first, second = plates_of(lab, body, squat)
    idle = ForcePlate("3", second.time, 0.0 * second.force, 0.0 * second.moment)
    assert plate_forces(body, squat, [first, second, idle], 0.0).unused == ("3",)


def test_a_plate_that_was_read_too_briefly_is_named(lab, body, squat):
    first, _ = plates_of(lab, body, squat)
    brief = ForcePlate("1", first.time[:40], first.force[:40], first.moment[:40])
    with pytest.raises(InputError, match=r"force plate 1 was read from 0 to 0.39 s"):
        plate_forces(body, squat, [brief], 0.0)


def test_the_centre_of_pressure_is_where_the_force_acts():
    force = np.tile([10.0, -5.0, 700.0], (3, 1))
    at = np.array([0.3, -0.2, 0.0])
    plate = ForcePlate("1", np.arange(3.0), force, np.cross(at, force))
    assert np.allclose(plate.centre(), at)


def test_a_foot_on_no_plate_is_named_with_its_time(lab, body, squat):
    first, second = plates_of(lab, body, squat)

    def named(plates):
        ground = plate_forces(body, squat, plates, 0.0)
        left = found_forces(body, squat, ground, muscles=False).moment[:, :6]
        return feet_without_plates(body, squat, ground, left)

    assert named([first, second]) == []
    assert named([first]) == [
        "the right foot stands on no force plate of its own from 0.00 to 1.00 s: moments there are wrong"
    ]
    at = np.column_stack([np.full(len(squat.time), 0.1), second.centre()[:, 1], np.zeros(len(squat.time))])
    both = ForcePlate("1", first.time, 2.0 * first.force, np.cross(at, 2.0 * first.force))
    assert len(named([both])) == 1  # one plate under both feet goes to one foot; the other is named
