"""`vitruvian run` in a process of its own, stopped in every way, resumed, and compared with a run left alone."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import zarr

from vitruvian.errors import InputError
from vitruvian.world import Recording

RUN = [sys.executable, "-c", "from vitruvian.cli import main; main()", "run", "pendulum", "--set", "substeps=100"]
SECONDS = "1.0"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "r.zarr"
    subprocess.run([*RUN, "--seconds", SECONDS, "--out", path], check=True, capture_output=True)
    return path


def frames(path: Path) -> int:
    try:
        return len(Recording.open(path))
    except InputError:
        return 0


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda kind: kind.name)
def test_stopped_and_resumed_it_gives_the_same_bits(tmp_path, whole, kind):
    path = tmp_path / "r.zarr"
    process = subprocess.Popen([*RUN, "--seconds", SECONDS, "--out", path], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while frames(path) < 1 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(kind)
    _, said = process.communicate(timeout=60)
    assert 0 < frames(path) < len(Recording.open(whole)), "it ended before it could be stopped"
    if kind == signal.SIGKILL:
        assert process.returncode == -signal.SIGKILL
    else:
        assert process.returncode == 130
        assert said.count("vitruvian: ") == 1
        assert f"vitruvian run pendulum --resume --out {path}" in said
    # Nothing but the path: parameters, seed and duration are those of the recording.
    resume = [*RUN[:5], "--resume", "--out", path]
    done = subprocess.run(resume, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for file in sorted(whole.rglob("zarr.json")):
        mine, theirs = (zarr.open(root / file.parent.relative_to(whole), mode="r") for root in (path, whole))
        assert dict(mine.attrs) == dict(theirs.attrs)
        if isinstance(mine, zarr.Array):
            assert mine[:].tobytes() == theirs[:].tobytes()
    with np.load(path / "checkpoint/state.npz") as a, np.load(whole / "checkpoint/state.npz") as b:
        assert set(a.files) == set(b.files)
        assert all(a[name].tobytes() == b[name].tobytes() for name in a.files)
