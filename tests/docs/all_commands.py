"""Run every `vitruvian …` line of README and guides, in the order in which a reader meets them: `make guides`.

    python tests/docs/all_commands.py                   every line that the test suite does not run; about an hour
    python tests/docs/all_commands.py run track         only lines that have one of these words
    python tests/docs/all_commands.py --log done.txt    goes on where a run with this log stopped

Each line runs in a process of its own, as it stands but for its length: runs and sweeps take 0.1 s of simulated time
and one value of each range, chapters of book and benchmarks their first case, searches and training the least number
of samples, a page is asked for once. Files of the reader's own (a trial, a mesh, a sound) are made beforehand. A line
passes if it ends with status 0, or 1 where a run cut so short fails its own checks, and says no traceback.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
LIMIT = 1800.0  # [s] for one line
MAY_FAIL = ("run", "sweep", "doctor", "track", "verify")  # whose status 1 says that a check failed
LEAST = {
    "search": ["--samples", "4", "--soft-samples", "2", "--rounds", "1", "--processes", "1"],
    "train": ["--samples", "100", "--epochs", "4", "--processes", "1"],
}
LENGTH = {"knee": "0.6"}  # [s] of recordings that lines look at beyond the first tenth
NOT_HERE = {  # what a plain machine cannot do, and why
    "--device cuda": "wants a graphics card",
    "--scheduler": "wants a running cluster",
}


def pages() -> list[Path]:
    """README and the guides, in the order of the site's navigation."""
    named = re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M)
    return [ROOT / "README.md", *(ROOT / "docs" / name for name in named if (ROOT / "docs" / name).is_file())]


def lines_of(page: Path) -> list[str]:
    """The command lines of a page's blocks, without their comments."""
    found = []
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```", page.read_text(), re.S | re.M):
        for line in block.splitlines() if language != "python" else ():
            line = line.strip().removeprefix(".venv/bin/")
            if line.startswith("vitruvian "):
                found.append(shlex.join(shlex.split(line, comments=True)))
    return found


def cut(line: str) -> list[str]:
    """The words of a line after `vitruvian`, cut short."""
    words = [word for word in shlex.split(line)[1:] if word != "--view"]
    name = words[0]
    if name in ("verify", "bench"):
        words = [name, *(_first_case(name, chapter) for chapter in words[1:])]
    if name == "sweep" and "--resume" not in words:
        words = [re.sub(r"^(\w+)=([^:,]+)[:,].*$", r"\1=\2", word) for word in words]
        words = ["1" if words[k - 1] == "--seeds" else word for k, word in enumerate(words)]
    if name in ("run", "sweep"):
        words = _without(words, "--seconds")
        words += ["--seconds", "0.1"] if "--resume" not in words else []
    if name == "render":
        words += [] if "--size" in words else ["--size", "320x180"]
        if "cycles" in words:
            words = [*_without(words, "--quality"), "--quality", "draft"]
            words += ["--at", "0"] if words[2].endswith(".png") else ["--fps", "1"]
    if name == "view":
        words += ["--no-open", "--port", "18090"]
    return words + LEAST.get(name, [])


def _without(words: list[str], option: str) -> list[str]:
    return words[: words.index(option)] + words[words.index(option) + 2 :] if option in words else words


def _first_case(name: str, chapter: str) -> str:
    from vitruvian.benchmarks.suite import find_timings
    from vitruvian.verify.book import find_claims

    return {"verify": find_claims, "bench": find_timings}[name]([chapter])[0].name


def make_files(folder: Path) -> None:
    """Files that guides speak of as the reader's own."""
    from vitruvian.control.behaviour.sound import synthesised
    from vitruvian.exchange.sound_file import write_sound
    from vitruvian.exchange.trc import write_storage
    from vitruvian.mesh import capsule
    from vitruvian.verify import _track_lab as lab

    body = lab.subject()
    _, q = lab.stride(body, 0.4)
    places = lab.marker_places(body, q)
    lab.write_c3d(folder / "trial.c3d", places)
    _write_trc(folder / "trial.trc", places, lab.MARKERS)
    time_of = np.arange(len(places)) / 100.0
    weight = {"ground_force_vy": 700.0, "ground_force_px": 0.1}
    parts = [f"ground_force_{kind}{axis}" for kind in "vp" for axis in "xyz"]
    parts += [f"ground_torque_{axis}" for axis in "xyz"]
    columns = {part: np.full(len(places), weight.get(part, 0.0)) for part in parts}
    write_storage(folder / "trial_grf.mot", "forces", {"time": time_of, **columns})
    frames = "\n".join(f"0 90 0 0 0 0 0 {-3 * k} 0" for k in range(31))
    (folder / "dance.bvh").write_text(
        "HIERARCHY ROOT Hips { OFFSET 0 0 0 CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation\n"
        "JOINT LeftForeArm { OFFSET 10 0 0 CHANNELS 3 Zrotation Yrotation Xrotation } }\n"
        f"MOTION\nFrames: 31\nFrame Time: 0.02\n{frames}\n"
    )
    shutil.copy(ROOT / "vitruvian/control/face/expressions.toml", folder / "mine.toml")
    write_sound(folder / "ha.wav", synthesised(6), 16_000)
    vertices, faces = capsule((0.0, 0.0, 1.0), (0.0, 0.0, 1.4), 0.2)
    with (folder / "suit.obj").open("w") as obj:
        obj.writelines(f"v {x} {y} {z}\n" for x, y, z in vertices)
        obj.writelines(f"f {a} {b} {c}\n" for a, b, c in faces + 1)
    soft = _module(ROOT / "tests/soft/test_characters.py")
    vertices, faces = capsule((0.0, 0.0, 0.1), (0.0, 0.0, 0.9), 0.1)
    _as_glb(soft.gltf(folder / "mesh.gltf", vertices, faces, soft.WORM), folder / "mesh.glb")


def _write_trc(path: Path, places: np.ndarray, names: Any) -> None:
    """Markers [m], z up, as a TRC file: mm, y up."""
    n = len(places)
    head = f"PathFileType\t4\t(X/Y/Z)\t{path.name}\nDataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\t"
    head += f"OrigDataStartFrame\tOrigNumFrames\n100\t100\t{n}\t{len(names)}\tmm\t100\t1\t{n}\n"
    head += "Frame#\tTime\t" + "\t\t\t".join(names) + "\t\t\n\t\t"
    head += "\t".join(f"{axis}{k + 1}" for k in range(len(names)) for axis in "XYZ") + "\n\n"
    turned = 1000.0 * np.stack([places[..., 0], places[..., 2], -places[..., 1]], axis=-1)
    rows = ("\t".join(f"{x:.3f}" for x in row.ravel()) for row in turned)
    path.write_text(head + "".join(f"{k + 1}\t{k / 100:.3f}\t{row}\n" for k, row in enumerate(rows)))


def _as_glb(gltf: Path, out: Path) -> None:
    text = json.dumps(json.loads(gltf.read_text())).encode()
    text += b" " * (-len(text) % 4)
    out.write_bytes(struct.pack("<4sII", b"glTF", 2, 20 + len(text)) + struct.pack("<I4s", len(text), b"JSON") + text)


def _module(path: Path) -> Any:
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def vitruvian(words: list[str], folder: Path, limit: float = LIMIT) -> tuple[int, str]:
    """Status and last words of a command; a served page is asked for once and then stopped."""
    command = [sys.executable, "-m", "vitruvian", *words]
    if words[0] != "view":
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            return -1, f"did not end within {limit:.0f} s"
        return done.returncode, (done.stderr + done.stdout)[-3000:]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    said, url = "", None
    while not url and (line := process.stderr.readline()):
        said += line
        url = re.search(r"http://\S+", line)
    if url:
        said += urllib.request.urlopen(url.group(), timeout=60).read(100).decode()
        process.send_signal(signal.SIGINT)
    return process.wait(timeout=60), said


def wanted_recordings(line: str, folder: Path) -> None:
    """Make what a line reads, unless it is there: a short run of the scene that it names."""
    for path, scene in re.findall(r"((?:recordings/)?([\w-]+?)(?:-1)?\.zarr)", line):
        if not (folder / path).exists():
            status, said = vitruvian(["run", scene, "--seconds", LENGTH.get(scene, "0.1"), "--out", path], folder)
            assert status in (0, 1), f"{scene} could not be run: {said}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("words", nargs="*")
    parser.add_argument("--log", type=Path)
    given = parser.parse_args()
    known = given.log.read_text().splitlines() if given.log and given.log.is_file() else []
    lines = list(dict.fromkeys(line for page in pages() for line in lines_of(page)))
    lines = [line for line in lines if not given.words or any(word in line for word in given.words)]
    done = {entry.split("\t")[1] for entry in known if entry.startswith(("good", "left"))}
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_files(folder)
        for k, line in enumerate(lines):
            if line in done:
                continue
            reason = next((why for word, why in NOT_HERE.items() if word in line), "")
            began, verdict, said = time.monotonic(), "left", reason
            if not reason:
                wanted_recordings(line, folder)
                status, said = vitruvian(cut(line), folder)
                good = status == 0 or (status == 1 and shlex.split(line)[1] in MAY_FAIL)
                verdict = "good" if good and "Traceback" not in said else "FAILED"
                failed += verdict == "FAILED"
            told = f"{verdict}\t{line}\t{reason or f'{time.monotonic() - began:.0f} s'}"
            print(f"{k + 1}/{len(lines)} {told}", said if verdict == "FAILED" else "", flush=True)
            if given.log:
                with given.log.open("a") as log:
                    log.write(told + "\n")
    print(f"{failed} of {len(lines)} lines failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
