"""The plots of docs/head.md, after figures 4.4 to 4.6 of Lee 2008: a bumpy ride, a blow on the head, a measured head.

python docs/make_head.py bumpy-ride=ride.zarr head-impact=impact.zarr head-track=track.zarr  # needs matplotlib
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import numpy as np
from PIL import Image

from vitruvian.scenes.bumpy_ride import CASES
from vitruvian.scenes.head_impact import TONES
from vitruvian.scenes.head_track import AXES
from vitruvian.world import Recording

matplotlib.use("Agg")
import matplotlib.pyplot as plt

PICTURES = Path(__file__).parent / "pictures"


def ride(axes: np.ndarray, found: Recording) -> None:
    """Wobble, and tone and gain as the controller raises them (figure 4.4)."""
    for name in CASES:
        wobble = np.degrees(found.signals[f"error_{name}"])
        line = axes[0].plot(found.time, wobble, label=f"{name} raised", linewidth=1.2)[0]
        axes[1].plot(found.time, found.signals[f"tone_{name}"], color=line.get_color())
        axes[1].plot(found.time, found.signals[f"gain_{name}"] / 10.0, color=line.get_color(), linestyle="--")
    axes[0].set(title="bumpy ride", ylabel="head off by [°]", xlim=(0.0, found.time[-1]), ylim=(0.0, None))
    axes[1].set(xlabel="time [s]", ylabel="tone c;  gain s / 10 (dashed)", xlim=(0.0, found.time[-1]))
    axes[0].legend(fontsize=8)


def impact(axes: np.ndarray, found: Recording) -> None:
    """Nodding after a blow at three levels of tone (figure 4.5)."""
    for name, tone in TONES.items():
        axes[0].plot(found.time, np.degrees(found.signals[f"head_{name}"]), label=f"c = {tone:g}")
        axes[1].plot(found.time, np.degrees(found.signals[f"error_{name}"]))
    axes[0].set(title="a blow on the forehead", ylabel="nodding [°]", xlim=(0.0, found.time[-1]))
    axes[1].set(xlabel="time [s]", ylabel="head off by [°]", xlim=(0.0, found.time[-1]), ylim=(0.0, None))
    axes[0].legend(fontsize=8)


def track(axes: np.ndarray, found: Recording) -> None:
    """The measured head and ours (figure 4.6)."""
    for at, k in ((0, 2), (1, 0)):
        axes[at].plot(found.time, np.degrees(found.signals["wanted"][:, k]), "--", label="measured")
        axes[at].plot(found.time, np.degrees(found.signals["head"][:, k]), label="neck of muscles")
        axes[at].set(ylabel=f"{AXES[k]} [°]", xlim=(0.0, found.time[-1]))
    axes[0].set(title="a dancer's head")
    axes[1].set(xlabel="time [s]")
    axes[0].legend(fontsize=8)


DRAWN = {"bumpy-ride": ride, "head-impact": impact, "head-track": track}


def main(words: list[str]) -> None:
    """words: scene=recording of each scene."""
    given = dict(word.split("=", 1) for word in words)
    figure, axes = plt.subplots(2, len(DRAWN), figsize=(13.2, 5.4), dpi=100, squeeze=False)
    for column, (name, draw) in zip(axes.T, DRAWN.items()):
        draw(column, Recording.open(given[name]))
    figure.tight_layout()
    figure.canvas.draw()
    Image.fromarray(np.asarray(figure.canvas.buffer_rgba())[..., :3]).save(PICTURES / "head-plots.webp", quality=85)


if __name__ == "__main__":
    main(sys.argv[1:])
