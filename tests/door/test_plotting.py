"""Plots of sweeps: what is drawn is where the numbers say."""

import numpy as np
import pytest
from PIL import Image

from vitruvian.door.plotting import metric_title
from vitruvian.door.table import tabulate
from vitruvian.errors import InputError, RunFailed
from vitruvian.view.chart import INKS


def table_of(runs, swept=("rate", "lungs"), drawn=()):
    """A table of runs given as (parameters, metrics)."""
    outcomes = [
        {"checks": {}, "metrics": metrics, "error": "", "recording": None, "wall_seconds": 1.0} for _, metrics in runs
    ]
    about = [{"parameters": parameters, "seed": k} for k, (parameters, _) in enumerate(runs)]
    return tabulate("toy", about, outcomes, swept=swept, drawn=drawn, units={"rate": "1/s"})


GRID = [
    ({"rate": rate, "lungs": lungs}, {"mean_speed": speed * rate, "gap": np.nan})
    for rate in (0.5, 0.75, 1.0)
    for lungs, speed in (("full", 1.0), ("normal", 2.0))
]


def pixels(path, ink):
    """Rows and columns of the pixels of a colour."""
    picture = np.asarray(Image.open(path).convert("RGB")).astype(int)
    colour = np.array([int(ink[k : k + 2], 16) for k in (1, 3, 5)])
    return np.nonzero(np.abs(picture - colour).max(axis=2) < 40)


def test_each_value_of_the_second_parameter_has_its_colour_and_higher_is_higher(tmp_path):
    path = table_of(GRID).plot(tmp_path / "plot.png")
    (low, low_x), (high, high_x) = pixels(path, INKS[0]), pixels(path, INKS[1])
    left = 600  # of the key
    assert high[high_x < left].mean() < low[low_x < left].mean() - 50
    assert Image.open(path).size == (960, 600)


def test_points_of_a_sample_are_not_joined(tmp_path):
    runs = [({"rate": rate}, {"mean_speed": rate**2}) for rate in (0.1, 0.9)]
    joined = table_of(runs, ("rate",)).plot(tmp_path / "a.png")
    scattered = table_of(runs, ("rate",), ("rate",)).plot(tmp_path / "b.png")
    assert len(pixels(scattered, INKS[0])[0]) < 0.5 * len(pixels(joined, INKS[0])[0])


def test_a_metric_that_is_nowhere_finite_is_not_the_first_choice(tmp_path):
    runs = [(parameters, {"speed": np.nan, "gap": 1.0}) for parameters, _ in GRID]
    table_of(runs).plot(tmp_path / "a.png")
    with pytest.raises(RunFailed, match="no run has a finite speed"):
        table_of(runs).plot(tmp_path / "b.png", "speed")
    assert not (tmp_path / "b.png").exists()


@pytest.mark.parametrize(
    "runs",
    [
        [({"rate": 1.0, "lungs": "full"}, {"x": 3.0})],
        [({"rate": 1.0, "lungs": "full"}, {"x": 0.0})] * 2,
        [({"rate": word, "lungs": k}, {"x": 1e-15 * k}) for k, word in enumerate(("a", "a longer word", "c"))],
        [({"rate": bool(k), "lungs": k}, {"x": -1e12 * k}) for k in range(20)],
        [({"rate": 1e-9 * k, "lungs": None}, {"x": None if k else 7.0}) for k in range(3)],
        [({"rate": k, "lungs": "x" * 300}, {"x": 1.0 + 1e-13 * k}) for k in range(3)],
    ],
)
def test_odd_numbers_are_drawn(runs, tmp_path):
    assert Image.open(table_of(runs).plot(tmp_path / "plot.png")).size == (960, 600)


def test_a_random_second_parameter_is_coloured_by_bands(tmp_path):
    runs = [({"rate": k / 10.0, "lungs": float(k)}, {"x": k}) for k in range(9)]
    path = table_of(runs, drawn=("rate", "lungs")).plot(tmp_path / "plot.png")
    assert all(len(pixels(path, ink)[0]) for ink in INKS[:4])


def test_what_cannot_be_plotted(tmp_path):
    with pytest.raises(InputError, match="did you mean mean_speed"):
        table_of(GRID).plot(tmp_path / "a.png", "mean_sped")
    with pytest.raises(InputError, match=r"\.png"):
        table_of(GRID).plot(tmp_path / "a.pdf")
    with pytest.raises(RunFailed, match="nothing to plot"):
        table_of([({"rate": 1.0}, {})], ("rate",)).plot(tmp_path / "a.png")


def test_metrics_say_their_unit():
    assert metric_title("exact_period_s") == "exact period [s]"
    assert metric_title("fastest_water_m_per_s") == "fastest water [m/s]"
    assert metric_title("drag_area_m2") == "drag area [m²]"
    assert metric_title("momentum_gap") == "momentum gap"
    assert metric_title("cycles") == "cycles"


def test_a_metric_called_like_a_parameter_is_told_from_it():
    table = table_of([({"rate": 1.0}, {"rate": 2.0})], ("rate",))
    assert table.metrics == ("rate (measured)",)
    assert (table.column("rate")[0], table.column("rate (measured)")[0]) == (1.0, 2.0)
