"""Water timings: the tanks that are timed, and how.

A tank, two thirds full, with a sloshing surface and a ball in it; and a swimmer's window, small and open at the sides,
with a tree of 103 bones in the pressure solve.
"""

from __future__ import annotations

import resource
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import cache
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numba import get_num_threads
from scipy.spatial import cKDTree

from vitruvian.anatomy import human
from vitruvian.benchmarks.suite import Timing
from vitruvian.couple import BodyInWater, BodyStepper, BoneParts, SwimmerState, Wading
from vitruvian.mesh import sphere
from vitruvian.mesh.mannequin import mannequin
from vitruvian.muscle import MuscleBuilder
from vitruvian.skeleton import bone_poses
from vitruvian.spatial import quaternion_from_rotation, rotation_from_quaternion
from vitruvian.water import (
    RigidBodies,
    RigidBody,
    RigidState,
    Tank,
    WaterState,
    WetSurface,
    fill,
    project,
    rasterise,
    redistance,
    step,
)
from vitruvian.water import particles as markers
from vitruvian.water.advect import advect_velocity
from vitruvian.water.extrapolate import extrapolate_velocity
from vitruvian.water.levelset import advect_surface

DT = 0.004  # [s]
WINDOW, WINDOW_CELL = (3.2, 1.7, 1.3), 0.05  # a swimmer's window [m]


def sloshing(shape: tuple[int, int, int]) -> tuple[Tank, RigidBodies, RigidState, WaterState]:
    h = 1.0 / shape[1]
    tank = Tank(shape, h)
    x, _, z = np.meshgrid(*tank.centres(), indexing="ij")
    length, height = tank.size[0], tank.size[2]
    vertices, faces = sphere(0.12, subdivisions=4)
    centre = (0.5 * length, 0.5, 0.66 * height)
    bodies = RigidBodies([RigidBody.solid("ball", np.asarray(vertices), faces, 600.0, position=centre)])
    body = bodies.start()
    state = fill(tank, z - 0.66 * height - 0.05 * np.cos(np.pi * x / length), mechanism=bodies, body=body)
    for _ in range(2):
        step(tank, state, DT, mechanism=bodies, body=body)
    return tank, bodies, body, state


def swimmer() -> tuple[Tank, Wading, SwimmerState, WaterState]:
    """A person-shaped skin that lies on its back in a window, each vertex on the nearest bone of the whole body."""
    body = human()
    skeleton = body.skeleton
    middle = np.array([0.5 * WINDOW[0], 0.5 * WINDOW[1], 0.8])
    lying = np.array([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    q = body.default_q.copy()
    q[3:7] = quaternion_from_rotation(lying @ rotation_from_quaternion(q[3:7]))
    origins = bone_poses(skeleton, q)[:, :3, 3]
    q[:3] += middle - 0.5 * (origins.min(axis=0) + origins.max(axis=0))
    poses = bone_poses(skeleton, q)
    vertices, faces = mannequin()
    vertices = vertices - 0.5 * (vertices.min(axis=0) + vertices.max(axis=0)) + middle
    bone = cKDTree(poses[:, :3, 3]).query(vertices)[1]
    local = np.einsum("nji,nj->ni", poses[bone, :3, :3], vertices - poses[bone, :3, 3])
    parts = BoneParts.riding(local, bone, faces)
    bones = BodyInWater(BodyStepper(skeleton, MuscleBuilder(skeleton).build()), parts)
    start = bones.start(q)
    wading = bones.begin(start)
    sides = dict.fromkeys(("x-", "x+", "y-", "y+"), "open")
    tank = Tank.of_size(
        WINDOW, WINDOW_CELL, boundaries=sides, rest_level=0.85, sponge=0.2, courant=1.5, particles=8, tolerance=1e-4
    )
    state = fill(tank, level=0.85, mechanism=wading, body=start)
    for _ in range(2):
        step(tank, state, 1.0 / 96.0, mechanism=wading, body=start)
    return tank, wading, start, state


@cache
def step_timing(shape: tuple[int, int, int]) -> Timing:
    tank, bodies, body, state = sloshing(shape)
    return timed(tank, state, bodies, body, DT, 3, "ball of 5120 triangles")


def timed(tank: Tank, state: WaterState, mechanism: Any, body: Any, dt: float, repeats: int, what: str) -> Timing:
    """Best seconds of a sub-step."""
    best = processor = float("inf")
    iterations = 0
    for _ in range(repeats):
        start, start_processor = perf_counter(), process_time()
        done = step(tank, state, dt, mechanism=mechanism, body=body)
        best = min(best, (perf_counter() - start) / done.substeps)
        processor = min(processor, (process_time() - start_processor) / done.substeps)
        iterations = done.iterations // done.substeps
    cells = tank.cells
    figures = {
        "cells": float(cells),
        "cells per second": cells / best,
        "nanoseconds per cell": 1e9 * best / cells,
        "processor seconds": processor,
        "threads": float(get_num_threads()),
        "pressure iterations": float(iterations),
        "peak memory MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0,
    }
    return Timing(best, detail=f"{by(tank.shape)}, {what}, {len(state.markers)} markers", figures=figures)


def parts_timing(shape: tuple[int, int, int]) -> Timing:
    tank, bodies, body, state = sloshing(shape)
    boundary = rasterise(tank, state, bodies.skins(body), bodies.links(body).origins)
    found = project(tank, deepcopy(state), boundary, DT)
    figures = {}
    total = 0.0
    for name, run in {
        "velocity advection": lambda s: advect_velocity(tank, s, DT),
        "surface advection": lambda s: advect_surface(tank, s, DT),
        "markers moved": lambda s: markers.move_particles(tank, s, DT, None),
        "markers mend the surface": lambda s: markers.correct_surface(tank, s),
        "redistancing": lambda s: redistance(s.phi, tank.cell),
        "body on the grid": lambda s: rasterise(tank, s, forgotten(bodies.skins(body)), bodies.links(body).origins),
        "projection": lambda s: project(tank, s, boundary, DT, mobility=bodies.links(body).mobility),
        "extension": lambda s: extrapolate_velocity(tank, s, boundary, found.system.diagonal),
    }.items():
        seconds = best_of(state, run)
        figures[name] = seconds
        figures[f"{name}, cells per second"] = tank.cells / seconds
        total += seconds
    figures["markers counted"] = float(len(state.markers))
    return Timing(total, detail=by(shape), figures=figures)


def forgotten(skins: Sequence[WetSurface]) -> list[WetSurface]:
    """The same skins as if they had never been on the grid."""
    return [replace(s, shape=replace(s.shape, memory={})) for s in skins]


def by(shape: tuple[int, int, int]) -> str:
    return "x".join(map(str, shape))


def best_of(state: WaterState, run: Callable[[WaterState], object], repeats: int = 2) -> float:
    best = float("inf")
    for _ in range(repeats):
        twin = deepcopy(state)
        start = perf_counter()
        run(twin)
        best = min(best, perf_counter() - start)
    return best


def turns(run: Callable[[], object], repeats: int = 3) -> float:
    run()
    best = float("inf")
    for _ in range(repeats):
        start = perf_counter()
        run()
        best = min(best, perf_counter() - start)
    return best
