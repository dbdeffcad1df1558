"""Words over pictures stay inside them and are spelt with letters that the font has."""

import numpy as np
import pytest

from vitruvian.view.colour import colour_map
from vitruvian.view.lettering import split_runs
from vitruvian.view.overlay import write_over


def written(size, title, maps):
    """Where something was written over an even grey, as (rows, columns) of pixels."""
    blank = np.full((size[1], size[0], 3), 128, dtype=np.uint8)
    changed = (write_over(blank, title, 1.0, maps) != blank).any(axis=2)
    return np.nonzero(changed)


@pytest.mark.parametrize("size", [(1280, 720), (400, 720), (200, 150)])
def test_long_labels_of_colour_bars_keep_a_margin_to_every_edge(size):
    words = "height of the deformed surface above its mean over the whole area"
    maps = [colour_map(words, "m", (-0.1, 0.1)), colour_map("activation", "", (0.0, 1.0))]
    rows, columns = written(size, "a scene with quite a long name", maps)
    margin = 22 * size[1] / 720 - 3
    assert columns.min() >= margin
    assert columns.max() <= size[0] - margin
    assert rows.max() <= size[1] - 0.5 * margin


def test_bars_that_do_not_fit_beside_the_title_go_above_it():
    title_only = written((240, 480), "the name of a scene", [])
    both = written((240, 480), "the name of a scene", [colour_map("activation of all muscles", "", (0.0, 1.0))])
    assert both[0].min() < title_only[0].min() - 20


def test_raised_digits_are_drawn_raised_and_greek_is_spelt():
    assert split_runs("kg m² s⁻¹") == [("kg m", False), ("2", True), (" s", False), ("-1", True)]
    assert split_runs("σ of µm") == [("sigma of um", False)]
    assert split_runs("Δ é 三") == [("Delta e ?", False)]


def test_words_are_light_on_a_dark_picture_and_dark_on_a_light_one():
    for ground, lighter in ((70, True), (220, False)):
        plain = np.full((180, 320, 3), ground, np.uint8)
        written = write_over(plain, "crawl", 1.0, []).astype(int)
        off = written[written != ground]
        assert len(off) > 0
        assert ((off > ground).mean() > 0.9) == lighter
