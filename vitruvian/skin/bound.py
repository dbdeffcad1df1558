"""The skin as it follows the bones, without flesh: skinning about centres of rotation, with its exact derivative.

With M_i the motion of bone i from the rest pose, q_i the unit quaternion of its turn, w_i the weight of the bone at a
vertex v, and p the vertex's centre (`skin.centres`; Le and Hodgins 2016), the vertex moves with the blended turn b =
sum w_i q_i about where its centre comes to lie:

    x = sum_i w_i M_i p + R(b) (v - p)

Its velocity is linear in the bones' world twists (omega_i, v_i):

    dx/dt = sum_i w_i (v_i + omega_i x M_i p) + sum_i w_i vec(omega_i c_i) x (x - sum_i w_i M_i p),   c_i = q_i b^-1

so that velocities belong to positions exactly, and forces on the skin go to the bones by the transpose: the power of
the water on the skin is its power on the bones, and total force and moment are kept (sum w_i c_i = 1).

A bent body's skin changes its volume by a litre or two, where flesh would keep it. A skin with a given `volume` is
moved along its normals evenly, by a millimetre or two; the velocity of that small shift is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numba import njit

from vitruvian.skeleton import Skeleton, bone_poses
from vitruvian.skin.centres import turning_centres

Array = np.ndarray
MOST = 6  # bones that move one vertex


@dataclass(frozen=True, eq=False)
class BoundSkin:
    """A closed surface bound to bones."""

    rest: Array  # vertices at rest [m], shape (n, 3)
    faces: Array  # shape (m, 3), facing outwards
    names: tuple[str, ...]  # bones that move it
    bones: Array  # their numbers in the skeleton, shape (k,)
    rest_inverse: Array  # world to bone at rest, shape (k, 4, 4)
    influence: Array  # which of `names` move each vertex, strongest first, shape (n, MOST)
    weight: Array  # how much, shape (n, MOST)
    centre: Array  # about which each vertex turns at rest [m], shape (n, 3)
    volume: float | None = None  # [m^3] that it always encloses; None: whatever the pose makes of it

    @cached_property
    def face_bone(self) -> Array:
        """The bone (index into `names`) that moves each triangle most, shape (m,)."""
        total = np.zeros((len(self.faces), len(self.names)))
        for corner in range(3):
            at = self.faces[:, corner]
            for k in range(self.weight.shape[1]):
                np.add.at(total, (np.arange(len(self.faces)), self.influence[at, k]), self.weight[at, k])
        return total.argmax(axis=1)

    def dense_weights(self) -> Array:
        """Weights by bone, shape (n, len(names))."""
        out = np.zeros((len(self.rest), len(self.names)))
        for k in range(self.weight.shape[1]):
            np.add.at(out, (np.arange(len(self.rest)), self.influence[:, k]), self.weight[:, k])
        return out

    def with_rest(self, rest: Array, volume: float | None = None) -> BoundSkin:
        """The same skin with its vertices moved at rest, shape (n, 3), and a volume to keep."""
        return replace(self, rest=np.ascontiguousarray(rest, float), volume=volume)

    def place(self, poses: Array) -> SkinPlace:
        """Where it is when the bones are at `poses` (n_bones, 4, 4)."""
        place = SkinPlace(self, np.empty_like(self.rest), np.empty((len(self.rest), self.weight.shape[1], 8)))
        _place(
            np.ascontiguousarray(poses[self.bones]), self.rest_inverse, self.rest, self.centre, self.influence,
            self.weight, place.vertices, place.factors,
        )  # fmt: skip
        if self.volume is not None:
            _keep_volume(place.vertices, self.faces, self.volume)
        return place


@dataclass(frozen=True, eq=False)
class SkinPlace:
    """A bound skin in one pose."""

    skin: BoundSkin
    vertices: Array  # [m] in the world, shape (n, 3)
    factors: Array  # of each influence: quaternion w_i c_i, then w_i and M_i p [m], shape (n, MOST, 8)

    def velocities(self, twists: Array) -> Array:
        """Vertex velocities [m/s], shape (n, 3), from the bones' world twists (angular, linear velocity of the point at
        the world's origin), shape (k, 6)."""
        out = np.empty_like(self.vertices)
        _velocities(self.vertices, self.factors, self.skin.influence, np.ascontiguousarray(twists), out)
        return out

    def wrenches(self, forces: Array) -> Array:
        """What forces on the vertices [N] (n, 3) are on the bones: (moment about the world's origin, force), (k, 6)."""
        out = np.zeros((len(self.skin.names), 6))
        _wrenches(self.vertices, self.factors, self.skin.influence, np.ascontiguousarray(forces), out)
        return out


def bind(
    skeleton: Skeleton, rest_q: Array, vertices: Array, faces: Array, names: tuple[str, ...], weights: Array
) -> BoundSkin:
    """Bind a surface in the pose `rest_q` by given weights of the bones `names`, shape (n, len(names))."""
    weights = few(np.asarray(weights, float))
    order = np.argsort(-weights, axis=1, kind="stable")[:, :MOST]
    kept = np.take_along_axis(weights, order, axis=1)
    bones = np.array([skeleton.index(n) for n in names])
    rest = bone_poses(skeleton, rest_q)[bones]
    vertices, faces = np.ascontiguousarray(vertices, float), np.ascontiguousarray(faces)
    return BoundSkin(
        vertices,
        faces,
        names,
        bones,
        np.linalg.inv(rest),
        np.ascontiguousarray(order),
        np.ascontiguousarray(kept / kept.sum(axis=1, keepdims=True)),
        turning_centres(vertices, faces, weights),
    )


def few(weights: Array, most: int = MOST) -> Array:
    """Only the largest `most` of each row, brought to zero smoothly, and summing to 1."""
    if weights.shape[1] > most:
        rest = np.sort(weights, axis=1)[:, -most - 1]
        weights = np.maximum(weights - rest[:, None], 0.0)
    return weights / weights.sum(axis=1, keepdims=True)


# --- kernels -------------------------------------------------------------------------------------------------------


@njit(cache=True)
def _quaternion(R, out):
    """Unit quaternion (w, x, y, z) of a rotation matrix, from its largest component."""
    t = R[0, 0] + R[1, 1] + R[2, 2]
    if t > 0.0:
        s = 2.0 * np.sqrt(1.0 + t)
        out[0], out[1] = 0.25 * s, (R[2, 1] - R[1, 2]) / s
        out[2], out[3] = (R[0, 2] - R[2, 0]) / s, (R[1, 0] - R[0, 1]) / s
        return
    a = 0
    if R[1, 1] > R[0, 0]:
        a = 1
    if R[2, 2] > R[a, a]:
        a = 2
    b, c = (a + 1) % 3, (a + 2) % 3
    s = 2.0 * np.sqrt(1.0 + R[a, a] - R[b, b] - R[c, c])
    out[0] = (R[c, b] - R[b, c]) / s
    out[1 + a] = 0.25 * s
    out[1 + b] = (R[b, a] + R[a, b]) / s
    out[1 + c] = (R[c, a] + R[a, c]) / s


@njit(cache=True, inline="always")
def _product(a, i, b, j, out, k):
    """out[k:k+4] += a[i:i+4] b[j:j+4], quaternions."""
    out[k] += a[i] * b[j] - a[i + 1] * b[j + 1] - a[i + 2] * b[j + 2] - a[i + 3] * b[j + 3]
    out[k + 1] += a[i] * b[j + 1] + a[i + 1] * b[j] + a[i + 2] * b[j + 3] - a[i + 3] * b[j + 2]
    out[k + 2] += a[i] * b[j + 2] - a[i + 1] * b[j + 3] + a[i + 2] * b[j] + a[i + 3] * b[j + 1]
    out[k + 3] += a[i] * b[j + 3] + a[i + 1] * b[j + 2] - a[i + 2] * b[j + 1] + a[i + 3] * b[j]


@njit(cache=True)
def _place(poses, rest_inverse, rest, centre, influence, weight, vertices, factors):
    n_bones = len(poses)
    turn, move = np.zeros((n_bones, 4)), np.zeros((n_bones, 3, 4))
    for b in range(n_bones):
        for i in range(3):
            for j in range(4):
                for k in range(4):
                    move[b, i, j] += poses[b, i, k] * rest_inverse[b, k, j]
        _quaternion(move[b], turn[b])
    q, inverse, c = np.empty(4), np.empty(4), np.empty(4)
    most = influence.shape[1]
    for v in range(len(rest)):
        first = turn[influence[v, 0]]
        px, py, pz = centre[v, 0], centre[v, 1], centre[v, 2]
        cx = cy = cz = 0.0
        q[:] = 0.0
        for k in range(most):
            bone, w = influence[v, k], weight[v, k]
            m, f = move[bone], factors[v, k]
            f[4] = w
            f[5] = m[0, 0] * px + m[0, 1] * py + m[0, 2] * pz + m[0, 3]
            f[6] = m[1, 0] * px + m[1, 1] * py + m[1, 2] * pz + m[1, 3]
            f[7] = m[2, 0] * px + m[2, 1] * py + m[2, 2] * pz + m[2, 3]
            cx += w * f[5]
            cy += w * f[6]
            cz += w * f[7]
            d = turn[bone]
            if first[0] * d[0] + first[1] * d[1] + first[2] * d[2] + first[3] * d[3] < 0.0:
                w = -w
            for a in range(4):
                q[a] += w * d[a]
        size = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]
        inverse[0] = q[0] / size
        for a in range(1, 4):
            inverse[a] = -q[a] / size
        for k in range(most):
            d = turn[influence[v, k]]
            w = weight[v, k]
            if first[0] * d[0] + first[1] * d[1] + first[2] * d[2] + first[3] * d[3] < 0.0:
                w = -w
            c[:] = 0.0
            _product(d, 0, inverse, 0, c, 0)
            for a in range(4):
                factors[v, k, a] = w * c[a]
        w0, x0, y0, z0 = q[0], q[1], q[2], q[3]
        rx, ry, rz = rest[v, 0] - px, rest[v, 1] - py, rest[v, 2] - pz
        # R r = r + 2 u x (u x r + w r), u and w of the unit quaternion
        ax = y0 * rz - z0 * ry + w0 * rx
        ay = z0 * rx - x0 * rz + w0 * ry
        az = x0 * ry - y0 * rx + w0 * rz
        vertices[v, 0] = cx + rx + 2.0 * (y0 * az - z0 * ay) / size
        vertices[v, 1] = cy + ry + 2.0 * (z0 * ax - x0 * az) / size
        vertices[v, 2] = cz + rz + 2.0 * (x0 * ay - y0 * ax) / size


@njit(cache=True)
def _keep_volume(vertices, faces, volume):
    """Move vertices along their area-weighted normals so that the surface encloses `volume`; two rounds suffice."""
    normal = np.empty_like(vertices)
    for _ in range(2):
        normal[:] = 0.0
        have = 0.0
        area = 0.0
        o = vertices[0].copy()  # from a point of the surface: the sum then loses no digits far from the origin
        for f in range(len(faces)):
            a, b, c = vertices[faces[f, 0]], vertices[faces[f, 1]], vertices[faces[f, 2]]
            ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
            vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
            nx, ny, nz = 0.5 * (uy * vz - uz * vy), 0.5 * (uz * vx - ux * vz), 0.5 * (ux * vy - uy * vx)
            have += ((a[0] - o[0]) * nx + (a[1] - o[1]) * ny + (a[2] - o[2]) * nz) / 3.0
            area += np.sqrt(nx * nx + ny * ny + nz * nz)
            for k in range(3):
                normal[faces[f, k], 0] += nx
                normal[faces[f, k], 1] += ny
                normal[faces[f, k], 2] += nz
        shift = (volume - have) / area
        for v in range(len(vertices)):
            size = np.sqrt(normal[v, 0] ** 2 + normal[v, 1] ** 2 + normal[v, 2] ** 2)
            if size > 0.0:
                for a in range(3):
                    vertices[v, a] += shift * normal[v, a] / size


@njit(cache=True, inline="always")
def _from_centre(x, factors):
    """Where a vertex x is from its centre [m]: x - sum w_i M_i p."""
    rx, ry, rz = x[0], x[1], x[2]
    for k in range(len(factors)):
        f = factors[k]
        rx -= f[4] * f[5]
        ry -= f[4] * f[6]
        rz -= f[4] * f[7]
    return rx, ry, rz


@njit(cache=True)
def _velocities(vertices, factors, influence, twists, out):
    for v in range(len(vertices)):
        wx = wy = wz = vx = vy = vz = 0.0
        for k in range(influence.shape[1]):
            c = factors[v, k]
            t = twists[influence[v, k]]
            wx += t[0] * c[0] + t[1] * c[3] - t[2] * c[2]
            wy += t[1] * c[0] + t[2] * c[1] - t[0] * c[3]
            wz += t[2] * c[0] + t[0] * c[2] - t[1] * c[1]
            vx += c[4] * (t[3] + t[1] * c[7] - t[2] * c[6])
            vy += c[4] * (t[4] + t[2] * c[5] - t[0] * c[7])
            vz += c[4] * (t[5] + t[0] * c[6] - t[1] * c[5])
        rx, ry, rz = _from_centre(vertices[v], factors[v])
        out[v, 0] = vx + wy * rz - wz * ry
        out[v, 1] = vy + wz * rx - wx * rz
        out[v, 2] = vz + wx * ry - wy * rx


@njit(cache=True)
def _wrenches(vertices, factors, influence, forces, out):
    for v in range(len(vertices)):
        fx, fy, fz = forces[v, 0], forces[v, 1], forces[v, 2]
        if fx == 0.0 and fy == 0.0 and fz == 0.0:
            continue
        rx, ry, rz = _from_centre(vertices[v], factors[v])
        mx, my, mz = ry * fz - rz * fy, rz * fx - rx * fz, rx * fy - ry * fx
        for k in range(influence.shape[1]):
            c = factors[v, k]
            o = out[influence[v, k]]
            o[0] += c[0] * mx + c[2] * mz - c[3] * my + c[4] * (c[6] * fz - c[7] * fy)
            o[1] += c[0] * my + c[3] * mx - c[1] * mz + c[4] * (c[7] * fx - c[5] * fz)
            o[2] += c[0] * mz + c[1] * my - c[2] * mx + c[4] * (c[5] * fy - c[6] * fx)
            o[3] += c[4] * fx
            o[4] += c[4] * fy
            o[5] += c[4] * fz
