"""What the water does to each part of the body, and how that changes with its motion (Si 2013, 5.3-5.8).

The documents fit f_i = c_i |v|² to each part and expand it. A fixed direction c_i and an even |v|² say hardly more than
"the force stays": a hand that turns round would still be pushed on. Here every link has a damping matrix,

    f = f_0 - s D (t - t_0)         t: its twist, D = -∂f/∂t of the force law of still water on its skin (eq. 3.12)

In still water s = 1 and f_0 is the law's own wrench at t_0. In simulated water s is fitted for each link over the last
steps, felt ≈ s law(t), by least squares that forget with a time constant, drawn to 1 while there is little to learn
from; f_0 = s law(t_0) + what was felt beyond that in the last steps, smoothed, since the felt force of single steps
is noisy. Lift is no part of it: calm water's is known, and so is how it changes with the pose. With u the velocity of
the closed skin, whose wet part bounds the volume V that water would fill (Reynolds' transport theorem),

    d/dt ∫_V rho g (r x z) dV = ∫_wet rho g (r x z) (u . n) dA        moment of the lift about the origin, so its force
"""

from __future__ import annotations

from dataclasses import dataclass

import numba as nb
import numpy as np

from vitruvian.couple import StillWater
from vitruvian.couple.skin_links import SkinPose

Array = np.ndarray
MEMORY = 0.25  # [s] of the fit
PRIOR = 2.0  # [N] of predicted force that counts as much as the belief in s = 1
RANGE = (0.2, 3.0)  # of s
SMOOTH = 0.1  # [s] over which what the law misses is smoothed


@dataclass
class Fit:
    """Sums over the past, by link: what a controller remembers of the water."""

    along: Array  # predicted · felt, (links,)
    square: Array  # predicted²
    beyond: Array  # felt wrench less s law, smoothed, (links, 6)

    @classmethod
    def start(cls, links: int) -> Fit:
        return cls(np.zeros(links), np.zeros(links), np.zeros((links, 6)))

    def scale(self) -> Array:
        """s of each link, (links,)."""
        return np.clip((self.along + PRIOR**2) / (self.square + PRIOR**2), *RANGE)

    def learn(self, law: Array, felt: Array, dt: float) -> None:
        """law, felt: flow's wrenches on the links, by the law of still water and as felt, (links, 6)."""
        share = 1.0 - np.exp(-dt / SMOOTH)
        self.beyond += share * (felt - self.scale()[:, None] * law - self.beyond)
        keep = np.exp(-dt / MEMORY)
        self.along *= keep
        self.along += (1.0 - keep) * (law * felt)[:, 3:].sum(axis=1)
        self.square *= keep
        self.square += (1.0 - keep) * (law**2)[:, 3:].sum(axis=1)


@dataclass(frozen=True, eq=False)
class WaterForce:
    """Wrenches (moment about the link's origin, force) on the links, world axes, and their slope."""

    origins: Array  # of the links [m], (links, 3)
    jacobian: Array  # their twists about their origins per joint velocity, (6 links, n_v)
    flow: Array  # f_0, (links, 6)
    lift: Array  # of calm water, (links, 6)
    damping: Array  # s D about the links' origins, (links, 6, 6)
    lifting: Array  # what the whole lift's wrench about the world's origin gains per joint velocity, (6, n_v)
    law: Array  # flow's wrenches by the law of still water, (links, 6)
    felt: Array  # as felt in the last step, (links, 6); the law's in still water

    def total(self, centre: Array) -> Array:
        """Of all links about a point (3,): (moment, force), (6,)."""
        return _sum_about(self.origins, self.flow + self.lift, centre)

    def damped(self, centre: Array) -> Array:
        """What the flow's wrench about a point loses per joint velocity, (6, n_v)."""
        out = np.zeros((6, self.jacobian.shape[1]))
        _damped(self.origins, self.damping, self.jacobian, centre, out)
        return out

    def lifted(self, centre: Array, moving: Array) -> Array:
        """What the lift's wrench about a point (3,) gains per joint velocity, (6, n_v); moving: how the point itself
        moves with them, (3, n_v)."""
        out = self.lifting.copy()
        force = self.lift[:, 3:].sum(axis=0)
        out[:3] -= np.cross(centre, out[3:].T).T + np.cross(moving.T, force).T
        return out

    def after(self, change: Array) -> Array:
        """Flow's wrenches on the links after a change of the joint velocities (n_v,), (links, 6)."""
        twists = (self.jacobian @ change).reshape(-1, 6)
        return np.asarray(self.flow - np.einsum("lij,lj->li", self.damping, twists))


def water_force(
    pose: SkinPose,
    v: Array,
    still: StillWater,
    faces: Array,
    links: Array,
    felt: Array | None = None,
    fit: Fit | None = None,
) -> WaterForce:
    """felt: wrenches of the water on the links in the last step (links, 6), lift and all, and the fit to those before;
    without them the law of still water is taken at its word."""
    found = still.forces(pose.place.vertices, pose.velocities(v), faces, links, len(pose.origins))
    drag, lift = pose.place.wrenches(found.drag), found.lift.copy()
    for one in (drag, lift):
        one[:, :3] -= np.cross(pose.origins, one[:, 3:])
    scale = np.ones(len(lift)) if fit is None else fit.scale()
    damping = np.empty_like(found.damping)
    _about_origins(pose.origins, found.damping, scale, damping)
    flow = drag if fit is None else scale[:, None] * drag + fit.beyond
    lifting = _lifting(pose, still, faces)
    felt = drag if felt is None else felt - lift
    return WaterForce(pose.origins, pose.jacobian, flow, lift, damping, lifting, drag, felt)


def _lifting(pose: SkinPose, still: StillWater, faces: Array) -> Array:
    vertices = pose.place.vertices
    fields = np.zeros((3, *vertices.shape))
    _swept(vertices, faces, still.level, still.density * still.gravity, fields)
    out = np.zeros((6, pose.jacobian.shape[1]))
    for row, field in zip((0, 1, 5), fields, strict=True):  # moments about x and y, force up; calm water gives no other
        wrenches = pose.place.wrenches(field)
        wrenches[:, :3] -= np.cross(pose.origins, wrenches[:, 3:])
        out[row] = pose.jacobian.T @ wrenches.ravel()
    return out


@nb.njit(cache=True)
def _swept(vertices, faces, level, heavy, out):
    """What (y, -x, 1) rho g n dA of the wet skin gives its vertices: lift gained per velocity of each, (3, n, 3).
    A triangle that the surface cuts counts by the wet part of its area."""
    depth = np.empty(3)
    for f in faces:
        wet = 0
        for s in range(3):
            depth[s] = level - vertices[f[s], 2]
            wet += depth[s] > 0.0
        if wet == 0:
            continue
        part = 1.0
        if wet < 3:  # the corner that is alone on its side of the surface
            for s in range(3):
                if (depth[s] > 0.0) == (wet == 1):
                    one = depth[s] / (depth[s] - depth[(s + 1) % 3]) * depth[s] / (depth[s] - depth[(s + 2) % 3])
            part = one if wet == 1 else 1.0 - one
        a, b, c = vertices[f[0]], vertices[f[1]], vertices[f[2]]
        share = heavy * part / 6.0  # half of the cross product, a third for each corner
        n0 = share * ((b[1] - a[1]) * (c[2] - a[2]) - (b[2] - a[2]) * (c[1] - a[1]))
        n1 = share * ((b[2] - a[2]) * (c[0] - a[0]) - (b[0] - a[0]) * (c[2] - a[2]))
        n2 = share * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
        x, y = (a[0] + b[0] + c[0]) / 3.0, (a[1] + b[1] + c[1]) / 3.0
        for k in range(3):
            field = y if k == 0 else (-x if k == 1 else 1.0)
            for s in range(3):
                out[k, f[s], 0] += field * n0
                out[k, f[s], 1] += field * n1
                out[k, f[s], 2] += field * n2


@nb.njit(cache=True)
def _about_origins(origins, D, scale, out):
    shift = np.eye(6)
    for l in range(len(origins)):
        o = origins[l]
        shift[3, 1], shift[3, 2] = -o[2], o[1]
        shift[4, 0], shift[4, 2] = o[2], -o[0]
        shift[5, 0], shift[5, 1] = -o[1], o[0]
        out[l] = scale[l] * (shift.T @ D[l] @ shift)


@nb.njit(cache=True)
def _sum_about(origins, wrenches, p):
    out = np.zeros(6)
    for l in range(len(origins)):
        a, b, c = origins[l, 0] - p[0], origins[l, 1] - p[1], origins[l, 2] - p[2]
        f = wrenches[l]
        out[0] += f[0] + b * f[5] - c * f[4]
        out[1] += f[1] + c * f[3] - a * f[5]
        out[2] += f[2] + a * f[4] - b * f[3]
        for k in range(3, 6):
            out[k] += f[k]
    return out


@nb.njit(cache=True)
def _damped(origins, damping, jacobian, p, out):
    for l in range(len(origins)):
        a, b, c = origins[l, 0] - p[0], origins[l, 1] - p[1], origins[l, 2] - p[2]
        DJ = damping[l] @ jacobian[6 * l : 6 * l + 6]
        for i in range(out.shape[1]):
            fx, fy, fz = DJ[3, i], DJ[4, i], DJ[5, i]
            out[0, i] += DJ[0, i] + b * fz - c * fy
            out[1, i] += DJ[1, i] + c * fx - a * fz
            out[2, i] += DJ[2, i] + a * fy - b * fx
            out[3, i] += fx
            out[4, i] += fy
            out[5, i] += fz
