"""Small simulations for the tests of the world are in `toys/`; subprocesses find them by PYTHONPATH."""

import sys
from pathlib import Path

TOYS = Path(__file__).parent / "toys"
if str(TOYS) not in sys.path:
    sys.path.insert(0, str(TOYS))
