"""Holding a trunk upright while it breathes: what the back does, as servos (DiLorenzo 2009, 3.1.1).

    tau = rest - k (q - q_wanted) - d q',   rest: balances weight, ligaments, cage and cavities in the rest pose

Ribs, sternum and cartilages get `rest` alone, which is the outward recoil of a cage that balances the lungs. Spine,
neck and clavicles are servos; what is wanted of them may bend. The neck is soft enough, by our choice, for the head to
nod when the trunk shakes: let go it swings back at 1 Hz.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitruvian.anatomy import Body
from vitruvian.couple import JointTorques
from vitruvian.skeleton import difference

Array = np.ndarray
SPINE = tuple([f"L{k}" for k in range(1, 6)] + [f"T{k}" for k in range(1, 13)])
NECK = (*(f"C{k}" for k in range(7, 0, -1)), "Sku")
CLAVICLES = ("Cla_l", "Cla_r")
SPINE_STIFFNESS, SPINE_DAMPING = 4000.0, 80.0  # [N m/rad], [N m s/rad] of each joint
NECK_STIFFNESS, NECK_DAMPING = 150.0, 10.0
CLAVICLE_STIFFNESS, CLAVICLE_DAMPING = 300.0, 10.0
CAGE = (*(f"Rb{k}" for k in range(1, 11)), "Ste", *(f"Cc{k}" for k in range(2, 7)))


def trunk_coordinates(body: Body) -> Array:
    """Joint coordinates of spine, neck, cage and clavicles, bool, (n_v,)."""
    s, out = body.skeleton, np.zeros(body.skeleton.n_v, bool)
    for name in s.names:
        if name in (*SPINE, *NECK, *CLAVICLES) or name.removesuffix("_l").removesuffix("_r") in CAGE:
            out[s.v_slice(name)] = True
    return out


@dataclass(frozen=True, eq=False)
class Posture:
    """Servos about a rest pose."""

    body: Body
    q: Array  # the rest pose (n_q,)
    rest: Array  # torque that balances it [N m], (n_v,)
    stiffness: Array  # (n_v,)
    damping: Array  # (n_v,)
    flexion: Array  # coordinates that bend the spine forward, their shares, (n_v,)
    lift: Array  # coordinates that raise the clavicles, (n_v,)
    nod: Array  # coordinates that bend the head forward, their shares, (n_v,)

    @classmethod
    def of(cls, body: Body, q: Array, rest: Array) -> Posture:
        s = body.skeleton
        k, d, bend, lift, nod = (np.zeros(s.n_v) for _ in range(5))
        jointed = [name for name in SPINE if s.v_slice(name).stop > s.v_slice(name).start]
        for name in jointed:
            at = s.v_slice(name)
            k[at], d[at] = SPINE_STIFFNESS, SPINE_DAMPING
            own = sum(n[0] == name[0] for n in jointed)
            bend[at.start] = (0.7 if name[0] == "L" else 0.3) / own  # about x: + bends forward
        necks = [name for name in NECK if s.v_slice(name).stop > s.v_slice(name).start]
        for name in necks:
            at = s.v_slice(name)
            k[at], d[at] = NECK_STIFFNESS, NECK_DAMPING
            nod[at.start] = 1.0 / len(necks)
        for name in CLAVICLES:
            at = s.v_slice(name)
            k[at], d[at] = CLAVICLE_STIFFNESS, CLAVICLE_DAMPING
            lift[at.start + 1] = -1.0  # about y: + lowers
        return cls(body, q.copy(), rest, k, d, bend, lift, nod)

    def torques(self, q: Array, v: Array, bend: Array) -> JointTorques:
        """At (q, v); bend: spine forward, clavicles up, head forward, from rest [rad], (3,)."""
        wanted = bend[0] * self.flexion + bend[1] * self.lift + bend[2] * self.nod
        off = difference(self.body.skeleton, self.q, q) - wanted
        return JointTorques(self.rest - self.stiffness * off - self.damping * v, self.stiffness, self.damping)
