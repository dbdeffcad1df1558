"""What the world asks of a simulation and of a controller: the two interfaces that everything above physics speaks.

States are dataclasses whose fields are NumPy arrays, numbers, or further such dataclasses; there is no other state, so
copying those fields is a complete snapshot (see `world.state`). Randomness comes only from the generator that
`start` is given, and a controller that needs more of it keeps it as an array in its state.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from vitruvian.world.stage import Frame, Stage

State = Any  # a dataclass of arrays; each simulation has its own


class Simulation(Protocol):
    """Physics that can be stepped, snapshotted and seen."""

    def start(self, rng: np.random.Generator) -> State:
        """The state at time 0."""
        ...

    def step(self, state: State, controls: Any, time: float, dt: float) -> None:
        """Advance `state` in place from `time` to `time + dt` [s]; raise `Diverged` when that cannot be done."""
        ...

    def stage(self) -> Stage:
        """What can be seen and plotted."""
        ...

    def observe(self, state: State, controls: Any, time: float) -> Frame:
        """What is to be seen and plotted now; must not change the state."""
        ...


class Controller(Protocol):
    """Decides controls (forces, activations, targets) from what it senses."""

    def start(self, rng: np.random.Generator) -> State:
        """The controller's own state at time 0."""
        ...

    def act(self, own: State, state: State, time: float, dt: float) -> Any:
        """Controls for the step from `time` to `time + dt`; may update its `own` state, never the simulation's."""
        ...
