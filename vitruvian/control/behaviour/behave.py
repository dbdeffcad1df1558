"""A controller that plays a behaviour on a trunk and, with a driver, on the face above it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from vitruvian.anatomy.trunk import Trunk
from vitruvian.control.behaviour.curves import Behaviour, of_face
from vitruvian.control.controls import BreathDrive, Controls
from vitruvian.control.face import FaceDriver, FaceState, blend, expressions

Array = np.ndarray
PARTS = {  # a behaviour's group -> groups of elements
    "diaphragm": ("diaphragm",),
    "abdomen": ("upper rectus", "middle rectus", "lower rectus", "external oblique", "internal oblique", "transversus"),
    "rectus": ("upper rectus", "middle rectus", "lower rectus"),
    "obliques": ("external oblique", "internal oblique"),
}
LOWER = 5  # space between ribs from which on the lower external intercostals are: their ribs swing out like buckets


FACE = 0.02  # [s] between balances of the face


@dataclass
class Showing:
    """What changes of a behaviour that is played."""

    face: FaceState
    time: float = -np.inf  # [s] when the face was last moved


class Behave:
    """Group activations from curves, the same for every element of a group (DiLorenzo 2009, 5.2). With the driver of a
    face, `told["face"]` is the face as the behaviour's expressions and action units move it."""

    def __init__(self, trunk: Trunk, behaviour: Behaviour, driver: FaceDriver | None = None):
        self.trunk, self.behaviour, self.driver = trunk, behaviour, driver
        c = trunk.cavities
        self._chosen = {g: c.in_group(*PARTS.get(g, (g,))) for g in {x.group for x in behaviour.curves}}
        names = trunk.body.muscles.names
        self._muscles = len(names)
        self._scalenes = np.flatnonzero([n.startswith("scalenes") for n in names])
        self._lower = np.array([m for m in trunk.external if int(names[m].split("_")[0].split()[-1]) >= LOWER])

    def start(self, rng: np.random.Generator) -> Showing | None:
        return None if self.driver is None else Showing(self.driver.start())

    def act(self, own: Showing | None, state: object, time: float, dt: float) -> Controls:
        values = self.behaviour.at(time)
        controls = self.controls(values)
        if self.driver is not None and own is not None:
            if time >= own.time + FACE - 1e-9:
                since, own.time = min(time - own.time, FACE), time
                self.driver.step(own.face, face_units(values), since)
            controls.told["face"] = own.face
        return controls

    def controls(self, values: dict[str, float]) -> Controls:
        """Those of group values; where calls overlap, a muscle is fully active at most."""
        t = self.trunk
        excitation, elements = np.zeros(self._muscles), np.zeros(t.cavities.n_elements)
        excitation[t.external] = values.get("external intercostals", 0.0)
        excitation[self._lower] += values.get("lower external intercostals", 0.0)
        excitation[t.internal] = values.get("internal intercostals", 0.0)
        excitation[self._scalenes] = values.get("scalenes", 0.0)
        for group, value in values.items():
            chosen = self._chosen.get(group)
            if chosen is not None and chosen.any():
                elements[chosen] += value
        np.minimum(elements, 1.0, out=elements)
        np.minimum(excitation, 1.0, out=excitation)
        bend = np.radians([values.get(group, 0.0) for group in ("spine", "clavicles", "head")])
        open_ = max(0.0, 1.0 - values.get("closure", 0.0))
        return Controls(excitation=excitation, breath=BreathDrive(elements, open_, bend))


def face_units(values: Mapping[str, float]) -> dict[str, float]:
    """Action units that group values ask of the face: its expressions, and units by themselves.

    Each group is taken from 0 to 1, and where an expression and a unit ask for the same, it is fully on at most."""
    known = expressions()
    values = {group: min(max(value, 0.0), 1.0) for group, value in values.items() if of_face(group)}
    out = blend({group: value for group, value in values.items() if group in known})
    for group, value in values.items():
        if group not in known:
            out[group] = min(1.0, out.get(group, 0.0) + value)
    return out
