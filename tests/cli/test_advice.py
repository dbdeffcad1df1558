"""What a warning of the physics says to someone who runs a scene."""

import dataclasses
import warnings

import numpy as np
import pytest

from vitruvian import scenes
from vitruvian.cli import invoke
from vitruvian.cli.advice import coarse_water
from vitruvian.water import NarrowWarning
from vitruvian.world import Parameter, Report

FIGURES = "Ha_r: 71 mm broad and 22 mm thick on cells of 45 mm"


@pytest.fixture
def warns(tmp_path, monkeypatch):
    """The pendulum, as if it swung in water of cells and patches that one can set, and its metrics were missing."""
    monkeypatch.chdir(tmp_path)
    scene = scenes.find("pendulum")
    water = {"patches": Parameter("none", "", choices=("none", "hands")), "cell": Parameter(0.045, "")}
    presets = {"draft": {"cell": 0.045}, "standard": {"cell": 0.036}, "fine": {"cell": 0.02}}

    def build(parameters):
        warnings.warn(FIGURES, NarrowWarning, stacklevel=2)
        return scene.build(parameters)

    changed = dataclasses.replace(
        scene,
        build=build,
        check=lambda recording, parameters: Report({}, {"mean_speed": np.nan}),
        parameters=dict(scene.parameters) | water,
        qualities={q: dict(scene.qualities.get(q, {})) | presets[q] for q in presets},
    )
    monkeypatch.setattr(scenes, "find", lambda name: changed)
    return changed


def test_narrow_parts_are_told_in_plain_words_with_what_to_do_and_the_figures(warns, capsys):
    assert invoke(["run", "pendulum", "--seconds", "0.1"]) == 0
    told = capsys.readouterr().err
    assert told.count("warning") == 1
    assert "the water's cells are large" in told
    assert "`--set patches=hands` (small cells about the hands) or `--quality standard`" in told
    assert FIGURES in told


@pytest.mark.parametrize(
    ("quality", "given", "ways"),
    [
        ("standard", {}, "`--set patches=hands` (small cells about the hands) or `--quality fine`"),
        ("draft", {"patches": "hands"}, "`--quality standard`"),
        ("draft", {"patches": "hands", "cell": "0.09"}, "a smaller `--set cell=`"),
    ],
)
def test_only_what_would_make_cells_smaller_is_advised(warns, quality, given, ways):
    assert coarse_water(warns, quality, given).endswith(f"for better figures add {ways}")
    assert coarse_water(warns, "fine", {"patches": "hands"}).endswith("are rough")


def test_a_tank_that_counts_its_cells_is_advised_too():
    assert coarse_water(scenes.find("tow"), "draft", {}).endswith("`--quality standard`")
    assert coarse_water(scenes.find("tow"), "draft", {"cells": "40"}).endswith("a larger `--set cells=`")
    assert coarse_water(scenes.find("pendulum"), "draft", {}).endswith("are rough")


def test_a_metric_that_was_not_measured_says_so(warns, capsys):
    assert invoke(["run", "pendulum", "--seconds", "0.1"]) == 0
    told = capsys.readouterr().out
    assert "nan" not in told
    assert "not measured; the run was too short for it" in told
    assert "0.1 s (7 frames) simulated in" in told
