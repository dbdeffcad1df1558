"""Pictures for docs/torso.md: filmstrips of the torso's behaviours, front above, side below; the space of breaths.

.venv/bin/python docs/make_torso.py breathe=recordings/breathe-1.zarr cough=recordings/cough-1.zarr
.venv/bin/python docs/make_torso.py space=sweeps/breath-space-1.csv  # needs matplotlib
"""

from __future__ import annotations

import csv
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

from vitruvian.scenes.breath_space import ADULT
from vitruvian.view import render_picture
from vitruvian.world import Recording

HERE = Path(__file__).parent
INSTANTS = {
    "breathe": (0.0, 0.6, 1.2, 2.0, 3.0),
    "laugh": (0.0, 1.2, 1.7, 2.5, 3.4),  # with style=deep_laugh
    "cough": (0.0, 1.1, 1.4, 1.56, 2.0),
    "sneeze": (0.0, 1.3, 2.6, 3.4, 4.0),
    "poke": (0.0, 0.5, 1.0, 1.5, 1.9),  # with depth=0 and breathing=calm
}
LAYERS = ("bones", "belly", "diaphragm", "skin", "hair", "mouth", "eyes", "lips")
SIZE = (300, 380)


def strip(name: str, recording: str) -> None:
    rows = []
    layers = [layer for layer in LAYERS if layer in Recording.open(recording).layers]
    with tempfile.TemporaryDirectory() as folder:
        for camera in ("front", "side"):
            row = []
            for at in INSTANTS[name]:
                out = Path(folder) / f"{camera}-{at}.png"
                render_picture(Recording.open(recording), out, at=at, size=SIZE, layers=layers, camera=camera)
                row.append(np.asarray(Image.open(out).convert("RGB")))
            rows.append(np.concatenate(row, axis=1))
    Image.fromarray(np.concatenate(rows)).save(HERE / "pictures" / f"torso-{name}.webp", quality=80)


def space(table: str) -> None:
    """Tidal volume over contraction and period, with the lines of an adult's least, usual and largest (figure 5.3)."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with open(table, newline="") as file:
        rows = list(csv.DictReader(file))
    x, y = (np.unique([float(row[key]) for row in rows]) for key in ("contraction", "period"))
    volume = np.full((len(y), len(x)), np.nan)
    for row in rows:
        i, j = np.searchsorted(y, float(row["period"])), np.searchsorted(x, float(row["contraction"]))
        volume[i, j] = float(row["tidal_volume"] or "nan")
    figure, axes = plt.subplots(figsize=(7.2, 4.6), dpi=110)
    tint = axes.pcolormesh(x, y, volume, shading="nearest", cmap="viridis", vmin=0.0)
    lines = axes.contour(x, y, volume, levels=[ADULT[0], 0.5, ADULT[1]], colors="white", linewidths=1.5)
    axes.clabel(lines, fmt="%.2g l")
    axes.set(xlabel="contraction (1: calm breath)", ylabel="seconds per breath", title=f"{len(rows)} runs")
    figure.colorbar(tint, label="tidal volume [l]")
    figure.tight_layout()
    figure.canvas.draw()
    Image.fromarray(np.asarray(figure.canvas.buffer_rgba())[..., :3]).save(
        HERE / "pictures" / "torso-space.webp", quality=85
    )


if __name__ == "__main__":
    for word in sys.argv[1:]:
        name, path = word.split("=", 1)
        space(path) if name == "space" else strip(name, path)
