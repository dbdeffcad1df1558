"""Filmstrips of the torso's behaviours for docs/torso.md: front above, side below.

.venv/bin/python docs/make_torso.py breathe=recordings/breathe-1.zarr cough=recordings/cough-1.zarr
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

from vitruvian.view import render_picture
from vitruvian.world import Recording

HERE = Path(__file__).parent
INSTANTS = {
    "breathe": (0.0, 0.6, 1.2, 2.0, 3.0),
    "laugh": (0.0, 1.2, 1.7, 3.0, 5.0),
    "cough": (0.0, 1.1, 1.4, 1.56, 2.0),
    "sneeze": (0.0, 1.3, 2.6, 3.4, 4.0),
}
LAYERS = ("bones", "belly", "diaphragm", "skin")
SIZE = (300, 380)


def strip(name: str, recording: str) -> None:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for camera in ("front", "side"):
            row = []
            for at in INSTANTS[name]:
                out = Path(folder) / f"{camera}-{at}.png"
                render_picture(Recording.open(recording), out, at=at, size=SIZE, layers=LAYERS, camera=camera)
                row.append(np.asarray(Image.open(out).convert("RGB")))
            rows.append(np.concatenate(row, axis=1))
    Image.fromarray(np.concatenate(rows)).save(HERE / "pictures" / f"torso-{name}.webp", quality=80)


if __name__ == "__main__":
    for word in sys.argv[1:]:
        strip(*word.split("=", 1))
