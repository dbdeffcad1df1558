"""A body in its flesh: bones under muscles and flesh both ways, skin, bellies and lattice to look at, forces to plot.

A `BodySimulation` whose step goes through `couple.muscle_flesh`: what pushes on the skin reaches the bones through the
tissue, and the bones move. The flesh's own muscles take the activations of the line muscles they are named after.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from vitruvian.anatomy import BodyState
from vitruvian.anatomy.bellies import Belly
from vitruvian.anatomy.body import Body
from vitruvian.anatomy.skin_flesh import BodyFlesh
from vitruvian.couple.bone_flesh import Inertial
from vitruvian.couple.muscle_flesh import MuscleFlesh, WrapState
from vitruvian.flesh import (
    Contact,
    Loads,
    SelfContact,
    Settings,
    cell_strain,
    embed,
    lattice_surface,
    node_values,
    tissue_volume,
)
from vitruvian.scenes._cover import Cover
from vitruvian.scenes._under import Under
from vitruvian.skeleton import bone_poses
from vitruvian.world.body import BodySimulation
from vitruvian.world.scene import Parameter
from vitruvian.world.stage import (
    MUSCLE,
    SKIN,
    WIRE,
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
COLOURS = {"none": ("", "", 0.0), "strain": ("strain", "", 0.5), "pressure": ("pressure", "kPa", 6.0),
           "activation": ("activation", "", 1.0)}  # fmt: skip
LOOKS = {  # parameters of a scene's looks
    "colour": Parameter("none", "of the skin, with flesh", choices=tuple(COLOURS)),
    "lattice": Parameter(False, "show the lattice, with flesh"),
}
ARROW, HEAD = (0.95, 0.75, 0.1), 0.2  # colour of the arrows, and the part of them that is their head


@dataclass(frozen=True)
class Outside:
    """What acts on the body at one instant from outside."""

    contacts: Sequence[Contact] = ()
    lift: Array = field(default_factory=lambda: np.zeros(3))  # where the frame of the simulation is [m]
    weight: Array = field(default_factory=lambda: np.zeros(3))  # its apparent force per mass on top of gravity [m/s²]
    forces: Sequence[tuple[str, Array, Array]] = ()  # bone, point [m] in its frame, force [N] in world axes
    props: dict[str, Array] = field(default_factory=dict)  # positions [m] of things drawn, by name


@dataclass(frozen=True)
class Look:
    """How it is drawn."""

    colour: str = "none"  # of the skin: none, strain, pressure, activation
    limit: float | None = None  # upper end of its scale
    opacity: float = 1.0
    lattice: bool = False
    bones: Callable[[str], bool] | None = None  # which bones are drawn; all that carry flesh by default
    arrows: float = 0.0  # [m/N] length of the arrows for the flesh's force on bones, 0 for none
    lines: bool = False  # also draw the muscles' lines


@dataclass(frozen=True)
class FleshMeasure:
    signal: Signal
    of: Callable[[FleshedBody, FleshedState, float], float | Array]


@dataclass
class FleshedState(BodyState):
    """A body's state with its flesh."""

    wrap: WrapState
    push: Array  # wrench on each bone from outside the flesh, for the senses to add to, shape (n_bones, 6)


class FleshedBody(BodySimulation):
    """See `BodySimulation`; the state is a `FleshedState`."""

    def __init__(
        self,
        body: Body,
        flesh: BodyFlesh,
        cover: Cover,
        q: Array | None = None,
        *,
        bellies: Sequence[Belly] = (),
        outside: Callable[[float], Outside] | None = None,
        settings: Settings | None = None,
        inertial: Inertial | None = None,
        every: int = 1,
        two_way: bool = True,
        at_ease: bool = False,
        touching: SelfContact | None = None,
        look: Look = Look(),  # noqa: B008 - frozen
        flesh_measures: Sequence[FleshMeasure] = (),
        props: Sequence[tuple[str, tuple[Array, Array]]] = (),
        **rest: Any,
    ) -> None:
        """cover: the skin to be drawn; bellies: likewise; touching: skin that may touch itself; at_ease: as for
        `MuscleFlesh`; props: meshes moved by `outside`; rest: as for `BodySimulation`."""
        super().__init__(body, q, **rest)
        self.flesh, self.outside, self.touching = flesh, outside or (lambda time: Outside()), touching
        self.wrap = MuscleFlesh(
            self.stepper,
            flesh.model,
            settings=settings,
            inertial=inertial,
            every=every,
            two_way=two_way,
            at_ease=at_ease,
        )
        self.look, self.flesh_measures, self.props = look, tuple(flesh_measures), tuple(props)
        number = {n: i for i, n in enumerate(body.muscles.names)}
        self.alive = np.array([number[n] for n in flesh.model.muscles.names], dtype=np.int64)
        lattice = flesh.model.lattice
        self.cover = cover
        shapes = [b.surface() for b in bellies]
        sizes = np.array([len(v) for v, _ in shapes], dtype=np.int64)
        self.belly_owner = np.repeat(np.array([number[b.name] for b in bellies], dtype=np.int64), sizes)
        offsets = np.concatenate([[0], np.cumsum(sizes)])[: len(shapes)]
        self.belly_faces = np.concatenate([f + o for (_, f), o in zip(shapes, offsets)]) if shapes else None
        self.belly, self.under = None, None
        if shapes:
            at_rest = np.concatenate([v for v, _ in shapes])
            self.belly = embed(lattice, at_rest)
            self.under = Under(cover.bound.rest, cover.faces, at_rest, lattice.spacing)
        self.near = np.unique(flesh.model.attachments.bone)

    def start(self, rng: np.random.Generator) -> FleshedState:
        plain = super().start(rng)
        wrap = self.wrap.start(self.body.default_q, plain.q, self._loads(plain, 0.0))
        state = FleshedState(
            **{f.name: getattr(plain, f.name) for f in fields(BodyState)}, wrap=wrap, push=plain.wrench.copy()
        )
        self._feel(state)
        return state

    def advance(self, state: BodyState, time: float, dt: float, torque: Array | None) -> None:
        assert isinstance(state, FleshedState)
        state.q, state.v = self.wrap.step(
            state.wrap,
            state.q,
            state.v,
            state.activation,
            dt,
            self._loads(state, time + dt),
            load=state.load - self.wrap.spared,  # the step takes off by itself what the flesh brings
            wrench=state.push,
            torque=torque,
        )

    def _surroundings(self, state: BodyState, time: float) -> None:
        super()._surroundings(state, time)
        state.load += self.wrap.spared  # controllers must know what the bones weigh without their flesh
        now = self.outside(time)
        weight = now.weight
        turn = bone_poses(self.body.skeleton, state.q)[:, :3, :3]
        for bone, point, force in now.forces:
            i = self.body.skeleton.index(bone)
            local = turn[i].T @ force
            state.wrench[i] += np.concatenate([np.cross(point, local), local])
        if weight.any():
            inertia = self.stepper.own_inertia + self.wrap.spared
            force = inertia[:, :1] * np.einsum("nji,j->ni", turn, weight)
            moment = np.cross(inertia[:, 1:4], np.einsum("nji,j->ni", turn, weight))
            state.wrench += np.concatenate([moment, force], axis=1)
        if isinstance(state, FleshedState):
            state.push = state.wrench.copy()
            self._feel(state)

    def _feel(self, state: FleshedState) -> None:
        """The flesh's pull is an outside wrench to the senses."""
        if self.wrap.two_way:
            wrap = state.wrap
            state.wrench += self.flesh.model.attachments.bone_wrenches(wrap.flesh.x, wrap.poses) - wrap.ease

    def _loads(self, state: BodyState, time: float) -> Loads:
        model, now = self.flesh.model, self.outside(time)
        activation = np.clip(state.activation[self.alive], 0.0, 1.0) if len(self.alive) else None
        force = None
        if self.wrap.inertial is not None:
            force = model.node_mass[:, None] * (self.body.skeleton.gravity + now.weight)
        return Loads(activation=activation, force=force, contacts=tuple(now.contacts), self_contact=self.touching)

    def stage(self) -> Stage:
        stage = super().stage()
        near = {self.body.skeleton.names[i] for i in self.near}
        drawn = self.look.bones or (lambda name: name in near)
        value, unit, limit = COLOURS[self.look.colour]
        limit = limit if self.look.limit is None else self.look.limit
        span = (-limit, limit) if self.look.colour == "pressure" else (0.0, max(limit, 1e-9))
        skin = Surface("skin", self.cover.faces, "skin", SKIN, self.look.opacity, value, unit, span)
        surfaces = [skin]
        if self.belly_faces is not None:
            surfaces.append(Surface("bellies", self.belly_faces, "muscles", MUSCLE, 1.0, "activation", "", (0.0, 1.0)))
        if self.look.lattice:
            shell = lattice_surface(self.flesh.model.lattice)
            surfaces.append(replace(skin, name="lattice", faces=shell, layer="lattice", colour=WIRE, opacity=0.25))
        lines = stage.lines if self.look.lines else ()
        if self.look.arrows:
            names = tuple(self.body.skeleton.names[i] for i in self.near)
            count = 2 * len(names)  # shaft and head
            radius = np.tile([0.004, 0.010], len(names))
            lines = (*lines, Lines("forces", 2 * np.arange(count + 1), radius, (), "forces", ARROW))
        return replace(
            stage,
            bodies=(*stage.bodies, *(n for n, _ in self.props)),
            meshes=(
                *(m for m in stage.meshes if m.layer != "bones" or drawn(m.body)),
                *(Mesh(n, n, v, f, layer="things", colour=WIRE) for n, (v, f) in self.props),
            ),
            surfaces=tuple(surfaces),
            lines=lines,
            signals=(
                Signal("volume", "m³", "volume of the tissue"),
                Signal("newton", "", "Newton steps of the flesh"),
                Signal("bone_force", "N", "sum of the flesh's forces on bones", ("x", "y", "z")),
                *stage.signals,
                *(m.signal for m in self.flesh_measures),
            ),
        )

    def observe(self, state: BodyState, controls: Any, time: float) -> Frame:
        assert isinstance(state, FleshedState)
        frame = super().observe(state, controls, time)
        model, flesh, now = self.flesh.model, state.wrap.flesh, self.outside(time)
        values = self._values(state)
        lift = now.lift
        skin = self.cover.positions(flesh.x, self.shown_poses(state))
        # no colour where the skin rides on bones
        shade = None if values is None else self.cover.share * (self.cover.riding.matrix @ values)
        surfaces = {"skin": SurfaceFrame(skin + lift, None, shade)}
        if self.belly is not None and self.under is not None:
            below = self.under(self.belly.positions(flesh.x), self.cover.riding.positions(flesh.x), skin)
            surfaces["bellies"] = SurfaceFrame(below + lift, None, state.activation[self.belly_owner])
        if self.look.lattice:
            surfaces["lattice"] = SurfaceFrame(flesh.x + lift, None, values)
        force = self.bone_forces(state)
        poses = frame.poses.copy()
        poses[:, :3] += lift
        lines = {"muscles": frame.lines["muscles"]} if self.look.lines else {}
        if self.look.arrows:
            lines["forces"] = LinesFrame(_arrows(state.wrap.poses[self.near, :3, 3], self.look.arrows * force) + lift)
        things = np.array([[*now.props[n], 1.0, 0.0, 0.0, 0.0] for n, _ in self.props]).reshape(-1, 7)
        return Frame(
            poses=np.vstack([poses, things]),
            signals={
                "volume": tissue_volume(model.lattice, flesh.x),
                "newton": float(state.wrap.newton),
                "bone_force": force.sum(axis=0),
                **frame.signals,
                **{m.signal.name: m.of(self, state, time) for m in self.flesh_measures},
            },
            surfaces=surfaces,
            lines=lines,
        )

    def shown_poses(self, state: FleshedState) -> Array:
        """Bones as the flesh last saw them, with fingers closed round what is held, shape (n_bones, 4, 4)."""
        poses = state.wrap.poses
        if self._fists:
            poses = poses.copy()
            for hand, fingers in self._fists:
                for bone, local in fingers.items():
                    poses[bone] = poses[hand] @ local
        return poses

    def bone_forces(self, state: FleshedState) -> Array:
        """The flesh's force on each bone that carries some [N], world axes, shape (n, 3)."""
        wrap = state.wrap
        wrench = self.flesh.model.attachments.bone_wrenches(wrap.flesh.x, wrap.poses)
        return np.einsum("nij,nj->ni", wrap.poses[:, :3, :3], wrench[:, 3:])[self.near]

    def _values(self, state: FleshedState) -> Array | None:
        """What colours the skin, at the lattice's nodes."""
        model, flesh = self.flesh.model, state.wrap.flesh
        if self.look.colour == "none":
            return None
        if self.look.colour == "strain":
            of_cell = cell_strain(model.lattice, flesh.x)
        elif self.look.colour == "pressure":
            of_cell = -1e-3 * (flesh.pressure + model.moduli[:, 4])
        else:
            of_cell = model.muscles.cell_activation(state.activation[self.alive])
        return node_values(model.lattice, of_cell)


def _arrows(at: Array, along: Array) -> Array:
    """Two short lines per arrow, shaft and thicker head, shape (4 n, 3)."""
    neck = at + (1.0 - HEAD) * along
    return np.stack([at, neck, neck, at + along], axis=1).reshape(-1, 3)


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
