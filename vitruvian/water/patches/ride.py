"""One sub-step of the window with its patches: what each patch does to its link, and what the window gets for it.

    flow carried past the link -> axes turned -> weight and pressure with the link's velocity -> flow beyond the water

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

from vitruvian.spatial import exp_so3, log_so3
from vitruvian.water.advect import advect_velocity
from vitruvian.water.bodies import Mechanism
from vitruvian.water.boundary import Boundary
from vitruvian.water.depths import depths
from vitruvian.water.distance import extend_distance
from vitruvian.water.extrapolate import extrapolate_velocity
from vitruvian.water.forces import _hydrostatic
from vitruvian.water.interpolate import sample_velocity, to_cells
from vitruvian.water.model import Tank
from vitruvian.water.patches.frames import Frame, between, heights, subtract_frame, turn_axes, turned
from vitruvian.water.patches.model import Patch, Patches
from vitruvian.water.patches.solve import face_masses, project_patch
from vitruvian.water.patches.state import PatchState, start_patches
from vitruvian.water.patches.transfer import (
    corners_of,
    give,
    hand_up,
    take_depth,
    take_flow,
    take_pressure,
    take_surface,
)
from vitruvian.water.solids import Links, WetSurface, rasterise, set_body_velocity
from vitruvian.water.state import WaterState

Array = np.ndarray
LOOK = 0.1  # cells that the skin may move in its patch before it is looked at again
LAYERS = 4  # faces beyond the water to which a patch's flow is extended
MOST_SUBSTEPS = 200


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
            state.patches = start_patches(patches)
        self.before = mechanism.links(body)
        self._hand_up()
        self.flow = (state.u, state.v, state.w)

    def act(self, boundary: Boundary, dt: float) -> Array:
        """Once bodies and surface have moved: patches push their links and the window; impulses (links, 6)."""
        tank, state = self.tank, self.state
        lid = 0.0 if tank.free_surface else float(tank.shape[2])
        window = Window(tank, state, boundary, self.flow, tank.density * float(np.linalg.norm(tank.gravity)), lid)
        total = np.zeros((len(self.before.origins), 6))
        now = self.mechanism.links(self.body)
        opened = (boundary.open_x, boundary.open_y, boundary.open_z)
        self.patches.memory["opened"] = (self.mechanism, (state.origin.copy(), now.origins, now.rotations), opened)
        skins = self.mechanism.skins(self.body)
        for patch, own in zip(self.patches.patches, state.patches):
            links = self.mechanism.links(self.body)
            impulse = self._one(patch, own, window, links, skins[patch.skin], dt)
            if impulse is not None:
                impulses = np.zeros_like(total)
                impulses[patch.link] = impulse
                self.mechanism.receive(self.body, impulses)
                total += impulses
        return total

    def _hand_up(self) -> None:
        """The window learns from its patches what it cannot see."""
        assert self.before.rotations is not None
        opened = self._opened() if any(own.awake for own in self.state.patches) else None
        for patch, own in zip(self.patches.patches, self.state.patches):
            if not own.awake or opened is None:
                continue
            n = patch.link
            at = Frame(self.before.origins[n], self.before.rotations[n] @ patch.turn)
            boundary = _seen(patch, own, len(self.before.origins))
            boundary.origins = (self.before.origins - at.o) @ at.A
            twists = np.hstack([self.before.twists[:, :3] @ at.A, self.before.twists[:, 3:] @ at.A])
            set_body_velocity(patch.tank, patch.placed(), boundary, [WetSurface(patch.solid.shape, own.skin)], twists)
            flux = tuple(
                w * f + (1.0 - w) * b
                for w, f, b in zip(
                    (boundary.open_x, boundary.open_y, boundary.open_z), (own.u, own.v, own.w),
                    (boundary.body_x, boundary.body_y, boundary.body_z),
                )
            )  # fmt: skip
            hand_up(self.tank, self.state, opened, flux, patch.tank, at.o, at.A)

    def _opened(self) -> tuple[Array, Array, Array]:
        """What the window's own solids leave open now: remembered from the sub-step before if nothing has moved."""
        kept = self.patches.memory.get("opened")
        assert self.before.rotations is not None
        key = (self.state.origin, self.before.origins, self.before.rotations)
        if kept is not None and kept[0] is self.mechanism and all(np.array_equal(a, b) for a, b in zip(kept[1], key)):
            x, y, z = kept[2]
            return x, y, z
        skins = self.patches.uncovered(self.mechanism.skins(self.body))
        b = rasterise(self.tank, self.state, skins, self.before.origins)
        return b.open_x, b.open_y, b.open_z

    def _one(
        self, patch: Patch, own: PatchState, window: Window, links: Links, skin: WetSurface, dt: float
    ) -> Array | None:
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
        if window.weight and not window.lid:
            self._deepen(patch, window, (first, last))
            take_surface(self.state.phi, *window.place, last.o, last.A, corner, h, phi)
        if not own.awake:
            self._wake(patch, own, window, first)
        boundary, surface = _look(patch, own, skin, links, last)
        angle = log_so3(last.A @ first.A.T)
        drift = np.hstack([angle, last.o - first.o]) / dt  # of the patch, world axes
        count = self._count(patch, window, first, drift, dt)
        small = dt / count
        mobility = _block(links, n)
        free, change = self.before.twists[n], links.twists[n] - self.before.twists[n]
        gained = np.zeros(6)  # impulses so far, world axes
        for i in range(1, count + 1):
            old = between(first, last, angle, (i - 1) / count)
            new = between(first, last, angle, i / count)
            twist = free + i / count * change + mobility @ gained
            gained += self._substep(
                patch, own, window, boundary, surface, links, old, new, drift, twist, mobility, small
            )
        return gained

    def _deepen(self, patch: Patch, window: Window, frames: tuple[Frame, ...]) -> None:
        """Make the window's level set a true distance in the columns about the patch, so that it tells the depth."""
        ends = np.vstack([corners_of(patch.tank, f.o, f.A) for f in frames])
        cells = (ends - self.state.origin) / self.tank.cell
        shape = np.asarray(self.tank.shape)
        low = np.clip(np.floor(cells.min(axis=0)).astype(np.int64) - 2, 0, shape)
        high = np.clip(np.ceil(cells.max(axis=0)).astype(np.int64) + 2, 0, shape)
        columns = np.stack([low, high], axis=1)
        columns[2] = 0, shape[2]
        if np.all(columns[:, 0] < columns[:, 1]):
            extend_distance(self.state.phi, self.tank.cell, columns)

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

    def _count(self, patch: Patch, window: Window, at: Frame, drift: Array, dt: float) -> int:
        """Sub-steps of the patch in one of the window's, by how fast its corners pass through the window's water."""
        grid = patch.tank
        arms = corners_of(grid, np.zeros(3), at.A)
        flow = np.empty_like(arms)
        sample_velocity(*window.flow, to_cells(at.o + arms, *window.place), flow)
        speed = float(np.linalg.norm(drift[3:] + np.cross(drift[:3], arms) - flow, axis=1).max())
        return int(min(MOST_SUBSTEPS, max(1, np.ceil(speed * dt / (self.patches.courant * grid.cell)))))

    def _substep(
        self, patch: Patch, own: PatchState, window: Window, boundary: Boundary, surface: WetSurface, links: Links,
        old: Frame, new: Frame, drift: Array, twist: Array, mobility: Array, dt: float,
    ) -> Array:  # fmt: skip
        """One sub-step of one patch; the impulse on its link about its origin, world axes (6,)."""
        grid, n = patch.tank, patch.link
        corner, h = np.asarray(grid.origin), grid.cell
        origin, big = window.place
        frame = turned(old.A, drift)
        flow = (own.u, own.v, own.w)
        for axis, f in enumerate(flow):
            take_flow(*window.flow, origin, big, old.o, old.A, corner, h, axis, frame, True, dt / h, f)
        phi = np.empty(tuple(m + 2 for m in grid.shape))
        take_surface(window.state.phi, *window.place, new.o, new.A, corner, h, phi)
        state = patch.placed()
        state.u, state.v, state.w = own.u.copy(), own.v.copy(), own.w.copy()
        subtract_frame(state.u, state.v, state.w, corner, h, frame)
        state.phi, state.pressure = np.ascontiguousarray(phi[1:-1, 1:-1, 1:-1]), own.pressure
        advect_velocity(grid, state, dt, flow)
        if frame[:3].any():
            turn_axes(state.u, state.v, state.w, exp_so3(-dt * frame[:3]))
        # Archimedes: the mesh's impulse instead of the grid's
        mine = boundary.cell_link == n
        depth = np.empty(int(mine.sum()))
        take_depth(window.state.phi, window.lid, *window.place, new.o, new.A, corner, h, boundary.cells[mine], depth)
        c = boundary.cells[mine]
        wet = (phi[c[:, 0] + 1, c[:, 1] + 1, c[:, 2] + 1] < 0.0) & (depth > 0.0)
        still = np.zeros(len(boundary.cells))
        still[mine] = np.where(wet, window.weight * depth, 0.0) * h**2 * dt
        afloat = self._archimedes(patch, own, window, new, dt)
        turn = np.kron(np.eye(2), new.A)
        static = turn @ (still @ boundary.rows)
        twists = np.hstack([links.twists[:, :3] @ new.A, links.twists[:, 3:] @ new.A])
        twists[n] = turned(new.A, twist + mobility @ (afloat - static))
        set_body_velocity(grid, state, boundary, [surface], twists)
        ring = self._pressure(patch, window, new, False)
        height = heights(grid, new.A.T @ -np.asarray(window.tank.gravity, float))
        chosen, loads, system = project_patch(
            grid, state, phi, ring, boundary, patch.memory["masses"], height, dt, n, turn.T @ mobility @ turn
        )
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

    def _archimedes(self, patch: Patch, own: PatchState, window: Window, at: Frame, dt: float) -> Array:
        """Hydrostatic impulse on the link's closed skin about its origin, world axes (6,)."""
        if window.weight == 0.0:
            return np.zeros(6)
        whole = np.full((int(patch.solid.vertices.max()) + 1, 3), np.nan)
        whole[patch.solid.vertices] = own.skin[: len(patch.solid.vertices)]
        points = at.o + patch.alone.points(whole) @ at.A.T
        corners = points[patch.alone.shape.mesh.faces]
        depth = depths(window.tank, window.state, corners.reshape(-1, 3)).reshape(-1, 3)
        out = np.zeros((1, 6))
        _hydrostatic(corners, np.zeros(len(corners), np.int64), depth, at.o[None], window.weight, out)
        return dt * out[0]


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


def _seen(patch: Patch, own: PatchState, links: int) -> Boundary:
    """The patch's skin on its grid; arms of its rows are from the covered link's origin."""
    kept = patch.memory.get("seen")
    if kept is None or not np.array_equal(kept[0], own.skin):
        surface = WetSurface(patch.solid.shape, own.skin)
        kept = (own.skin.copy(), rasterise(patch.tank, patch.placed(), [surface], np.zeros((links, 3))))
        patch.memory["seen"] = kept
        patch.memory["masses"] = face_masses(patch.tank, kept[1])
    return kept[1]
