"""A body that follows a motion by its muscles: the world, and the measures that tell how well.

world = tracking_world(BodySystem(body, motion.sample(0.0)[0]), motion)
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.control import ComputedMuscleControl, Gains, Motion, tracking_error
from vitruvian.systems.body import BodySystem
from vitruvian.systems.measures import Measure, Now
from vitruvian.world import Signal, World

Array = np.ndarray
FRAME_RATE = 60.0  # [1/s]


def tracking_measures(body: Body, motion: Motion, watched: Mapping[str, tuple[str, int]]) -> list[Measure]:
    """Signals `error` (rms over all driven joints [rad]) and, by name, angle and target of single coordinates."""
    s = body.skeleton
    driven = np.flatnonzero(body.driven)

    def error(now: Now) -> float:
        out = np.empty(s.n_v)
        tracking_error(s.topology, now.state.q, motion.sample(now.time)[0], out)
        return float(np.sqrt(np.mean(out[driven] ** 2)))

    measures = [Measure(Signal("error", "rad", "rms tracking error of all joints"), error)]
    for name, (bone, axis) in watched.items():

        def values(now: Now, bone: str = bone, axis: int = axis) -> Array:
            wanted = motion.sample(now.time)[0][s.q_slice(bone)][axis]
            return np.array([now.angle(bone, axis), wanted])

        measures.append(Measure(Signal(name, "rad", f"{name} angle", ("angle", "target")), values))
    return measures


def tracking_world(
    system: BodySystem,
    motion: Motion,
    gains: Gains | None = None,
    steps: int = 4,
    *,
    coactivation: Mapping[str, float] | float = 0.0,
    upper: float | None = 1.0,
    regions: bool = False,
) -> World:
    """The system under computed muscle control, `steps` steps to a frame of 1/60 s; the rest as for
    `ComputedMuscleControl`."""
    controller = ComputedMuscleControl(
        system.body,
        system.stepper.twin(),
        motion,
        gains,
        coactivation=coactivation,
        upper=upper,
        regions=regions,
        dynamics=system.dynamics,
    )
    return World(system, controller, frame_rate=FRAME_RATE, substeps=int(steps))
