"""The head: a controlled neck in real time, training samples, and what a decision costs. All on one core.

Lee's neck ran at a tenth of real time with steps of 1 ms (2008, 4.1); his explicit step is measured here, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import partial
from time import perf_counter

import numpy as np

from vitruvian.anatomy import neck
from vitruvian.anatomy.face import make_face
from vitruvian.benchmarks.suite import Timing, interleaved, timing
from vitruvian.control.face import FaceDriver, expression
from vitruvian.control.head import HeadControl, HeadStatics, shipped
from vitruvian.control.head.training import FITTED, NETWORKS, Samples, fit, fit_torques, solve_samples
from vitruvian.couple import BodyStepper
from vitruvian.scenes import find
from vitruvian.systems.head import HeadSystem
from vitruvian.world import World, scene_parameters

FRAME = 1.0 / 60.0


def _world(kind: str, substeps: int) -> World:
    body = neck(muscles="thesis") if kind == "thesis" else neck()
    system, statics = HeadSystem(body, drawn=False), HeadStatics(body)
    nets = shipped("thesis" if kind == "thesis" else "neck", tuple(body.muscles.names[i] for i in statics.muscles))
    control = HeadControl(body, networks=nets, statics=statics)
    return World(system, control, substeps=substeps)


def _frame(world: World) -> None:
    for _ in range(world.substeps):
        world.step()


@timing
def controlled_neck() -> Timing:
    """A frame of 1/60 s of a head held by networks and reflex in one implicit step, beside shorter ones. `verify head`
    says how far the motion is from that of 1 ms; our own neck, which is softer, gets two steps."""
    worlds = {
        "thesis": _world("thesis", 1), "half": _world("thesis", 2), "1 ms": _world("thesis", 17),
        "own neck": _world("body", 2),
    }  # fmt: skip
    runs: dict[str, Callable[[], object]] = {name: partial(_frame, w) for name, w in worlds.items()}
    for run in runs.values():
        run()
    found = interleaved(runs, repeats=15, least_seconds=0.05)
    ours = found.pop("thesis")
    figures = {"real_time_factor": FRAME / ours, "own_neck_real_time_factor": FRAME / found["own neck"]}
    shorter = {"steps of 8.3 ms": found["half"], "steps of 1 ms": found["1 ms"]}
    return Timing(ours, shorter, "24 coordinates, 72 muscles", figures)


@timing
def conversation() -> Timing:
    """A frame of 1/60 s of the scene `conversation`: three heads with faces, eyes, minds and muscles, on one core."""
    scene = find("conversation")
    worlds = {
        name: scene.build(scene_parameters(scene, "draft", {"face": name == "faces"})) for name in ("faces", "none")
    }
    runs: dict[str, Callable[[], object]] = {name: partial(_frame, w) for name, w in worlds.items()}
    found = interleaved(runs, repeats=10, least_seconds=0.2)
    figures = {"real_time_factor": FRAME / found["faces"], "without_faces": FRAME / found["none"]}
    return Timing(found["faces"], {"without faces": found["none"]}, "three heads, 792 + 132 muscles", figures)


@timing
def head_decision() -> Timing:
    """Pose and tone by networks, beside solving them."""
    body = neck()
    statics = HeadStatics(body)
    nets = shipped("neck", tuple(body.muscles.names[i] for i in statics.muscles))
    head, down = np.eye(3), np.array([0.0, 0.0, -1.0])

    def solved() -> None:
        at = statics.balance(body.default_q, down)
        statics.pose(at)
        statics.tone(at)

    found = interleaved(
        {"networks": lambda: nets.activations(head, down), "solved": solved}, repeats=15, least_seconds=0.02
    )
    figures = {"samples_a_second": 1.0 / found["solved"]}
    return Timing(found["networks"], {"solved anew": found["solved"]}, "264 muscles", figures)


@timing
def training() -> Timing:
    """`vitruvian train neck` with 20,000 poses and 300 epochs on one core, scaled up from 200 poses and 8 epochs."""
    make, hidden = NETWORKS["neck"]
    body = make()
    muscles = tuple(body.muscles.names[i] for i in HeadStatics(body).muscles)
    solve_samples(make, 100, processes=1)  # compile
    begin = perf_counter()
    solved = solve_samples(make, 200, processes=1)
    poses = (perf_counter() - begin) / 200
    many = Samples(*(np.tile(getattr(solved, f.name), (20, 1)) for f in fields(solved)))
    begin = perf_counter()
    networks = fit(many, muscles, hidden=hidden, epochs=8)
    row = (perf_counter() - begin) / (8 * len(many.x))
    took = []
    for iterations in (5, 25):
        begin = perf_counter()
        fit_torques(networks, solved, body, iterations=iterations)
        took.append((perf_counter() - begin) / len(solved.x))
    torque = took[0] + 245 * max(took[1] - took[0], 0.0) / 20
    kept = len(solved.x) / 200
    figures = {"seconds_solving": 20000 * poses, "seconds_fitting": 20000 * kept * 300 * row + FITTED * torque}
    return Timing(sum(figures.values()), {}, f"264 muscles; {1 / poses:.0f} poses a second", figures)


@timing
def neck_step() -> Timing:
    """One implicit step of the thesis' neck without its controller."""
    body = neck(muscles="thesis")
    stepper = BodyStepper(body.skeleton, body.muscles)
    q, v, a = body.default_q, np.zeros(body.skeleton.n_v), np.full(body.muscles.n_muscles, 0.1)
    found = interleaved({"ours": lambda: stepper.step(q, v, a, 0.005)}, repeats=15, least_seconds=0.02)
    return Timing(found["ours"], {}, "24 coordinates, 72 muscles", {"steps_a_second": 1.0 / found["ours"]})


@timing
def face_frame() -> Timing:
    """A frame of a face that moves from rest to joy in half a second: modes, then skin with folds."""
    face = make_face()
    driver = FaceDriver(face)
    units = expression("joy")

    def moved() -> None:
        state = driver.start()
        for _ in range(15):
            driver.step(state, units, 1.0 / 30.0)

    state = driver.settled(units)
    poses = face.rest_poses
    driver.step(state, units, 1.0)
    found = interleaved(
        {"fifteen": moved, "skin": lambda: face.posed(state.q, state.jaw, state.lid_positions, poses)},
        repeats=5, least_seconds=0.02,
    )  # fmt: skip
    frame = found["fifteen"] / 15.0
    rate = 1.0 / (frame + found["skin"])
    figures = {"frames_a_second": rate, "skin_seconds": found["skin"], "faces_at_30_on_two_cores": 2.0 * rate / 30.0}
    about = f"{face.tissue.lattice.n_cells} cells, {face.n_modes} modes, {len(face.fine_rest)} vertices"
    return Timing(frame, {"skin": found["skin"]}, about, figures)
