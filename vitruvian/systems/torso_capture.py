"""Activations from markers on a breathing chest (DiLorenzo 2009, 5.3.2).

Virtual markers on the trunk's skin are held against an average breath of captured ones: both about their means, the
simulated one shifted in time to fit best. The largest activations of four groups are found,

    external intercostals and diaphragm while breathing in, internal intercostals and abdomen while breathing out,

and beyond the thesis that of the lower external intercostals, whose ribs widen the cage: then all markers can be
matched, not the sagittal column alone. Errors are his:

    error_p = Σ d(i, j) / (n m),  error_v = Σ v(i, j) / (n m)         over n markers and m frames

The search takes no derivatives (Ralston and Jennrich 1978, DUD): a linear model through the latest runs, one more than
there are numbers, is fitted by bounded least squares; its minimum is the next run and takes the worst one's place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from scipy.optimize import lsq_linear

from vitruvian.anatomy import bound_skin
from vitruvian.anatomy.trunk import Trunk
from vitruvian.control.behaviour import Behave, Behaviour, Curve
from vitruvian.measured import Trial
from vitruvian.measured.chest_breath import PHASES, SITES, ChestBreath
from vitruvian.skeleton import bone_poses
from vitruvian.skin import BoundSkin
from vitruvian.systems.breath_field import Lining, Spread
from vitruvian.systems.torso import TorsoSystem
from vitruvian.world import World

Array = np.ndarray
GROUPS = ("external intercostals", "diaphragm", "internal intercostals", "abdomen", "lower external intercostals")
BREATHED_OUT = ("internal intercostals", "abdomen")
HIGH = np.array([1.0, 0.5, 1.0, 0.5, 0.6])  # of what is looked for
FIRST = np.array([0.25, 0.06, 0.1, 0.02, 0.05])
TRIED = np.array([0.1, 0.04, 0.1, 0.02, 0.1])  # first changes
LONGEST_STEP = 0.01  # [s]
RUNS = 12  # beyond the first ones
ENOUGH = 5e-5  # [m] of error_p by which a run must be better, else the search ends
SHIFTS = 4  # parts of a phase by which the simulated breath is shifted
TRIANGLES, SPACING = 16_000, 0.012


class SkinMarkers:
    """Markers on the trunk's skin."""

    def __init__(self, torso: TorsoSystem, names: tuple[str, ...] = tuple(SITES)):
        trunk = torso.trunk
        skin = bound_skin(trunk.body, triangles=TRIANGLES, spacing=SPACING)
        at = np.array([_vertex(skin.rest, *SITES[n]) for n in names])
        self.names, self.vertex = names, at
        self.rest = skin.rest[at]  # default pose [m], (n, 3)
        self._skin = replace(
            skin, rest=skin.rest[at].copy(), influence=skin.influence[at].copy(), weight=skin.weight[at].copy(),
            faces=np.zeros((0, 3), int), volume=None,
        )  # fmt: skip
        self._main = skin.bones[skin.influence[at, 0]]
        self._lining, self._spread = Lining(trunk, skin), Spread(Lining(trunk, skin).rest, self.rest)
        first = torso.start(np.random.default_rng(0))
        self._before = self._lining.beyond(bone_poses(trunk.body.skeleton, first.q), first.breath.x)

    @property
    def skin(self) -> BoundSkin:
        return self._skin

    def places(self, poses: Array, x: Array) -> Array:
        """[m], (n, 3), with bones at poses and the belly's points at x."""
        d = self._spread(self._lining.beyond(poses, x) - self._before)
        return np.asarray(self._skin.place(poses).vertices + np.einsum("nij,nj->ni", poses[self._main, :3, :3], d))

    @property
    def sites(self) -> dict[str, Array]:
        """Where they lie in the default pose [m], name -> (3,)."""
        return dict(zip(self.names, self.rest))


@dataclass(frozen=True, eq=False)
class CaptureFit:
    """A behaviour that breathes as a subject does."""

    behaviour: Behaviour
    activations: dict[str, float]
    error_p: float  # [m]
    error_v: float  # [m/s]
    wanted: Array  # captured markers about their means [m], (PHASES, n, 3)
    found: Array  # simulated ones
    names: tuple[str, ...]
    period: float  # [s]
    shift: float  # part of the period by which the captured breath lies ahead of the behaviour
    runs: int
    seconds: float  # that they took


def breath_of(values: Array, period: float) -> Behaviour:
    """The behaviour with these largest activations, in the order of GROUPS (some of the last may be left out)."""
    curves = tuple(
        Curve(g, "half", float(a), period=period, phase=0.5 if g in BREATHED_OUT else 0.0)
        for g, a in zip(GROUPS, values)
        if a > 0.0
    )
    return Behaviour("captured", curves or (Curve("diaphragm", "half", 0.0, period=period),), "A breath from markers")


def marker_cycle(torso: TorsoSystem, markers: SkinMarkers, values: Array, period: float) -> Array:
    """Places of the markers in the second breath [m], (PHASES, n, 3)."""
    trunk: Trunk = torso.trunk
    steps = max(1, int(np.ceil(period / PHASES / LONGEST_STEP - 1e-9)))
    world = World(torso, Behave(trunk, breath_of(values, period)), frame_rate=PHASES / period, substeps=steps)
    world.start()
    out = []
    for n in range(2 * PHASES):
        if n >= PHASES:
            out.append(markers.places(bone_poses(trunk.body.skeleton, world.state.q), world.state.breath.x))
        for _ in range(steps):
            world.step()
    return np.array(out)


def fit_markers(
    torso: TorsoSystem, markers: SkinMarkers, breath: ChestBreath, *, widen: bool = True, runs: int = RUNS,
    progress: Callable[[int, float], None] | None = None,
) -> CaptureFit:  # fmt: skip
    """The activations whose markers move as those of `breath`; widen: look for the lower intercostals' too."""
    began = perf_counter()
    k = len(GROUPS) if widen else len(GROUPS) - 1
    at = [markers.names.index(n) for n in breath.names]
    known: dict[bytes, tuple[Array, float]] = {}

    def simulated(p: Array) -> Array:
        if p.tobytes() not in known:
            cycle = marker_cycle(torso, markers, p, breath.period)[:, at]
            known[p.tobytes()] = best_shift(cycle - cycle.mean(axis=0), breath.moved)
        return known[p.tobytes()][0]

    def miss(p: Array) -> Array:
        return (simulated(p) - breath.moved).ravel()

    best = _dud(miss, FIRST[:k], TRIED[:k], HIGH[:k], runs, progress)
    found = simulated(best)
    error_p, error_v = marker_errors(found, breath.moved, breath.period)
    return CaptureFit(
        breath_of(best, breath.period), dict(zip(GROUPS, best.tolist())), error_p, error_v, breath.moved, found,
        breath.names, breath.period, -known[best.tobytes()][1], len(known), perf_counter() - began,
    )  # fmt: skip


def marker_errors(found: Array, wanted: Array, period: float) -> tuple[float, float]:
    """error_p [m] and error_v [m/s] of cycles (PHASES, n, 3)."""
    off = found - wanted
    speed = (np.roll(off, -1, axis=0) - np.roll(off, 1, axis=0)) * (0.5 * len(off) / period)
    return float(np.linalg.norm(off, axis=2).mean()), float(np.linalg.norm(speed, axis=2).mean())


def best_shift(cycle: Array, wanted: Array) -> tuple[Array, float]:
    """A cycle (m, n, 3) shifted in time so that it is nearest to the wanted one, c(t + shift), and the shift in
    periods; parts of a frame by Fourier series."""
    m = len(cycle)
    a, b = np.fft.rfft(cycle, axis=0), np.fft.rfft(wanted, axis=0)
    turn = np.exp(2j * np.pi * np.outer(np.arange(SHIFTS * m), np.arange(len(a))) / (SHIFTS * m))
    weight = np.full(len(a), 2.0)
    weight[0] = 1.0
    like = np.real(turn @ (weight * (a * b.conj()).sum(axis=(1, 2))))
    best = int(np.argmax(like))
    return np.fft.irfft(a * turn[best][:, None, None], m, axis=0), best / (SHIFTS * m)


def _dud(
    miss: Callable[[Array], Array], first: Array, tried: Array, high: Array, runs: int,
    progress: Callable[[int, float], None] | None,
) -> Array:  # fmt: skip
    points = [first, *(first + np.eye(len(first))[i] * tried[i] for i in range(len(first)))]
    rows = []
    for n, p in enumerate(points):
        rows.append(miss(p))
        if progress is not None:
            progress(n + 1, _mean(rows[-1]))
    for n in range(runs):
        order = np.argsort([r @ r for r in rows])
        points, rows = [points[i] for i in order], [rows[i] for i in order]
        base, here = points[0], rows[0]
        way = np.array([p - base for p in points[1:]]).T  # (k, k)
        change = np.array([r - here for r in rows[1:]]).T
        slope = np.linalg.lstsq(way.T, change.T, rcond=1e-6)[0].T
        step = lsq_linear(slope, -here, bounds=(-base - 1e-12, high - base + 1e-12)).x
        new = np.clip(base + step, 0.0, high)
        if np.abs(new - base).max() < 1e-4:
            break
        found = miss(new)
        if progress is not None:
            progress(len(first) + 2 + n, _mean(found))
        better = _mean(here) - _mean(found)
        points[-1], rows[-1] = new, found
        if np.linalg.cond(np.array([p - points[0] for p in points[1:]]) / high) > 1e4:
            i = n % len(first)  # runs that lie in a plane say nothing across it: one step out of it
            points[-2] = np.clip(new + np.eye(len(first))[i] * 0.3 * tried[i], 0.0, high)
            rows[-2] = miss(points[-2])
        if 0.0 <= better < ENOUGH:
            break
    return points[int(np.argmin([r @ r for r in rows]))]


def _mean(row: Array) -> float:
    return float(np.linalg.norm(row.reshape(-1, 3), axis=1).mean())


def _vertex(rest: Array, left: float, up: float, kind: str) -> int:
    """The skin's vertex at a site."""
    if kind == "front":
        near = (np.abs(rest[:, 0] - left) < 0.03) & (np.abs(rest[:, 2] - up) < 0.03) & (rest[:, 1] < 0.0)
        far = np.hypot(rest[:, 0] - left, rest[:, 2] - up)
    else:
        near = (np.abs(rest[:, 2] - up) < 0.03) & (np.abs(rest[:, 1] + 0.03) < 0.05) & (rest[:, 0] * left > 0.0)
        near &= np.abs(rest[:, 0]) < 0.24
        far = np.hypot(rest[:, 1] + 0.03, rest[:, 2] - up)
    return int(np.flatnonzero(near)[np.argmin(far[near])])


def made_subject(
    torso: TorsoSystem, markers: SkinMarkers, values: Array, *, period: float = 4.0, breaths: int = 8,
    noise: float = 1e-3, facing: float = 0.6, seed: int = 0, rate: float = 100.0,
) -> Trial:  # fmt: skip
    """Markers of a simulated subject with known activations: noise [m] on every reading, sway, turned by `facing`
    [rad] in the laboratory."""
    rng = np.random.default_rng(seed)
    cycle = marker_cycle(torso, markers, values, period)
    time = np.arange(0.0, breaths * period + 0.8, 1.0 / rate)
    phase = (time / period % 1.0) * PHASES
    closed = np.concatenate([cycle, cycle[:1]])
    k = phase.astype(int)
    part = (phase - k)[:, None, None]
    x = (1.0 - part) * closed[k] + part * closed[k + 1]
    x = x + 3e-3 * np.sin(2.0 * np.pi * time / 7.3 + 1.0)[:, None, None] * np.array([1.0, 0.5, 0.0])
    c, s = np.cos(facing), np.sin(facing)
    x = x @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]).T + np.array([1.2, -0.4, 0.0])
    x = x + noise * rng.standard_normal(x.shape)
    return Trial("a simulated subject", "made", time, {n: x[:, j] for j, n in enumerate(markers.names)})
