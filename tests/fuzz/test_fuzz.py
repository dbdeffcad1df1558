"""A few hundred broken files, the same each time; `make fuzz` tries new ones for an hour."""

import subprocess
import sys
from pathlib import Path

FUZZ = Path(__file__).with_name("fuzz.py")


def test_broken_files_are_read_or_refused_in_one_line():
    done = subprocess.run([sys.executable, FUZZ, "--cases", "360", "--seed", "1"], capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout}\nlast case: {done.stderr[-2000:]}"
    assert " read" in done.stdout
    assert " refused" in done.stdout
