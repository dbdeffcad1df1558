"""Two test processes share two cores (`pytest -n 2`): each keeps to one thread, or both crawl."""

import json
import os
import signal
import subprocess
import sys
import time

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


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    """Address of a Dask scheduler on this machine with two workers, each a process of its own."""
    distributed = pytest.importorskip("distributed")
    folder = tmp_path_factory.mktemp("cluster")
    file, log = folder / "scheduler.json", folder / "log"
    common = ["--scheduler-file", str(file), "--no-dashboard"]
    commands = [
        [sys.executable, "-m", "dask", "scheduler", "--host", "127.0.0.1", "--port", "0", *common],
        [sys.executable, "-m", "dask", "worker", "--nthreads", "1", "--nworkers", "2", *common],
    ]
    processes = []
    try:
        with open(log, "w") as out:
            for command in commands:
                processes.append(subprocess.Popen(command, cwd=folder, stdout=out, stderr=out))
                deadline = time.monotonic() + 60
                while not file.exists() and time.monotonic() < deadline:
                    time.sleep(0.1)
        assert file.exists(), log.read_text()
        address = json.loads(file.read_text())["address"]
        with distributed.Client(address, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)
        yield address
    finally:
        for process in reversed(processes):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
