"""What changes in flesh: node positions and velocities, and the pressure of each cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitruvian.flesh.model import FleshModel


@dataclass
class FleshState:
    x: np.ndarray  # node positions [m], shape (n_nodes, 3)
    v: np.ndarray  # node velocities [m/s], shape (n_nodes, 3)
    pressure: np.ndarray  # p of the augmented Lagrangian [Pa], tension positive, shape (n_cells,)

    def copy(self) -> FleshState:
        return FleshState(self.x.copy(), self.v.copy(), self.pressure.copy())


def rest_state(model: FleshModel) -> FleshState:
    """The undeformed body at rest: p = −p0, which makes it stress free."""
    return FleshState(model.lattice.nodes.copy(), np.zeros((model.lattice.n_nodes, 3)), -model.moduli[:, 4].copy())
