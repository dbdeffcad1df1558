"""Pictures and films of recordings, drawn off screen by our own renderer (no graphics library is needed).

    render_picture(recording, "hand.png", at=1.5)
    render_film(recording, "hand.mp4")

A film runs in real time. Its frame rate is the recording's where that is between 10 and 30 frames per second, the
greatest whole part of it below where it is finer (48 becomes 24), 30 where it is coarser; or any other that is asked
for, each film frame taking the nearest recorded one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from vitruvian.errors import InputError
from vitruvian.view.blur import blurred
from vitruvian.view.camera import Bounds, Pinhole, Place, bounds_of, follow_shift, pinhole, view_of
from vitruvian.view.drawing import Model
from vitruvian.view.film import encoder
from vitruvian.view.overlay import write_over
from vitruvian.view.raster.frame import Room, Setting, draw
from vitruvian.view.raster.types import AIR
from vitruvian.view.sea import open_water, surround
from vitruvian.world import Frame
from vitruvian.world.whole_file import check_writable, whole_file

if TYPE_CHECKING:
    from vitruvian.world import Recording

Array = np.ndarray

PICTURES = (".png", ".webp", ".jpg", ".jpeg")
FILMS = (".mp4", ".mov", ".mkv")
USUAL = 30.0  # frames per second of a film, at most, unless asked for
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
    out = checked_path(out_path, PICTURES)
    shooting = Shooting(recording, size=size, layers=layers, camera=camera, place=place, samples=8)
    i = frame_at(recording, at)
    with whole_file(out) as partial:
        Image.fromarray(shooting.shoot(i)).save(partial, **SAVE.get(out.suffix.lower(), {}))
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
    blur: float = 0.0,
    sound: tuple[Path, float] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """A film (h264) of the whole recording; `progress(done, total)` is called after every frame; blur: the part (0..1)
    of each frame's time for which the shutter is open; sound: a file, and the seconds after which it begins."""
    out = checked_path(out_path, FILMS)
    checked_fps(fps)
    if not 0.0 <= blur <= 1.0:
        raise InputError(f"'blur' is the part of a frame's time for which the shutter is open, 0 to 1, not {blur:g}")
    # The codec halves the colour planes, so sides must be even.
    size = (size[0] - size[0] % 2, size[1] - size[1] % 2)
    shooting = Shooting(recording, size=size, layers=layers, camera=camera, place=place, samples=4)
    rate, order = film_frames(np.asarray(recording.time, dtype=float), fps)
    with whole_file(out) as partial, encoder(partial, size, rate, sound) as add:
        last, shown = -1, np.zeros(0, np.uint8)
        for done, i in enumerate(order):
            if i != last:
                shown, last = shooting.shoot(int(i), blur / rate), int(i)
            add(shown)
            if progress is not None:
                progress(done + 1, len(order))
    return out


def frame_at(recording: Any, at: float | None) -> int:
    """The recorded frame nearest to the time `at` [s]; the middle one for None."""
    time = np.asarray(recording.time, dtype=float)
    if at is None:
        return len(time) // 2
    if not time[0] - 1e-9 <= at <= time[-1] + 1e-9:
        raise InputError(f"time {at:g} s is not in the recording, which runs from {time[0]:g} to {time[-1]:g} s")
    return int(np.abs(time - at).argmin())


def checked_fps(fps: float | None) -> None:
    """Raise `InputError` unless a film can have this many frames per second."""
    if fps is not None and not 0.5 <= fps <= 240.0:
        raise InputError(f"a film needs between 0.5 and 240 frames per second, not {fps:g}")


def film_frames(time: Array, fps: float | None = None) -> tuple[float, Array]:
    """Frames per second of a film, and which recorded frame each of its frames shows."""
    if len(time) < 2 or time[-1] <= time[0]:
        return (fps or 30.0), np.zeros(1, dtype=int)
    recorded = (len(time) - 1) / (time[-1] - time[0])
    every = max(int(np.ceil(recorded / USUAL - 0.02)), 1)
    rate = round(fps or (recorded / every if recorded >= 10.0 else USUAL), 3)
    if (whole := round(recorded / rate)) >= 1 and abs(rate * whole - recorded) < 1e-3 * recorded and _even(time):
        return rate, np.arange(0, len(time), whole)
    count = (time[-1] - time[0]) * rate + 1e-6
    if count > MOST_REPEATS * (len(time) + 60):
        raise InputError(
            f"{len(time)} recorded frames lie {time[-1] - time[0]:.3g} s apart, which are {count:.3g} frames of a film "
            f"with {rate:g} a second; give fewer frames per second"
        )
    wanted = time[0] + np.arange(int(count) + 1) / rate
    right = np.clip(np.searchsorted(time, wanted), 1, len(time) - 1)
    return rate, np.where(wanted - time[right - 1] < time[right] - wanted, right - 1, right)


def _even(time: Array) -> bool:
    """Whether frames lie at even distances."""
    steps = np.diff(time)
    return bool(np.ptp(steps) < 0.05 * steps.mean())


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
        self.bounds = swept(recording, self.model)
        self.eye, self.target, self.follow = view_of(recording.stage, camera, self.bounds, self.size)
        self.place = place or Place()
        self.eye, self.target = self.place.instead_of(self.eye, self.target)
        self.samples, self.threads, self._room = samples, threads, Room()
        self.title = str(getattr(recording, "attributes", {}).get("scene", ""))

    def shoot(self, i: int, shutter: float = 0.0) -> Array:
        """The picture of recorded frame i; shutter: seconds for which it is open, for motion blur."""
        time = float(self.recording.time[i])
        if shutter > 0.0 and len(self.recording.time) > 1:
            picture = blurred(self.recording, i, shutter, self._draw)
        else:
            picture = self._draw(self.recording.frame(i), time)
        return write_over(picture, self.title, time, self.model.colour_maps()) if self.words else picture

    def _draw(self, frame: Frame, time: float) -> Array:
        """The picture of a frame at `time` [s], without words."""
        shift = follow_shift(self.recording.stage, self.follow, self._first, frame)
        eye, target = self.place.turned(self.eye, self.target, self._part(time))
        eye, target = eye + shift, target + shift
        camera: Pinhole = pinhole(eye, target, self.size)
        drawing = self.model.draw(frame)
        seen = drawing.box()
        middle = self.bounds.centre if seen is None else 0.5 * (seen[0] + seen[1])
        setting = Setting(middle, self.bounds.reach, self.recording.stage.ground, self.samples, self.threads)
        medium = AIR
        if self.water is not None:
            drawing, medium = surround(drawing, self.water, frame, eye, target, self.bounds.reach)
        return draw(drawing, camera, setting, medium, self._room)

    def _part(self, at: float) -> float:
        """How much of the recording has gone by at the time `at` [s], 0..1."""
        time = self.recording.time
        return float((at - time[0]) / (time[-1] - time[0])) if len(time) > 1 else 0.0


def swept(recording: Any, model: Model) -> Bounds:
    """What a recording sweeps over, measured at some of its frames."""
    n = len(recording.time)
    looked_at = np.unique(np.linspace(0, n - 1, min(n, LOOKED_AT)).round().astype(int))
    return bounds_of(model.draw(recording.frame(int(i))).points() for i in looked_at)


SAVE: dict[str, dict[str, Any]] = {
    ".png": {"optimize": True},
    ".webp": {"quality": 90, "method": 4},
    ".jpg": {"quality": 92},
    ".jpeg": {"quality": 92},
}


def checked_path(path: str | Path, endings: tuple[str, ...]) -> Path:
    """The file to be written; `InputError` if its ending is none of these, or it cannot be written."""
    out = Path(path)
    if out.suffix.lower() not in endings:
        kinds = f"a picture ends in {', '.join(PICTURES)}, a film in {', '.join(FILMS)}"
        raise InputError(f"{out.name}: {f'unknown format {out.suffix!r}' if out.suffix else 'no suffix'}; {kinds}")
    check_writable(out)
    return out
