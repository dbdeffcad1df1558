"""Flesh of the whole body in motion: both elbows flex 4.5 degrees a step, quasi-static balance after each.

The published systems needed 60-240 s a frame (Lee 2008, 354,000 tetrahedra) and a good part of 180-600 s (Si & al.
2014, a 10 mm lattice). Sizes, iterations and memory stand beside the times.
"""

from __future__ import annotations

import resource
from functools import lru_cache
from time import perf_counter

import numpy as np

from vitruvian.anatomy import human
from vitruvian.anatomy.skin import Skin, body_skin
from vitruvian.anatomy.skin_flesh import body_flesh
from vitruvian.benchmarks.suite import Timing, timing
from vitruvian.couple.bone_flesh import BoneFlesh
from vitruvian.flesh import Loads, Settings
from vitruvian.flesh.materials import mooney_rivlin

STEP = np.deg2rad(4.5)
WARM, TIMED = 2, 6


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
    """One step of the moving body on a 10 mm lattice, matrix in float32."""
    return _moving_body(0.01, single=True)


@timing
def whole_body_30_mm_softer_volume() -> Timing:
    """The same at 30 mm with a bulk modulus of 1 MPa instead of 100: iterations should hardly change."""
    return _moving_body(0.03, kappa=1e6)


@lru_cache(maxsize=1)
def _skin() -> Skin:
    return body_skin(human())


def _moving_body(spacing: float, *, single: bool = False, kappa: float = 100e6) -> Timing:
    body = human(pelvis="fixed")
    flesh = body_flesh(body, spacing=spacing, skin=_skin(), material=mooney_rivlin(20e3, 60e3, kappa))
    pair = BoneFlesh(body.skeleton, flesh.model, Settings(single=single))
    state = pair.start(body.default_q)
    elbows = [body.skeleton.q_start[body.skeleton.index(bone)] for bone in ("Ul_l", "Ul_r")]
    seconds, newton, krylov, assemblies = [], [], [], []
    for step in range(WARM + TIMED):
        state.bones.q[elbows] += STEP
        begun = perf_counter()
        report = pair.settle(state, Loads())
        if step >= WARM:
            seconds.append(perf_counter() - begun)
            newton.append(report.newton)
            krylov.append(report.krylov)
            assemblies.append(report.assemblies)
    lattice, tied = flesh.model.lattice, len(flesh.model.attachments.bone)
    return Timing(
        float(np.median(seconds)),
        detail=f"{lattice.n_cells} cells, {3 * lattice.n_nodes} unknowns, {tied} attachments",
        figures={
            "cells": float(lattice.n_cells),
            "unknowns": float(3 * lattice.n_nodes),
            "newton_steps": float(np.mean(newton)),
            "krylov_iterations": float(np.mean(krylov)),
            "assemblies": float(np.mean(assemblies)),
            "slowest_s": float(np.max(seconds)),
            "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0,
        },
    )
