import re

import numpy as np

from vitruvian.measured.charts import Chart, draw_svg
from vitruvian.measured.report import report_page


def test_the_page_stands_alone_and_says_what_was_found(walk):
    page = report_page(walk, 3.0)
    assert "walk.csv" in page
    assert "estimated contact" in page
    for word in (
        "Joint angles",
        "Net joint moments",
        "Joint powers",
        "Ground forces",
        "Muscle forces",
        "Joint reactions",
    ):
        assert f"<h2>{word}</h2>" in page
    assert "Winter 2009" in page
    assert not re.search(r"<script|<link|src=|https?:", page)
    assert page.count("<svg") > 30


def test_names_from_a_file_cannot_become_markup(walk):
    from dataclasses import replace

    evil = replace(walk, trial=replace(walk.trial, name="<script>alert(1)</script>.csv"))
    assert "<script>" not in report_page(evil, 1.0)


def test_a_chart_of_nothing_is_drawn():
    svg = draw_svg(np.array([0.0, 1.0]), Chart("nothing", "N", {"a": np.zeros(2)}))
    assert svg.startswith("<svg")
    assert "nan" not in svg
