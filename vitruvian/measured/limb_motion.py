"""Captured motion as poses of the four limbs, to learn from (`control.tasks.gpdm`).

A segment's turn is told from our default pose. With T_p, T_c the turns of parent and child in the world and B the
child's rotation in the default pose, the joint has turned by Bᵀ T_p⁻¹ T_c B; knees and elbows by that turn's angle.
Angles beyond a joint's range are cut off there: few frames are.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from vitruvian.anatomy import Body
from vitruvian.control.tasks.limbs import LIMBS, RATE, limb_columns
from vitruvian.errors import InputError
from vitruvian.measured.trial import Trial
from vitruvian.skeleton import bone_poses

Array = np.ndarray
PARENT = {"Hu": "T1", "Fe": "Pel"}


def limb_motion(trial: Trial, body: Body, rate: float = RATE) -> tuple[Array, float]:
    """Angles (frames, limbs, 4) [rad] at `rate` frames a second, and the share of them that was cut off."""
    segments = trial.segments
    if segments is None:
        raise InputError(f"{trial.name}: limbs are learned from turns of joints (BVH or a clip), this has markers")
    s = body.skeleton
    default = bone_poses(s, body.default_q)[:, :3, :3]
    at = np.arange(0.0, trial.time[-1] + 1e-9, 1.0 / rate)
    out = np.empty((len(at), len(LIMBS), 4))
    neutral = s.neutral_q()

    def turn(bone: str) -> Rotation:
        if bone not in segments.turns:
            raise InputError(f"{trial.name}: it does not say how {bone} turns")
        return Slerp(trial.time, Rotation.from_matrix(segments.turns[bone]))(at)

    for k, (ball, hinge) in enumerate(LIMBS.values()):
        B = Rotation.from_matrix(default[s.index(ball)])
        own = B.inv() * turn(PARENT[ball[:2]]).inv() * turn(ball) * B
        start = Rotation.from_quat(body.default_q[s.q_slice(ball)], scalar_first=True)
        zero = Rotation.from_quat(neutral[s.q_slice(ball)], scalar_first=True)
        out[:, k, :3] = (zero.inv() * start * own).as_rotvec()
        out[:, k, 3] = (turn(ball).inv() * turn(hinge)).magnitude() + body.default_q[s.q_slice(hinge)][0]
    columns = limb_columns(s)
    low, high = s.forces.low[columns], s.forces.high[columns]
    cut = np.clip(out, low, high)
    return cut, float((cut != out).mean())
