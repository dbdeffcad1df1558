"""Pictures and films of recordings, drawn off screen by our own renderer (no graphics library is needed).

    render_picture(recording, "hand.png", at=1.5)
    render_film(recording, "hand.mp4")

A film runs in real time. Its frame rate is the recording's where that is between 10 and 60 frames per second; a
recording that is finer or coarser is shown at 60 or 30, each film frame taking the nearest recorded one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from vitruvian.errors import InputError
from vitruvian.view.camera import Bounds, Pinhole, Place, bounds_of, follow_shift, pinhole, view_of
from vitruvian.view.drawing import Model
from vitruvian.view.film import encoder
from vitruvian.view.overlay import write_over
from vitruvian.view.raster.frame import Setting, draw
from vitruvian.view.raster.types import AIR
from vitruvian.view.sea import open_water, surround
from vitruvian.world import Frame
from vitruvian.world.whole_file import check_writable, whole_file

if TYPE_CHECKING:
    from vitruvian.world import Recording

Array = np.ndarray

PICTURES = (".png", ".webp", ".jpg", ".jpeg")
FILMS = (".mp4", ".mov", ".mkv")
SIDE = (16, 8192)  # least and greatest width and height [pixel]
MOST_REPEATS = 60  # times that a film may show each recorded frame, on average
LOOKED_AT = 24  # frames that are measured to find what a run sweeps over


def render_picture(
    recording: Recording | Any,
    out_path: str | Path,
    *,
    at: float | None = None,
    size: tuple[int, int] = (1280, 720),
    layers: Iterable[str] | None = None,
    camera: str | None = None,
    place: Place | None = None,
) -> Path:
    """One picture at the time `at` [s] (the recorded frame nearest to it; the middle one for None)."""
    out = _checked_path(out_path, PICTURES)
    shooting = Shooting(recording, size=size, layers=layers, camera=camera, place=place, samples=8)
    time = np.asarray(recording.time, dtype=float)
    if at is None:
        i = len(time) // 2
    else:
        if not time[0] - 1e-9 <= at <= time[-1] + 1e-9:
            raise InputError(f"time {at:g} s is not in the recording, which runs from {time[0]:g} to {time[-1]:g} s")
        i = int(np.abs(time - at).argmin())
    with whole_file(out) as partial:
        Image.fromarray(shooting.shoot(i)).save(partial, **_SAVE.get(out.suffix.lower(), {}))
    return out


def render_film(
    recording: Recording | Any,
    out_path: str | Path,
    *,
    size: tuple[int, int] = (1280, 720),
    layers: Iterable[str] | None = None,
    camera: str | None = None,
    place: Place | None = None,
    fps: float | None = None,
    sound: tuple[Path, float] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """A film (h264) of the whole recording; `progress(done, total)` is called after every frame; sound: a file, and
    the seconds after which it begins."""
    out = _checked_path(out_path, FILMS)
    if fps is not None and not 0.5 <= fps <= 240.0:
        raise InputError(f"a film needs between 0.5 and 240 frames per second, not {fps:g}")
    # The codec halves the colour planes, so sides must be even.
    size = (size[0] - size[0] % 2, size[1] - size[1] % 2)
    shooting = Shooting(recording, size=size, layers=layers, camera=camera, place=place, samples=4)
    rate, order = film_frames(np.asarray(recording.time, dtype=float), fps)
    with whole_file(out) as partial, encoder(partial, size, rate, sound) as add:
        last, shown = -1, np.zeros(0, np.uint8)
        for done, i in enumerate(order):
            if i != last:
                shown, last = shooting.shoot(int(i)), int(i)
            add(shown)
            if progress is not None:
                progress(done + 1, len(order))
    return out


def film_frames(time: Array, fps: float | None = None) -> tuple[float, Array]:
    """Frames per second of a film, and which recorded frame each of its frames shows."""
    if len(time) < 2 or time[-1] <= time[0]:
        return (fps or 30.0), np.zeros(1, dtype=int)
    recorded = (len(time) - 1) / (time[-1] - time[0])
    rate = fps or (recorded if 10.0 <= recorded <= 60.5 else (60.0 if recorded > 60.5 else 30.0))
    rate = round(rate, 3)
    if abs(rate - recorded) < 1e-3 * recorded:
        return rate, np.arange(len(time))
    count = (time[-1] - time[0]) * rate + 1e-6
    if count > MOST_REPEATS * (len(time) + 60):
        raise InputError(
            f"{len(time)} recorded frames lie {time[-1] - time[0]:.3g} s apart, which are {count:.3g} frames of a film "
            f"with {rate:g} a second; give fewer frames per second"
        )
    wanted = time[0] + np.arange(int(count) + 1) / rate
    right = np.clip(np.searchsorted(time, wanted), 1, len(time) - 1)
    return rate, np.where(wanted - time[right - 1] < time[right] - wanted, right - 1, right)


class Shooting:
    """A recording before a camera; `shoot(i)` gives the picture of frame i, sRGB bytes (height, width, 3)."""

    def __init__(
        self,
        recording: Recording | Any,
        *,
        size: tuple[int, int] = (1280, 720),
        layers: Iterable[str] | None = None,
        camera: str | None = None,
        place: Place | None = None,
        samples: int = 4,
        threads: int = 0,
        words: bool = True,
    ) -> None:
        width, height = int(size[0]), int(size[1])
        if not (SIDE[0] <= width <= SIDE[1] and SIDE[0] <= height <= SIDE[1]):
            raise InputError(f"size {width}x{height}: width and height must be between {SIDE[0]} and {SIDE[1]} pixels")
        if len(recording.time) == 0:
            raise InputError("the recording has no frames yet, so there is nothing to draw")
        self.recording, self.size, self.words = recording, (width, height), words
        self.model = Model(recording.stage, layers)
        self.water = open_water(recording.stage) if "water" in self.model.layers else None
        self._first: Frame = recording.frame(0)
        self.bounds = self._sweep()
        self.eye, self.target, self.follow = view_of(recording.stage, camera, self.bounds, self.size)
        self.place = place or Place()
        self.eye, self.target = self.place.instead_of(self.eye, self.target)
        self.samples, self.threads = samples, threads
        self.title = str(getattr(recording, "attributes", {}).get("scene", ""))

    def shoot(self, i: int) -> Array:
        """The picture of recorded frame i."""
        frame = self.recording.frame(i)
        shift = follow_shift(self.recording.stage, self.follow, self._first, frame)
        eye, target = self.place.turned(self.eye, self.target, self._part(i))
        eye, target = eye + shift, target + shift
        camera: Pinhole = pinhole(eye, target, self.size)
        drawing = self.model.draw(frame)
        seen = drawing.points()
        middle = 0.5 * (seen.min(axis=0) + seen.max(axis=0)) if len(seen) else self.bounds.centre
        setting = Setting(middle, self.bounds.reach, self.recording.stage.ground, self.samples, self.threads)
        medium = AIR
        if self.water is not None:
            drawing, medium = surround(drawing, self.water, frame, eye, target, self.bounds.reach)
        picture = draw(drawing, camera, setting, medium)
        if not self.words:
            return picture
        return write_over(picture, self.title, float(self.recording.time[i]), self.model.colour_maps())

    def _part(self, i: int) -> float:
        """How much of the recording has gone by at frame i, 0..1."""
        time = self.recording.time
        return float((time[i] - time[0]) / (time[-1] - time[0])) if len(time) > 1 else 0.0

    def _sweep(self) -> Bounds:
        n = len(self.recording.time)
        looked_at = np.unique(np.linspace(0, n - 1, min(n, LOOKED_AT)).round().astype(int))
        return bounds_of(self.model.draw(self.recording.frame(int(i))).points() for i in looked_at)


_SAVE: dict[str, dict[str, Any]] = {
    ".png": {"optimize": True},
    ".webp": {"quality": 90, "method": 4},
    ".jpg": {"quality": 92},
    ".jpeg": {"quality": 92},
}


def _checked_path(path: str | Path, endings: tuple[str, ...]) -> Path:
    out = Path(path)
    if out.suffix.lower() not in endings:
        kinds = f"a picture ends in {', '.join(PICTURES)}, a film in {', '.join(FILMS)}"
        raise InputError(f"{out.name}: {f'unknown format {out.suffix!r}' if out.suffix else 'no suffix'}; {kinds}")
    check_writable(out)
    return out
