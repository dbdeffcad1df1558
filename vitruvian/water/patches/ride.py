"""One sub-step of the window with its patches: what each patch does to its link, and what the window gets for it.

    flow carried past the link -> axes turned -> weight -> pressure with the link's velocity -> flow beyond the water

in as many sub-steps of the patch as its flow needs. A patch knows the flow in the world but tells it in its own axes:
with y a place in the patch, (w, v) the patch's angular and linear velocity in its axes,

    du/dt + (u - v - w x y) . grad u = - w x u - grad p / rho + g

The link receives J = dynamic part + Archimedes' impulse of its closed skin; the window has water where the link is,
which weighs what the link displaces, so it receives minus the dynamic part, where the pressure acted. Patches come one
after the other and before the window; each solve is implicit in its link's velocity, so light limbs do not ring.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from vitruvian.spatial import exp_so3, log_so3
from vitruvian.water.advect import advect_velocity
from vitruvian.water.bodies import Mechanism
from vitruvian.water.boundary import Boundary, open_boundary
from vitruvian.water.extrapolate import extrapolate_velocity
from vitruvian.water.forces import _hydrostatic
from vitruvian.water.model import Tank
from vitruvian.water.patches.model import Patch, Patches
from vitruvian.water.patches.solve import face_masses, project_patch
from vitruvian.water.patches.state import PatchState, asleep
from vitruvian.water.patches.transfer import give, hand_up, take_depth, take_flow, take_pressure, take_surface
from vitruvian.water.pseudo import depths
from vitruvian.water.solids import Links, WetSurface, rasterise, set_body_velocity
from vitruvian.water.state import WaterState

Array = np.ndarray
LOOK = 0.02  # cells that the skin may move in its patch before it is looked at again
LAYERS = 4  # faces beyond the water to which a patch's flow is extended
MOST_SUBSTEPS = 200
import os
EASE=float(os.environ.get('EASE','1'))


@dataclass
class Frame:
    """Where a patch is: y in the patch is o + A y in the world."""

    o: Array  # the link's origin [m], shape (3,)
    A: Array  # the patch's axes in the world, columns, shape (3, 3)


@dataclass
class Window:
    """The window as the patches see it during one of its sub-steps."""

    tank: Tank
    state: WaterState
    boundary: Boundary
    flow: tuple[Array, Array, Array]  # velocity at the sub-step's start
    weight: float  # rho g [N/m^3]
    lid: float  # height of a full tank's lid [cells], 0 with a free surface

    @property
    def place(self) -> tuple[Array, float]:
        return self.state.origin, self.tank.cell


class Ride:
    """The patches during one sub-step of their window, and nothing beyond it."""

    def __init__(self, patches: Patches, tank: Tank, state: WaterState, mechanism: Mechanism, body: Any):
        """At the start of the sub-step, before anything has moved."""
        self.patches, self.tank, self.state, self.mechanism, self.body = patches, tank, state, mechanism, body
        if not state.patches:
            state.patches = [asleep(p) for p in patches.patches]
        self.before = mechanism.links(body)
        self._hand_up()
        self.flow = (state.u, state.v, state.w)

    def act(self, boundary: Boundary, dt: float) -> Array:
        """Once bodies and surface have moved: patches push their links and the window; impulses (links, 6)."""
        tank, state = self.tank, self.state
        lid = 0.0 if tank.free_surface else float(tank.shape[2])
        window = Window(tank, state, boundary, self.flow, tank.density * float(np.linalg.norm(tank.gravity)), lid)
        total = np.zeros((len(self.before.origins), 6))
        for patch, own in zip(self.patches.patches, state.patches):
            links = self.mechanism.links(self.body)
            impulse = self._one(patch, own, window, links, dt)
            if impulse is not None:
                impulses = np.zeros_like(total)
                impulses[patch.link] = impulse
                self.mechanism.receive(self.body, impulses)
                total += impulses
        return total

    def _hand_up(self) -> None:
        """The window learns from its patches what it cannot see."""
        assert self.before.rotations is not None
        opened = open_boundary(self.tank)
        for patch, own in zip(self.patches.patches, self.state.patches):
            if not own.awake:
                continue
            n = patch.link
            at = Frame(self.before.origins[n], self.before.rotations[n] @ patch.turn)
            boundary = _seen(patch, own, len(self.before.origins))
            boundary.origins = (self.before.origins - at.o) @ at.A
            twists = np.hstack([self.before.twists[:, :3] @ at.A, self.before.twists[:, 3:] @ at.A])
            set_body_velocity(patch.tank, _placed(patch), boundary, [WetSurface(patch.solid.shape, own.skin)], twists)
            flux = tuple(
                w * f + (1.0 - w) * b
                for w, f, b in zip(
                    (boundary.open_x, boundary.open_y, boundary.open_z), (own.u, own.v, own.w),
                    (boundary.body_x, boundary.body_y, boundary.body_z),
                )
            )  # fmt: skip
            hand_up(self.tank, self.state, (opened.open_x, opened.open_y, opened.open_z), flux, patch.tank, at.o, at.A)

    def _one(self, patch: Patch, own: PatchState, window: Window, links: Links, dt: float) -> Array | None:
        n = patch.link
        assert self.before.rotations is not None
        assert links.rotations is not None
        first = Frame(self.before.origins[n], self.before.rotations[n] @ patch.turn)
        last = Frame(links.origins[n], links.rotations[n] @ patch.turn)
        grid = patch.tank
        corner, h = np.asarray(grid.origin), grid.cell
        phi = np.empty(tuple(m + 2 for m in grid.shape))
        take_surface(self.state.phi, *window.place, last.o, last.A, corner, h, phi)
        if not (phi < 0.0).any():
            own.awake = False
            return None
        if not own.awake:
            self._wake(patch, own, window, first)
        skin = self.mechanism.skins(self.body)[patch.skin]
        boundary, surface = _look(patch, own, skin, links, last)
        turned = log_so3(last.A @ first.A.T)
        drift = np.hstack([turned, last.o - first.o]) / dt  # of the patch, world axes
        count = self._count(patch, own, first, drift, dt)
        small = dt / count
        mobility = _block(links, n)
        free, change = self.before.twists[n], links.twists[n] - self.before.twists[n]
        gained = np.zeros(6)  # impulses so far, world axes
        for i in range(1, count + 1):
            old = _between(first, last, turned, (i - 1) / count)
            new = _between(first, last, turned, i / count)
            twist = free + i / count * change + mobility @ gained
            gained += self._substep(patch, own, window, boundary, surface, links, old, new, drift, twist, mobility, small)
        return gained

    def _wake(self, patch: Patch, own: PatchState, window: Window, at: Frame) -> None:
        """Water has come into the patch: it starts with the window's flow and pressure."""
        grid, origin, big = patch.tank, *window.place
        corner = np.asarray(grid.origin)
        for axis, f in enumerate((own.u, own.v, own.w)):
            take_flow(*window.flow, origin, big, at.o, at.A, corner, grid.cell, axis, np.zeros(6), False, 0.0, f)
        own.pressure = self._pressure(patch, window, at, True)[1:-1, 1:-1, 1:-1].copy()
        own.awake = True

    def _pressure(self, patch: Patch, window: Window, at: Frame, everywhere: bool) -> Array:
        grid, state = patch.tank, window.state
        out = np.zeros(tuple(m + 2 for m in grid.shape))
        weight = window.weight
        pressure = state.pressure
        take_pressure(
            pressure, window.boundary.volume if state.substeps else np.zeros_like(pressure), state.phi, window.lid,
            weight, *window.place, at.o, at.A, np.asarray(grid.origin), grid.cell, everywhere, out,
        )  # fmt: skip
        return out

    def _count(self, patch: Patch, own: PatchState, at: Frame, drift: Array, dt: float) -> int:
        """Sub-steps of the patch in one of the window's."""
        frame = _turned(at.A, drift)
        speed = _fastest(own.u, own.v, own.w, np.asarray(patch.tank.origin), patch.tank.cell, frame)
        return int(min(MOST_SUBSTEPS, max(1, np.ceil(speed * dt / (self.patches.courant * patch.tank.cell)))))

    def _substep(
        self, patch: Patch, own: PatchState, window: Window, boundary: Boundary, surface: WetSurface, links: Links,
        old: Frame, new: Frame, drift: Array, twist: Array, mobility: Array, dt: float,
    ) -> Array:  # fmt: skip
        """One sub-step of one patch; the impulse on its link about its origin, world axes (6,)."""
        grid, n = patch.tank, patch.link
        corner, h = np.asarray(grid.origin), grid.cell
        frame = _turned(old.A, drift)
        flow = (own.u, own.v, own.w)
        for axis, f in enumerate(flow):
            take_flow(*window.flow, *window.place, old.o, old.A, corner, h, axis, frame, True, EASE * dt / h, f)
        phi = np.empty(tuple(m + 2 for m in grid.shape))
        take_surface(window.state.phi, *window.place, new.o, new.A, corner, h, phi)
        past = [f.copy() for f in flow]
        _subtract_frame(*past, corner, h, frame)
        state = WaterState(*past, np.ascontiguousarray(phi[1:-1, 1:-1, 1:-1]), own.pressure, corner, np.zeros(2, np.int64))
        advect_velocity(grid, state, dt, flow)
        if frame[:3].any():
            _turn_axes(state.u, state.v, state.w, exp_so3(-dt * frame[:3]))
        for f, g in zip((state.u, state.v, state.w), new.A.T @ np.asarray(window.tank.gravity)):
            f += g * dt
        # Archimedes: the mesh's impulse instead of the grid's
        mine = boundary.cell_link == n
        depth = np.empty(int(mine.sum()))
        take_depth(
            window.state.phi, window.lid, *window.place, new.o, new.A, corner, h, boundary.cells[mine], depth
        )
        c = boundary.cells[mine]
        wet = (phi[c[:, 0] + 1, c[:, 1] + 1, c[:, 2] + 1] < 0.0) & (depth > 0.0)
        still = np.zeros(len(boundary.cells))
        still[mine] = np.where(wet, window.weight * depth, 0.0) * h**2 * dt
        afloat = self._archimedes(patch, own, window, new) * dt
        turn = np.kron(np.eye(2), new.A)
        static = turn @ (still @ boundary.rows)
        twists = np.hstack([links.twists[:, :3] @ new.A, links.twists[:, 3:] @ new.A])
        twists[n] = _turned(new.A, twist + mobility @ (afloat - static))
        set_body_velocity(grid, state, boundary, [surface], twists)
        ring = self._pressure(patch, window, new, False)
        chosen, loads, system = project_patch(grid, state, phi, ring, boundary, patch.memory["masses"], dt, n, turn.T @ mobility @ turn)
        extrapolate_velocity(grid, state, boundary, system.diagonal, LAYERS)
        own.u, own.v, own.w, own.pressure = state.u, state.v, state.w, state.pressure
        own.substeps += 1
        loads = loads - still[chosen]
        rows = boundary.rows[chosen]
        impulse = turn @ (loads @ rows)
        # about the link's origin at the end of the window's sub-step, where the impulse is received
        places = links.origins[n] + (corner + (boundary.cells[chosen] + 0.5) * h) @ new.A.T
        give(window.tank, window.state, window.boundary, places, -(loads[:, None] * rows[:, 3:]) @ new.A.T)
        return impulse + afloat

    def _archimedes(self, patch: Patch, own: PatchState, window: Window, at: Frame) -> Array:
        """Hydrostatic wrench of the link's closed skin about its origin, world axes (6,)."""
        if window.weight == 0.0:
            return np.zeros(6)
        whole = np.full((int(patch.solid.vertices.max()) + 1, 3), np.nan)
        whole[patch.solid.vertices] = own.skin[: len(patch.solid.vertices)]
        points = at.o + patch.alone.points(whole) @ at.A.T
        corners = points[patch.alone.shape.mesh.faces]
        depth = depths(window.tank, window.state, corners.reshape(-1, 3)).reshape(-1, 3)
        out = np.zeros((1, 6))
        _hydrostatic(corners, np.zeros(len(corners), np.int64), depth, at.o[None], window.weight, out)
        return out[0]


def _between(first: Frame, last: Frame, turned: Array, part: float) -> Frame:
    if part in (0.0, 1.0):
        return last if part else first
    return Frame(first.o + part * (last.o - first.o), exp_so3(part * turned) @ first.A)


def _turned(A: Array, twist: Array) -> Array:
    """A twist of the world in axes A."""
    return np.hstack([twist[:3] @ A, twist[3:] @ A])


def _block(links: Links, n: int) -> Array:
    if links.mobility is None:
        return np.zeros((6, 6))
    return np.asarray(links.mobility)[6 * n : 6 * n + 6, 6 * n : 6 * n + 6]


def _look(patch: Patch, own: PatchState, skin: WetSurface, links: Links, at: Frame) -> tuple[Boundary, WetSurface]:
    """The skin in the patch's axes and on its grid, looked at anew only if it has moved there."""
    points = (patch.solid.points(skin.vertices) - at.o) @ at.A
    if np.abs(points - own.skin).max() > LOOK * patch.tank.cell:
        own.skin = points
    drift = patch.solid.drift(skin.drift)
    surface = WetSurface(patch.solid.shape, own.skin, None if drift is None else drift @ at.A)
    boundary = _seen(patch, own, len(links.origins))
    boundary.origins = (links.origins - at.o) @ at.A
    return boundary, surface


def _placed(patch: Patch) -> WaterState:
    """As much of a state as places a patch's grid."""
    return WaterState(*(np.zeros((0, 0, 0)) for _ in range(5)), np.asarray(patch.tank.origin), np.zeros(2, np.int64))


def _seen(patch: Patch, own: PatchState, links: int) -> Boundary:
    """The patch's skin on its grid; arms of its rows are from the covered link's origin."""
    kept = patch.memory.get("seen")
    if kept is None or not np.array_equal(kept[0], own.skin):
        surface = WetSurface(patch.solid.shape, own.skin)
        kept = (own.skin.copy(), rasterise(patch.tank, _placed(patch), [surface], np.zeros((links, 3))))
        patch.memory["seen"] = kept
        patch.memory["masses"] = face_masses(patch.tank, kept[1])
    return kept[1]


# --- kernels -------------------------------------------------------------------------------------------------------


@njit(cache=True)
def _fastest(u, v, w, corner, h, frame):
    """The largest speed [m/s] along an axis of the flow past a patch."""
    most = 0.0
    for axis in range(3):
        f = u if axis == 0 else (v if axis == 1 else w)
        b, c = (axis + 1) % 3, (axis + 2) % 3
        for i in range(f.shape[0]):
            for j in range(f.shape[1]):
                for k in range(f.shape[2]):
                    y = (
                        corner[0] + (i + (0.0 if axis == 0 else 0.5)) * h,
                        corner[1] + (j + (0.0 if axis == 1 else 0.5)) * h,
                        corner[2] + (k + (0.0 if axis == 2 else 0.5)) * h,
                    )
                    speed = f[i, j, k] - frame[3 + axis] - (frame[b] * y[c] - frame[c] * y[b])
                    most = max(most, abs(speed))
    return most


@njit(cache=True)
def _subtract_frame(u, v, w, corner, h, frame):
    """Velocity past the patch instead of that in the world."""
    for axis in range(3):
        f = u if axis == 0 else (v if axis == 1 else w)
        b, c = (axis + 1) % 3, (axis + 2) % 3
        for i in range(f.shape[0]):
            for j in range(f.shape[1]):
                for k in range(f.shape[2]):
                    y = (
                        corner[0] + (i + (0.0 if axis == 0 else 0.5)) * h,
                        corner[1] + (j + (0.0 if axis == 1 else 0.5)) * h,
                        corner[2] + (k + (0.0 if axis == 2 else 0.5)) * h,
                    )
                    f[i, j, k] -= frame[3 + axis] + frame[b] * y[c] - frame[c] * y[b]


@njit(cache=True)
def _turn_axes(u, v, w, T):
    """Components in turned axes, T u; the components across a face are the means of the four nearest."""
    nx, ny, nz = u.shape[0] - 1, v.shape[1] - 1, w.shape[2] - 1
    a, b, c = u.copy(), v.copy(), w.copy()
    for i in range(nx + 1):
        p, q = max(i - 1, 0), min(i, nx - 1)
        for j in range(ny):
            for k in range(nz):
                along = 0.25 * (b[p, j, k] + b[p, j + 1, k] + b[q, j, k] + b[q, j + 1, k])
                other = 0.25 * (c[p, j, k] + c[p, j, k + 1] + c[q, j, k] + c[q, j, k + 1])
                u[i, j, k] = T[0, 0] * a[i, j, k] + T[0, 1] * along + T[0, 2] * other
    for j in range(ny + 1):
        p, q = max(j - 1, 0), min(j, ny - 1)
        for i in range(nx):
            for k in range(nz):
                along = 0.25 * (a[i, p, k] + a[i + 1, p, k] + a[i, q, k] + a[i + 1, q, k])
                other = 0.25 * (c[i, p, k] + c[i, p, k + 1] + c[i, q, k] + c[i, q, k + 1])
                v[i, j, k] = T[1, 0] * along + T[1, 1] * b[i, j, k] + T[1, 2] * other
    for k in range(nz + 1):
        p, q = max(k - 1, 0), min(k, nz - 1)
        for i in range(nx):
            for j in range(ny):
                along = 0.25 * (a[i, j, p] + a[i + 1, j, p] + a[i, j, q] + a[i + 1, j, q])
                other = 0.25 * (b[i, j, p] + b[i, j + 1, p] + b[i, j, q] + b[i, j + 1, q])
                w[i, j, k] = T[2, 0] * along + T[2, 1] * other + T[2, 2] * c[i, j, k]
