"""How a body in its flesh is drawn: skin, muscle bellies beneath it, lattice, bones, arrows for forces, things."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from vitruvian.anatomy import Belly
from vitruvian.flesh import embed
from vitruvian.muscle import carrier_poses
from vitruvian.skin import Under
from vitruvian.systems.colours import MUSCLE, SKIN, WIRE
from vitruvian.systems.layers import (
    COLOURS,
    BodiesLayer,
    Layer,
    LinesLayer,
    SurfaceLayer,
    as_poses,
    tissue_surface,
    tissue_values,
)
from vitruvian.systems.measures import Now
from vitruvian.world import Lines, LinesFrame, Mesh, Parameter, Surface, SurfaceFrame

if TYPE_CHECKING:
    from vitruvian.systems.fleshed import FleshedBodySystem

Array = np.ndarray
PRESSURE = 6.0  # [kPa] end of the scale in a body
LOOKS = {  # parameters of a scene's looks
    "colour": Parameter("none", "colour of the skin, with flesh", choices=tuple(COLOURS)),
    "lattice": Parameter(False, "show the lattice, with flesh"),
}
ARROW, HEAD = (0.95, 0.75, 0.1), 0.2  # colour of the arrows, and the part of them that is their head


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


def flesh_layers(
    system: FleshedBodySystem, bellies: Sequence[Belly], props: Sequence[tuple[str, tuple[Array, Array]]]
) -> list[Layer]:
    """Layers of a body in its flesh, in place of those of a bare body (`system.layers` so far)."""
    look = system.look
    bones, lines, *more = system.layers
    layers: list[Layer] = [
        _bones(system, bones),
        BodiesLayer(
            [name for name, _ in props],
            lambda: [Mesh(n, n, v, f, layer="things", colour=WIRE) for n, (v, f) in props],
            lambda now: np.array([[*system.outside(now.time).props[n], 1.0, 0.0, 0.0, 0.0] for n, _ in props]),
        ),
    ]
    if look.lines:
        layers.append(lines)
    layers += _tissue(system, bellies)
    if look.arrows:
        layers.append(_forces(system))
    return [*layers, *more]


def _bones(system: FleshedBodySystem, bones: Layer) -> Layer:
    """The bones that carry flesh, or those that the look names, lifted with the frame."""
    muscles = system.body.muscles
    near = {system.skeleton.names[i] for i in system.near}
    near |= {carrier.name for carrier in muscles.frames if carrier.base in near}
    drawn = system.look.bones or (lambda name: name in near)

    def poses(now: Now) -> Array:
        own = system.with_fists(now.poses)
        out = as_poses(np.concatenate([own, carrier_poses(muscles, own)]))
        out[:, :3] += system.outside(now.time).lift
        return out

    return BodiesLayer(
        (*system.skeleton.names, *(carrier.name for carrier in muscles.frames)),
        lambda: [m for m in bones.stage().meshes if m.layer != "bones" or drawn(m.body)],
        poses,
        bones.stage().joints,
    )


def _tissue(system: FleshedBodySystem, bellies: Sequence[Belly]) -> list[Layer]:
    look, cover, model = system.look, system.cover, system.flesh.model
    limit = PRESSURE if look.colour == "pressure" and look.limit is None else look.limit
    skin = tissue_surface(Surface("skin", cover.faces, "skin", SKIN, look.opacity), look.colour, limit)

    def values(now: Now) -> Array | None:
        return tissue_values(model, now.state.wrap.flesh, look.colour, now.state.activation[system.alive])

    def vertices(now: Now) -> Array:
        offset = None if system.breath_skin is None else system.breath_skin.offset(now.time)
        return cover.positions(now.state.wrap.flesh.x, system.shown_poses(now.state), offset)

    def lift(now: Now) -> Array:
        return system.outside(now.time).lift

    def covered(now: Now) -> SurfaceFrame:
        # no colour where the skin rides on bones
        found = now.once(values)
        shade = None if found is None else cover.share * (cover.riding.matrix @ found)
        return SurfaceFrame(now.once(vertices) + lift(now), None, shade)

    layers: list[Layer] = [SurfaceLayer(skin, covered)]
    if bellies:
        layers.append(_bellies(system, bellies, vertices))
    if look.lattice:
        shell = replace(skin, name="lattice", faces=model.elements.surface(), layer="lattice", colour=WIRE)
        layers.append(
            SurfaceLayer(
                replace(shell, opacity=0.25),
                lambda now: SurfaceFrame(now.state.wrap.flesh.x + lift(now), None, now.once(values)),
            )
        )
    return layers


def _bellies(system: FleshedBodySystem, bellies: Sequence[Belly], skin: Callable[[Now], Array]) -> Layer:
    """Muscle bellies that ride in the flesh and stay under the drawn skin, whose vertices are skin(now)."""
    number = {n: i for i, n in enumerate(system.body.muscles.names)}
    cover, elements = system.cover, system.flesh.model.elements
    shapes = [b.surface() for b in bellies]
    sizes = np.array([len(v) for v, _ in shapes], dtype=np.int64)
    owner = np.repeat(np.array([number[b.name] for b in bellies], dtype=np.int64), sizes)
    offsets = np.concatenate([[0], np.cumsum(sizes)])[: len(shapes)]
    faces = np.concatenate([f + o for (_, f), o in zip(shapes, offsets)])
    at_rest = np.concatenate([v for v, _ in shapes])
    belly, under = (
        embed(elements, at_rest),
        Under(cover.bound.rest, cover.faces, at_rest, float(np.median(elements.size))),
    )

    def at(now: Now) -> SurfaceFrame:
        x = now.state.wrap.flesh.x
        below = under(belly.positions(x), cover.riding.positions(x), now.once(skin))
        return SurfaceFrame(below + system.outside(now.time).lift, None, now.state.activation[owner])

    return SurfaceLayer(Surface("bellies", faces, "muscles", MUSCLE, 1.0, "activation", "", (0.0, 1.0)), at)


def _forces(system: FleshedBodySystem) -> Layer:
    """The flesh's forces on bones as arrows."""
    count = len(system.near)
    # shaft and head of each
    lines = Lines("forces", 2 * np.arange(2 * count + 1), np.tile([0.004, 0.010], count), (), "forces", ARROW)

    def at(now: Now) -> LinesFrame:
        force = system.look.arrows * system.bone_forces(now.state)
        return LinesFrame(_arrows(now.state.wrap.poses[system.near, :3, 3], force) + system.outside(now.time).lift)

    return LinesLayer(lines, at)


def _arrows(at: Array, along: Array) -> Array:
    """Two short lines per arrow, shaft and thicker head, shape (4 n, 3)."""
    neck = at + (1.0 - HEAD) * along
    return np.stack([at, neck, neck, at + along], axis=1).reshape(-1, 3)
