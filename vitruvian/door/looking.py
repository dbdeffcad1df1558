"""`vt.render`, `vt.show`, `vt.share`: a recording, a run or a world as a picture, a film, in the browser, as a page.

    vt.render("recordings/crawl-1.zarr", "crawl.png", at=1.5, layers=["skin", "water"])
    vt.show(vt.World(system))          # a world that has not run, as it stands now

(`vitruvian.view` is the package that draws; hence `show` and not `view`.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from vitruvian.door.opening import open
from vitruvian.door.running import Run
from vitruvian.errors import InputError, unknown_name
from vitruvian.world import World

ENGINES = ("own", "cycles")

if TYPE_CHECKING:
    from vitruvian.view import MemoryRecording, Viewer
    from vitruvian.world import Recording

    Source: TypeAlias = str | Path | Run | Recording | MemoryRecording | World


def render(
    source: Source,
    out: str | Path,
    *,
    at: float | None = None,
    size: tuple[int, int] = (1280, 720),
    layers: Iterable[str] | None = None,
    camera: str | None = None,
    eye: tuple[float, float, float] | None = None,
    look: tuple[float, float, float] | None = None,
    orbit: float = 0.0,
    fps: float | None = None,
    blur: float = 0.0,
    engine: str = "own",
    quality: str | None = None,
    device: str | None = None,
    progress: Callable[[float, float], None] | None = None,
) -> Path:
    """Draw `source` to the picture (.png, .webp, .jpg) or film (.mp4, .mov, .mkv) `out`, off screen.

    `at` is the time [s] of a picture, the middle without it; `size` is width and height [pixel]; `layers` are the
    layers to show, all without it; `camera` is one of the stage's, or "auto" for the whole run; `eye` and `look` [m]
    put it elsewhere, and it goes `orbit` times around what it looks at during the recording. `fps` [1/s] is for films
    (30 or a little less without it), as is `blur`, the part of a frame's time for which the shutter is open (0 to 1);
    `progress(done, total)` is called after each frame of one. `engine` is our own renderer or "cycles", Blender's
    path tracer, whose `quality` is "draft", "standard" or "fine" and whose `device` is "auto", "cpu" or "cuda".
    """
    from vitruvian.view import render_film, render_picture
    from vitruvian.view.camera import Place
    from vitruvian.view.render import FILMS

    if engine not in ENGINES:
        raise unknown_name("engine", engine, ENGINES)
    traced = {name: value for name, value in (("quality", quality), ("device", device)) if value is not None}
    if traced and engine != "cycles":
        raise InputError(f"'{next(iter(traced))}' is for the engine 'cycles'")
    out = Path(out)
    film = out.suffix.lower() in FILMS
    if film and at is not None:
        raise InputError("'at' chooses the time of a picture; a film shows the whole recording")
    if fps is not None and not film:
        raise InputError("'fps' is for films; a picture has no frame rate")
    place = Place(None if eye is None else tuple(eye), None if look is None else tuple(look), orbit)  # type: ignore[arg-type]
    seen, layers = shown(source), [layers] if isinstance(layers, str) else layers
    if blur and (not film or engine != "own"):
        raise InputError("'blur' is for films of the engine 'own'")
    if engine == "cycles":
        from vitruvian.view.cycles.render import traced_film, traced_picture

        how: dict[str, Any] = {"size": size, "layers": layers, "camera": camera, "place": place, **traced}
        if film:
            return traced_film(seen, out, **how, fps=fps, progress=progress)
        return traced_picture(seen, out, **how, at=at)
    if film:
        return render_film(
            seen, out, size=size, layers=layers, camera=camera, place=place, fps=fps, blur=blur, progress=progress
        )
    return render_picture(seen, out, at=at, size=size, layers=layers, camera=camera, place=place)


def show(
    source: Source,
    second: Source | None = None,
    *,
    port: int = 8080,
    browser: bool = True,
    host: str = "127.0.0.1",
    block: bool = True,
) -> Viewer:
    """Show `source` in the browser until Ctrl-C, with a `second` one on the same time line where it is given.

    With `block` False return at once, for the caller to close.
    """
    from vitruvian.view import serve

    seen = [shown(one) for one in (source, second) if one is not None]
    return serve(*seen, port=port, open_browser=browser, host=host, block=block)


def share(
    *sources: Source,
    out: str | Path,
    fps: float | None = None,
    layers: Iterable[str] | None = None,
    progress: Callable[[float, float], None] | None = None,
) -> Path:
    """Write `sources` (one, or two to compare) as one HTML file that plays in any browser, without Python."""
    from vitruvian.view import write_page

    chosen = [layers] if isinstance(layers, str) else layers
    return write_page([shown(one) for one in sources], out, fps=fps, layers=chosen, progress=progress)


def shown(source: Source) -> Recording | Any:
    """What the eyes need of `source`: a recording, or a world as it stands now as one frame."""
    if isinstance(source, World):
        from vitruvian.view import one_frame

        return one_frame(source.stage(), source.observe())
    recording = open(source) if isinstance(source, str | Path | Run) else source
    if not len(recording.time):
        raise InputError(f"{getattr(recording, 'path', 'the recording')} holds no frames")
    return recording
