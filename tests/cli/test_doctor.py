"""`vitruvian doctor` and shell completion."""

import json
import os
import subprocess
import sys

from vitruvian.cli import doctoring, invoke


def test_doctor_tells_what_is_there(capsys):
    assert invoke(["doctor", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["packages"]["numpy"]
    assert "cores" in told["machine"]


def test_doctor_names_the_command_that_brings_what_is_missing(capsys, monkeypatch):
    real = doctoring.installed
    monkeypatch.setattr(doctoring, "installed", lambda name: None if name == "anny" else real(name))
    assert invoke(["doctor"]) == 1
    said = capsys.readouterr().out
    assert "MISSING" in said
    assert "pip install --no-deps" in said


def test_the_shell_completes_commands():
    asked = {"_VITRUVIAN_COMPLETE": "complete_bash", "COMP_WORDS": "vitruvian re", "COMP_CWORD": "1"}
    command = [sys.executable, "-m", "vitruvian"]
    done = subprocess.run(command, env={**os.environ, **asked}, capture_output=True, text=True)
    assert done.stdout.split() == ["render"]
