"""`vitruvian laugh`: a sound of laughter in, a body that laughs it out, with the sound in the film."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from vitruvian.cli.looking import parse_size
from vitruvian.cli.output import DRAWING, print_json, progress_bar, remark
from vitruvian.cli.running import Json


def laugh(
    sound: Annotated[Path, typer.Argument(metavar="SOUND", help="WAV, FLAC, OGG or MP3 of someone who laughs.")],
    out: Annotated[Path | None, typer.Argument(metavar="OUT.mp4", help="Film to write; SOUND.mp4 without it.")] = None,
    intensity: Annotated[float, typer.Option(help="Pressure of the loudest call in kPa.")] = 1.0,
    breath: Annotated[
        float, typer.Option(help="Activation of the diaphragm in the breath before; 0: as the bout will need.")
    ] = 0.0,
    size: Annotated[str, typer.Option(metavar="WxH", help="Width and height in pixels.")] = "960x540",
    camera: Annotated[str, typer.Option(help="front, side, half or person.")] = "half",
    behaviour: Annotated[Path | None, typer.Option(help="Write the behaviour found to this .toml file too.")] = None,
    json: Json = False,
) -> int:
    """Make a body laugh as a recording does, and film it with the sound."""
    pixels = parse_size(size)
    from vitruvian.control.behaviour import write_behaviour
    from vitruvian.door import run
    from vitruvian.scenes.laugh_audio import fitted, heard, scene
    from vitruvian.view import render_film

    usual = {name: int(scene.parameters[name].default) for name in ("calls", "steps")}
    found = heard(str(sound), usual["calls"])
    remark(f"{len(found.calls)} calls in {len(found.bouts)} bouts; finding their muscles")
    settings: dict[str, Any] = {"file": str(sound), "intensity": intensity, "breath": breath}
    fit = fitted(str(sound), usual["calls"], usual["steps"], intensity, breath)
    if behaviour is not None:
        behaviour.write_text(write_behaviour(fit.behaviour), encoding="utf-8")
    film = out or sound.with_suffix(".mp4")
    with progress_bar("laughing", "s", slow_start=True) as progress:
        result = run("laugh-audio", seconds=float(fit.time[-1]) + 0.6, **settings, progress=progress)
    with progress_bar("drawing", slow_start=DRAWING) as progress:
        render_film(result.open(), film, size=pixels, camera=camera, sound=(sound, fit.lead), progress=progress)
    metrics = result.metrics
    if json:
        print_json({"out": str(film), "metrics": metrics})
    else:
        remark(
            f"correlation {metrics.get('pressure_correlation', 0.0):.3f}, {metrics['seconds_per_call']:.1f} s a call"
        )
        print(film)
    return 0
