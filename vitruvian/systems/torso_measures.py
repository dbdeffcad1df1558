"""What is plotted of a trunk that breathes."""

from __future__ import annotations

import numpy as np

from vitruvian.anatomy.trunk import Trunk
from vitruvian.breath import ATMOSPHERE
from vitruvian.spatial import log_so3
from vitruvian.systems.measures import Measure, Now
from vitruvian.world import Signal

Array = np.ndarray
RIBS = tuple(range(2, 11))


def torso_measures(trunk: Trunk) -> list[Measure]:
    """Volumes, flow, pressures, rib angles, activations."""
    cavities, lungs, s = trunk.cavities, trunk.lungs, trunk.body.skeleton
    ribs = [(s.index(f"Rb{k}_r"), s.parent[s.index(f"Rb{k}_r")]) for k in RIBS]
    diaphragm, sheet = cavities.in_group("diaphragm"), cavities.in_group("sheet")
    wall = ~(diaphragm | sheet)

    def pressures(now: Now) -> Array:
        b = now.state.breath
        return np.array([b.pressure, b.pressure - lungs.transmural(b.volume), b.belly[0]])

    def turns(now: Now) -> Array:
        """Front ends up, about the level axis to the left."""
        return np.array([-log_so3(now.poses[p, :3, :3].T @ now.poses[i, :3, :3])[0] for i, p in ribs])

    def effort(now: Now) -> Array:
        a, b = now.state.activation, now.state.breath.activation
        return np.array([b[diaphragm].mean(), b[wall].mean(), a[trunk.external].mean(), a[trunk.internal].mean()])

    def gas(now: Now) -> float:
        """What the lungs hold against what they held and breathed in, of what they hold."""
        b = now.state.breath
        return float((b.air[0] - ATMOSPHERE * (lungs.rest_volume + b.air[3])) / b.air[0])

    return [
        Measure(Signal("lung_volume", "l", "volume of the lungs"), lambda now: 1e3 * now.state.breath.volume),
        Measure(Signal("flow", "l/min", "air into the lungs"), lambda now: 6e4 * now.state.breath.flow),
        Measure(
            Signal("peak_flow", "l/min", "largest of all steps so far", ("in", "out")),
            lambda now: 6e4 * now.state.breath.peaks,
        ),
        Measure(
            Signal("pressure", "Pa", "over the atmosphere", ("lungs", "pleura", "belly")),
            pressures,
        ),
        Measure(Signal("rib_turn", "rad", "front ends up", tuple(f"rib {k}" for k in RIBS)), turns),
        Measure(
            Signal("breath_effort", "1", "activation", ("diaphragm", "abdomen", "external", "internal")),
            effort,
        ),
        Measure(Signal("glottis", "1", "how far it is open"), lambda now: now.state.breath.glottis[0]),
        Measure(
            Signal("belly_error", "%", "volume of the belly off its own"),
            lambda now: 100.0 * (now.state.breath.belly[1] / cavities.belly_volume - 1.0),
        ),
        Measure(Signal("tendon", "m", "height of the central tendon"), lambda now: now.state.breath.x[-1, 2]),
        Measure(Signal("gas_error", "1", "gas that is not accounted for"), gas),
    ]
