"""Do other programs see the same body? Load an exported model there and compare, in random poses, what both compute.

`mjcf_agreement` asks MuJoCo for bone poses, mass matrix and tendon lengths; `osim_agreement` asks OpenSim for muscle
lengths and moment arms. Both return the largest difference of each; both need the program in question (`peers` extra).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vitruvian.exchange.mjcf import qpos_from_q, velocity_map
from vitruvian.exchange.osim_coordinates import coordinate_names, coordinate_values, moment_arm_map
from vitruvian.exchange.peers import mujoco_model, opensim_model
from vitruvian.muscle import lengths, moment_arms
from vitruvian.skeleton import bone_poses, integrate, mass_matrix, world_twists

if TYPE_CHECKING:
    from vitruvian.anatomy import Body

Array = np.ndarray


def random_poses(body: Body, count: int, seed: int = 0, spread: float = 0.5) -> Array:
    """Coordinates about the default pose, each joint moved by up to `spread` [rad or m] an axis, shape (count, n_q)."""
    rng = np.random.default_rng(seed)
    skeleton = body.skeleton
    moves = rng.uniform(-spread, spread, (count, skeleton.n_v))
    return np.array([integrate(skeleton, body.default_q, move, 1.0) for move in moves])


def mjcf_agreement(body: Body, count: int = 100, seed: int = 0) -> dict[str, float]:
    """Largest differences to MuJoCo in `count` random poses: `position` [m] and `rotation` (matrix entries) of bones,
    `mass_matrix` [kg, kg m, kg m²], `tendon_length` [m]."""
    mujoco, model, data = mujoco_model(body)
    skeleton = body.skeleton
    ids = [model.body(name).id for name in skeleton.names]
    tendon = [model.tendon(name).id for name in body.muscles.names]
    worst = dict.fromkeys(("position", "rotation", "mass_matrix", "tendon_length"), 0.0)
    full = np.zeros((model.nv, model.nv))
    for q in random_poses(body, count, seed):
        data.qpos[:] = qpos_from_q(body, q)
        mujoco.mj_forward(model, data)
        try:
            mujoco.mj_fullM(model, data, full)
        except TypeError:  # before MuJoCo 4
            mujoco.mj_fullM(model, full, data.qM)
        poses = bone_poses(skeleton, q)
        to_theirs = velocity_map(body, q)
        found = {
            "position": np.abs(data.xpos[ids] - poses[:, :3, 3]).max(),
            "rotation": np.abs(data.xmat[ids].reshape(-1, 3, 3) - poses[:, :3, :3]).max(),
            "mass_matrix": np.abs(to_theirs.T @ full @ to_theirs - mass_matrix(skeleton, q)).max(initial=0.0),
            "tendon_length": np.abs(data.ten_length[tendon] - lengths(body.muscles, poses)).max(initial=0.0),
        }
        worst = {key: max(worst[key], float(value)) for key, value in found.items()}
    return worst


def osim_agreement(body: Body, count: int = 20, seed: int = 0) -> dict[str, float]:
    """Largest differences to OpenSim in `count` random poses: `length` [m] of all muscles, `moment_arm` [m or 1].

    OpenSim takes 2 ms for one moment arm, so each pose is asked for those of every `count`-th muscle: all of them once.
    """
    _, model, state = opensim_model(body)
    skeleton = body.skeleton
    coordinates = [model.getCoordinateSet().get(name) for name in coordinate_names(skeleton)]
    muscles = [model.getMuscles().get(name) for name in body.muscles.names]
    worst = {"length": 0.0, "moment_arm": 0.0}
    for turn, q in enumerate(random_poses(body, count, seed)):
        for coordinate, value in zip(coordinates, coordinate_values(skeleton, q)):
            coordinate.setValue(state, float(value), False)
        model.realizePosition(state)
        length, arms = moment_arms(body.muscles, *world_twists(skeleton, q))
        theirs = np.array([muscle.getLength(state) for muscle in muscles])
        worst["length"] = max(worst["length"], float(np.abs(theirs - length).max(initial=0.0)))
        ours = arms.dense() @ moment_arm_map(skeleton, q)
        for m in range(turn, len(muscles), count):
            for k in np.flatnonzero(ours[m]):
                # OpenSim's moment arm is that of the pull: minus the change of length.
                error = abs(muscles[m].computeMomentArm(state, coordinates[k]) + ours[m, k])
                worst["moment_arm"] = max(worst["moment_arm"], float(error))
    return worst
