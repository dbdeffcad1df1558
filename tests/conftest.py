"""Two test processes share two cores (`pytest -n 2`): each keeps to one thread, or both crawl."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
# tests of threads ask for more themselves; they need two at least, whatever the machine has
os.environ.setdefault("NUMBA_NUM_THREADS", str(max(2, os.cpu_count() or 1)))

import numba
import pytest
from hypothesis import settings

# property tests: the same examples on every run, few of them, as long as they take
settings.register_profile("ours", derandomize=True, max_examples=40, deadline=None)
settings.load_profile("ours")


@pytest.fixture(autouse=True)
def _one_thread():
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(1)
