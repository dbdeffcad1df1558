"""What changes about a body during a run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitruvian.anatomy.body import Body

Array = np.ndarray


@dataclass
class BodyState:
    """Plain arrays: all there is to save."""

    q: Array  # joint coordinates [rad, m, quaternions], shape (n_q,)
    v: Array  # joint velocities [rad/s, m/s], shape (n_v,)
    activation: Array  # shape (n_muscles,)
    load: Array  # inertia of what each bone holds: mass, m com, moments about its origin, shape (n_bones, 10)
    wrench: Array  # external push on each bone, in its frame: (moment [N m], force [N]), shape (n_bones, 6)

    @classmethod
    def at_rest(cls, body: Body, q: Array | None = None) -> BodyState:
        """Standing still in the pose q (default: the tables' pose), muscles off, hands empty."""
        s = body.skeleton
        return cls(
            q=(body.default_q if q is None else q).copy(),
            v=np.zeros(s.n_v),
            activation=np.zeros(body.muscles.n_muscles),
            load=np.zeros((s.n_bones, 10)),
            wrench=np.zeros((s.n_bones, 6)),
        )
