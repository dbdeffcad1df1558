"""The sample stage, for all tests of the eyes."""

import importlib.util
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location("view_demo", Path(__file__).with_name("demo.py"))
_demo = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_demo)


@pytest.fixture(scope="session")
def demo():
    """The module `demo.py` beside this file."""
    return _demo
