"""A body in its flesh whose bones move as told: skin, bellies and lattice to look at, forces on bones to plot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from vitruvian.anatomy.bellies import Belly
from vitruvian.anatomy.body import Body
from vitruvian.anatomy.skin_flesh import BodyFlesh
from vitruvian.anatomy.surfaces import bone_surfaces
from vitruvian.couple.bone_flesh import BoneFlesh, BoneFleshState, Inertial
from vitruvian.flesh import Contact, Loads, Settings, cell_strain, embed, lattice_surface, node_values, tissue_volume
from vitruvian.skeleton import bone_poses
from vitruvian.spatial import pose_from_transform
from vitruvian.world.stage import (
    MUSCLE,
    SKIN,
    WIRE,
    Camera,
    Frame,
    Lines,
    LinesFrame,
    Mesh,
    Signal,
    Stage,
    Surface,
    SurfaceFrame,
)

Array = np.ndarray
NEWTON_PER_METRE = 400.0  # length of the arrows that show forces on bones


@dataclass(frozen=True)
class Cue:
    """What happens at one instant."""

    q: Array  # joint coordinates
    activation: Array  # of the bellies
    contacts: Sequence[Contact] = ()
    body_force: Array | None = None  # acceleration of a force on all tissue [m/s²], e.g. gravity
    props: dict[str, Array] = field(default_factory=dict)  # positions [m] of things drawn, by name


@dataclass(frozen=True)
class Measure:
    signal: Signal
    of: Callable[[FleshedBody, BoneFleshState, float], float | Array]


class FleshedBody:
    """Bones follow `script(time)`; flesh balances around them, or moves with inertia."""

    def __init__(
        self,
        body: Body,
        flesh: BodyFlesh,
        script: Callable[[float], Cue],
        *,
        bellies: Sequence[Belly] = (),
        shown: Callable[[Array], Array] | None = None,
        settings: Settings | None = None,
        inertial: Inertial | None = None,
        colour: str = "strain",
        limit: float = 0.5,
        opacity: float = 1.0,
        arrows: bool = False,
        measures: Sequence[Measure] = (),
        meshes: Sequence[Mesh] = (),
        props: Sequence[tuple[str, tuple[Array, Array]]] = (),
        cameras: Sequence[Camera] = (),
        ground: float | None = None,
    ) -> None:
        """shown: which skin vertices [m] (n, 3) are drawn (n,); props: named meshes moved by the script."""
        self.body, self.flesh, self.script = body, flesh, script
        self.pair = BoneFlesh(body.skeleton, flesh.model, settings)
        self.inertial, self.arrows = inertial, arrows
        self.measures, self.props = tuple(measures), tuple(props)
        self.colour = colour
        vertices, faces = flesh.skin.vertices, flesh.skin.faces
        if shown is not None:
            kept = shown(vertices)
            faces = faces[kept[faces].all(axis=1)]
            used, number = np.unique(faces, return_inverse=True)
            vertices, faces = vertices[used], number.reshape(-1, 3)
        lattice = flesh.model.lattice
        self.skin, self.skin_faces = embed(lattice, vertices), faces
        self.bellies = [(b.name, embed(lattice, b.surface()[0]), b.surface()[1]) for b in bellies]
        self.shell = lattice_surface(lattice)
        bones = bone_surfaces(body, fallback=True)
        near = set(np.array(body.skeleton.names)[np.unique(flesh.model.attachments.bone)])
        value, unit, low = {"strain": ("strain", "", 0.0), "pressure": ("pressure", "kPa", -limit)}[colour]
        surface = Surface("skin", faces, "skin", SKIN, opacity, value, unit, (low, limit))
        self.names = tuple(body.skeleton.names)
        forces = (
            Lines(
                "forces",
                2 * np.arange(len(near) + 1),
                np.full(len(near), 0.006),
                tuple(sorted(near)),
                "forces",
                (0.95, 0.75, 0.1),
            ),
        )
        self.felt = [body.skeleton.index(n) for n in sorted(near)]
        self._stage = Stage(
            bodies=(*self.names, *(n for n, _ in props)),
            meshes=(
                *(Mesh(n, n, v, f) for n, (v, f) in bones.items() if n in near),
                *(Mesh(n, n, v, f, layer="props", colour=WIRE) for n, (v, f) in props),
                *meshes,
            ),
            surfaces=(
                surface,
                *(Surface(n, f, "muscles", MUSCLE, 1.0, "activation", "", (0.0, 1.0)) for n, _, f in self.bellies),
                replace(surface, name="lattice", faces=self.shell, layer="lattice", colour=WIRE, opacity=0.3),
            ),
            lines=forces if arrows else (),
            signals=(
                Signal("volume", "m³", "volume of the tissue"),
                Signal("newton", "", "Newton steps"),
                Signal("bone_force", "N", "sum of the flesh's forces on bones", ("x", "y", "z")),
                *(m.signal for m in measures),
            ),
            cameras=tuple(cameras),
            ground=ground,
        )

    def start(self, rng: np.random.Generator) -> FleshedState:
        cue = self.script(0.0)
        state = FleshedState(self.pair.start(self.body.default_q), 0)
        if not np.array_equal(cue.q, self.body.default_q):
            state.pair.bones.q[:] = cue.q
            state.newton = self.pair.settle(state.pair, self._loads(cue)).newton
        return state

    def step(self, state: FleshedState, controls: Any, time: float, dt: float) -> None:
        cue = self.script(time + dt)
        state.pair.bones.q[:] = cue.q
        loads = self._loads(cue)
        if self.inertial is None:
            state.newton = self.pair.settle(state.pair, loads).newton
            return
        poses = bone_poses(self.body.skeleton, cue.q)
        held = replace(loads, targets=self.flesh.model.attachments.targets(poses))
        report = self.pair.solver.step(
            state.pair.flesh,
            held,
            dt,
            mass_damping=self.inertial.mass_damping,
            stiffness_damping=self.inertial.stiffness_damping,
        )
        state.pair.poses[:] = poses
        state.newton = report.newton

    def stage(self) -> Stage:
        return self._stage

    def observe(self, state: FleshedState, controls: Any, time: float) -> Frame:
        model, flesh = self.flesh.model, state.pair.flesh
        cue = self.script(time)
        poses = state.pair.poses
        if self.colour == "strain":
            of_cell = cell_strain(model.lattice, flesh.x)
        else:
            of_cell = -1e-3 * (flesh.pressure + model.moduli[:, 4])
        values = node_values(model.lattice, of_cell)
        wrench = model.attachments.bone_wrenches(flesh.x, poses)
        force = np.einsum("nij,nj->ni", poses[:, :3, :3], wrench[:, 3:])
        surfaces = {
            "skin": SurfaceFrame(self.skin.positions(flesh.x), None, self.skin.matrix @ values),
            "lattice": SurfaceFrame(flesh.x.copy(), None, values),
        }
        for i, (name, points, _) in enumerate(self.bellies):
            level = np.full(len(points.cell), cue.activation[i])
            surfaces[name] = SurfaceFrame(points.positions(flesh.x), None, level)
        shown = np.stack([pose_from_transform(p) for p in poses])
        things = np.array([[*cue.props[n], 1.0, 0.0, 0.0, 0.0] for n, _ in self.props]).reshape(-1, 7)
        lines = {}
        if self.arrows:
            at = poses[self.felt, :3, 3]
            ends = np.stack([at, at + force[self.felt] / NEWTON_PER_METRE], axis=1).reshape(-1, 3)
            lines["forces"] = LinesFrame(ends)
        return Frame(
            poses=np.vstack([shown, things]),
            signals={
                "volume": tissue_volume(model.lattice, flesh.x),
                "newton": float(state.newton),
                "bone_force": force.sum(axis=0),
                **{m.signal.name: m.of(self, state.pair, time) for m in self.measures},
            },
            surfaces=surfaces,
            lines=lines,
        )

    def _loads(self, cue: Cue) -> Loads:
        model = self.flesh.model
        force = None if cue.body_force is None else model.node_mass[:, None] * cue.body_force
        activation = cue.activation if len(model.muscles.names) else None
        return Loads(activation=activation, force=force, contacts=tuple(cue.contacts))


@dataclass
class FleshedState:
    pair: BoneFleshState
    newton: int


def section_area(vertices: Array, faces: Array, point: Array, normal: Array) -> float:
    """Area [m²] that a plane cuts out of a closed surface, by Green's theorem over the cut's edges."""
    n = normal / np.linalg.norm(normal)
    u = np.cross(n, np.eye(3)[np.argmin(np.abs(n))])
    u /= np.linalg.norm(u)
    w = np.cross(n, u)
    height = (vertices - point) @ n
    corners = height[faces]
    total = 0.0
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        for sign in (1.0, -1.0):  # corner a alone on one side
            alone = (sign * corners[:, a] > 0.0) & (sign * corners[:, b] <= 0.0) & (sign * corners[:, c] <= 0.0)
            f = faces[alone]
            ends = []
            for other in (b, c):
                ha, ho = height[f[:, a]], height[f[:, other]]
                s = (ha / (ha - ho))[:, None]
                ends.append((1.0 - s) * vertices[f[:, a]] + s * vertices[f[:, other]] - point)
            p, q = ends
            total += 0.5 * sign * float(np.sum((p @ u) * (q @ w) - (p @ w) * (q @ u)))
    return abs(total)
