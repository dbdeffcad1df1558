"""What the scenes with a body share: dumbbells, tracking measures, worlds under computed muscle control."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from vitruvian.anatomy.body import Body
from vitruvian.control.computed_muscle import ComputedMuscleControl, Gains, tracking_error
from vitruvian.control.motion import Motion
from vitruvian.mesh import cylinder, join, moved
from vitruvian.skeleton import Inertia
from vitruvian.spatial import transform
from vitruvian.systems.body import BodySystem
from vitruvian.systems.measures import Measure, Now
from vitruvian.world.recording import Recording
from vitruvian.world.scene import Parameter
from vitruvian.world.stage import Mesh, Signal
from vitruvian.world.world import World

Array = np.ndarray
FRAME_RATE = 60.0
STEEL = (0.33, 0.35, 0.38)
GRIP = np.array([0.085, -0.030, 0.0])  # centre of a gripped bar in the left hand's frame [m]
BAR, PLATE, THICK = 0.14, 0.055, 0.035  # length of the handle, radius and thickness of the weights [m]

STEPS = Parameter(8, "steps per frame of 1/60 s", low=1, high=100)
RATE = Parameter(120.0, "control decisions a second", "1/s", low=20.0, high=2000.0)


def dumbbell(mass: float, side: str) -> Inertia:
    """A bar with two weights, held across the palm; in the hand's frame."""
    centre = GRIP * (1.0 if side == "l" else -1.0, 1.0, 1.0)
    along = 0.5 * mass * PLATE**2
    across = mass * (PLATE**2 / 4.0 + ((BAR + THICK) / 2.0) ** 2)
    return Inertia(mass, centre, np.diag([across, across, along]))


def dumbbell_mesh(bone: str, size: float = 1.0) -> Mesh:
    """What it looks like; `size` scales the weights."""
    side = 1.0 if bone.endswith("_l") else -1.0
    bar = cylinder(0.014, BAR + 2 * THICK, edge=0.003)
    ends = [
        moved(cylinder(PLATE * size, THICK, edge=0.006), transform(None, (0.0, 0.0, s * (BAR + THICK) / 2)))
        for s in (-1.0, 1.0)
    ]
    shape = moved(join(bar, *ends), transform(None, GRIP * (side, 1.0, 1.0)))
    return Mesh(f"dumbbell {bone}", bone, *shape, layer="things", colour=STEEL)


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


def controlled_world(
    simulation: BodySystem,
    motion: Motion,
    gains: Gains,
    steps: int,
    *,
    coactivation: Mapping[str, float] | float = 0.0,
    upper: float | None = 1.0,
    regions: bool = False,
) -> World:
    """The simulation under computed muscle control."""
    controller = ComputedMuscleControl(
        simulation.body,
        simulation.stepper.twin(),
        motion,
        gains,
        coactivation=coactivation,
        upper=upper,
        regions=regions,
    )
    return World(simulation, controller, frame_rate=FRAME_RATE, substeps=int(steps))


def missing_metrics(recording: Recording) -> dict[str, float]:
    """Where muscles fell short: the largest missing torque [N m], and once more under its joint if above 0.001 N m."""
    missing = recording.signals["missing_torque"]
    worst = int(np.argmax(missing))
    out = {"largest_missing_torque_nm": float(missing[worst])}
    if missing[worst] > 1e-3:
        bone = recording.attributes["bodies"][int(recording.signals["missing_at"][worst])]
        out[f"missing_torque_at_{bone}_nm"] = float(missing[worst])
    return out


def deviation(signal: Array) -> Array:
    """Angle less target [degrees] of a signal made by `tracking_measures`, shape (frames,)."""
    return np.degrees(signal[:, 0] - signal[:, 1])
