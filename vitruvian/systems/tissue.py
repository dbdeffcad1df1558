"""A piece of flesh by itself: skin and lattice to look at, numbers to plot.

    TissueSystem(model)                                       # under its own weight
    TissueSystem(model, lambda time: Loads(...), dynamic=True)

Flesh under loads that are known in time, in balance at every instant or with inertia. Honours no controls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from vitruvian.control import Controls, honoured
from vitruvian.errors import InputError
from vitruvian.flesh import (
    FleshModel,
    FleshSolver,
    FleshState,
    Loads,
    Settings,
    embed,
    rest_state,
    tissue_volume,
)
from vitruvian.systems.colours import SKIN, WIRE
from vitruvian.systems.layers import BodiesLayer, Drawn, SurfaceLayer, tissue_surface, tissue_values
from vitruvian.systems.measures import Measure, Now
from vitruvian.world import Camera, Mesh, Signal, Surface, SurfaceFrame

Array = np.ndarray
LoadsAt = Callable[[float], Loads]
GRAVITY = (0.0, 0.0, -9.81)  # [m/s²]


@dataclass
class TissueState:
    flesh: FleshState
    newton: int  # steps of the latest solve
    residual: float  # [N]


class TissueSystem(Drawn):
    """See `world.simulation.Simulation`; the state is a `TissueState`."""

    def __init__(
        self,
        model: FleshModel,
        loads: LoadsAt | Sequence[float] = GRAVITY,
        skin: tuple[Array, Array] | None = None,
        *,
        settings: Settings | None = None,
        dynamic: bool = False,
        mass_damping: float = 0.0,
        stiffness_damping: float = 0.0,
        integrator: str = "backward-euler",
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
        """loads: at a time [s], or gravity [m/s²] (3,) alone. skin: vertices at rest [m] (n, 3) and faces (m, 3); the
        elements' own surface if left out. integrator: of dynamic flesh (see
        `FleshSolver.step`); held: moves fixed nodes in time; patient: lets a solve whose steps run out go on in the
        next frame."""
        self.model = model
        self.loads = loads if callable(loads) else weight(model, loads)
        self.solver = FleshSolver(model, settings)
        self.dynamic, self.damping, self.integrator = dynamic, (mass_damping, stiffness_damping), integrator
        self.begin, self.held, self.patient = start, held, patient
        shell = model.elements.surface()
        vertices, faces = (model.elements.nodes, shell) if skin is None else skin
        self.skin, self.colour = embed(model.elements, vertices), colour
        shown = tissue_surface(Surface("skin", faces, "skin", SKIN, 1.0), colour, colour_limit)
        lattice = replace(shown, name="lattice", faces=shell, layer="lattice", colour=WIRE, opacity=0.35)
        self.layers = (
            BodiesLayer((), lambda: meshes, lambda now: np.zeros((0, 7))),
            SurfaceLayer(shown, self._skin),
            SurfaceLayer(lattice, lambda now: SurfaceFrame(now.state.flesh.x.copy(), None, now.once(self._values))),
        )
        self.measures = (*MEASURES, *measures)
        self.cameras, self.ground = tuple(cameras), ground

    def start(self, rng: np.random.Generator) -> TissueState:
        flesh = rest_state(self.model)
        if self.begin is not None:
            self.begin(flesh, rng)
        return TissueState(flesh, 0, 0.0)

    def step(self, state: TissueState, controls: Controls | None, time: float, dt: float) -> None:
        honoured(controls, (), "tissue by itself")
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
                integrator=self.integrator,
            )
        else:
            report = (self.solver.attempt if self.patient else self.solver.equilibrium)(state.flesh, loads)
        state.newton, state.residual = report.newton, report.residual

    def _values(self, now: Now) -> Array | None:
        activation = self.loads(now.time).activation if self.colour == "activation" else None
        return tissue_values(self.model, now.state.flesh, self.colour, activation)

    def _skin(self, now: Now) -> SurfaceFrame:
        values = now.once(self._values)
        shade = None if values is None else self.skin.matrix @ values
        return SurfaceFrame(self.skin.positions(now.state.flesh.x), None, shade)


MEASURES = (
    Measure(
        Signal("volume", "m³", "volume of the tissue"),
        lambda now: tissue_volume(now.system.model.elements, now.state.flesh.x),
    ),
    Measure(Signal("newton", "", "Newton steps"), lambda now: now.state.newton),
    Measure(Signal("residual", "N", "unbalanced force"), lambda now: now.state.residual),
)


def weight(model: FleshModel, gravity: Sequence[float]) -> LoadsAt:
    """Loads of gravity [m/s²] (3,) alone."""
    g = np.asarray(gravity, float)
    if g.shape != (3,) or not np.isfinite(g).all():
        raise InputError(f"gravity must be three finite numbers [m/s²], not {gravity!r}")
    force = model.node_mass[:, None] * g
    return lambda time: Loads(force=force)


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
