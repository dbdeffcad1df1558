"""Where passive and half-passive bones come to rest when the others are held.

Ribs, sternum, cartilages and hyoid follow the spine; asked to stay at fixed angles they would fight it. Their target
is the static equilibrium of ligaments, cartilage springs, passive muscle and gravity with everything else held still.
It is found by implicit steps without inertia of motion: v = 0 before each, so that a long step is a damped Newton
step on the forces.
"""

from __future__ import annotations

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.couple import BodyStepper
from vitruvian.errors import Diverged

Array = np.ndarray
PASSIVE = ("Ste", *(f"Cc{i}" for i in range(2, 7)), "Hyo", "Thy")
CAGE = (*(f"Rb{i}" for i in range(2, 11)), *PASSIVE)


class Relaxer:
    """Finds rest poses of the bones named by their table names (`CAGE` by default) of one body."""

    def __init__(self, body: Body, bones: tuple[str, ...] = CAGE):
        s = body.skeleton
        loose = np.zeros(s.n_v, dtype=bool)
        for name in s.names:
            if name.removesuffix("_l").removesuffix("_r") in bones:
                loose[s.v_slice(name)] = True
        self._body = body
        self._loose = loose
        self._stepper = BodyStepper(s, body.muscles, held=~loose)

    def rest(self, q: Array, rounds: int = 40, dt: float = 0.1, tolerance: float = 1e-7) -> Array:
        """q with the loose bones at rest; other coordinates as they are."""
        if not self._loose.any():
            return q.copy()
        still, off = np.zeros(self._body.skeleton.n_v), np.zeros(self._body.muscles.n_muscles)
        for step, most in ((dt, rounds), (0.1 * dt, 4 * rounds)):  # a long step may swing about the rest pose
            for _ in range(most):
                q, v = self._stepper.step(q, still, off, step)
                moved = float(np.abs(v).max()) * step
                if moved < tolerance:
                    return q
            if moved < 1e-3:
                return q
        raise Diverged("rib cage", f"found no rest pose (still moving {np.degrees(moved):.2g} degrees a round)")
