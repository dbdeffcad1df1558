"""`vitruvian train`: networks of the head, modes of the face, models of limbs, made anew; says how good they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from vitruvian.cli.output import duration, print_json, progress_bar, remark
from vitruvian.errors import InputError, unknown_name

NECKS = ("neck", "thesis")
MOTIONS = ("getup_faceup", "getup_facedown", "roll", "dance", "kick")
POINTS = 150  # of a limb's model
UNITS = {  # of what is printed; counts, parts of one and activations have none
    "seconds": "s",
    "seconds_solving": "s",
    "seconds_fitting": "s",
    "torque_rms": "N m",
    "needed_rms": "N m",
    "tone_torque_rms": "N m",
    "bytes": "B",
}


def train(
    which: Annotated[
        str,
        typer.Argument(
            metavar="WHICH",
            help="neck: our own; thesis: the 72 muscles; face: its modes; limbs: from captured motion.",
        ),
    ],
    motions: Annotated[
        list[str] | None, typer.Argument(help="limbs: clips by name, or BVH files; the package's own without it.")
    ] = None,
    samples: Annotated[int, typer.Option(min=100, help="Poses to solve.")] = 20000,
    epochs: Annotated[int, typer.Option(min=4, help="Times that the learner sees each pose.")] = 300,
    seed: Annotated[int, typer.Option(min=0, help="Of the poses and the learner.")] = 0,
    out: Annotated[Path | None, typer.Option(help="File for the networks; the package's own without it.")] = None,
    processes: Annotated[
        int | None, typer.Option(min=1, help="Worker processes; one for each core without it.")
    ] = None,
    scheduler: Annotated[str | None, typer.Option(help="Address of a Dask scheduler.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line of stdout.")] = False,
) -> None:
    """Train the head's pose and tone networks from solved poses, and measure them on poses that they never saw; or
    solve the face's tissue and make its modes; or learn how limbs move from captured motion."""
    if motions and which != "limbs":
        raise InputError(f"train {which} takes no motions; they are for `train limbs`")
    if which == "face":
        _face(out, json)
        return
    if which == "limbs":
        _limbs(motions or list(MOTIONS), out, json)
        return
    from vitruvian.control.head import HeadStatics
    from vitruvian.control.head.networks import place
    from vitruvian.control.head.training import NETWORKS, fit, fit_torques, quality, solve_samples

    if which not in NECKS:
        raise unknown_name("neck", which, (*NECKS, "face", "limbs"))
    make, hidden = NETWORKS[which]
    begin = perf_counter()
    with progress_bar("solving poses") as progress:
        solved = solve_samples(make, samples, seed=seed, processes=processes, scheduler=scheduler, progress=progress)
    took = perf_counter() - begin
    remark(f"{len(solved.x)} poses solved in {duration(took)}; fitting")
    body = make()
    names = tuple(body.muscles.names[i] for i in HeadStatics(body).muscles)
    networks = fit_torques(fit(solved, names, hidden=hidden, epochs=epochs, seed=seed), solved, body)
    fitted = perf_counter() - begin - took
    found = quality(networks, solved, body)
    path = place(which) if out is None else out
    networks.save(path)
    figures = {"samples": len(solved.x), "seconds_solving": took, "seconds_fitting": fitted} | asdict(found)
    _tell("networks", path, figures, json)


def _limbs(motions: list[str], out: Path | None, json: bool) -> None:
    import numpy as np

    from vitruvian.anatomy import human
    from vitruvian.control.tasks.gpdm import Gpdm, learn, thinned
    from vitruvian.control.tasks.limbs import LIMBS, place, save
    from vitruvian.exchange import read_trial
    from vitruvian.measured.limb_motion import limb_motion

    body, begin = human(), perf_counter()
    read = [limb_motion(read_trial(name), body) for name in motions]
    poses = np.concatenate([angles for angles, _ in read])
    clip = np.repeat(np.arange(len(read)), [len(angles) for angles, _ in read])
    models: dict[str, Gpdm] = {}
    figures: dict[str, float] = {"frames": float(len(poses)), "cut_off": float(max(cut for _, cut in read))}
    for k, limb in enumerate(LIMBS):
        whole = learn(poses[:, k], clip)
        models[limb] = thinned(whole, POINTS)
        error = np.degrees(np.sqrt(((models[limb].pose(whole.X) - poses[:, k]) ** 2).mean()))
        figures[f"{limb.replace(' ', '_')}_error_deg"] = float(error)
        remark(f"{limb}: {len(poses)} frames, {error:.2f} degrees rms off with {len(models[limb].X)} points")
    path = place() if out is None else out
    save(models, path)
    figures["seconds"] = perf_counter() - begin
    _tell("models", path, figures, json)


def _face(out: Path | None, json: bool) -> None:
    from vitruvian.anatomy.face.face import SHIPPED, solved_modes

    begin = perf_counter()
    with progress_bar("solving the face's muscles") as progress:
        modes = solved_modes(progress=progress)
    path = SHIPPED if out is None else out
    modes.save(path)
    figures = {"modes": modes.count, "seconds": perf_counter() - begin, "bytes": path.stat().st_size}
    _tell("face", path, figures, json)


def _tell(what: str, path: Path, figures: Mapping[str, float], json: bool) -> None:
    """How good what was made is, and in which file it is."""
    if json:
        print_json({what: str(path), **figures})
        return
    wide = max(map(len, (what, *figures))) + 1
    for key, value in figures.items():
        print(f"{key:{wide}} {value:.4g} {'deg' if key.endswith('_deg') else UNITS.get(key, '')}".rstrip())
    print(f"{what:{wide}} {path}")
