"""A controller that plays a behaviour on a trunk."""

from __future__ import annotations

import numpy as np

from vitruvian.anatomy.trunk import Trunk
from vitruvian.control.behaviour.curves import Behaviour
from vitruvian.control.controls import BreathDrive, Controls

Array = np.ndarray
PARTS = {  # a behaviour's group -> groups of elements
    "diaphragm": ("diaphragm",),
    "abdomen": ("upper rectus", "middle rectus", "lower rectus", "external oblique", "internal oblique", "transversus"),
    "rectus": ("upper rectus", "middle rectus", "lower rectus"),
    "obliques": ("external oblique", "internal oblique"),
}
LOWER = 5  # space between ribs from which on the lower external intercostals are: their ribs swing out like buckets


class Behave:
    """Group activations from curves, the same for every element of a group (DiLorenzo 2009, 5.2)."""

    def __init__(self, trunk: Trunk, behaviour: Behaviour):
        self.trunk, self.behaviour = trunk, behaviour
        c = trunk.cavities
        self._chosen = {g: c.in_group(*PARTS.get(g, (g,))) for g in {x.group for x in behaviour.curves}}
        names = trunk.body.muscles.names
        self._muscles = len(names)
        self._lower = np.array([m for m in trunk.external if int(names[m].split("_")[0].split()[-1]) >= LOWER])

    def start(self, rng: np.random.Generator) -> None:
        return None

    def act(self, own: None, state: object, time: float, dt: float) -> Controls:
        return self.controls(self.behaviour.at(time))

    def controls(self, values: dict[str, float]) -> Controls:
        """Those of group values; where calls overlap, a muscle is fully active at most."""
        t = self.trunk
        excitation, elements = np.zeros(self._muscles), np.zeros(t.cavities.n_elements)
        excitation[t.external] = values.get("external intercostals", 0.0)
        excitation[self._lower] += values.get("lower external intercostals", 0.0)
        excitation[t.internal] = values.get("internal intercostals", 0.0)
        for group, value in values.items():
            chosen = self._chosen.get(group)
            if chosen is not None and chosen.any():
                elements[chosen] += value
        np.minimum(elements, 1.0, out=elements)
        np.minimum(excitation, 1.0, out=excitation)
        bend = np.radians([values.get("spine", 0.0), values.get("clavicles", 0.0)])
        open_ = max(0.0, 1.0 - values.get("closure", 0.0))
        return Controls(excitation=excitation, breath=BreathDrive(elements, open_, bend))
