"""Water timings: the whole step, its parts, cost per cell over grid sizes; PyAMG and PhiFlow beside the projection,
PhiFlow beside a step of flow.

Seconds are the best of a few turns; on a busy machine the figure "processor seconds" says more. They are those of all
threads, and idle threads that wait for others count too.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from vitruvian.benchmarks._water_peers import flow_timing, projection_timing
from vitruvian.benchmarks._water_tanks import by, forgotten, parts_timing, step_timing, swimmer, timed, turns
from vitruvian.benchmarks.suite import Timing, timing
from vitruvian.mesh import sphere
from vitruvian.mesh.mannequin import mannequin
from vitruvian.water import RigidBodies, RigidBody, Tank, WetShape, WetSurface, fill, rasterise

SIZES = ((64, 64, 64), (128, 64, 64), (256, 128, 96))
MILLION = (160, 80, 80)
HALF_MORE = (192, 96, 82)
PHIFLOW = (40, 36, 32)  # the square of the number of cells must stay below 2^31 for PhiFlow's matrix


@timing
def step_64() -> Timing:
    """Whole step of water and a ball at 64^3."""
    return step_timing(SIZES[0])


@timing
def step_128() -> Timing:
    """Whole step at 128 x 64 x 64."""
    return step_timing(SIZES[1])


@timing
def step_256() -> Timing:
    """Whole step at 256 x 128 x 96 (3.1 million cells)."""
    return step_timing(SIZES[2])


@timing
def step_of_a_million_cells() -> Timing:
    """Whole step at 160 x 80 x 80 (1.02 million cells); aim 0.6 s on two cores."""
    return step_timing(MILLION)


@timing
def step_of_one_and_a_half_million_cells() -> Timing:
    """Whole step at 192 x 96 x 82 (1.51 million cells); aim 1 s and 2 GB."""
    return step_timing(HALF_MORE)


@timing
def cost_per_cell_over_sizes() -> Timing:
    """Mean seconds of a whole step over 64^3, 128 x 64 x 64 and 256 x 128 x 96; aim: cost per cell within 1.5 times."""
    steps = {shape: step_timing(shape) for shape in SIZES}
    per_cell = {shape: t.figures["nanoseconds per cell"] for shape, t in steps.items()}
    figures = {f"nanoseconds per cell, {by(shape)}": value for shape, value in per_cell.items()}
    figures["largest over smallest"] = max(per_cell.values()) / min(per_cell.values())
    processor = [t.figures["processor seconds"] / t.figures["cells"] for t in steps.values()]
    figures["largest over smallest, processor seconds"] = max(processor) / min(processor)
    return Timing(float(np.mean([t.seconds for t in steps.values()])), detail="three sizes", figures=figures)


@timing
def swimmer_window() -> Timing:
    """Step of a window of 56 thousand cells of 50 mm with a deforming skin on 103 bones; aim 30 ms on one core."""
    tank, bones, body, state = swimmer()
    return timed(
        tank, state, bones, body, 1.0 / 96.0, 4, f"skin of 10688 triangles on {bones.body.skeleton.n_bones} bones"
    )


@timing
def parts_64() -> Timing:
    """Each part of the step at 64^3; seconds of the parts are in the figures."""
    return parts_timing(SIZES[0])


@timing
def parts_128() -> Timing:
    """Each part of the step at 128 x 64 x 64."""
    return parts_timing(SIZES[1])


@timing
def parts_256() -> Timing:
    """Each part of the step at 256 x 128 x 96."""
    return parts_timing(SIZES[2])


@timing
def parts_of_a_step_of_a_million_cells() -> Timing:
    """Each part of the step at 160 x 80 x 80."""
    return parts_timing(MILLION)


@timing
def skin_on_the_grid() -> Timing:
    """A skin of 10688 triangles made fractions of faces and cells, at 50 mm; at 20 mm in the figures."""
    vertices, faces = mannequin()
    shape = WetShape.build("skin", faces, len(vertices))
    seconds = {}
    for cell in (0.05, 0.02):
        low = vertices.min(axis=0) - 5.0 * cell
        tank = Tank.of_size(tuple(vertices.max(axis=0) + 5.0 * cell - low), cell, origin=tuple(low))
        state = fill(tank, level=float(low[2] + 0.5 * tank.size[2]))
        skins = [WetSurface(shape, vertices)]
        seconds[cell] = turns(lambda: rasterise(tank, state, forgotten(skins), np.zeros((1, 3))))  # noqa: B023
    return Timing(seconds[0.05], detail="10688 triangles", figures={"seconds at 20 mm": seconds[0.02]})


@timing
def two_balls_of_which_one_rests() -> Timing:
    """Two balls of 5120 triangles made fractions at 128 x 64 x 64, one of which rests; both alike in the figures."""
    tank = Tank(SIZES[1], 1.0 / 64)
    vertices, faces = sphere(0.12, subdivisions=4)
    places = {"one": (0.4, 0.3, 0.4), "two": (1.6, 0.7, 0.6)}
    bodies = RigidBodies(
        [RigidBody.solid(n, np.asarray(vertices), faces, 600.0, position=p) for n, p in places.items()]
    )
    body = bodies.start()
    state = fill(tank, level=0.6, mechanism=bodies, body=body)

    def run(moving: int) -> None:
        body.position[:moving, 2] += 1e-5
        rasterise(tank, state, bodies.skins(body), bodies.links(body).origins)

    seconds = {n: turns(partial(run, n), repeats=9) for n in (0, 1, 2)}
    figures = {"seconds, both move": seconds[2], "seconds, both rest": seconds[0]}
    return Timing(seconds[1], detail="128x64x64", figures=figures)


@timing
def flow_in_a_box() -> Timing:
    """Advection and projection of a vortex in a closed box of 32^3 on one thread, beside PhiFlow's."""
    return flow_timing(32)


@timing
def projection_46k() -> Timing:
    """Pressure solve at 40 x 36 x 32 to a residual of 1e-6, against PyAMG and PhiFlow (it cannot index more)."""
    return projection_timing(PHIFLOW, with_phiflow=True)


@timing
def projection_64() -> Timing:
    """Pressure solve at 64^3 to a residual of 1e-6, against PyAMG on the same matrix."""
    return projection_timing(SIZES[0])


@timing
def projection_128() -> Timing:
    """Pressure solve at 128 x 64 x 64 to a residual of 1e-6, against PyAMG on the same matrix."""
    return projection_timing(SIZES[1])
