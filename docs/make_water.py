"""Make the drag curve of docs/water.md from a run of `tow` at draft quality.

.venv/bin/python docs/make_water.py FOLDER    the recording is kept in FOLDER and used again
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import matplotlib
import numpy as np
from PIL import Image

from vitruvian.scenes import find
from vitruvian.scenes.tow import PASSIVE_DRAG, TowingSpeeds, drag_curve
from vitruvian.world import Recording

matplotlib.use("Agg")
import matplotlib.pyplot as plt

PICTURES = Path(__file__).parent / "pictures"
INK, BLUE = "#b3332b", "#2f6fa8"


def main(folder: Path) -> None:
    path = folder / "tow.zarr"
    if not path.exists():
        subprocess.run([sys.executable, "-m", "vitruvian", "run", "tow", "--out", str(path)], check=True)
    recording = Recording.open(path)
    plan = TowingSpeeds.of({name: p.default for name, p in find("tow").parameters.items()})
    time, drag = recording.time, recording.signals["drag"][:, 0]
    speeds, means = drag_curve(time, drag, plan)
    coefficient = (means * speeds**2).sum() / (speeds**4).sum()
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.6), layout="constrained")
    left.plot(time, drag, color=INK, lw=1)
    for v, mean, (start, end) in zip(speeds, means, plan.holds):
        left.plot([0.5 * (start + end), end], [mean, mean], color=BLUE, lw=3)
        left.annotate(f"{v:g} m/s", (0.5 * (start + end), mean), (-4, 10), textcoords="offset points", fontsize=8)
    left.set(xlabel="time [s]", ylabel="towing force [N]", ylim=(-30, 1.5 * means.max()))
    v = np.linspace(0.0, 1.1 * speeds.max())
    right.plot(v, coefficient * v**2, color=BLUE, label=f"{coefficient:.1f} v² N")
    right.plot(v, PASSIVE_DRAG * v**2, "--", color="0.5", label=f"people, {PASSIVE_DRAG:g} v² N")
    right.plot(speeds, means, "o", color=INK, label="mean over the second half of each hold")
    right.set(xlabel="speed [m/s]", ylabel="drag [N]")
    right.legend(frameon=False)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(folder / "tow-curve.png", dpi=100)
    Image.open(folder / "tow-curve.png").convert("RGB").save(PICTURES / "tow-curve.webp", quality=90)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
