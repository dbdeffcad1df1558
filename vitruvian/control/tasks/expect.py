"""The water of the next step as a controller foresees it: what muscles or torques have to work against.

    f(v + dv) = f_0 - Σ J_iᵀ D_i J_i dv            f_0: flow and lift at the present velocities (`force`)

joins the implicit step in which muscles are chosen, as still water joins the step itself. The drag of hands and feet
may change by many times their inertia in a step, so that a force felt a step ago is no measure of the next one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vitruvian.control.tasks.force import WaterForce

if TYPE_CHECKING:
    from vitruvian.couple import System

Array = np.ndarray


class ExpectedWater:
    """A contributor to a step that is only thought of: it books no work."""

    account = ""

    def __init__(self, water: WaterForce):
        self.water = water

    def add(self, system: System) -> None:
        w = self.water
        J = w.jacobian.reshape(len(w.origins), 6, -1)
        system.force += w.jacobian.T @ (w.flow + w.lift).ravel()
        system.add_matrix(system.dt * w.jacobian.T @ np.matmul(w.damping, J).reshape(w.jacobian.shape))

    def work(self, system: System, gained: Array, middle: Array) -> float:
        return 0.0
