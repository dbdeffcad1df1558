"""The skin as a thin plate: long waves pass, short ones do not, held vertices stay."""

import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.flesh import Drape

LENGTH, PITCH = 0.01, 0.004


@pytest.fixture(scope="module")
def sheet():
    """A flat net of 0.24 m by 0.24 m."""
    n = 61
    at = PITCH * np.arange(n)
    x, y = np.meshgrid(at, at, indexing="ij")
    number = np.arange(n * n).reshape(n, n)
    a, b, c, d = (k.ravel() for k in (number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]))
    faces = np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
    return np.column_stack([x.ravel(), y.ravel(), np.zeros(n * n)]), faces


@pytest.mark.parametrize("wave", [0.04, 0.08, 0.12])
def test_a_wave_is_passed_on_as_a_plate_on_its_bed_does(sheet, wave):
    rest, faces = sheet
    way = np.zeros_like(rest)
    way[:, 2] = np.cos(2.0 * np.pi * rest[:, 0] / wave)
    middle = np.abs(rest[:, :2] - 0.12).max(axis=1) < 0.07
    found = Drape(rest, faces, LENGTH)(way)[middle, 2] @ way[middle, 2] / (way[middle, 2] @ way[middle, 2])
    assert found == pytest.approx(1.0 / (1.0 + (2.0 * np.pi * LENGTH / wave) ** 4), abs=0.03)


def test_a_shift_is_kept_and_vertices_that_are_not_the_plates_stay(sheet):
    rest, faces = sheet
    shift = np.tile([0.01, -0.02, 0.03], (len(rest), 1))
    np.testing.assert_allclose(Drape(rest, faces, LENGTH)(shift), shift, atol=1e-12)
    rng = np.random.default_rng(3)
    way = rng.normal(size=rest.shape)
    held = rest[:, 0] < 0.1
    moved = Drape(rest, faces, LENGTH, among=~held)(way)
    np.testing.assert_array_equal(moved[held], way[held])
    assert np.abs(moved[rest[:, 0] > 0.15]).max() < 0.5 * np.abs(way).max()


def test_lengths_and_choices_that_make_no_sense_are_refused(sheet):
    rest, faces = sheet
    with pytest.raises(InputError, match="length must be positive"):
        Drape(rest, faces, 0.0)
    with pytest.raises(InputError, match="one entry for each vertex"):
        Drape(rest, faces, LENGTH, among=[True])
