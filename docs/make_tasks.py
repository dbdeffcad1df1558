"""Filmstrips of the tasks guide: `python docs/make_tasks.py RECORDING NAME CAMERA t1 t2 ...` -> pictures/NAME.webp."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
SIZE = (480, 320)


def main(recording: str, name: str, camera: list[str], times: list[str]) -> None:
    """Pictures at the times, side by side, three in a row."""
    strip = Image.new("RGB", (3 * SIZE[0], -(-len(times) // 3) * SIZE[1]), "white")
    with tempfile.TemporaryDirectory() as folder:
        for k, time in enumerate(times):
            out = Path(folder) / f"{k}.png"
            command = [
                "vitruvian",
                "render",
                recording,
                str(out),
                "--at",
                time,
                "--size",
                f"{SIZE[0]}x{SIZE[1]}",
                *camera,
            ]
            subprocess.run([sys.executable, "-m", *command], check=True)
            strip.paste(Image.open(out), (k % 3 * SIZE[0], k // 3 * SIZE[1]))
    strip.save(HERE / "pictures" / f"{name}.webp", quality=80)


if __name__ == "__main__":
    where, called, seen, *when = sys.argv[1:]
    main(
        where,
        called,
        ["--camera", seen] if "," not in seen else ["--from", seen.split(";")[0], "--look", seen.split(";")[1]],
        when,
    )
