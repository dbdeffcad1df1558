"""The ten-line scripts of docs/python.md run as they stand, from the wheel, in an empty folder."""

import ast
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "python.md"
SCRIPTS = sorted((HERE.parents[1] / "examples").glob("*.py"))
# what each says at its end, and the picture that it leaves
TOLD = {
    "curl": (r"bends to 1\.5\d rad, at most 0\.0[01]\d", "curl.png"),
    "swimmer": (r"from 0\.\d\d to 0\.\d\d m/s", "swimmer.png"),
    "flesh_block": (r"volume \[m³\]", "block.png"),
    "tank": (r"the ball rose by 0\.[123]\d m", "tank.png"),
    "mechanism": (r"from -1\.000 to 1\.000 rad, energy from (-2\.65\d+) to \1 J", None),
    "one_more_muscle": (r"861 muscles, hip flexion 1\d\d -> 1\d\d N m", None),
    "own_muscle_law": (r"elbow \[rad\] \[\d\.\d+\]", None),
    "share": (r"swing\.html has 0\.\d\d MB", None),
    "sweep": (r"3 runs of pendulum over amplitude: 0 failed", "period.png"),
    "own_controller": (r"elbow \[rad\] \[0\.[5-9]\d+\]", None),
}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_script_runs_as_written_from_the_wheel_in_an_empty_folder(script, run_python, tmp_path):
    said, picture = TOLD[script.stem]
    out = run_python(script)
    assert re.search(said, out), out
    if picture:
        assert (tmp_path / picture).stat().st_size > 5000


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_script_has_at_most_ten_lines_of_code(script):
    tree = ast.parse(script.read_text())
    assert ast.get_docstring(tree), "the first line says what it shows"
    lines = script.read_text().splitlines()[tree.body[0].end_lineno :]
    assert sum(bool(line.split("#")[0].strip()) for line in lines) <= 10
    assert "import vitruvian as vt\n" in script.read_text()


def test_the_page_shows_the_scripts_word_by_word():
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)
    for script in SCRIPTS:
        assert script.read_text() in blocks, f"docs/python.md should show {script.name} as it is"


def test_scripts_run_from_the_installed_wheel(run_python, installed):
    if find_spec("hatchling") is None:
        pytest.skip("hatchling is not installed; `pip install -e '.[dev]'` brings it")
    where = run_python("-c", "import vitruvian; print(vitruvian.__file__)")
    assert Path(where.strip()).is_relative_to(installed)
