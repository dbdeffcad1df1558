"""A patch: a small, fine grid that is fixed to one link of a body and rides with it, turning as it turns.

In the link's own axes the body stands still: no cell is born or dies as it moves, so its force neither depends on how
it lies to the window's grid nor jumps as it passes a cell. What is solid in a patch: the link, and the skin beside it
(the forearm of a hand) up to a little beyond the patch, closed there by a fan of triangles. The window sees the same
skin without the covered links, closed in the same way, so that every part of a body is in the water once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import index
from typing import Any

import numpy as np

from vitruvian.errors import InputError
from vitruvian.water.bodies import Mechanism
from vitruvian.water.model import Tank
from vitruvian.water.narrow import narrow_links
from vitruvian.water.patches.axes import LEAK, askew_axes, leak, principal_axes
from vitruvian.water.patches.cutting import Cut, connected, cut
from vitruvian.water.solids import WetSurface, rasterise
from vitruvian.water.state import WaterState

Array = np.ndarray
CELL = 0.013  # [m]: six to the breadth of a hand
MARGIN = 0.08  # of water [m] between a link and the sides of its patch
COURANT = 0.5  # cells that the patch may pass through the window's water in one of its sub-steps
LEAST = 8  # cells along each side
ACROSS = 6  # cells to the breadth of a link that is covered because the tank's are too large for it
DETAIL = 3  # nodes to a cell's edge at which the skin is seen: it is looked at only where it moves in its patch


@dataclass(frozen=True)
class Patch:
    """What never changes about one patch. Its axes are fixed to the link."""

    name: str
    link: int
    skin: int  # which of the mechanism's skins the link belongs to
    turn: Array  # patch axes in the link's axes (columns), shape (3, 3)
    tank: Tank  # the fine grid; its origin is the lowest corner, in patch axes, from the link's origin [m]
    solid: Cut  # the skin that is solid in it
    alone: Cut  # the link's own skin, closed
    memory: dict[str, Any] = field(
        default_factory=dict, repr=False, compare=False
    )  # the skin on the grid, as last seen

    def placed(self) -> WaterState:
        """As much of a state as places the grid."""
        none = np.zeros((0, 0, 0))
        return WaterState(none, none, none, none, none, np.asarray(self.tank.origin), np.zeros(2, np.int64))


@dataclass(frozen=True)
class Patches:
    """Refined patches in a tank, and the skins that its own grid still sees."""

    patches: tuple[Patch, ...]
    rest: tuple[Cut | None, ...]  # each skin of the mechanism without the covered links; None where nothing is left
    courant: float = COURANT
    memory: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)  # what the window saw last

    @property
    def links(self) -> tuple[int, ...]:
        return tuple(p.link for p in self.patches)

    def uncovered(self, skins: Sequence[WetSurface]) -> list[WetSurface]:
        """The skins as the window's grid sees them."""
        return [c.surface(s) for c, s in zip(self.rest, skins) if c is not None]


def cover(
    tank: Tank,
    mechanism: Mechanism,
    body: Any,
    links: Sequence[int],
    *,
    cell: float | Sequence[float] = CELL,
    margin: float | Sequence[float] = MARGIN,
    courant: float = COURANT,
    names: Sequence[str] = (),
) -> Patches:
    """Patches of cells of `cell` [m] about these links of a mechanism in the pose of `body`.

    margin: of water [m] about each link (cell and margin: one for all links or one for each); courant: cells that a
    patch may pass through the water in a sub-step of its own.
    """
    try:
        links = [index(link) for link in links]
        cell, margin, courant = (np.asarray(v, float).tolist() for v in (cell, margin, courant))
    except (TypeError, ValueError) as error:
        raise InputError(
            f"patches: links are whole numbers in a list; cell, margin and courant numbers ({error})"
        ) from None
    if np.ndim(courant) or max(np.ndim(cell), np.ndim(margin)) > 1:
        raise InputError("patches: courant is one number; cell and margin are one or a list of them")
    for value, what in ((cell, "cell"), (margin, "margin"), (courant, "courant")):
        if np.ndim(value) and len(value) != len(links):  # type: ignore[arg-type]
            raise InputError(f"patches: {len(value)} values of {what} for {len(links)} links")  # type: ignore[arg-type]
        if not np.all((np.asarray(value) > 0.0) & (np.asarray(value) < np.inf)):
            raise InputError(f"patches: {what} must be a positive number, not {value}")
    cells, margins = (np.broadcast_to(np.asarray(value, float), (len(links),)) for value in (cell, margin))
    if np.any(cells > tank.cell):
        raise InputError(f"patches: cells of {cells.max():g} m are not finer than the tank's {tank.cell:g} m")
    if len(set(links)) != len(links):
        raise InputError(f"patches: a link is named twice ({list(links)})")
    skins, place = mechanism.skins(body), mechanism.links(body)
    if place.rotations is None:
        raise InputError("patches: the mechanism does not tell how its links are turned (Links.rotations)")
    made = []
    for n, link in enumerate(links):
        if not 0 <= link < len(place.origins):
            raise InputError(f"patches: there is no link {link}")
        where = [s for s, skin in enumerate(skins) if np.any(skin.shape.links == link)]
        if len(where) != 1:
            raise InputError(f"patches: link {link} has {len(where)} skins; it needs one")
        skin = skins[where[0]]
        local = (skin.vertices - place.origins[link]) @ place.rotations[link]
        name = names[n] if n < len(names) else f"link {link}"
        made.append(_patch(tank, name, link, where[0], skin, local, float(cells[n]), float(margins[n])))
    gone = [np.isin(s.shape.links, links) for s in skins]
    rest = tuple(None if g.all() else cut(f"{s.shape.name} beyond patches", s.shape, ~g) for g, s in zip(gone, skins))
    return Patches(tuple(made), rest, courant)


def cover_narrow(tank: Tank, mechanism: Mechanism, body: Any) -> Patches | None:
    """Patches about the links that are too thin or too narrow for the tank's cells (those that `step` would warn of),
    with ACROSS cells to the breadth of each and as much water about it as it is broad; None if there are none. A link
    that is broad enough and only pushed in pulses keeps the tank's cells: in a patch it does not pass any.
    """
    found = narrow_links(tank, mechanism.skins(body))
    if not found:
        return None
    return cover(
        tank, mechanism, body, [n.link for n in found],
        cell=[min(n.breadth / ACROSS, tank.cell) for n in found],
        margin=[n.breadth for n in found],
        names=[n.name for n in found],
    )  # fmt: skip


def _patch(
    tank: Tank, name: str, link: int, number: int, skin: WetSurface, local: Array, cell: float, margin: float
) -> Patch:
    faces = skin.shape.mesh.faces[skin.shape.links == link]
    axes, corners = principal_axes(local[np.unique(faces)]), local[faces]
    askew = askew_axes(axes, corners)
    if askew is not None:
        patch = _along(tank, name, link, number, skin, local, askew, cell, margin)
        seen = WetSurface(patch.solid.shape, patch.solid.points(local) @ askew)
        boundary = rasterise(patch.tank, patch.placed(), [seen], np.zeros((int(skin.shape.links.max()) + 1, 3)))
        if leak(boundary, corners, cell) < LEAK:
            return patch
    return _along(tank, name, link, number, skin, local, axes, cell, margin)


def _along(
    tank: Tank, name: str, link: int, number: int, skin: WetSurface, local: Array, turn: Array, cell: float,
    margin: float,
) -> Patch:  # fmt: skip
    """A patch that lies along the axes `turn`; local: the skin in the link's axes."""
    faces, mine = skin.shape.mesh.faces, skin.shape.links == link
    local = local @ turn
    points = local[np.unique(faces[mine])]
    low, high = points.min(axis=0), points.max(axis=0)
    shape = np.maximum(np.ceil((high - low + 2.0 * margin) / cell).astype(int), LEAST)
    shape += shape % 2  # the coarser grids of the pressure solve like even numbers
    corner = 0.5 * (low + high) - 0.5 * cell * shape
    # what lies beside it: triangles that come near the patch and hang together with the link's
    reach = 2.0 * cell
    inside = np.all((local > corner - reach) & (local < corner + cell * shape + reach), axis=1)
    near = connected(faces, inside[faces].any(axis=1) | mine, mine)
    solid = cut(f"{name} in its patch", skin.shape, near)
    alone = cut(name, skin.shape, mine)
    x, y, z = (float(c) for c in corner)
    fine = Tank(
        (int(shape[0]), int(shape[1]), int(shape[2])), cell, origin=(x, y, z), density=tank.density,
        gravity=(0.0, 0.0, 0.0), boundaries=dict.fromkeys(("x-", "x+", "y-", "y+", "z-", "z+"), "open"),
        free_surface=False, particles=0, advection=tank.advection, tolerance=tank.tolerance, body_detail=DETAIL,
        viscosity=tank.viscosity,
    )  # fmt: skip
    return Patch(name, link, number, turn, fine, solid, alone)
