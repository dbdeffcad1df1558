"""Path-traced pictures of docs/path-traced.md from recordings: writes docs/pictures/cycles-NAME.webp, tells the time.

    python docs/make_traced.py crawl-under=recordings/crawl-1.zarr laugh=recordings/laugh-1.zarr

Needs Blender (`vitruvian doctor`); on a processor, not on a graphics card. `crawl-film` is the film.
"""

from __future__ import annotations

import resource
import sys
import tempfile
from pathlib import Path

from PIL import Image

import vitruvian as vt
from vitruvian.view.cycles.render import traced_film, traced_picture

HERE = Path(__file__).parent
TALL, WIDE = (640, 800), (960, 540)
# Camera, instant [s], size [pixel], layers.
STILLS: dict[str, tuple[str | None, float, tuple[int, int], list[str] | None]] = {
    "crawl-under": ("under", 2.0, WIDE, None),
    "crawl-side": ("side", 2.0, WIDE, None),
    "crawl-muscles": ("front", 1.6, WIDE, ["bones", "muscles", "water"]),
    "curl": (None, 1.2, TALL, None),
    "expressions": ("three-quarter", 17.5, TALL, None),
    "conversation": ("front", 15.0, WIDE, None),
    "jump": ("corner", 1.03, TALL, None),
    "laugh": ("half", 3.5, TALL, None),
    "panda": ("corner", 5.72, WIDE, None),
    "stand": ("corner", 0.3, TALL, None),
}
FILM = {"camera": "side", "size": (480, 270), "fps": 12.0}


def processor() -> float:
    """Seconds of processor that finished processes of ours took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(asked: list[str]) -> None:
    for word in asked:
        name, _, path = word.partition("=")
        recording, began, out = vt.open(path), processor(), HERE / "pictures" / f"cycles-{name}.webp"
        if name == "crawl-film":
            film(recording, out)
        else:
            camera, at, size, layers = STILLS[name]
            traced_picture(
                recording,
                out,
                at=at,
                camera=camera,
                size=size,
                layers=layers,
                quality="draft",
                device="cpu",
                words=False,
            )
        print(f"{out.name}: {processor() - began:.0f} s of processor", flush=True)


def film(recording: vt.Recording, out: Path) -> None:
    """A film that moves in a page: an animated picture."""
    import imageio_ffmpeg

    with tempfile.TemporaryDirectory() as folder:
        made = traced_film(recording, Path(folder) / "film.mp4", quality="draft", device="cpu", words=False, **FILM)
        frames = imageio_ffmpeg.read_frames(str(made))
        size = next(frames)["size"]
        pictures = [Image.frombytes("RGB", size, frame) for frame in frames]
    every = round(1000 / FILM["fps"])
    pictures[0].save(out, save_all=True, append_images=pictures[1:], duration=every, loop=0, quality=80, method=4)


if __name__ == "__main__":
    main(sys.argv[1:])
