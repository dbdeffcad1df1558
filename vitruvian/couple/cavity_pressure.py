"""A trunk that breathes within a step: pressures of belly and lungs, diaphragm and wall, on bones and free points.

    belly   P = κ (V0 / V - 1)                        (DiLorenzo 2009, eq. 3.2; negative pressure pulls, unlike 3.3)
    lungs   P_pl = P_lung - (P_tm(V) - P_tm(rest)),   P_lung from gas and flow (`breath.airway`)

act along the gradients of their volumes, the elements along their lines. All are taken implicitly, volumes at the end
of the step as the present velocities foresee them; bones and points are then solved together (`cavity_solve`). After
the step the air is balanced exactly at the new volume, so that what flows is what the lungs gain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba as nb
import numpy as np

from vitruvian.breath import ATMOSPHERE, BreathState, Cavities, Lungs, airway
from vitruvian.breath.surface import place, volume, volume_gradient
from vitruvian.couple.books import Book
from vitruvian.couple.cavity_fibres import keep_even, whole_fibres
from vitruvian.couple.cavity_solve import (
    TOLERANCE,
    Chains,
    Lines,
    Moved,
    add_lines,
    gather,
    joint_part,
    linked,
    point_part,
    solve,
    spread,
    spread_all,
    wrench_of,
)
from vitruvian.couple.step import BoneStep, System
from vitruvian.errors import Diverged
from vitruvian.muscle.elements import tension_kernel
from vitruvian.skeleton import bone_poses, integrate

Array = np.ndarray
STICK = 0.01  # [m/s] below it Coulomb friction grows with the speed


class CavityScratch:
    """Memory for one trunk on one step's bones; no state."""

    def __init__(self, step: BoneStep, cavities: Cavities, lungs: Lungs):
        s, c = step.skeleton, cavities
        self.step, self.cavities, self.lungs = step, cavities, lungs
        self.chains = Chains(np.asarray(s.parent, np.int64), np.asarray(s.v_start, np.int64), step.place)
        n, e, leans = len(c.carried.point), c.n_elements, len(c.leans.vertex)
        self.pos, self.g_belly, self.g_chest = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3))
        self.moved = Moved(np.zeros((s.n_bones, 6)), np.zeros((s.n_bones, 6)), np.zeros((n, 3)), np.zeros((n, 3)))
        ends = np.concatenate([c.ends, np.stack([c.leans.vertex, c.leans.anchor], axis=1)]).astype(np.int64)
        self.lines = Lines(
            ends,
            linked(c, ends),
            np.zeros((e + leans, 3)),
            np.zeros(e + leans),
            np.zeros(e + leans),
        )
        self.length, self.rate, self.pull = np.zeros(e), np.zeros(e + leans), np.zeros(e + leans)
        self.whole, self.stretch = np.zeros((2, e)), np.zeros((c.fibres.fibre.max() + 1, 3))
        self.tension = np.zeros((5, e))
        self.size = len(step.free) + 3 * len(c.rest)
        self.g = np.zeros((2, self.size))
        self.right = np.zeros(self.size)
        self.gained = np.zeros(self.size)
        self.iterations = 0


@dataclass(eq=False)
class CavityPressure:
    """A contributor and the resolver of its step; made for one step, and settles the state it was made with."""

    scratch: CavityScratch
    state: BreathState
    account: str = "cavity"
    tolerance: float = TOLERANCE
    load: Array | None = None  # what the viscera press with at rest, on the free points and the plate [N], (p + 1, 3)
    push: Array | None = None  # on the free points and the plate from outside [N], (p + 1, 3)

    def add(self, system: System) -> None:
        w, c, state, h = self.scratch, self.scratch.cavities, self.state, system.dt
        self._n = len(system.matrix)
        place(c.carried, state.x, system.poses, c.plate_bone, w.pos)
        spread_all(system.screws, w.chains, c.carried, w.pos, state.x[-1], c.plate_bone, system.v, state.v, w.moved)
        belly, chest = volume_gradient(c.belly, w.pos, w.g_belly), volume_gradient(c.chest, w.pos, w.g_chest)
        line_terms(c.leans, c.carried, system.poses, w.pos, w.moved.u, w.lines, w.length, w.rate)
        fibre, rest_length, share = c.fibres
        whole_fibres(fibre, rest_length, w.length, w.rate, w.stretch, w.whole[0], w.whole[1])
        tension_kernel(c.laws.kind, c.laws.table, state.activation, w.whole[0], w.whole[1], w.tension)
        keep_even(fibre, rest_length, w.length, w.rate, w.stretch, share, w.tension)
        self._pressures(h, belly, chest)
        force_terms(
            c.leans, w.lines, w.length, w.rate, w.tension, w.pos, w.moved.u, h, w.pull, w.moved.f,
            self.belly_pressure, w.g_belly, self.pleural, w.g_chest,
        )  # fmt: skip
        last = len(c.rest) - 1
        self.force = w.moved.f.copy()
        wrench_of(w.chains, c.carried, w.pos, state.x[-1], c.plate_bone, last, w.moved)
        joint_part(w.chains, system.screws, w.moved, system.force)
        w.right[:] = 0.0
        point_part(c.carried, self.force, self._n, w.right)
        self.on_points = w.right[self._n :].reshape(-1, 3).copy()  # of elements, pressures and leans [N]
        for given in (self.load, self.push):
            if given is not None:
                w.right[self._n :] += given.ravel()
        w.right[self._n :] *= h
        w.g[:] = 0.0
        for k, g in enumerate((w.g_belly, w.g_chest)):
            w.moved.f[:] = g
            self._gather(system, w.g[k])
        self._system = system
        system.resolver = self

    def _pressures(self, h: float, belly: float, chest: float) -> None:
        """Pressures at the volumes that the present velocities lead to, and how stiff they are there [Pa/m³]."""
        w, c, lungs, air = self.scratch, self.scratch.cavities, self.scratch.lungs, self.state.air
        soon = belly + h * float(np.vdot(w.g_belly, w.moved.u))
        self.belly_pressure = c.bulk * (c.belly_volume / soon - 1.0)
        belly_stiffness = c.bulk * c.belly_volume / soon**2
        lung = lungs.rest_volume + chest - c.chest_volume + h * float(np.vdot(w.g_chest, w.moved.u))
        glottis = float(self.state.glottis[0])
        q = airway.flow(air[0], lung, h, lungs.airway, glottis, air[2])
        inside = (air[0] + h * ATMOSPHERE * q) / lung - ATMOSPHERE
        self.pleural = inside - lungs.transmural(lung) + lungs.transmural(lungs.rest_volume)
        lung_stiffness = airway.stiffness(air[0], lung, h, lungs.airway, glottis, q) + lungs.slope(lung)
        self.weight = h * h * np.array([belly_stiffness, lung_stiffness])

    def _gather(self, system: System, out: Array) -> None:
        w, c = self.scratch, self.scratch.cavities
        gather(w.chains, system.screws, c.carried, w.pos, self.state.x[-1], c.plate_bone, self._n, w.moved, out)

    def resolve(self, matrix: Array, right: Array, dt: float) -> Array:
        """See `Resolver`: the velocities that joints gain; those of the points are kept for `settle`."""
        w, c, system = self.scratch, self.scratch.cavities, self._system
        w.right[: self._n] = right
        w.iterations = solve(
            w.chains, system.screws, c.carried, w.pos, self.state.x[-1], c.plate_bone, matrix, c.mass, w.lines, w.g,
            self.weight, w.right, self.tolerance, w.moved, c.strips, w.gained,
        )  # fmt: skip
        if w.iterations < 0:
            raise Diverged("trunk", "the step's matrix is not positive definite")
        return w.gained[: self._n].copy()

    def settle(self, system: System, gained: Array, book: Book | None) -> None:
        """Points and air to where the step brings them."""
        w, c, state, h, lungs = self.scratch, self.scratch.cavities, self.state, system.dt, self.scratch.lungs
        before = state.v
        state.v = before + w.gained[self._n :].reshape(-1, 3)
        self._book(system, 0.5 * (before + state.v), gained, book)
        state.x = state.x + h * state.v
        q = integrate(system.step.skeleton, system.q, system.v + gained, h)
        place(c.carried, state.x, bone_poses(system.step.skeleton, q), c.plate_bone, w.pos)
        belly = volume(c.belly, w.pos)
        state.belly = np.array([c.bulk * (c.belly_volume / belly - 1.0), belly])
        lung = lungs.rest_volume + volume(c.chest, w.pos) - c.chest_volume
        if not lung > 0.0:
            raise Diverged("lungs", "no volume is left")
        gas, breathed = state.air[0], state.air[3]
        flow = airway.flow(gas, lung, h, lungs.airway, float(state.glottis[0]), state.air[2])
        state.air = np.array([gas + h * ATMOSPHERE * flow, lung, flow, breathed + h * flow])
        state.peaks = np.maximum(state.peaks, [flow, -flow])
        if not np.isfinite(state.x).all():
            raise Diverged("belly", "a point is lost")

    def work(self, system: System, gained: Array, middle: Array) -> float:
        """On the bones [J]."""
        return float(self._impulse @ middle)

    def _book(self, system: System, points: Array, gained: Array, book: Book | None) -> None:
        """Impulses of the step on bones, and the work of elements and of both pressures on bones and points."""
        w, c, h = self.scratch, self.scratch.cavities, system.dt
        self._impulse = np.zeros(len(system.v))
        if book is None:
            return
        place_u = w.moved.u
        spread(w.chains, system.screws, c.carried, w.pos, self.state.x[-1], c.plate_bone, self._n, w.gained, w.moved)
        du = place_u.copy()
        w.moved.f[:] = 0.0
        add_lines(w.lines, du, w.moved.f)
        lines = h * self.line_force - w.moved.f
        belly = h * self.belly_pressure - self.weight[0] * float(np.vdot(w.g_belly, du))
        lungs = h * self.pleural - self.weight[1] * float(np.vdot(w.g_chest, du))
        w.moved.f[:] = lines + belly * w.g_belly + lungs * w.g_chest
        wrench_of(w.chains, c.carried, w.pos, self.state.x[-1], c.plate_bone, len(c.rest) - 1, w.moved)
        joint_part(w.chains, system.screws, w.moved, self._impulse)
        spread_all(
            system.screws, w.chains, c.carried, w.pos, self.state.x[-1], c.plate_bone, system.v + 0.5 * gained,
            points, w.moved,
        )  # fmt: skip
        book.add_work("elements", float(np.vdot(lines, w.moved.u)))
        book.add_work("belly", belly * float(np.vdot(w.g_belly, w.moved.u)))
        book.add_work("lungs", lungs * float(np.vdot(w.g_chest, w.moved.u)))
        if self.load is not None:
            book.add_work("viscera", h * float(np.vdot(self.load, points)))

    @property
    def line_force(self) -> Array:
        """Of elements and leans on all vertices at the start of the step [N], (n, 3)."""
        w = self.scratch
        return self.force - self.belly_pressure * w.g_belly - self.pleural * w.g_chest


# --- kernels -------------------------------------------------------------------------------------------------------


@nb.njit(cache=True)
def line_terms(leans, carried, poses, pos, u, lines, length, rate):
    """Directions, lengths and rates of elements; directions and rates of leans."""
    e = len(length)
    for n in range(len(lines.along)):
        i, j = lines.ends[n, 0], lines.ends[n, 1]
        d = lines.way[n]
        if n < e:
            for k in range(3):
                d[k] = pos[j, k] - pos[i, k]
            length[n] = np.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
            for k in range(3):
                d[k] /= length[n]
        elif leans.radius[n - e] > 0.0:  # towards the ball's middle
            far = 0.0
            for k in range(3):
                d[k] = pos[j, k] - pos[i, k]
                far += d[k] * d[k]
            far = np.sqrt(far)
            for k in range(3):
                d[k] /= far
        else:  # outwards, as the wall's bone has turned
            T, a = poses[carried.bone[j, 0]], leans.way[n - e]
            for k in range(3):
                d[k] = T[k, 0] * a[0] + T[k, 1] * a[1] + T[k, 2] * a[2]
        rate[n] = 0.0
        for k in range(3):
            rate[n] += d[k] * (u[j, k] - u[i, k])


@nb.njit(cache=True)
def force_terms(leans, lines, length, rate, tension, pos, u, h, pull, f, belly, g_belly, pleural, g_chest):
    """Force f - h K v on all vertices [N]; fills pull, along and across of the lines."""
    e = len(length)
    for i in range(len(f)):
        for k in range(3):
            f[i, k] = belly * g_belly[i, k] + pleural * g_chest[i, k]
    for n in range(len(lines.along)):
        i, j = lines.ends[n, 0], lines.ends[n, 1]
        d = lines.way[n]
        if n < e:
            k_l = max(tension[3, n], 0.0)
            turn = tension[0, n] / length[n]
            pull[n] = tension[0, n] + h * k_l * rate[n]
            lines.along[n] = h * max(tension[4, n], 0.0) + h * h * k_l
            lines.across[n] = h * h * turn
            for k in range(3):
                a = pull[n] * d[k] + h * turn * (u[j, k] - u[i, k] - rate[n] * d[k])
                f[i, k] += a
                f[j, k] -= a
            continue
        past = leans.radius[n - e] - h * rate[n]  # how far the vertex is beyond the wall at the end of the step
        for k in range(3):
            past += d[k] * (pos[i, k] - pos[j, k])
        lines.across[n] = 0.0
        if past > 0.0 or leans.tied[n - e]:
            k_l, damp = leans.stiffness[n - e], leans.damping[n - e]
            pull[n] = -k_l * past + damp * rate[n]
            lines.along[n] = h * damp + h * h * k_l
        else:
            pull[n] = 0.0
            lines.along[n] = 0.0
        rub = 0.0
        if leans.friction[n - e] > 0.0 and pull[n] < 0.0:
            slip = 0.0
            for k in range(3):
                slip += (u[j, k] - u[i, k] - rate[n] * d[k]) ** 2
            rub = -leans.friction[n - e] * pull[n] / max(np.sqrt(slip), STICK)
            lines.across[n] = h * rub
        for k in range(3):
            a = pull[n] * d[k] + rub * (u[j, k] - u[i, k] - rate[n] * d[k])
            f[i, k] += a
            f[j, k] -= a
