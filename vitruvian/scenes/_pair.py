"""Two muscles side by side, each holding a particle up from a fixed point: the test rig of DiLorenzo 2009, section 4.3.

    m x'' = m g - F(a, l, l') sign(x),   x the particle's depth below the fixed point, l = |x|
Gravity and mass cannot be read in the source and are chosen here (9.8 m/s², 1.5 kg), as is the rest length (1 m). The
step is the same linear-implicit one as for the body: (m + h d + h² k) dv = h (f - h k v).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vitruvian.control import Controls, honoured
from vitruvian.mesh import box, sphere
from vitruvian.muscle import CurvedHill, Element, SpringMuscle, Tension, force_laws, tension
from vitruvian.systems import BodiesLayer, Drawn, Layer, LinesLayer, Measure, Now
from vitruvian.systems.colours import MUSCLE, WIRE
from vitruvian.world import Camera, Lines, LinesFrame, Mesh, Signal

Array = np.ndarray
NAMES = ("spring", "hill")
GRAVITY = 9.8  # [m/s^2]
MASS = 1.5  # [kg]
TOP = 2.2  # height of the fixed points [m]
APART = 0.8  # [m]


def comparison_elements(rest_length: float = 1.0) -> tuple[Element, Element]:
    """The parameters of the comparison: spring k = 50, b = 5; Hill k_PE = 50, b_PE = 10, v_max = 10, F_max = 50."""
    return (
        SpringMuscle(rest_length, k_active=50.0, k_passive=50.0, damping=5.0),
        CurvedHill(50.0, rest_length, k_pe=50.0, b_pe=10.0, v_max=10.0),
    )


@dataclass
class PairState:
    """Both particles."""

    depth: Array  # of each particle below its fixed point [m], shape (2,)
    speed: Array  # downwards [m/s], shape (2,)
    activation: Array  # shape (2,)


class PairSystem(Drawn):
    """See `world.simulation.Simulation`. activation(time) -> number; held(time) -> length to hold at, or None."""

    def __init__(
        self,
        activation: Callable[[float], float],
        held: Callable[[float], float | None] = lambda time: None,
        gravity: float = GRAVITY,
        length: float = 1.0,
    ):
        self.elements = comparison_elements()
        self.laws = force_laws(NAMES, self.elements)
        self.activation, self.held, self.gravity, self.length = activation, held, gravity, length
        self.layers, self.measures = _layers(), MEASURES
        self.cameras, self.ground = (Camera("front", (0.0, -4.2, 1.75), (0.0, 0.0, 1.5)),), 0.0

    def start(self, rng: np.random.Generator) -> PairState:
        return PairState(np.full(2, self.length), np.zeros(2), np.full(2, self.activation(0.0)))

    def step(self, state: PairState, controls: Controls | None, time: float, dt: float) -> None:
        honoured(controls, (), "two muscles on a rail")
        state.activation[:] = self.activation(time)
        hold = self.held(time)
        if hold is not None:
            state.depth[:], state.speed[:] = hold, 0.0
            return
        t, side = self.tension(state)
        # Implicit only in what resists: a negative slope would shrink the denominator, so it is taken explicitly.
        k, d = np.maximum(t.stiffness, 0.0), np.maximum(t.damping, 0.0)
        force = MASS * self.gravity - t.force * side
        state.speed += dt * (force - dt * k * state.speed) / (MASS + dt * d + dt * dt * k)
        state.depth += dt * state.speed

    def tension(self, state: PairState) -> tuple[Tension, Array]:
        """Of both muscles, and on which side of the fixed point each particle is (+1 below)."""
        side = np.where(state.depth >= 0.0, 1.0, -1.0)
        return tension(self.laws, state.activation, np.abs(state.depth), side * state.speed), side


def _height(now: Now) -> Array:
    """Of both particles [m]."""
    return TOP - now.state.depth


def _layers() -> tuple[Layer, ...]:
    x = np.array([-0.5, 0.5]) * APART

    def meshes() -> list[Mesh]:
        rail = box((1.6, 0.12, 0.06), (0.0, 0.0, TOP + 0.03))
        weight = sphere(0.09, (0.0, 0.0, -0.09))
        return [
            Mesh("rail", "", *rail, layer="stand", colour=WIRE),
            *(Mesh(f"{n} particle", n, *weight, layer="things", colour=c) for n, c in zip(NAMES, (WIRE, MUSCLE))),
        ]

    def poses(now: Now) -> Array:
        return np.array([[x[i], 0.0, _height(now)[i], 1.0, 0.0, 0.0, 0.0] for i in range(2)])

    def muscles(now: Now) -> LinesFrame:
        points = np.array([p for i in range(2) for p in ((x[i], 0.0, TOP), (x[i], 0.0, _height(now)[i]))])
        return LinesFrame(points, now.state.activation.copy())

    lines = Lines("muscles", np.array([0, 2, 4]), np.array([0.02, 0.02]), NAMES, value="activation", layer="muscles")
    return BodiesLayer(NAMES, meshes, poses), LinesLayer(lines, muscles)


MEASURES = (
    Measure(Signal("force", "N", "tension", NAMES), lambda now: now.system.tension(now.state)[0].force),
    Measure(Signal("depth", "m", "depth below the fixed point", NAMES), lambda now: now.state.depth),
    Measure(Signal("activation", "1", "activation"), lambda now: now.state.activation[0]),
)
