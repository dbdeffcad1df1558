"""Water that stands still: a force on each triangle of a skin, without simulating any flow.

With v the velocity of a triangle, n its normal, A its wet area and d its depth below the level surface (Si 2013,
eq. 3.12; the flow is at rest)

    f = min(0, -rho A (n . v)) (n . v) n  +  rho d A n_z g
Pressure is integrated over the wet part of each triangle exactly, so that Archimedes holds to rounding. It goes to the
link that carries the triangle: flesh keeps its volume, so an even pressure must not bend a body, as it would if its
work were taken on a skin whose volume changes with the pose. The drag is stiff on a light hand; its linearisation
-2 rho A (n . v) n n^T goes into the implicit step as a damping of each link. `StillWaterPush` is the contributor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from vitruvian.couple.skin_links import MovingSkin, SkinPose
from vitruvian.couple.step import System

Array = np.ndarray


@dataclass(frozen=True)
class StillWater:
    """A pool without waves."""

    level: float = 0.0  # height of the surface [m]
    density: float = 1000.0  # [kg/m^3]
    gravity: float = 9.81  # [m/s^2], downwards
    longest: float = 1.0 / 192.0  # [s] sub-step

    def forces(self, vertices: Array, velocity: Array, faces: Array, links: Array, count: int) -> SkinForces:
        """Forces on a skin; links: of each triangle (m,), numbered below `count`."""
        out = SkinForces(np.zeros_like(vertices), np.zeros((count, 6)), np.zeros((count, 6, 6)))
        _forces(
            vertices, velocity, faces, links, self.level, self.density, self.gravity, out.drag, out.lift, out.damping
        )
        return out


@dataclass
class SkinForces:
    """What water does to a skin."""

    drag: Array  # against its motion, on each vertex [N], shape (n, 3)
    lift: Array  # hydrostatic, on each link: (moment about the world's origin, force), shape (links, 6)
    damping: Array  # -d(wrench)/d(twist) of each link about the world's origin, shape (links, 6, 6)


class StillWaterPush:
    """A contributor: still water on a skin. Made for one step."""

    account = "water"

    def __init__(self, water: StillWater, skin: MovingSkin):
        self.water, self.skin = water, skin
        self.links = np.asarray(skin.face_bone)
        self._applied: tuple[Array, Array] | None = None  # found once, when the step is over

    def add(self, system: System) -> None:
        pose = self.pose = SkinPose.seen(system, self.skin)
        found = self.water.forces(
            pose.place.vertices, pose.velocities(system.v), self.skin.faces, self.links, len(pose.origins)
        )
        wrenches = pose.place.wrenches(found.drag) + found.lift
        wrenches[:, :3] -= np.cross(pose.origins, wrenches[:, 3:])
        self._given, self._damping = system.dt * wrenches, found.damping
        p = self._impulse = pose.jacobian.T @ self._given.ravel()
        system.impulse = p if system.impulse is None else system.impulse + p
        pose.add_damping(system, found.damping)

    def applied(self, system: System, gained: Array) -> tuple[Array, Array]:
        """Impulses that the implicit step really applied, with its damping of the velocity gained: on the links
        (moment, force) about their origins, world axes, (links, 6), and on the joints (n_v,)."""
        if self._applied is None:
            soften = self.pose.damped(self._damping, gained)
            joints = self._impulse - system.dt * self.pose.jacobian.T @ soften.ravel()
            self._applied = self._given - system.dt * soften, joints
        return self._applied

    def work(self, system: System, gained: Array, middle: Array) -> float:
        return float(self.applied(system, gained)[1] @ middle)


@njit(cache=True)
def _forces(vertices, velocity, faces, links, level, density, gravity, drag, lift, damping):
    x = np.empty((4, 3))  # corners of the wet part
    share = np.empty((4, 3))  # their barycentric coordinates in the triangle
    depth = np.empty(3)
    arm = np.empty(6)
    for t in range(len(faces)):
        f = faces[t]
        wet = False
        for s in range(3):
            depth[s] = level - vertices[f[s], 2]
            wet = wet or depth[s] > 0.0
        if not wet:
            continue
        a, b, c = vertices[f[0]], vertices[f[1]], vertices[f[2]]
        n0 = 0.5 * ((b[1] - a[1]) * (c[2] - a[2]) - (b[2] - a[2]) * (c[1] - a[1]))
        n1 = 0.5 * ((b[2] - a[2]) * (c[0] - a[0]) - (b[0] - a[0]) * (c[2] - a[2]))
        n2 = 0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
        area = np.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
        if area <= 0.0:
            continue
        count = 0
        for s in range(3):
            r = (s + 1) % 3
            if depth[s] > 0.0:
                share[count] = 0.0
                share[count, s] = 1.0
                count += 1
            if (depth[s] > 0.0) != (depth[r] > 0.0):
                part = depth[s] / (depth[s] - depth[r])
                share[count] = 0.0
                share[count, s] = 1.0 - part
                share[count, r] = part
                count += 1
        for k in range(count):
            for e in range(3):
                x[k, e] = share[k, 0] * a[e] + share[k, 1] * b[e] + share[k, 2] * c[e]
        wet_part = 0.0
        m0 = m1 = m2 = 0.0  # barycentric centroid of the wet part, times its area
        for k in range(1, count - 1):
            # part of the triangle's area, from barycentric coordinates
            p1, p2 = share[k, 1] - share[0, 1], share[k, 2] - share[0, 2]
            q1, q2 = share[k + 1, 1] - share[0, 1], share[k + 1, 2] - share[0, 2]
            part = abs(p1 * q2 - p2 * q1)
            wet_part += part
            m0 += part * (share[0, 0] + share[k, 0] + share[k + 1, 0]) / 3.0
            m1 += part * (share[0, 1] + share[k, 1] + share[k + 1, 1]) / 3.0
            m2 += part * (share[0, 2] + share[k, 2] + share[k + 1, 2]) / 3.0
            for e in range(3):  # the middles of the edges integrate pressure times arm exactly
                i = 0 if e != 1 else k
                j = k if e == 0 else k + 1
                d = level - 0.5 * (x[i, 2] + x[j, 2])
                push = -density * gravity * d * part / 3.0
                y0, y1, y2 = 0.5 * (x[i, 0] + x[j, 0]), 0.5 * (x[i, 1] + x[j, 1]), 0.5 * (x[i, 2] + x[j, 2])
                L = lift[links[t]]
                L[0] += push * (y1 * n2 - y2 * n1)
                L[1] += push * (y2 * n0 - y0 * n2)
                L[2] += push * (y0 * n1 - y1 * n0)
                L[3] += push * n0
                L[4] += push * n1
                L[5] += push * n2
        if wet_part <= 0.0:
            continue
        n0, n1, n2 = n0 / area, n1 / area, n2 / area
        m0, m1, m2 = m0 / wet_part, m1 / wet_part, m2 / wet_part
        u0 = m0 * velocity[f[0], 0] + m1 * velocity[f[1], 0] + m2 * velocity[f[2], 0]
        u1 = m0 * velocity[f[0], 1] + m1 * velocity[f[1], 1] + m2 * velocity[f[2], 1]
        u2 = m0 * velocity[f[0], 2] + m1 * velocity[f[1], 2] + m2 * velocity[f[2], 2]
        along = n0 * u0 + n1 * u1 + n2 * u2
        if along <= 0.0:
            continue
        push = -density * area * wet_part * along * along
        for s in range(3):
            w = push * (m0 if s == 0 else (m1 if s == 1 else m2))
            drag[f[s], 0] += w * n0
            drag[f[s], 1] += w * n1
            drag[f[s], 2] += w * n2
        c0 = m0 * a[0] + m1 * b[0] + m2 * c[0]
        c1 = m0 * a[1] + m1 * b[1] + m2 * c[1]
        c2 = m0 * a[2] + m1 * b[2] + m2 * c[2]
        arm[0], arm[1], arm[2] = c1 * n2 - c2 * n1, c2 * n0 - c0 * n2, c0 * n1 - c1 * n0
        arm[3], arm[4], arm[5] = n0, n1, n2
        slope = 2.0 * density * area * wet_part * along
        D = damping[links[t]]
        for i in range(6):
            for j in range(6):
                D[i, j] += slope * arm[i] * arm[j]
