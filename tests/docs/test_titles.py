"""What settings and signals are said to be: whole phrases, since plots, tables and `vitruvian info` show them alone."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "vitruvian"
LOOSE = ("of ", "so far", "at which", "along ", "in the direction", "from ", "by which", "what moves", "and ")


def titles(source):
    """Titles of signals and meanings of parameters, as they are written."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            at = {"Signal": 2, "Parameter": 1}.get(node.func.id)
            if at is not None and len(node.args) > at and isinstance(node.args[at], ast.Constant):
                yield node.args[at].value


@pytest.mark.parametrize("folder", ["scenes", "systems"])
def test_titles_are_whole_phrases(folder):
    for path in sorted((PACKAGE / folder).glob("*.py")):
        loose = [title for title in titles(path.read_text()) if str(title).startswith(LOOSE)]
        assert not loose, f"{path.name}: {loose}"
