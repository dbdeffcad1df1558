"""The book never overlooks a number that is not one."""

import ast
from pathlib import Path

import numpy as np
import pytest

import vitruvian.verify
from vitruvian.verify.book import Claim, Finding, check_claim, worst

NAN = float("nan")


@pytest.mark.parametrize("at", range(5))
@pytest.mark.parametrize("reference", [0.0, 1.0])
def test_nan_anywhere_among_the_errors_is_the_worst(at, reference):
    values = [0.1, 0.9, 1e30, 0.2]
    values.insert(at, NAN)
    assert np.isnan(worst(values, reference))
    assert not Finding.error(worst(iter(values), reference), 1e40).passed


def test_worst_is_the_value_farthest_from_the_reference():
    assert worst([0.1, 0.4, 0.3]) == 0.4
    assert worst(x for x in (1.01, 0.97, 1.02)) == 1.02
    assert worst([1.01, 0.97, 1.02], 1.0) == 0.97
    assert worst([0.1, -0.4]) == -0.4
    assert worst([0.1, np.inf]) == np.inf


def test_a_claim_that_measured_nothing_fails():
    outcome = check_claim(Claim("book/empty", "", lambda: Finding.error(worst([]), 1.0)))
    assert outcome.passed is False
    assert "nothing was measured" in outcome.reason


@pytest.mark.parametrize("chapter", sorted(Path(vitruvian.verify.__file__).parent.glob("*.py")), ids=lambda p: p.stem)
def test_no_chapter_gathers_errors_with_pythons_max(chapter):
    for node in ast.walk(ast.parse(chapter.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            names = {a.id for a in node.value.args if isinstance(a, ast.Name)}
            running = getattr(node.value.func, "id", "") == "max" and names & {
                getattr(t, "id", "") for t in node.targets
            }
            assert not running, f"line {node.lineno}: {ast.unparse(node)}"
