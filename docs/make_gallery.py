"""Run every scene at draft quality, take its picture and write docs/gallery.md.

.venv/bin/python docs/make_gallery.py              all scenes
.venv/bin/python docs/make_gallery.py knee beads   only these; the page is written anew from all pictures present
.venv/bin/python docs/make_gallery.py --page       none; only the page
.venv/bin/python docs/make_gallery.py --film jump=recordings/jump-1.zarr   its film, too
.venv/bin/python docs/make_gallery.py crawl=recordings/crawl-3.zarr   this recording instead of a new run
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path
from textwrap import fill

import numpy as np
from PIL import Image

from vitruvian.scenes import all_scenes
from vitruvian.view import Shooting
from vitruvian.view.render import frame_at
from vitruvian.world import Recording, Scene, scene_parameters

HERE = Path(__file__).parent
# Instant [s] and camera of the picture where the middle of the run is not the best view.
MOMENTS: dict[str, list[str]] = {
    "letters": ["--at", "0.5"],
    "knee": ["--at", "0.5"],
    "curl": ["--at", "1.2"],
    "collapse": ["--at", "0.7"],
    "jump": ["--at", "1.03"],
    "walk": ["--at", "1.2", "--camera", "side"],
    "biceps": ["--at", "0.6"],
    "jiggle": ["--at", "0.35"],
    "dam-break": ["--at", "0.75"],
    "crawl": ["--at", "3.49", "--camera", "side"],
    "butterfly": ["--at", "3.19", "--camera", "side"],
    "breaststroke": ["--at", "3.14", "--camera", "side"],
    "backstroke": ["--at", "2.97", "--camera", "side"],
    "perturb": ["--at", "4.2", "--camera", "front"],
    "swim-switch": ["--at", "4.2", "--camera", "side"],
    "drop": ["--at", "0.15"],
    "vessel": ["--at", "0.5", "--camera", "corner"],
    "swim-turn": ["--at", "6", "--camera", "top"],
    "swim-follow": ["--at", "7.7", "--camera", "top"],
    "swim-faster": ["--at", "5.6", "--camera", "front"],
    "swim-compare": ["--camera", "lanes"],
    "supine": ["--at", "0.8", "--camera", "lanes"],
    "prone": ["--at", "1.5", "--camera", "lanes"],
    "naturalness": ["--at", "1.0", "--camera", "lanes"],
    "tread": ["--at", "5", "--camera", "side"],
    "swim-to": ["--at", "5", "--camera", "top"],
    "medley": ["--at", "5", "--camera", "front"],
    "elbow-bend": ["--at", "1.6"],
    "kick-momentum": ["--at", "2.0"],
    "michelin-run": ["--at", "5.9", "--camera", "corner"],
    "jump-kick": ["--at", "0.6", "--camera", "corner"],
    "kung-fu": ["--at", "0.6", "--camera", "corner"],
    "panda-run": ["--at", "5.72", "--camera", "corner"],
    "soft-float": ["--at", "3.0", "--camera", "corner"],
    "baby-roll": ["--at", "0.5", "--camera", "side"],
    "soft-push": ["--at", "2.3", "--camera", "corner"],
    "stiffness-range": ["--at", "1.0"],
    "gaze": ["--at", "8.5", "--camera", "close"],
    "breath-capture": ["--at", "1.2", "--camera", "half"],
    "breathe": ["--at", "1.2", "--camera", "half"],
    "laugh": ["--at", "2.0", "--camera", "half"],
    "laugh-audio": ["--at", "1.5", "--camera", "half"],
    "cough": ["--at", "1.5", "--camera", "side"],
    "sneeze": ["--at", "3.5", "--camera", "side"],
    "paradox": ["--at", "5.2", "--camera", "front"],
    "belly-drop": ["--at", "0.44", "--camera", "side"],
}
# Further pictures from the same run, for the other pages: name, options.
MORE: dict[str, list[tuple[str, list[str]]]] = {
    "crawl": [
        ("swimmer", ["--at", "3.2", "--size", "1600x900", "--camera", "side"]),
        ("swim-top", ["--at", "3.76", "--size", "960x540", "--camera", "top"]),
        ("swim-under", ["--at", "4.24", "--size", "960x540", "--camera", "under"]),
        ("swim-breath", ["--at", "3.44", "--size", "960x540", "--camera", "front"]),
    ],
}
# Camera, begin and end [s] of the films that the page shows.
FILMS: dict[str, tuple[str, float, float]] = {
    "crawl": ("side", 0.5, 2.5),
    "jump": ("corner", 0.0, 1.35),
    "laugh": ("half", 1.5, 4.0),
    "panda-run": ("corner", 5.0, 7.0),
}
FILM_SIZE, FILM_RATE = (480, 270), 12.0
HEAD = """# Gallery

Each scene is an experiment that checks itself: `vitruvian run NAME` runs it, `vitruvian view` shows it,
`vitruvian info NAME` lists what can be set. The pictures and figures below are those of a run at draft quality,
made by `docs/make_gallery.py`. Ten stills and a film by Blender's Cycles: [path-traced pictures](path-traced.md).
"""


def main(asked: list[str]) -> None:
    scenes = all_scenes()
    figures_file = HERE / "pictures" / "figures.json"
    figures = json.loads(figures_file.read_text()) if figures_file.exists() else {}
    given = dict(word.partition("=")[::2] for word in asked)
    for name, recording in given.items() if "--film" in given else ():
        if recording:
            film(name, recording)
    for scene in scenes:
        if "--film" not in given and (not asked or scene.name in given):
            print(scene.name, flush=True)
            figures[scene.name] = photograph(scene, given.get(scene.name, ""))
    figures = dict(sorted(figures.items()))  # checks stay in the scene's order: they are read as a sentence
    figures_file.write_text(json.dumps(figures, indent=1) + "\n")
    page = [HEAD]
    for scene in scenes:
        if scene.name in figures:
            page.append(entry(scene, figures[scene.name]))
    (HERE / "gallery.md").write_text("\n".join(page))


def photograph(scene: Scene, recording: str = "") -> dict:
    """Run the scene unless there is a recording of it, write its picture, return its report."""
    with tempfile.TemporaryDirectory() as folder:
        if not recording:
            recording = f"{folder}/{scene.name}.zarr"
            run = [sys.executable, "-m", "vitruvian", "run", scene.name, "--out", recording, "--json"]
            if subprocess.run(run, stdout=subprocess.DEVNULL).returncode not in (0, 1):  # 1: a check failed
                raise SystemExit(f"{scene.name} could not be run")
        own = (scene.name, ["--size", "960x540", *MOMENTS.get(scene.name, [])])
        for picture, options in (own, *MORE.get(scene.name, [])):
            out = str(HERE / "pictures" / f"{picture}.webp")
            subprocess.run([sys.executable, "-m", "vitruvian", "render", recording, out, *options], check=True)
        recorded = Recording.open(recording)
        report = scene.check(recorded, scene_parameters(scene, "draft", recorded.attributes["parameters"]))
        metrics = {name: value if math.isfinite(value) else None for name, value in report.metrics.items()}
        checks = {name: bool(passed) for name, passed in report.checks.items()}
        return {"seconds": recorded.duration, "checks": checks, "metrics": metrics}


def film(name: str, path: str) -> None:
    """A few seconds of a recording as a picture that moves."""
    recording = Recording.open(path)
    camera, begin, end = FILMS[name]
    shooting = Shooting(recording, size=FILM_SIZE, camera=camera, words=False)
    frames = [frame_at(recording, at) for at in np.arange(begin, end, 1.0 / FILM_RATE)]
    pictures = [Image.fromarray(shooting.shoot(i)) for i in frames]
    out, every = HERE / "pictures" / f"film-{name}.webp", round(1000 / FILM_RATE)
    pictures[0].save(out, save_all=True, append_images=pictures[1:], duration=every, loop=0, quality=60, method=4)


def entry(scene, report: dict) -> str:
    answers = f" Answers to {scene.answers}." if scene.answers else ""
    metrics = ", ".join(f"{name} {value:.4g}" for name, value in report["metrics"].items() if value is not None)
    checks = "; ".join(f"{name}{'' if passed else ' (FAILED)'}" for name, passed in report["checks"].items())
    told = (f"{scene.headline}.{answers}", f"Checked: {checks}.", f"Measured over {report['seconds']:g} s: {metrics}.")
    lines = "\n\n".join(fill(line, 148, break_long_words=False, break_on_hyphens=False) for line in told)
    shown = f"![{scene.name}](pictures/{scene.name}.webp)"
    if (HERE / "pictures" / f"film-{scene.name}.webp").exists():
        shown += f"\n\n![{scene.name}, moving](pictures/film-{scene.name}.webp)"
    return f"## {scene.name}\n\n{shown}\n\n{lines}\n"


if __name__ == "__main__":
    main(sys.argv[1:])
