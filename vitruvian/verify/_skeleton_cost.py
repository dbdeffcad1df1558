"""Claims of the chapter `skeleton`: forward dynamics costs O(n), whatever the joints."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np
from numba import njit

from vitruvian.skeleton import joints
from vitruvian.skeleton.aba import aba
from vitruvian.skeleton.evaluate import evaluate_joints
from vitruvian.skeleton.samples import random_chain, random_curve, random_state
from vitruvian.verify.book import Finding, claim, worst


@claim
def cost_per_body_is_flat() -> Finding:
    """Forward dynamics costs the same per bone from 10 to 1,000 bones (ratio of the dearest to the cheapest)."""
    return _flatness(lambda rng: joints.Ball())


@claim
def cost_per_body_is_flat_with_spline_joints() -> Finding:
    """The same with curve spline joints: they do not raise the complexity beyond O(n), as Lee reports."""
    return _flatness(lambda rng: random_curve(rng, periodic=True))


def _flatness(make: Callable[[np.random.Generator], joints.Joint]) -> Finding:
    """Cost per bone of chains of several sizes in a compiled loop, so that calls from Python do not count."""
    sizes = (10, 30, 100, 300, 1000)
    runs = {}
    for n in sizes:
        chain = random_chain(n, make)
        q, v = random_state(chain, np.random.default_rng(n))
        work = chain.new_workspace()
        arrays = (chain.topology, chain.bodies, chain.params, chain.custom_rows(q), chain.gravity, q, 0.1 * v)
        runs[n] = (2_000 // n, *arrays, np.zeros(chain.n_v), work.rows, work.dofs, work.hessians, work.scratch)
        _repeat(1, *runs[n][1:])
    best = dict.fromkeys(sizes, np.inf)
    for _ in range(200):  # turn by turn and in short bursts, so that all sizes meet the same noise and quiet moments
        for n, arguments in runs.items():
            start = perf_counter()
            _repeat(*arguments)
            best[n] = min(best[n], (perf_counter() - start) / arguments[0] / n)
    costs = ", ".join(f"{n}: {1e9 * cost:.0f} ns" for n, cost in best.items())
    return Finding.within(worst(best.values()) / min(best.values()), 1.0, 1.5, detail=f"per bone, {costs}")


@njit(cache=True)
def _repeat(times, topology, bodies, params, custom, gravity, q, v, tau, rows, dofs, hessians, scratch):
    out, no_wrenches = np.empty(len(v)), np.empty((0, 6))
    for _ in range(times):
        evaluate_joints(topology, bodies, params, custom, q, v, rows, dofs, hessians, scratch)
        aba(topology, bodies, gravity, tau, no_wrenches, rows, dofs, out)
