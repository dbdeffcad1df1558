"""Broken files for everything that reads files: recordings, checkpoints, strokes, motions, markers, meshes, sounds.

    python tests/fuzz/fuzz.py --cases 400 --seed 1      the same files each time
    python tests/fuzz/fuzz.py --seconds 3600            `make fuzz`: an hour of new ones

Each case is a good file with something wrong in it. Reading it may succeed or end in an error that is meant for users,
within five seconds and two gigabytes; anything else is a finding, printed with the number that makes it again
(`--only`). A crash of the process ends the run; the last line on stderr names the case.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent.parent), str(HERE.parent / "world" / "toys"), str(HERE)]

from more_kinds import kinds  # noqa: E402
from toys import make_world  # noqa: E402

from vitruvian.anatomy import human  # noqa: E402
from vitruvian.control import load_motion  # noqa: E402
from vitruvian.control.rhythm import load_stroke  # noqa: E402
from vitruvian.errors import VitruvianError  # noqa: E402
from vitruvian.exchange import bvh_motion  # noqa: E402
from vitruvian.exchange.bvh import read_bvh  # noqa: E402
from vitruvian.exchange.csv import write_csv  # noqa: E402
from vitruvian.view import Shooting  # noqa: E402
from vitruvian.view.render import film_frames  # noqa: E402
from vitruvian.world import Recording, run_world  # noqa: E402
from vitruvian.world.chunks import layout_of, read_chunk, read_metadata  # noqa: E402
from vitruvian.world.series import write_array  # noqa: E402

MOST_SECONDS = 5.0
MOST_BYTES = 2 << 30
ODD = (None, -1, 0, 1, 1e30, 1e308, 10**20, 2**31, "x", "../../etc/passwd", "", [], {}, [1] * 5, True, float("nan"))
ODD_NUMBERS = (np.nan, np.inf, -np.inf, 1e38, -1e38, 1e7, 1e6, -1.0, 0.0, 1e-30)
STROKE = """about = "x"
posture = "prone"
[angles]
"left hip flexion" = [0, 25, 40, 10, -10, -5]
"knee flexion" = [5, 30, 50, 10, 5, 5]
"elbow flexion" = 10
"""
MOTION = """timing = "flow"
[[key]]
time = 0
pose = { elbow = 10 }
[[key]]
time = 0.2
pose = { elbow = 90, head = [5, 0, 20], arm = { direction = [0.1, 0, -1] } }
[[key]]
time = 0.5
pose = { "left knee" = 20, feet = 0 }
"""
BVH = """HIERARCHY ROOT Hips { OFFSET 0 0 0 CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
JOINT LeftForeArm { OFFSET 10 0 0 CHANNELS 3 Zrotation Yrotation Xrotation End Site { OFFSET 1 0 0 } }
JOINT Head { OFFSET 0 10 0 CHANNELS 3 Zrotation Yrotation Xrotation } }
MOTION
Frames: 9
Frame Time: 0.02
""" + "\n".join(f"0 90 0 0 0 0 0 {-3 * k} 0 1 2 3" for k in range(9))
WORDS = ("", "nan", "inf", "-1", "1e400", "{", "}", "[", "]", "=", "JOINT", "99999999999", "true", "\0", "é", '"', "\n")


def broken_text(rng: random.Random, good: str) -> bytes:
    """A text with something wrong in it."""
    kind = rng.choice(("word", "word", "cut", "drop", "repeat", "bytes", "encoding", "deep"))
    words = good.split(" ")
    if kind == "word":
        for _ in range(rng.randint(1, 3)):
            words[rng.randrange(len(words))] = rng.choice(WORDS)
    elif kind == "cut":
        return good[: rng.randrange(len(good))].encode()
    elif kind == "drop":
        words.pop(rng.randrange(len(words)))
    elif kind == "repeat":
        at = rng.randrange(len(words))
        words[at:at] = [rng.choice(words)] * rng.choice((1, 10, 20_000))
    elif kind == "bytes":
        return _flipped(rng, good.encode())
    elif kind == "encoding":
        return good.encode(rng.choice(("utf-16", "utf-32", "latin-1")))
    else:
        bracket = rng.choice(("[]", "{}", "()"))
        n = rng.choice((5, 500, 50_000))
        return (good + f"\na = {bracket[0] * n}{bracket[1] * n}\n").encode()
    return " ".join(words).encode()


def break_recording(rng: random.Random, path: Path) -> str:
    """Do something bad to the recording at `path`; returns what."""
    files = sorted(file for file in path.rglob("*") if file.is_file())
    arrays = sorted(file.parent for file in files if file.name == "zarr.json" and (file.parent / "c").is_dir())
    kind = rng.choice(("cut", "flip", "noise", "gone", "empty", "folder", "pipe", "link", "json", "json", "json"))
    kind = rng.choice((kind, "numbers"))
    if kind == "numbers":
        folder = rng.choice(arrays)
        meta = read_metadata(folder, "")
        layout = layout_of(meta)
        values = np.concatenate(
            [read_chunk(folder, "", layout, i) for i in range(-(-layout.shape[0] // layout.chunk[0]))]
        )
        values = values[: layout.shape[0]].copy()
        flat = values.reshape(-1)
        if flat.size == 0:
            return "nothing"
        at = rng.choice((slice(None), slice(None, None, 7), slice(0, 1), slice(-1, None)))
        if values.dtype.kind == "f":
            scale, odd = rng.choice((1e40, -1.0, 0.0, 1e3)), rng.choice(ODD_NUMBERS)
            flat[at] = flat[at] * scale if rng.random() < 0.4 else odd
        else:
            flat[at] = rng.choice((0, 1, -1, 2**20, np.iinfo(values.dtype).max, np.iinfo(values.dtype).min))
        shutil.rmtree(folder)
        write_array(folder, values, meta["attributes"])
        return f"numbers in {folder.relative_to(path)}"
    file = rng.choice([f for f in files if f.name == "zarr.json"] if kind == "json" else files)
    data, told = file.read_bytes(), f"{kind} {file.relative_to(path)}"
    if kind == "json":
        node = about = json.loads(data)
        while isinstance(node, dict | list) and node:
            keys = list(node) if isinstance(node, dict) else range(len(node))
            parent, key = node, rng.choice(list(keys))
            node = node[key]
            if rng.random() < 0.15:
                break
        parent[key] = rng.choice(ODD)
        file.write_text(json.dumps(about))
        return f"{told}: {key} = {parent[key]!r}"
    file.unlink()
    if kind == "folder":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file)
    elif kind == "link":
        file.symlink_to(rng.choice(("/dev/zero", "/etc/passwd", "..", str(file), str(files[0]))))
    elif kind != "gone":
        cut = {"cut": data[: rng.randrange(len(data) or 1)], "noise": rng.randbytes(300), "empty": b""}
        file.write_bytes(cut[kind] if kind in cut else _flipped(rng, data))
    return told


def use_recording(rng: random.Random, path: Path) -> None:
    """Everything that a user may do with it."""
    if rng.random() < 0.25:
        run_world(make_world(), path, seconds=0.24, resume=True)
        return
    recording = Recording.open(path)
    for i in range(len(recording)):
        recording.frame(i)
    film_frames(recording.time)
    if rng.random() < 0.5:
        Shooting(recording, size=(96, 64), samples=4, camera=rng.choice((None, "auto"))).shoot(len(recording) // 2)
    else:
        write_csv(recording, path.with_suffix(".csv"))


@cache
def body():
    return human()


def _flipped(rng: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randint(1, 8) if changed else 0):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _broken_bytes(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    kind = rng.choice(("flip", "flip", "cut", "fill", "noise"))
    if kind == "flip":
        return _flipped(rng, data)
    if kind == "cut":
        return data[:at]
    new = rng.choice((b"\xff" * 4, b"\0" * 4, b"\xff\xff\xff\x7f")) if kind == "fill" else rng.randbytes(40)
    return data[:at] + new + data[at + len(new) :]


def one_case(number: int, seed: int, folder: Path, base: Path, more: dict[str, Any]) -> tuple[str, str]:
    """What was done to which kind of file, and what came of it: "read", "refused", or a finding."""
    rng = random.Random(f"{seed}:{number}")
    kind = ("recording", "stroke", "motion", "recording", "bvh", "recording", "other", "other")[number % 8]
    if kind == "other":
        kind = rng.choice(list(more))
    with np.errstate(all="ignore"):
        if kind == "recording":
            path = folder / "case.zarr"
            shutil.rmtree(path, ignore_errors=True)
            shutil.copytree(base, path)
            told = f"{number} {kind}: {break_recording(rng, path)}"
            use = lambda: use_recording(rng, path)  # noqa: E731
        elif kind in more:
            ending, good, read = more[kind]
            path = folder / f"case{ending}"
            path.write_bytes(_broken_bytes(rng, good) if isinstance(good, bytes) else broken_text(rng, good))
            told, use = f"{number} {kind}", lambda: read(path)
        else:
            path = folder / ("case.bvh" if kind == "bvh" else "case.toml")
            path.write_bytes(broken_text(rng, {"stroke": STROKE, "motion": MOTION, "bvh": BVH}[kind]))
            told = f"{number} {kind}"
            use = {
                "stroke": lambda: load_stroke(path),
                "motion": lambda: load_motion(body(), path, relax=False).sample(0.3),
                "bvh": lambda: bvh_motion(read_bvh(path), body()).sample(0.1),
            }[kind]
        print(told, file=sys.stderr, flush=True)
        # Markers are read by another process, which on a busy machine takes seconds to start.
        signal.setitimer(signal.ITIMER_REAL, MOST_SECONDS * (4 if kind == "c3d" else 1))
        try:
            use()
            outcome = "read"
        except VitruvianError as error:
            outcome = (
                "refused" if "\n" not in str(error) and len(str(error)) < 1000 else f"FOUND long message {error!r:.200}"
            )
        except BaseException:
            outcome = f"FOUND {traceback.format_exc(limit=-3)}"
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
    if _peak() > MOST_BYTES:
        outcome = "FOUND more than two gigabytes of memory"
    return told, outcome


def _peak() -> int:
    """Most memory that this process has held [bytes]; `ru_maxrss` also counts what its parent held before it began."""
    status = Path("/proc/self/status")
    if status.exists():
        return 1024 * int(status.read_text().split("VmHWM:")[1].split()[0])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cases", type=int, default=10**9)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", type=int, default=None, help="the number of one case")
    given = parser.parse_args()
    seed = random.SystemRandom().randrange(10**6) if given.seed is None else given.seed
    signal.signal(signal.SIGALRM, _too_long)
    tally: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run_world(make_world(), folder / "base.zarr", seconds=0.16, scene="")
        body()
        Shooting(Recording.open(folder / "base.zarr"), size=(96, 64), samples=4).shoot(0)  # kernels are loaded
        more = kinds(folder)
        began = time.monotonic()
        for number in (given.only,) if given.only is not None else range(given.cases):
            told, outcome = one_case(number, seed, folder, folder / "base.zarr", more)
            tally[outcome.split()[0]] += 1
            if outcome.startswith("FOUND"):
                print(f"seed {seed}, case {told}\n{outcome}", flush=True)
            if time.monotonic() - began > given.seconds:
                break
    print(f"seed {seed}: " + ", ".join(f"{count} {what}" for what, count in sorted(tally.items())))
    return 1 if tally["FOUND"] else 0


def _too_long(*_: object) -> None:
    raise TimeoutError(f"more than {MOST_SECONDS:g} s")


if __name__ == "__main__":
    sys.exit(main())
