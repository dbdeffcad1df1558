"""Path-traced pictures and films of recordings, and Blender scenes of them.

    traced_picture(recording, "crawl.png", at=1.5, quality="standard")
    traced_film(recording, "crawl.mp4")              # stopped and begun again, it goes on where it was
    write_blend(recording, "crawl.blend")

Each picture of a film is kept, until the film is whole, in a folder beside it, under a name made of what it shows and
how; a picture that is there already is not drawn again.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from vitruvian.errors import unknown_name
from vitruvian.view.camera import Place
from vitruvian.view.cycles.engine import SCRIPT, find_blender, tell_blender
from vitruvian.view.cycles.folder import FolderWriter, write_folder
from vitruvian.view.film import encoder
from vitruvian.view.overlay import write_over
from vitruvian.view.render import FILMS, PICTURES, SAVE, checked_fps, checked_path, film_frames, frame_at
from vitruvian.world.whole_file import whole_file

Array = np.ndarray
SAMPLES = {"draft": 24, "standard": 96, "fine": 384}
"""Paths per pixel, by quality; all are denoised."""
DEVICES = ("auto", "cpu", "cuda")


def traced_picture(
    recording: Any,
    out_path: str | Path,
    *,
    at: float | None = None,
    size: tuple[int, int] = (1280, 720),
    layers: Iterable[str] | None = None,
    camera: str | None = None,
    place: Place | None = None,
    quality: str = "standard",
    device: str = "auto",
    words: bool = True,
) -> Path:
    """One picture at the time `at` [s] (the recorded frame nearest to it; the middle one for None)."""
    out = checked_path(out_path, PICTURES)
    i = frame_at(recording, at)
    with _Tracing(recording, None, size, layers, camera, place, quality, device) as tracing:
        for _, path in tracing.draw([i]):
            picture = tracing.finished(path, i, words)
    with whole_file(out) as partial:
        Image.fromarray(picture).save(partial, **SAVE.get(out.suffix.lower(), {}))
    return out


def traced_film(
    recording: Any,
    out_path: str | Path,
    *,
    size: tuple[int, int] = (1280, 720),
    layers: Iterable[str] | None = None,
    camera: str | None = None,
    place: Place | None = None,
    fps: float | None = None,
    quality: str = "draft",
    device: str = "auto",
    words: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """A film (h264) of the whole recording; `progress(done, total)` is called after every picture."""
    out = checked_path(out_path, FILMS)
    checked_fps(fps)
    size = (size[0] - size[0] % 2, size[1] - size[1] % 2)
    rate, order = film_frames(np.asarray(recording.time, dtype=float), fps)
    wanted = list(dict.fromkeys(order.tolist()))
    kept = out.with_name(f"{out.name}.frames")
    with _Tracing(recording, kept, size, layers, camera, place, quality, device) as tracing:
        paths: dict[int, Path] = {}
        for i, path in tracing.draw(wanted):
            paths[i] = path
            if progress is not None:
                progress(len(paths), len(wanted))
        with whole_file(out) as partial, encoder(partial, size, rate) as add:
            for i in order.tolist():
                add(tracing.finished(paths[i], i, words))
    shutil.rmtree(kept)
    return out


def write_blend(recording: Any, out: str | Path, progress: Callable[[float, float], None] | None = None) -> Path:
    """Write the recording as a Blender scene, with all of its cameras."""
    find_blender()
    time = np.asarray(recording.time, dtype=float)
    rate, order = film_frames(time)
    with tempfile.TemporaryDirectory(prefix="vitruvian-blend-") as folder:
        frames = list(dict.fromkeys(order.tolist()))
        write_folder(recording, folder, frames, rate=rate, all_cameras=True)
        for told in tell_blender(folder, "--blend", Path(out).resolve(), "--device", "cpu"):
            if progress is not None and "done" in told:
                progress(told["done"], told["total"])
    return Path(out)


class _Tracing:
    """A recording in Blender: `draw` gives pictures as they are done. Kept in `kept`, or thrown away for None."""

    def __init__(
        self,
        recording: Any,
        kept: Path | None,
        size: tuple[int, int],
        layers: Iterable[str] | None,
        camera: str | None,
        place: Place | None,
        quality: str,
        device: str,
    ) -> None:
        if quality not in SAMPLES:
            raise unknown_name("quality", quality, SAMPLES)
        if device not in DEVICES:
            raise unknown_name("device", device, DEVICES)
        find_blender()
        self.recording, self.quality, self.device = recording, quality, device
        self._own = tempfile.TemporaryDirectory(prefix="vitruvian-cycles-")
        self.folder = Path(self._own.name) / "frames"
        self.pictures = kept or Path(self._own.name)
        self.writer = FolderWriter(recording, self.folder, size=size, layers=layers, camera=camera, place=place)
        self.title = str(getattr(recording, "attributes", {}).get("scene", ""))

    def __enter__(self) -> _Tracing:
        return self

    def __exit__(self, *_: object) -> None:
        self._own.cleanup()

    def draw(self, frames: list[int]) -> Iterable[tuple[int, Path]]:
        """The number and the picture of each of these recorded frames, as they are done."""
        files = [self.writer.add(i) for i in frames]
        self.writer.close()
        names = [self._name(k, file) for k, file in enumerate(files)]
        words = ["--names", ",".join(names), "--samples", str(SAMPLES[self.quality]), "--device", self.device]
        for told in tell_blender(self.folder, "--pictures", self.pictures, *words):
            if "frame" in told:
                yield frames[told["frame"]], Path(told["out"])

    def finished(self, path: Path, i: int, words: bool) -> Array:
        """The picture of recorded frame i, with words over it."""
        with Image.open(path) as image:
            picture = np.asarray(image.convert("RGB"))
        if not words:
            return picture
        return write_over(picture, self.title, float(self.recording.time[i]), self.writer.model.colour_maps())

    def _name(self, k: int, file: str) -> str:
        """A name that says all that the picture depends on."""
        digest = hashlib.blake2b(digest_size=8)
        for part in sorted([*SCRIPT.glob("*.py"), self.folder / "still.npz", self.folder / file]):
            digest.update(part.read_bytes())
        digest.update(repr((self.quality, self.writer.size, self.writer.seen_from(k))).encode())
        return f"{Path(file).stem}-{digest.hexdigest()}.png"
