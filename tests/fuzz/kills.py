"""Runs killed with SIGKILL at random moments, creation included, and resumed until done: the bits must be the same.

python tests/fuzz/kills.py --kills 100
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent.parent), str(HERE.parent / "world" / "toys")]

from toys import make_world  # noqa: E402

from vitruvian.world import Recording, run_world  # noqa: E402

SECONDS = 4.0


def content(path: Path) -> dict[str, bytes]:
    """Every array of a recording, unpacked."""
    recording = Recording.open(path)
    frames = [recording.frame(i) for i in range(len(recording))]
    parts = {"time": recording.time, "poses": recording.poses, **recording.signals}
    for name in frames[0].surfaces:
        parts[f"surface {name}"] = np.concatenate([frame.surfaces[name].vertices for frame in frames])
    for name in frames[0].points:
        parts[f"points {name}"] = np.concatenate([frame.points[name] for frame in frames])
    return {name: np.ascontiguousarray(part).tobytes() for name, part in parts.items()}


def in_child(work: Callable[[], object], kill_after: float | None) -> int:
    """Do `work` in a child, killed after so many seconds; returns its exit status."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rng, kills, new, differ = random.Random(given.seed), 0, 0, 0
    with tempfile.TemporaryDirectory() as name:
        whole, path = Path(name) / "whole.zarr", Path(name) / "killed.zarr"
        began = time.monotonic()
        in_child(lambda: run_world(make_world(), whole, seconds=SECONDS, save_every=5), None)
        took, wanted = time.monotonic() - began, content(whole)
        while kills < given.kills:
            for delay in (0.1 * rng.random() * took, rng.random() * took, rng.random() * took, None):
                there = path.exists()

                def run(resume: bool = there) -> object:
                    return run_world(make_world(), path, seconds=SECONDS, resume=resume, save_every=5)

                status = in_child(run, delay)
                kills += status == -signal.SIGKILL
                new += status == -signal.SIGKILL and not path.exists()
                if status not in (0, -signal.SIGKILL):
                    print(f"after {kills} kills: the run ended with status {status}")
                    return 1
            differ += content(path) != wanted
            left = [entry.name for entry in Path(name).iterdir() if entry not in (whole, path)]
            if left:
                print(f"left behind: {left}")
                return 1
            shutil.rmtree(path)
    print(f"{kills} kills, {new} of them before there was a recording; {differ} recordings differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
