"""Flesh of the whole body in motion, quasi-static balance after each step.

Flexing: both elbows by 4.5 degrees a step. Swimming: every hinge, hips, shoulders and the body as a whole, at 96 steps
a second, with forces on the skin. The published systems needed 60-240 s a frame (Lee 2008, 354,000 tetrahedra) and a
good part of 180-600 s (Si & al. 2014, a 10 mm lattice). Sizes, iterations and memory stand beside the times.
"""

from __future__ import annotations

import resource
from collections.abc import Callable
from functools import lru_cache
from time import perf_counter, process_time

import numpy as np

from vitruvian.anatomy import Body, Skin, body_flesh, body_skin, human
from vitruvian.benchmarks._flesh_beam import beam_timing, preconditioner_timing
from vitruvian.benchmarks.suite import Timing, timing
from vitruvian.couple import BoneFlesh, Follower
from vitruvian.flesh import FleshModel, Loads, Settings, SolveReport, mooney_rivlin
from vitruvian.skeleton import bone_poses
from vitruvian.spatial import quaternion_product, rotation_about, transform

STEP = np.deg2rad(4.5)
WARM, TIMED = 2, 6
RATE = 96.0  # steps a second of the swimmer
WATER = 300.0  # greatest push of the water [N]
SWING = {"Ul": 0.5, "Tfp": 0.5, "Fo": 0.3}  # of hinges [rad]; others 0.02
BALLS = {"Hu": 0.4, "Fe": 0.4}  # of shoulders and hips [rad]


@timing
def whole_body_30_mm() -> Timing:
    """One step of the moving body on a 30 mm lattice."""
    return _moving_body(0.03)


@timing
def whole_body_20_mm() -> Timing:
    """One step of the moving body on a 20 mm lattice."""
    return _moving_body(0.02)


@timing
def whole_body_10_mm() -> Timing:
    """One step of the moving body on a 10 mm lattice, by multigrid."""
    return _moving_body(0.01)


@timing
def whole_body_20_mm_multigrid() -> Timing:
    """The same at 20 mm by multigrid: as many iterations as at 10 mm."""
    return _moving_body(0.02, multigrid=True)


@timing
def whole_body_30_mm_softer_volume() -> Timing:
    """The same at 30 mm with a bulk modulus of 1 MPa instead of 100: iterations should hardly change."""
    return _moving_body(0.03, kappa=1e6)


@timing
def beam_beside_mujoco() -> Timing:
    """A step of a damped cantilever of two cells across, beside MuJoCo's flex with four cubes across."""
    return beam_timing(2, 4)


@timing
def multigrid_against_diagonal_blocks() -> Timing:
    """One linear solve to a tenth after an assembly of a bar of 8×8×64 cells, by multigrid and by diagonal blocks."""
    return preconditioner_timing((8, 8, 64))


@timing
def swimming_30_mm() -> Timing:
    """One step of 1/96 s of a body that moves all over, on a 30 mm lattice."""
    return _swimming(0.03)


@timing
def swimming_20_mm() -> Timing:
    """The same on a 20 mm lattice."""
    return _swimming(0.02)


@timing
def swimming_10_mm() -> Timing:
    """The same on a 10 mm lattice, by multigrid."""
    return _swimming(0.01)


@lru_cache(maxsize=1)
def _skin() -> Skin:
    return body_skin(human())


def _moving_body(spacing: float, *, kappa: float = 100e6, multigrid: bool | None = None) -> Timing:
    body = human(pelvis="fixed")
    flesh = body_flesh(body, spacing=spacing, skin=_skin(), material=mooney_rivlin(20e3, 60e3, kappa))
    pair = BoneFlesh(body.skeleton, flesh.model, Settings(multigrid=multigrid))
    state = pair.start(body.default_q)
    elbows = [body.skeleton.q_start[body.skeleton.index(bone)] for bone in ("Ul_l", "Ul_r")]

    def step(_: int) -> SolveReport:
        state.bones.q[elbows] += STEP
        return pair.settle(state, Loads())

    return _timed(flesh.model, step, WARM + TIMED)


def _swimming(spacing: float) -> Timing:
    body = human(pelvis="fixed")
    flesh = body_flesh(body, spacing=spacing, skin=_skin())
    follower = Follower(flesh.model)
    vertices = flesh.skin.vertices
    skin, state = follower.skin(vertices), follower.start(_swim_poses(body, 0.0))
    force = np.zeros_like(vertices)

    def step(k: int) -> SolveReport:
        force[:, 1] = WATER / len(vertices) * np.sin(6.0 * np.pi * k / RATE)
        return follower.follow(state, _swim_poses(body, (k + 1) / RATE), 1.0 / RATE, skin=skin, skin_force=force).report

    return _timed(flesh.model, step, WARM + 3 * TIMED)


def _swim_poses(body: Body, time: float) -> np.ndarray:
    """Poses of all bones of a body that swings all its hinges, hips and shoulders, turns and moves on."""
    skeleton, q = body.skeleton, body.default_q.copy()
    swing = np.sin(2.0 * np.pi * time)
    for bone, name in enumerate(skeleton.names):
        part = name.split("_")[0]
        at = slice(skeleton.q_start[bone], skeleton.q_start[bone + 1])
        if skeleton.joints[bone].n_q == 1:
            q[at] += SWING.get(part, 0.02) * swing
        elif part in BALLS and skeleton.joints[bone].n_q == 4:
            half = 0.5 * BALLS[part] * swing
            q[at] = quaternion_product(q[at], np.array([np.cos(half), 0.0, np.sin(half), 0.0]))
    return transform(rotation_about((0, 0, 1), 0.6 * swing), (1.5 * time, 0.0, 0.0)) @ bone_poses(skeleton, q)


def _timed(model: FleshModel, step: Callable[[int], SolveReport], count: int) -> Timing:
    """Median seconds of the steps after the first WARM, which have no last correction to continue."""
    seconds, processor, reports = [], [], []
    for k in range(count):
        begun, worked = perf_counter(), process_time()
        report = step(k)
        if k >= WARM:
            seconds.append(perf_counter() - begun)
            processor.append(process_time() - worked)
            reports.append(report)
    lattice, tied = model.lattice, len(model.attachments.bone)
    return Timing(
        float(np.median(seconds)),
        detail=f"{lattice.n_cells} cells, {3 * lattice.n_nodes} unknowns, {tied} attachments",
        figures={
            "cells": float(lattice.n_cells),
            "unknowns": float(3 * lattice.n_nodes),
            "matrix_blocks": float(len(model.pattern.column)),
            "newton_steps": float(np.mean([r.newton for r in reports])),
            "krylov_iterations": float(np.mean([r.krylov for r in reports])),
            "assemblies": float(np.mean([r.assemblies for r in reports])),
            "slowest_s": float(np.max(seconds)),
            "processor_s": float(np.median(processor)),  # of all threads: what counts on a busy machine
            "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0,
        },
    )
