"""What the servos must aim at for a motion to come about by itself: inverse dynamics (Liu & al. 2013, 19-32).

The ground's force and moment are what changes the momentum of the motion (25-26). They are shared among the bones that
touch it, by 1 over their distance from the centre of mass (27-28), and kept within what a ground can do (29-31):

    f_z ≥ 0,      |f_xy| ≤ μ f_z,      |τ| ≤ r √(1 + μ²) f_z

With these, weight and the motion's accelerations the joints' torques τ follow, and targets q̃ + τ/k (32; our servos
brake against the motion's own rate, so its k_d term is not there). Flesh weighs on the bones as in the rigid stand-in.
"""

from __future__ import annotations

import numpy as np

from vitruvian.control.search.actors import RigidActor
from vitruvian.control.search.reference import Reference
from vitruvian.skeleton import bone_poses, inverse_dynamics

Array = np.ndarray
TOUCHING = 0.02  # [m] a bone whose lowest point is lower touches the ground, in a figure 1.4 m tall
NEAR = 0.02  # [m] no bone counts as nearer to the centre of mass


def aimed(actor: RigidActor, reference: Reference, seconds: float, window: float, start: float = 0.0) -> Array:
    """Offsets of the targets [rad], means over windows, (n, n_v): what `search` takes as `base`."""
    count, each = round(seconds / window), max(3, round(window / 0.01))
    kp = actor.who.gains[0]
    stiff = np.where(kp > 0.0, kp, np.inf)
    out = np.empty((count, reference.skeleton.n_v))
    for w in range(count):
        at = start + window * (w + (np.arange(each) + 0.5) / each)
        out[w] = np.mean([torques(actor, reference, float(t)) for t in at], axis=0) / stiff
    return out


def torques(actor: RigidActor, reference: Reference, time: float, short: float = 0.02) -> Array:
    """Of the joints [N m] at a time of the motion, (n_v,); what is left at the root is what the ground cannot do.

    short [s]: over which velocities and accelerations are taken."""
    s, (q, _) = actor.skeleton, reference.sample(time)
    v = reference.mean_velocity(time - 0.5 * short, time + 0.5 * short)
    before, after = reference.mean_velocity(time - short, time), reference.mean_velocity(time, time + short)
    a = (after - before) / short
    return inverse_dynamics(s, q, v, a, contact_wrenches(actor, q, inverse_dynamics(s, q, v, a)[:6]))


def contact_wrenches(actor: RigidActor, q: Array, root: Array) -> Array:
    """Of the ground on each bone, (n_bones, 6) as `inverse_dynamics` takes them, from what the root would need (6,)."""
    s, soles, mu = actor.skeleton, actor.soles, actor.ground.friction
    poses = bone_poses(s, q)
    turn, origin = poses[0, :3, :3], poses[0, :3, 3]
    centres = np.einsum("nij,nj->ni", poses[:, :3, :3], s.coms) + poses[:, :3, 3]
    middle = s.masses @ centres / s.masses.sum()
    force = turn @ root[3:]
    moment = turn @ root[:3] + np.cross(origin - middle, force)  # about the centre of mass
    points = np.einsum("nij,nj->ni", poses[soles.bone, :3, :3], soles.at) + poses[soles.bone, :3, 3]
    out = np.zeros((s.n_bones, 6))
    low = {int(b): points[soles.bone == b] for b in np.unique(soles.bone)}
    bearing = [b for b, p in low.items() if p[:, 2].min() < actor.ground.height + TOUCHING]
    arms = {b: centres[b] - middle for b in bearing}
    share = {b: 1.0 / max(float(np.linalg.norm(arms[b][:2])), NEAR) for b in bearing}
    for b in bearing:
        part = share[b] / sum(share.values())
        f = part * force
        t = part * moment - np.cross(arms[b], f)
        f[2] = max(f[2], 0.0)
        f[:2] *= min(1.0, mu * f[2] / max(float(np.linalg.norm(f[:2])), 1e-9))
        reach = float(np.linalg.norm(low[b] - centres[b], axis=1).max())
        t *= min(1.0, reach * np.sqrt(1.0 + mu * mu) * f[2] / max(float(np.linalg.norm(t)), 1e-9))
        own, at = poses[b, :3, :3], poses[b, :3, 3]
        t = t + np.cross(centres[b] - at, f)  # about the bone's origin
        out[b] = np.concatenate([own.T @ t, own.T @ f])
    return out
