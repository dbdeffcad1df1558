"""The skin as it follows the bones, without flesh: dual-quaternion skinning (Kavan et al. 2007) with its exact
derivative.

With q_i the unit dual quaternion of bone i's motion from the rest pose and w_i the weight of the bone at a vertex,
the vertex moves with b = sum w_i q_i, normalised. Its twist is linear in the bones' world twists xi_i:

    eta = sum_i w_i vec(xi_i c_i),    c_i = q_i b^-1          (dual quaternion products)

so that velocities belong to positions exactly, and forces on the skin go to the bones by the transpose: the power of
the water on the skin is its power on the bones, and total force and moment are kept (sum w_i c_i = 1).

Skinning swells bent hips and shoulders by litres, where flesh would keep its volume. A skin with a given `volume` is
moved back along its normals evenly, by a millimetre or two; the velocity of that small shift is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numba import njit

from vitruvian.skeleton import Skeleton, bone_poses

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
            np.ascontiguousarray(poses[self.bones]), self.rest_inverse, self.rest, self.influence, self.weight,
            place.vertices, place.factors,
        )  # fmt: skip
        if self.volume is not None:
            _keep_volume(place.vertices, self.faces, self.volume)
        return place


@dataclass(frozen=True, eq=False)
class SkinPlace:
    """A bound skin in one pose."""

    skin: BoundSkin
    vertices: Array  # [m] in the world, shape (n, 3)
    factors: Array  # w_i c_i of each influence, dual quaternions, shape (n, MOST, 8)

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
    return BoundSkin(
        np.ascontiguousarray(vertices, float),
        np.ascontiguousarray(faces),
        names,
        bones,
        np.linalg.inv(rest),
        np.ascontiguousarray(order),
        np.ascontiguousarray(kept / kept.sum(axis=1, keepdims=True)),
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
def _place(poses, rest_inverse, rest, influence, weight, vertices, factors):
    n_bones = len(poses)
    dual = np.zeros((n_bones, 8))
    move = np.empty((4, 4))
    half = np.zeros(4)
    for b in range(n_bones):
        for i in range(4):
            for j in range(4):
                move[i, j] = 0.0
                for k in range(4):
                    move[i, j] += poses[b, i, k] * rest_inverse[b, k, j]
        _quaternion(move, dual[b])
        half[0], half[1], half[2], half[3] = 0.0, 0.5 * move[0, 3], 0.5 * move[1, 3], 0.5 * move[2, 3]
        _product(half, 0, dual[b], 0, dual[b], 4)
    q, inverse, c = np.empty(8), np.empty(8), np.empty(8)
    most = influence.shape[1]
    for v in range(len(rest)):
        first = dual[influence[v, 0]]
        q[:] = 0.0
        for k in range(most):
            d = dual[influence[v, k]]
            along = first[0] * d[0] + first[1] * d[1] + first[2] * d[2] + first[3] * d[3]
            w = weight[v, k] if along >= 0.0 else -weight[v, k]
            for a in range(8):
                q[a] += w * d[a]
        size = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]
        mixed = 2.0 * (q[0] * q[4] + q[1] * q[5] + q[2] * q[6] + q[3] * q[7])
        # inverse = conjugate / (size + eps mixed)
        for a in range(4):
            sign = 1.0 if a == 0 else -1.0
            inverse[a] = sign * q[a] / size
            inverse[4 + a] = sign * (q[4 + a] / size - q[a] * mixed / (size * size))
        for k in range(most):
            d = dual[influence[v, k]]
            along = first[0] * d[0] + first[1] * d[1] + first[2] * d[2] + first[3] * d[3]
            w = weight[v, k] if along >= 0.0 else -weight[v, k]
            c[:] = 0.0
            _product(d, 0, inverse, 0, c, 0)
            _product(d, 0, inverse, 4, c, 4)
            _product(d, 4, inverse, 0, c, 4)
            for a in range(8):
                factors[v, k, a] = w * c[a]
        w0, x0, y0, z0 = q[0], q[1], q[2], q[3]
        px, py, pz = rest[v, 0], rest[v, 1], rest[v, 2]
        # R p = p + 2 u x (u x p + w p), u and w of the unit quaternion
        ax = y0 * pz - z0 * py + w0 * px
        ay = z0 * px - x0 * pz + w0 * py
        az = x0 * py - y0 * px + w0 * pz
        tx = -q[4] * x0 + q[5] * w0 - q[6] * z0 + q[7] * y0
        ty = -q[4] * y0 + q[5] * z0 + q[6] * w0 - q[7] * x0
        tz = -q[4] * z0 - q[5] * y0 + q[6] * x0 + q[7] * w0
        vertices[v, 0] = px + 2.0 * (y0 * az - z0 * ay + tx) / size
        vertices[v, 1] = py + 2.0 * (z0 * ax - x0 * az + ty) / size
        vertices[v, 2] = pz + 2.0 * (x0 * ay - y0 * ax + tz) / size


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
            vx += t[3] * c[0] + t[4] * c[3] - t[5] * c[2] + t[0] * c[4] + t[1] * c[7] - t[2] * c[6]
            vy += t[4] * c[0] + t[5] * c[1] - t[3] * c[3] + t[1] * c[4] + t[2] * c[5] - t[0] * c[7]
            vz += t[5] * c[0] + t[3] * c[2] - t[4] * c[1] + t[2] * c[4] + t[0] * c[6] - t[1] * c[5]
        x, y, z = vertices[v, 0], vertices[v, 1], vertices[v, 2]
        out[v, 0] = vx + wy * z - wz * y
        out[v, 1] = vy + wz * x - wx * z
        out[v, 2] = vz + wx * y - wy * x


@njit(cache=True)
def _wrenches(vertices, factors, influence, forces, out):
    for v in range(len(vertices)):
        fx, fy, fz = forces[v, 0], forces[v, 1], forces[v, 2]
        if fx == 0.0 and fy == 0.0 and fz == 0.0:
            continue
        x, y, z = vertices[v, 0], vertices[v, 1], vertices[v, 2]
        mx, my, mz = y * fz - z * fy, z * fx - x * fz, x * fy - y * fx
        for k in range(influence.shape[1]):
            c = factors[v, k]
            o = out[influence[v, k]]
            o[0] += c[0] * mx + c[2] * mz - c[3] * my + c[4] * fx + c[6] * fz - c[7] * fy
            o[1] += c[0] * my + c[3] * mx - c[1] * mz + c[4] * fy + c[7] * fx - c[5] * fz
            o[2] += c[0] * mz + c[1] * my - c[2] * mx + c[4] * fz + c[5] * fy - c[6] * fx
            o[3] += c[0] * fx + c[2] * fz - c[3] * fy
            o[4] += c[0] * fy + c[3] * fx - c[1] * fz
            o[5] += c[0] * fz + c[1] * fy - c[2] * fx
