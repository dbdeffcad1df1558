"""Ctrl-C while the command line is being loaded."""

import subprocess
import sys

CODE = """
import sys
class Interrupting:
    def find_spec(self, name, *_):
        if name == "typer":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
from vitruvian.__main__ import main
main()
"""


def test_ctrl_c_while_loading_is_one_line():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_a_picture_is_drawn_without_loading_bodies_and_their_control():
    code = "import sys; from vitruvian.door import render; print('vitruvian.control' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
