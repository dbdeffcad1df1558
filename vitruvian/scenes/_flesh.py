"""A piece of flesh by itself as a simulation: skin and lattice to look at, numbers to plot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vitruvian.errors import Diverged
from vitruvian.flesh import (
    FleshModel,
    FleshSolver,
    FleshState,
    Loads,
    Settings,
    cell_strain,
    embed,
    lattice_surface,
    node_values,
    rest_state,
    tissue_volume,
)
from vitruvian.world.stage import SKIN, WIRE, Camera, Frame, Mesh, Signal, Stage, Surface, SurfaceFrame

LoadsAt = Callable[[float], Loads]
COLOURS = {"strain": ("strain", "", 0.5), "pressure": ("pressure", "kPa", 100.0), "activation": ("activation", "", 1.0)}


@dataclass(frozen=True)
class Measure:
    """A signal computed from the state."""

    signal: Signal
    of: Callable[[FleshState, float], float | np.ndarray]


class FleshAlone:
    """Flesh under loads that are known in time, stepped quasi-statically or with inertia."""

    def __init__(
        self,
        model: FleshModel,
        loads: LoadsAt,
        skin: tuple[np.ndarray, np.ndarray],
        *,
        settings: Settings | None = None,
        dynamic: bool = False,
        mass_damping: float = 0.0,
        stiffness_damping: float = 0.0,
        midpoint: bool = False,
        start: Callable[[FleshState, np.random.Generator], None] | None = None,
        held: Callable[[FleshState, float], None] | None = None,
        patient: bool = False,
        colour: str = "strain",
        colour_limit: float | None = None,
        measures: Sequence[Measure] = (),
        meshes: Sequence[Mesh] = (),
        cameras: Sequence[Camera] = (),
        ground: float | None = None,
    ) -> None:
        """midpoint: steps that damp no vibration by themselves (see `FleshSolver.step`); `held` moves fixed nodes in
        time; `patient` lets a solve whose steps run out go on in the next frame."""
        self.model, self.loads = model, loads
        self.solver = FleshSolver(model, settings)
        self.dynamic, self.damping, self.midpoint = dynamic, (mass_damping, stiffness_damping), midpoint
        self.begin, self.held, self.patient = start, held, patient
        self.measures = tuple(measures)
        self.skin = embed(model.lattice, skin[0])
        self.shell = lattice_surface(model.lattice)
        self.colour = colour
        value, unit, limit = COLOURS[colour]
        limit = limit if colour_limit is None else colour_limit
        span = (-limit, limit) if colour == "pressure" else (0.0, limit)
        shown = Surface("skin", skin[1], "skin", SKIN, 1.0, value, unit, span)
        self._stage = Stage(
            meshes=tuple(meshes),
            surfaces=(
                shown,
                replace(shown, name="lattice", faces=self.shell, layer="lattice", colour=WIRE, opacity=0.35),
            ),
            signals=(
                Signal("volume", "m³", "volume of the tissue"),
                Signal("newton", "", "Newton steps"),
                Signal("residual", "N", "unbalanced force"),
                *(m.signal for m in measures),
            ),
            cameras=tuple(cameras),
            ground=ground,
        )

    def start(self, rng: np.random.Generator) -> AloneState:
        flesh = rest_state(self.model)
        if self.begin is not None:
            self.begin(flesh, rng)
        return AloneState(flesh, 0, 0.0)

    def step(self, state: AloneState, controls: Any, time: float, dt: float) -> None:
        loads = self.loads(time + dt)
        if self.held is not None:
            self.held(state.flesh, time + dt)
        if self.dynamic:
            report = self.solver.step(
                state.flesh,
                loads,
                dt,
                mass_damping=self.damping[0],
                stiffness_damping=self.damping[1],
                midpoint=self.midpoint,
            )
        else:
            report = self.solver.equilibrium(state.flesh, loads)
            if not report.converged and not self.patient:
                raise Diverged("flesh", f"no equilibrium: {report.residual:.3g} N after {report.newton} steps")
        state.newton, state.residual = report.newton, report.residual

    def stage(self) -> Stage:
        return self._stage

    def observe(self, state: AloneState, controls: Any, time: float) -> Frame:
        model, flesh = self.model, state.flesh
        if self.colour == "strain":
            of_cell = cell_strain(model.lattice, flesh.x)
        elif self.colour == "pressure":
            of_cell = -1e-3 * (flesh.pressure + model.moduli[:, 4])
        else:
            activation = self.loads(time).activation
            of_cell = model.muscles.cell_activation(np.zeros(0) if activation is None else activation)
        values = node_values(model.lattice, of_cell)
        return Frame(
            signals={
                "volume": tissue_volume(model.lattice, flesh.x),
                "newton": float(state.newton),
                "residual": state.residual,
                **{m.signal.name: m.of(flesh, time) for m in self.measures},
            },
            surfaces={
                "skin": SurfaceFrame(self.skin.positions(flesh.x), None, self.skin.matrix @ values),
                "lattice": SurfaceFrame(flesh.x.copy(), None, values),
            },
        )


@dataclass
class AloneState:
    flesh: FleshState
    newton: int  # steps of the latest solve
    residual: float  # [N]


def block_skin(size: tuple[float, float, float], cells: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    """A box from the origin with a regular net of triangles, two per cell face."""
    parts, offset, faces = [], 0, []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for side in (0, 1):
            nu, nv = cells[u], cells[v]
            points = np.zeros((nu + 1, nv + 1, 3))
            points[..., axis] = side * size[axis]
            points[..., u] = np.linspace(0.0, size[u], nu + 1)[:, None]
            points[..., v] = np.linspace(0.0, size[v], nv + 1)[None, :]
            index = offset + np.arange((nu + 1) * (nv + 1)).reshape(nu + 1, nv + 1)
            a, b, c, d = index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]
            quads = np.stack([a, b, c, d] if side else [a, d, c, b], axis=-1).reshape(-1, 4)
            faces += [quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]
            parts.append(points.reshape(-1, 3))
            offset += index.size
    return np.concatenate(parts), np.concatenate(faces)
