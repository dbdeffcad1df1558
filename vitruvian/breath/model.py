"""What a trunk that breathes is made of, apart from its bones; never changes during a run.

`Cavities`: points, some carried by bones, some free, some by the central tendon; two closed surfaces over them (chest
and belly); muscle elements between them; walls that they lean on. `Lungs`: numbers of gas, tissue and airway.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vitruvian.errors import InputError
from vitruvian.muscle import ForceLaws

Array = np.ndarray
ATMOSPHERE = 101_325.0  # [Pa]


class Carried(NamedTuple):
    """Where each of n vertices rides: on a free point, on the tendon's plate, or on one or two bones."""

    point: Array  # free point or plate (the last one), -1 for bones, (n,)
    offset: Array  # from the plate's middle at rest [m], 0 for others, (n, 3)
    bone: Array  # (n, 2), -1 for none
    share: Array  # of the bones, (n, 2)
    local: Array  # place in each bone's frame [m], (n, 2, 3)


class Leans(NamedTuple):
    """Vertices that must not pass a wall: f = -k max(0, d) - c d' while d > 0, along the wall's outward direction; or
    that are tied to it: f = -k d - c d'."""

    vertex: Array  # (l,)
    anchor: Array  # the wall's vertex, carried by bones, (l,)
    way: Array  # outwards, in the frame of the anchor's first bone, (l, 3)
    stiffness: Array  # [N/m], (l,)
    damping: Array  # [N s/m], (l,)
    tied: Array  # bool, (l,)
    radius: Array  # [m], (l,); above 0 the anchor is a ball's middle, which may be free, and `way` is not looked at
    friction: Array  # coefficient of Coulomb friction, for balls, (l,)


class Fibres(NamedTuple):
    """Long muscle fibres that several elements make up, one after the other."""

    fibre: Array  # of each element, -1 for one that is a fibre by itself, (e,)
    rest_length: Array  # [m], (e,)
    share: Array  # of a line's width, (e,)


class Strips(NamedTuple):
    """Free points (and the plate) in strips of neighbours, along which lines are stiff; for the solver alone."""

    order: Array  # all of them once: the first ones of all strips, then the second ones, and so on, (p + 1,)
    before: Array  # the point that comes before each of them in its strip, -1 for none, (p + 1,)


@dataclass(frozen=True, eq=False)
class Cavities:
    """Chest and belly of one trunk."""

    carried: Carried
    rest: Array  # free points, then the plate's middle, in the default pose [m], (p + 1, 3)
    mass: Array  # of them [kg], (p + 1,)
    plate_bone: int  # the plate keeps its attitude to this bone
    strips: Strips
    chest: Array  # triangles, outwards, (c, 3)
    belly: Array  # triangles, outwards, (b, 3)
    ends: Array  # vertices of the muscle elements, (e, 2)
    fibres: Fibres
    laws: ForceLaws
    group: Array  # of each element, an index into `groups`, (e,)
    groups: tuple[str, ...]
    leans: Leans
    bulk: float  # κ [Pa] of P = κ (V0 / V - 1)
    belly_volume: float  # V0 [m³]
    chest_volume: float  # in the default pose [m³]

    def __post_init__(self) -> None:
        n = len(self.carried.point)
        for name in ("chest", "belly", "ends"):
            index = getattr(self, name)
            if len(index) and not (index.min() >= 0 and index.max() < n):
                raise InputError(f"cavities: {name} names vertices beyond the {n} that there are")
        for name in ("chest", "belly"):
            f = getattr(self, name)
            edges = np.concatenate([f[:, [0, 1]], f[:, [1, 2]], f[:, [2, 0]]])
            turned = {(int(b), int(a)) for a, b in edges}
            if turned != {(int(a), int(b)) for a, b in edges} or len(turned) != len(edges):
                raise InputError(f"cavities: the surface of the {name} is not closed")
        if not (self.mass > 0).all():
            raise InputError("cavities: every free point needs a mass")
        if not np.array_equal(np.sort(self.strips.order), np.arange(len(self.mass))):
            raise InputError("cavities: the strips must hold every free point once")
        if not self.bulk > 0:
            raise InputError(f"cavities: the bulk modulus must be positive, got {self.bulk:g}")

    @property
    def n_points(self) -> int:
        """Free points, the plate not counted."""
        return len(self.rest) - 1

    @property
    def n_elements(self) -> int:
        return len(self.ends)

    def in_group(self, *words: str) -> Array:
        """Elements of the groups that start with one of the words, bool, (e,)."""
        chosen = [i for i, g in enumerate(self.groups) if g.startswith(words)]
        return np.isin(self.group, chosen)


@dataclass(frozen=True)
class Lungs:
    """Gas, elastic tissue, airway (DiLorenzo 2009, 6.3.1).

    P_tm rises linearly, 0.2 l/cmH2O (figure 6.5 after Mines), and steeply below the residual volume. What the lung
    pulls with at rest is borne by the weight of the viscera and the recoil of the cage, which are in the rest pose."""

    rest_volume: float = 2.5e-3  # at the end of a quiet breath [m³]
    slack_volume: float = 1.48e-3  # at which the tissue does not pull [m³]
    compliance: float = 2.04e-6  # [m³/Pa]
    least_volume: float = 1.3e-3  # residual [m³]
    least_stiffness: float = 2e7  # below it [Pa/m³]
    airway: float = 8.2e-4 * ATMOSPHERE * 1e6  # k of ΔP = k Q |Q| [Pa s²/m⁶]

    def transmural(self, volume: float) -> float:
        """P_tm [Pa], of the lung's tissue."""
        low = max(self.least_volume - volume, 0.0)
        return (volume - self.slack_volume) / self.compliance - self.least_stiffness * low

    def slope(self, volume: float) -> float:
        """dP_tm / dV [Pa/m³]."""
        return 1.0 / self.compliance + (self.least_stiffness if volume < self.least_volume else 0.0)

    def stored(self, volume: float) -> float:
        """Energy in the tissue, from rest [J]."""

        def energy(v: float) -> float:
            low = max(self.least_volume - v, 0.0)
            return 0.5 * (v - self.slack_volume) ** 2 / self.compliance + 0.5 * self.least_stiffness * low * low

        return (
            energy(volume) - energy(self.rest_volume) - self.transmural(self.rest_volume) * (volume - self.rest_volume)
        )
