"""What changes in flesh: node positions and velocities, the pressure of each element, the push of contact."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from vitruvian.flesh.model import FleshModel


@dataclass
class FleshState:
    x: np.ndarray  # node positions [m], shape (n_nodes, 3)
    v: np.ndarray  # node velocities [m/s], shape (n_nodes, 3)
    pressure: np.ndarray  # p of the augmented Lagrangian [Pa], tension positive, shape (n_elements,)
    push: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))  # of contact in the last solve [N], as x

    def __post_init__(self) -> None:
        if len(self.push) == 0:
            self.push = np.zeros_like(self.x)

    def copy(self) -> FleshState:
        return FleshState(self.x.copy(), self.v.copy(), self.pressure.copy(), self.push.copy())

    def become(self, other: FleshState) -> None:
        """Take over what `other` has, in place."""
        for name in ("x", "v", "pressure", "push"):
            getattr(self, name)[:] = getattr(other, name)


def rest_state(model: FleshModel) -> FleshState:
    """The undeformed body at rest: p = −p0, which makes it stress free."""
    nodes = model.elements.nodes
    return FleshState(nodes.copy(), np.zeros(nodes.shape), -model.elasticity.rest_pressure)
