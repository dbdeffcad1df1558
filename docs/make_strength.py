"""Make the torque-angle curves of docs/body.md: fibres with elastic tendons, the documents' muscles, people.

.venv/bin/python docs/make_strength.py
"""

from __future__ import annotations

import io
from pathlib import Path

import matplotlib
import numpy as np
from PIL import Image

from vitruvian.anatomy import human
from vitruvian.control.strength_curves import strength_curves

matplotlib.use("Agg")
import matplotlib.pyplot as plt

PICTURES = Path(__file__).parent / "pictures"
INK, BLUE, GREY = "#b3332b", "#2f6fa8", "0.6"


def main() -> None:
    fibre, documents = human(muscles="elastic"), human(muscles="documents")
    curves = strength_curves()
    figure, axes = plt.subplots(4, 4, figsize=(12.0, 10.5), layout="constrained")
    for place, curve in zip(axes.flat, curves):
        angles = np.linspace(curve.low, curve.high, 12)
        ours, old = curve.torques(fibre, angles), curve.torques(documents, angles)
        people = curve.human(angles)
        peak = np.nanmax(np.where(np.isnan(people), np.nan, ours))
        place.fill_between(angles, 0.85 * people * peak, 1.15 * people * peak, color=BLUE, alpha=0.25, lw=0)
        place.plot(angles, people * peak, color=BLUE, lw=1, label="people, shape (± 15 %)")
        place.plot(angles, old, color=GREY, lw=1, ls="--", label="documents' muscles")
        place.plot(angles, ours, color=INK, lw=2, label="fibre and elastic tendon")
        place.set_title(f"{curve.movement}\n{curve.condition}", fontsize=9)
        place.set_ylim(0.0, None)
        place.set_xlabel("anatomical angle [°]", fontsize=8)
        place.tick_params(labelsize=8)
        place.spines[["top", "right"]].set_visible(False)
    for place in axes.flat[len(curves) :]:
        place.axis("off")
    axes.flat[len(curves)].legend(*axes.flat[0].get_legend_handles_labels(), frameon=False, fontsize=9, loc="center")
    figure.supylabel("isometric torque [N m]", fontsize=9)
    raw = io.BytesIO()
    figure.savefig(raw, dpi=90)
    Image.open(raw).convert("RGB").save(PICTURES / "strength-curves.webp", quality=85)


if __name__ == "__main__":
    main()
