"""Claims of the chapter `body`: no muscle's path jumps, in length or in moment arm, wherever motions take it.

Courses: the four strokes, the captured walk and run, and random ways through the ranges of all joints, in steps of half
a degree at most. Along a step dq the length must change as its moment arms P say,

    |Δl - ½ (P + P') dq|  ≤  1/12 |P''| |dq|³ ,

and no moment arm may change faster than a straight line through two points that pass each other closely: a muscle
of 40 mm between two ribs (internal_intercostal_09) reaches 0.67 m/rad² in these courses.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from vitruvian.anatomy import Body, human
from vitruvian.control.rhythm import StrokeMotion, load_stroke, stroke_names
from vitruvian.exchange import read_trial
from vitruvian.measured import trial_motion
from vitruvian.muscle import moment_arms
from vitruvian.skeleton import difference, integrate, world_twists
from vitruvian.verify.book import Finding, claim

Array = np.ndarray
STEP = np.radians(0.5)
WAYS = 12
SHARE = 0.8  # of the shoulder's ranges: all three extremes together are out of reach


class Jump(NamedTuple):
    size: float
    muscle: str
    course: str


def courses(body: Body) -> Iterator[tuple[str, list[Array]]]:
    """Joint coordinates along each course."""
    for name in stroke_names():
        stroke = StrokeMotion(body, load_stroke(name), 1.0)
        yield name, [stroke.sample(t)[0] for t in np.linspace(0.0, 1.0, 361)]
    for name in ("walk", "run"):
        clip = trial_motion(read_trial(name), body)
        yield name, list(clip.q)
    s, rng = body.skeleton, np.random.default_rng(1)
    low, high = (np.where(np.isfinite(x), x, 0.0) for x in (s.forces.low, s.forces.high))
    for n in range(WAYS):
        ends = []
        for _ in range(2):
            turn = rng.uniform(low, high)
            turn[:6] = 0.0
            for bone in ("Hu_l", "Hu_r"):
                turn[s.v_slice(bone)] *= SHARE
            ends.append(integrate(s, s.neutral_q(), turn))
        yield f"way {n}", ends


@lru_cache(maxsize=1)
def worst_jumps() -> tuple[Jump, Jump]:
    """The largest gap between lengths and moment arms [m/rad], and the fastest change of an arm [m/rad²]."""
    body = human()
    gap, change = Jump(0.0, "", ""), Jump(0.0, "", "")
    for name, points in courses(body):
        found = _along(body, points)
        for k, old in enumerate((gap, change)):
            m = int(np.argmax(found[k]))
            new = Jump(float(found[k][m]), body.muscles.names[m], name)
            if new.size > old.size:
                gap, change = (new, change) if k == 0 else (gap, new)
    return gap, change


def _along(body: Body, points: list[Array]) -> tuple[Array, Array]:
    """Largest gap [m/rad] and change of arms [m/rad²] of each muscle along straight ways between the points."""
    s, m = body.skeleton, body.muscles
    gap, change = np.zeros(m.n_muscles), np.zeros(m.n_muscles)
    starts = np.flatnonzero(np.diff(m.row_start))  # muscles that cross a joint: all
    for a, b in pairwise(points):
        whole = difference(s, a, b)
        whole[:6] = 0.0
        count = max(1, int(np.ceil(np.abs(whole).max() / STEP)))
        size = np.abs(whole).max() / count
        if size < 1e-6:
            continue
        before = None
        for n in range(count + 1):
            now = moment_arms(m, *world_twists(s, integrate(s, a, whole, n / count)))
            if before is not None:
                turned = whole / count
                mean = 0.5 * (before[1].rates(turned) + now[1].rates(turned))
                gap = np.maximum(gap, np.abs(now[0] - before[0] - mean) / size)
                moved = np.maximum.reduceat(np.abs(now[1].data - before[1].data), m.row_start[starts])
                change[starts] = np.maximum(change[starts], moved / size)
            before = now
    return gap, change


@claim
def paths_do_not_jump() -> Finding:
    """Along strokes, captured steps and random ways through all ranges every length changes as its moment arms say."""
    found = worst_jumps()[0]
    detail = f"gap per radian over steps of 0.5 degrees, 860 muscles, 18 courses; worst {found.muscle}, {found.course}"
    return Finding.error(found.size, 2e-4, "m/rad", detail)


@claim
def moment_arms_do_not_jump() -> Finding:
    """Along the same courses no moment arm changes faster than that of a short straight muscle does."""
    found = worst_jumps()[1]
    per_step = 1e3 * found.size * STEP
    detail = f"{per_step:.1f} mm in half a degree, worst {found.muscle}, {found.course}"
    return Finding.error(found.size, 0.8, "m/rad²", detail)
