"""`vitruvian train`: the networks of the head, made anew; says how good they are."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from vitruvian.cli.output import duration, print_json, progress_bar, remark
from vitruvian.errors import unknown_name

NECKS = ("neck", "thesis")


def train(
    which: Annotated[str, typer.Argument(metavar="NECK", help="neck: our own; thesis: the 72 muscles.")],
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
    """Train the head's pose and tone networks from solved poses, and measure them on poses that they never saw."""
    from vitruvian.control.head import HeadStatics
    from vitruvian.control.head.networks import place
    from vitruvian.control.head.training import NETWORKS, fit, quality, solve_samples

    if which not in NECKS:
        raise unknown_name("neck", which, NECKS)
    make, hidden = NETWORKS[which]
    begin = perf_counter()
    with progress_bar("solving poses") as progress:
        solved = solve_samples(make, samples, seed=seed, processes=processes, scheduler=scheduler, progress=progress)
    took = perf_counter() - begin
    remark(f"{len(solved.x)} poses solved in {duration(took)}; fitting")
    body = make()
    names = tuple(body.muscles.names[i] for i in HeadStatics(body).muscles)
    networks = fit(solved, names, hidden=hidden, epochs=epochs, seed=seed)
    fitted = perf_counter() - begin - took
    found = quality(networks, solved, body)
    path = place(which) if out is None else out
    networks.save(path)
    figures = {"samples": len(solved.x), "seconds_solving": took, "seconds_fitting": fitted} | asdict(found)
    if json:
        print_json({"networks": str(path)} | figures)
        return
    for key, value in figures.items():
        print(f"{key:16} {value:.4g}")
    print(f"networks         {path}")
