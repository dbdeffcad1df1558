"""What changes in flesh: node positions and velocities, and the pressure of each element."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitruvian.flesh.model import FleshModel


@dataclass
class FleshState:
    x: np.ndarray  # node positions [m], shape (n_nodes, 3)
    v: np.ndarray  # node velocities [m/s], shape (n_nodes, 3)
    pressure: np.ndarray  # p of the augmented Lagrangian [Pa], tension positive, shape (n_elements,)

    def copy(self) -> FleshState:
        return FleshState(self.x.copy(), self.v.copy(), self.pressure.copy())


def rest_state(model: FleshModel) -> FleshState:
    """The undeformed body at rest: p = −p0, which makes it stress free."""
    nodes = model.elements.nodes
    return FleshState(nodes.copy(), np.zeros(nodes.shape), -model.elasticity.rest_pressure)
