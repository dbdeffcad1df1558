"""A world: one simulation under one controller, stepped at a fixed rate.

Time is never summed: step n is at time n / (frame_rate * substeps), so that a resumed run meets the same instants to
the last bit. A step that diverges (the simulation raises `Diverged`, a linear solve fails, or the state is no longer
finite) is rolled back and retried as 2, 4, ... 64 smaller steps; failing that the run ends with `RunFailed`, which
names part and time, and the world stands where it stood before that step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vitruvian.errors import Diverged, InputError, RunFailed
from vitruvian.world.simulation import Controller, Simulation
from vitruvian.world.stage import Frame, Stage
from vitruvian.world.state import copy_state, first_non_finite, restore_state

MOST_PIECES = 64


class World:
    """Steps `simulation` under `controller`; `frame_rate` [1/s] frames are shown, each `substeps` steps long."""

    def __init__(
        self,
        simulation: Simulation,
        controller: Controller | None = None,
        *,
        frame_rate: float = 60.0,
        substeps: int = 1,
        seed: int = 0,
    ) -> None:
        for what, thing, parts in (
            ("system", simulation, ("start", "step", "stage", "observe")),
            ("controller", controller, ("start", "act")),
        ):
            for part in parts if thing is not None else ():
                if not callable(getattr(thing, part, None)):
                    raise InputError(f"a world's {what} needs the method '{part}'; {type(thing).__name__} has none")
        if not (np.isfinite(frame_rate) and frame_rate > 0):
            raise InputError(f"frame_rate must be positive, not {frame_rate}")
        if substeps != int(substeps) or substeps < 1:
            raise InputError(f"substeps must be a whole number of at least 1, not {substeps}")
        self.simulation = simulation
        self.controller = controller
        self.frame_rate = float(frame_rate)
        self.substeps = int(substeps)
        self.seed = int(seed)
        self.state: Any = None
        self.own: Any = None  # the controller's state
        self.controls: Any = None  # those of the latest step
        self.step_index = 0
        self.retried = 0  # steps that had to be cut up
        self.rng = np.random.default_rng(self.seed)
        self.foresee: Callable[[float], None] | None = None  # raises what is wrong with a run of so many seconds
        self._started = False

    @property
    def dt(self) -> float:
        """Length of a step [s]."""
        return 1.0 / (self.frame_rate * self.substeps)

    @property
    def time(self) -> float:
        """Now [s]."""
        return self.step_index / (self.frame_rate * self.substeps)

    @property
    def started(self) -> bool:
        return self._started

    def start(self) -> None:
        """Put everything at time 0."""
        self.rng = np.random.default_rng(self.seed)
        self.state = self.simulation.start(self.rng)
        self.own = None if self.controller is None else self.controller.start(self.rng)
        self.controls = None
        self.step_index = 0
        self.retried = 0
        self._started = True
        if name := first_non_finite(self.state):
            raise InputError(f"{name} is not finite at time 0")

    def step(self) -> None:
        """Take one step, in smaller pieces if it must be."""
        if not self._started:
            self.start()
        state, own, rng = copy_state(self.state), copy_state(self.own), self.rng.bit_generator.state
        time, dt, pieces = self.time, self.dt, 1
        while True:
            try:
                # What overflows here ends as a non-finite state, which is caught below.
                with np.errstate(over="ignore", invalid="ignore"):
                    for piece in range(pieces):
                        self._advance(time + piece * (dt / pieces), dt / pieces)
                break
            except (Diverged, np.linalg.LinAlgError, FloatingPointError) as error:
                restore_state(self.state, state)
                restore_state(self.own, own)
                self.rng.bit_generator.state = rng
                if pieces == MOST_PIECES:
                    raise RunFailed(
                        f"{error} at t = {time:.6g} s, and {MOST_PIECES} smaller steps did not help"
                    ) from error
                pieces *= 2
        self.retried += pieces > 1
        self.step_index += 1

    def advance(self, seconds: float) -> None:
        """Step until at least `seconds` [s] more have passed, without recording."""
        for _ in range(round(seconds * self.frame_rate * self.substeps)):
            self.step()

    @property
    def actions(self) -> dict[str, str]:
        """What can be done to the simulation while it runs: names with their titles (see `world.acting`)."""
        return dict(getattr(self.simulation, "actions", {}))

    def act(self, name: str) -> None:
        """Do that to the simulation now."""
        if name not in self.actions:
            raise InputError(f"no action '{name}' here; there are: {', '.join(self.actions) or 'none'}")
        self.simulation.take(self.state, name, self.time)  # type: ignore[attr-defined]

    def stage(self) -> Stage:
        """What can be seen and plotted."""
        return self.simulation.stage()

    def observe(self) -> Frame:
        """What is to be seen and plotted now. At time 0 the controls shown are those that the first step will use."""
        if not self._started:
            self.start()
        controls = self.controls
        if controls is None and self.controller is not None:
            rng = self.rng.bit_generator.state
            controls = self.controller.act(copy_state(self.own), self.state, self.time, self.dt)
            self.rng.bit_generator.state = rng
        return self.simulation.observe(self.state, controls, self.time)

    def _advance(self, time: float, dt: float) -> None:
        if self.controller is not None:
            self.controls = self.controller.act(self.own, self.state, time, dt)
        self.simulation.step(self.state, self.controls, time, dt)
        if name := first_non_finite(self.state):
            raise Diverged(name, "no longer finite")
