"""`vitruvian character`: a folder of files from a mesh with a skeleton. `vitruvian search`: a control for one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vitruvian.cli.output import print_json, remark
from vitruvian.cli.running import Json

if TYPE_CHECKING:
    from vitruvian.anatomy.characters import Character
    from vitruvian.control.search import Reference


def character(
    source: Annotated[str, typer.Argument(help="A .glb or .gltf file, or mascot, panda, baby.", metavar="FILE|NAME")],
    out: Annotated[Path, typer.Argument(help="Folder to write.", metavar="FOLDER")],
    mass: Annotated[float | None, typer.Option(help="Mass [kg]; by the height without it.", show_default=False)] = None,
    young: Annotated[
        float | None, typer.Option(help="Young's modulus [Pa]; by the height without it.", show_default=False)
    ] = None,
    nodes: Annotated[int, typer.Option(help="Nodes of the tetrahedra, about.", min=200, max=20000)] = 1100,
    json: Json = False,
) -> int:
    """Make a soft character: tetrahedra, fixed nodes and weights from a closed mesh and its skeleton."""
    from vitruvian.anatomy.characters import DESIGNS, from_design, write_character
    from vitruvian.errors import InputError
    from vitruvian.exchange.gltf_character import character_from_gltf

    if out.exists() and any(out.iterdir() if out.is_dir() else [out]):
        raise InputError(f"'{out}' is there already")
    for value, name in ((mass, "mass"), (young, "young")):
        if value is not None and not value > 0.0:
            raise InputError(f"--{name} must be positive")
    if source in DESIGNS:
        made = from_design(DESIGNS[source](), remark)
    else:
        made = character_from_gltf(source, mass=mass, young=young, nodes=nodes, say=remark)
    write_character(made, out)
    found = {
        "name": made.name,
        "folder": str(out),
        "bones": len(made.bones),
        "nodes": made.tetrahedra.n_nodes,
        "elements": made.tetrahedra.n_elements,
        "vertices": len(made.vertices),
        "mass_kg": made.mass,
    }
    if json:
        print_json(found)
    else:
        print("  ".join(f"{k} {v}" for k, v in found.items()))
    return 0


SOFT_STEP = 0.008  # [s] of the soft part of a policy's search; scenes take half of it
TRIAL = 30.0  # [s] for which a policy that was found is tried


def search(
    who: Annotated[str, typer.Argument(help="mascot, panda, baby, or a character's folder.", metavar="CHARACTER")],
    clip: Annotated[
        str, typer.Argument(help="A clip of ours (run, kick, ...) or a BVH or clip file.", metavar="MOTION")
    ],
    out: Annotated[Path, typer.Argument(help="JSON file to write.", metavar="OUT.json")],
    seconds: Annotated[float, typer.Option(help="Of the motion.", min=0.1)] = 0.8,
    start: Annotated[float, typer.Option(help="Where in the motion to begin [s].", min=0.0)] = 0.0,
    loop: Annotated[bool, typer.Option("--loop", help="The motion closes on itself.")] = False,
    slower: Annotated[float, typer.Option(help="Stretch the motion in time.", min=0.2, max=5.0)] = 1.0,
    grounded: Annotated[bool, typer.Option("--grounded", help="A walk: a sole is on the ground all the time.")] = False,
    rolling: Annotated[
        bool, typer.Option("--rolling", help="A roll: what is lowest touches the ground and does not slide.")
    ] = False,
    tuck: Annotated[float, typer.Option(help="Draw the chin in upside down [rad].", min=0.0, max=2.0)] = 0.0,
    even: Annotated[bool, typer.Option("--even", help="Both sides move alike.")] = False,
    points: Annotated[int, typer.Option(help="Of the skin on each bone, with the flesh rigid.", min=3)] = 10,
    samples: Annotated[int, typer.Option(help="A window, with the flesh rigid.", min=2)] = 600,
    soft_samples: Annotated[int, typer.Option(help="A window, with soft flesh; 0 for none.", min=0)] = 120,
    young: Annotated[
        float | None, typer.Option(help="Young's modulus [Pa] of the soft flesh; the character's own without it.")
    ] = None,
    time_scaling: Annotated[float, typer.Option(help="Half range of the time factor.", min=0.0, max=0.9)] = 0.0,
    inverse: Annotated[
        bool, typer.Option("--inverse-dynamics/--plain", help="Sample around targets from inverse dynamics.")
    ] = False,
    steady: Annotated[
        bool, typer.Option("--steady", help="Find feedback that keeps a looping motion up instead (needs cma).")
    ] = False,
    mixed: Annotated[
        str | None, typer.Option(help="With --steady: another looping motion, whose arms it gets.", metavar="MOTION")
    ] = None,
    legs: Annotated[float, typer.Option(help="And how far all the rest goes over to it.", min=0.0, max=1.0)] = 0.0,
    begin: Annotated[
        Path | None, typer.Option("--from", help="With --steady: a policy to begin from, or the name of one of ours.")
    ] = None,
    rounds: Annotated[int, typer.Option(help="Of CMA-ES with rigid flesh.", min=0)] = 300,
    soft_rounds: Annotated[
        int | None, typer.Option(help="With soft flesh, if there are soft samples; a tenth without it.", min=0)
    ] = None,
    stage: Annotated[
        int, typer.Option(help="Of the policy's lessons to begin with; shoves from 3 on.", min=0, max=10)
    ] = 0,
    seed: Annotated[int, typer.Option(help="Of the samples.")] = 1,
    keep: Annotated[Path | None, typer.Option(help="Folder for what is finished; goes on from there.")] = None,
    processes: Annotated[int | None, typer.Option(help="Worker processes; one for each core without it.")] = None,
    scheduler: Annotated[str | None, typer.Option(help="Address of a Dask scheduler.")] = None,
    json: Json = False,
) -> int:
    """Find a control of a captured motion, with rigid flesh first, then soft: an open loop by sampling, or a policy."""
    from dataclasses import replace

    from vitruvian.anatomy.characters import character as find
    from vitruvian.control.search.actors import RigidActor, SoftActor
    from vitruvian.control.search.inverse import aimed
    from vitruvian.control.search.samples import Trying
    from vitruvian.control.search.samples import search as sampled
    from vitruvian.errors import InputError
    from vitruvian.exchange import read_trial
    from vitruvian.measured.retarget import ready
    from vitruvian.world.whole_file import check_writable, whole_file

    check_writable(out)
    if young is not None and not young > 0.0:
        raise InputError("--young must be positive")
    person = find(who)
    how = {"slower": slower, "grounded": grounded, "rolling": rolling, "tuck": tuck, "even": even}
    motion = ready(read_trial(clip), person, loop=loop or steady, **how)  # type: ignore[arg-type]
    if not motion.loop and start >= motion.seconds:
        raise InputError(f"--start {start:g} is after the end of the motion, which takes {motion.seconds:.2f} s")
    told = {"character": who, "clip": clip, **how, "young": young or person.young}
    where = {"processes": processes, "scheduler": scheduler}
    if steady:
        told |= {"mixed": mixed, "legs": legs} if mixed else {}
        soft = soft_rounds if soft_rounds is not None else rounds // 10 if soft_samples > 0 else 0
        return _steady(person, motion, told, begin, out, (rounds, soft, stage), seed, keep, where, json)
    kept = max(1, min(100, samples // 6))
    first = Trying(samples=samples, kept=kept, time_scaling=time_scaling, seed=seed, even=even)
    stand_in = RigidActor(person, per_bone=points)
    base = aimed(stand_in, motion, seconds, first.window, start) if inverse else None
    found = sampled(
        stand_in, motion, seconds, first, start=start, base=base, say=remark,
        keep=keep and keep / "rigid", **where,  # type: ignore[arg-type]
    )  # fmt: skip
    if soft_samples:
        second = Trying(samples=soft_samples, kept=max(1, soft_samples // 7), spread=0.9, seed=seed, even=even)
        found = sampled(
            SoftActor(person, young=young), motion, seconds, second, start=start, base=found.offsets,
            factors=found.factors, say=remark, keep=keep and keep / "soft", **where,  # type: ignore[arg-type]
        )  # fmt: skip
    with whole_file(out) as path:
        replace(found, told=told).write(path)
    if json:
        print_json({"file": str(out), "windows": len(found.costs), "costs": found.costs.round(3).tolist()})
    else:
        print(f"{len(found.costs)} windows, costs {', '.join(f'{c:.1f}' for c in found.costs)}: {out}")
    return 0


def _steady(
    person: Character,
    motion: Reference,
    told: dict[str, Any],
    begin: Path | None,
    out: Path,
    lessons: tuple[int, int, int],
    seed: int,
    keep: Path | None,
    where: dict[str, Any],
    json: bool,
) -> int:
    """lessons: rounds with rigid flesh, with soft, and the stage to begin with."""
    from dataclasses import replace

    from vitruvian.control.search.actors import RigidActor, SoftActor
    from vitruvian.control.search.playing import found_file
    from vitruvian.control.search.policy import PADDED, Policy, first_policy, learn, stays_up
    from vitruvian.exchange.found import mixed_cycle
    from vitruvian.world.whole_file import whole_file

    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
    rounds, soft, stage = lessons
    found = first_policy(**told)
    if begin is not None:
        ours = found_file(begin.name)
        found = replace(Policy.read(ours if begin.name == str(begin) and ours.is_file() else begin), told=told)
    stand_in = RigidActor(person, ground=PADDED)
    cycle, actor = mixed_cycle(stand_in, motion, told), stand_in
    if rounds:
        found = learn(
            stand_in, cycle, found, rounds=rounds, stage=stage, last=max(stage, 6), seed=seed, say=remark,
            keep=keep and keep / "rigid.npz", **where,
        )  # fmt: skip
    if soft:
        actor = SoftActor(person, young=told["young"])  # type: ignore[assignment]
        coarse = mixed_cycle(stand_in, motion, told, SOFT_STEP)
        found = learn(
            actor, coarse, found, rounds=soft, step=0.05, stage=1, last=4, seed=seed,
            say=remark, keep=keep and keep / "soft.npz", **where,
        )  # fmt: skip
    with whole_file(out) as path:
        found.write(path)
    up, _ = stays_up(actor, cycle, found, TRIAL)
    if json:
        print_json({"file": str(out), "upright_s": up, "judged": found.told["judged"]})
    else:
        print(f"up for {up:.1f} of {TRIAL:.0f} s: {out}")
    return 0
