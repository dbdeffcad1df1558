"""`vitruvian view`, `share`, `render`, `export` and `info`: of a recording, or of a scene or model before it runs."""

from __future__ import annotations

import os
import re
import socket
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vitruvian.cli.output import DRAWING, patience, print_json, print_table, progress_bar, remark
from vitruvian.cli.running import Json
from vitruvian.errors import InputError

if TYPE_CHECKING:
    from vitruvian.world import Recording

Source = Annotated[str, typer.Argument(metavar="PATH", help="A recording, or the name of a scene or model.")]
Thing = Annotated[str, typer.Argument(metavar="PATH|MODEL", help="A recording, or the name of a scene or model.")]
SIDE = (16, 8192)  # least and greatest width and height [pixel]


def view(
    path: Source,
    second: Annotated[
        str | None, typer.Argument(metavar="[SECOND]", help="Another one beside it, on the same time line.")
    ] = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port of the page.")] = 8080,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open a browser.")] = False,
    host: Annotated[
        str, typer.Option(help="Address to listen on; the default is not seen from outside.")
    ] = "127.0.0.1",
) -> None:
    """Open a recording (or a scene's model) in the browser."""
    _check_host(host)
    from vitruvian.door import show

    other = None if second is None else _shown(second)
    show(_shown(path), other, port=port, browser=not no_open, host=host)


def share(
    path: Source,
    out: Annotated[Path, typer.Argument(metavar="OUT.html", help="Page to write.")],
    second: Annotated[
        str | None, typer.Option("--with", metavar="PATH", help="Another recording beside it, on the same time line.")
    ] = None,
    fps: Annotated[float | None, typer.Option(help="Frames per second; 30, or the recording's, without it.")] = None,
    layers: Annotated[str | None, typer.Option(metavar="A,B", help="Layers to show; all without it.")] = None,
    json: Json = False,
) -> None:
    """Write a recording as one HTML file that plays in any browser, without Python."""
    from vitruvian.door import share as write

    sources = [_shown(one) for one in (path, second) if one is not None]
    with progress_bar("packing") as progress:
        write(*sources, out=out, fps=fps, layers=parse_layers(layers), progress=progress)
    size = out.stat().st_size
    print_json({"out": str(out), "bytes": size}) if json else print(f"{out}  ({size / 1e6:.1f} MB)")


def render(
    path: Source,
    out: Annotated[Path, typer.Argument(metavar="OUT.png|.mp4", help="Picture or film to write.")],
    at: Annotated[float | None, typer.Option(help="Time of the picture in seconds; the middle without it.")] = None,
    size: Annotated[str, typer.Option(metavar="WxH", help="Width and height in pixels.")] = "1280x720",
    layers: Annotated[str | None, typer.Option(metavar="A,B", help="Layers to show; all without it.")] = None,
    camera: Annotated[
        str | None,
        typer.Option(help="Camera of the scene (a swimmer has side, top, under, front); auto: the whole run."),
    ] = None,
    eye: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="X,Y,Z", help="Where the camera is [m]; it goes along with what the scene follows."
        ),
    ] = None,
    look: Annotated[str | None, typer.Option("--look", metavar="X,Y,Z", help="What it looks at [m].")] = None,
    orbit: Annotated[float, typer.Option(help="Turns of the camera about that, over the whole recording.")] = 0.0,
    fps: Annotated[
        float | None, typer.Option(help="Frames per second of a film; those of the recording, up to 30, without it.")
    ] = None,
    blur: Annotated[
        float, typer.Option(help="Motion blur of a film: part of a frame's time, 0 to 1; 6 × slower.")
    ] = 0.0,
    engine: Annotated[
        str, typer.Option(help="own: our renderer, needs nothing; cycles: path-traced by Blender, slow and real.")
    ] = "own",
    quality: Annotated[
        str | None, typer.Option(help="With cycles: draft (films), standard (pictures) or fine.")
    ] = None,
    device: Annotated[str | None, typer.Option(help="With cycles: auto (the default), cpu or cuda.")] = None,
    json: Json = False,
) -> None:
    """Draw a picture or a film of a recording, off screen."""
    pixels, shown = parse_size(size), parse_layers(layers)
    recording = _shown(path)  # before the renderer is loaded, which takes longer than to say what is wrong with a file
    from vitruvian.door import render as draw
    from vitruvian.view.render import FILMS

    how: dict[str, Any] = {"at": at, "size": pixels, "layers": shown, "camera": camera, "fps": fps}
    how |= {"eye": parse_place(eye, "--from"), "look": parse_place(look, "--look"), "orbit": orbit}
    how |= {"engine": engine, "quality": quality, "device": device, "blur": blur}
    if out.suffix.lower() in FILMS:
        with progress_bar("drawing", slow_start=DRAWING) as progress:
            draw(recording, out, **how, progress=progress)
    else:
        with patience(DRAWING):
            draw(recording, out, **how)
    print_json({"out": str(out)}) if json else print(out)


def export(
    path: Thing,
    out: Annotated[Path, typer.Argument(metavar="OUT.(xml|osim|glb|usd|csv|blend)", help="File to write.")],
    json: Json = False,
) -> None:
    """Write a recording or a model in another format."""
    from vitruvian.exchange import export_model, export_recording
    from vitruvian.exchange.export import MODEL_WRITERS, check_suffix

    suffix, kind = out.suffix.lower(), _kind(path)
    if kind == "scene" and suffix in MODEL_WRITERS:
        raise InputError(f"{path} is a scene, and {suffix} holds a model; models: {', '.join(_models())}")
    if kind == "model" and suffix in MODEL_WRITERS:
        export_model(_models()[path](), out)
    else:
        check_suffix(out)
        with progress_bar("writing") as progress:
            export_recording(_shown(path), out, progress)
    print_json({"out": str(out)}) if json else print(out)


def info(
    path: Thing,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Of a scene, with this parameter.")
    ] = None,
    json: Json = False,
) -> None:
    """What is in a recording, a scene or a model: counts, masses, signals, duration."""
    kind = _kind(path)
    if settings and kind != "scene":
        raise InputError(f"--set is for scenes; {path} is a {kind}")
    if kind == "recording":
        from vitruvian.cli.about import about_recording as about
        from vitruvian.world import Recording

        facts = about(Recording.open(path))
    elif kind == "scene":
        from vitruvian.cli.about import about_scene
        from vitruvian.scenes import find
        from vitruvian.world.parameters import split_settings

        facts = about_scene(find(path), split_settings(settings or []))
    else:
        from importlib import import_module

        models = import_module("vitruvian.anatomy.models")
        facts = {"model": path, **models.describe(models.MODELS[path]())}
    if json:
        print_json(facts)
        return
    width = 2 + max(len(name) for name in facts)
    for name, value in facts.items():
        if not isinstance(value, dict):
            print(f"{name:<{width}}{_words(value)}")
    for name, value in facts.items():
        if isinstance(value, dict) and value:
            print()
            _print_section(name, value)


def parse_size(size: str) -> tuple[int, int]:
    """`1280x720` as (1280, 720) pixels."""
    match = re.fullmatch(r"(\d{1,5})[xX×](\d{1,5})", size.strip())
    if not match:
        raise InputError(f"--size wants WIDTHxHEIGHT, such as 1280x720, not '{size}'")
    width, height = int(match[1]), int(match[2])
    if not all(SIDE[0] <= side <= SIDE[1] for side in (width, height)):
        raise InputError(f"--size must lie between {SIDE[0]} and {SIDE[1]} pixels each way, not {size}")
    return width, height


def parse_place(place: str | None, option: str) -> tuple[float, float, float] | None:
    """`1,-2,0.5` as metres."""
    if place is None:
        return None
    try:
        x, y, z = (float(word) for word in place.split(","))
    except ValueError:
        raise InputError(f"{option} wants X,Y,Z in metres, such as 1.5,-3,1, not '{place:.60}'") from None
    return x, y, z


def parse_layers(layers: str | None) -> list[str] | None:
    """`bones,skin` as names."""
    if layers is None:
        return None
    names = [name.strip() for name in layers.split(",") if name.strip()]
    if not names:
        raise InputError("--layers wants names separated by commas")
    return names


def _kind(path: str) -> str:
    from vitruvian.scenes import scene_names

    plain = "/" not in path and not path.endswith(".zarr")
    exists = os.path.lexists(path)
    if not plain:
        if not exists:
            raise InputError(f"{path} does not exist")
        return "recording"
    kind = "scene" if path in scene_names() else "model" if path in _models() else ""
    if kind:
        if exists:
            remark(f"this is the {kind} {path}; the folder of that name is ./{path}")
        return kind
    if exists:
        return "recording"
    if near := get_close_matches(path, [*scene_names(), *_models()], n=3, cutoff=0.6):
        raise InputError(f"unknown recording, scene or model '{path}'; did you mean {' or '.join(near)}?")
    raise InputError(
        f"there is no recording, scene or model '{path}'; a recording is a folder such as recordings/NAME-1.zarr, "
        f"`vitruvian scenes` lists the scenes, and models are {', '.join(_models())}"
    )


def _check_host(host: str) -> None:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.bind(address)
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"--host {host} is not an address of this machine to listen on ({reason})") from error


def _shown(path: str) -> Recording | Any:
    """The recording at `path`, or the first frame of the scene or model of that name."""
    kind = _kind(path)
    if kind == "recording":
        from vitruvian.door.looking import shown

        return shown(path)
    from vitruvian.view import one_frame
    from vitruvian.world import World

    if kind == "model":
        from vitruvian.systems import BodySystem

        world = World(BodySystem(_models()[path]()))
    else:
        from vitruvian.scenes import find
        from vitruvian.world import scene_parameters

        scene = find(path)
        remark(f"{path} has not been run: this is how it starts")
        world = scene.build(scene_parameters(scene, "draft", {}))
    return one_frame(world.stage(), world.observe(), scene=path)


def _models() -> dict[str, Any]:
    from importlib import import_module
    from importlib.util import find_spec

    if find_spec("vitruvian.anatomy.models") is None:
        return {}
    return dict(import_module("vitruvian.anatomy.models").MODELS)


def _print_section(name: str, entries: dict[str, Any]) -> None:
    first = next(iter(entries.values()))
    if isinstance(first, dict):
        columns = list(dict.fromkeys(key for entry in entries.values() for key in entry))
        rows = [[key, *(_words(entry.get(column, "")) for column in columns)] for key, entry in entries.items()]
        print_table("", (name, *columns), rows)
    else:
        print_table("", (name, ""), [[key, _words(value)] for key, value in entries.items()])


def _words(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple):
        return ", ".join(_words(item) for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{key} = {_words(item)}" for key, item in value.items())
    return str(value)
