"""Which touches are near: bones, point, normal and gap of each, found anew in every step.

The work is proportional to what is near: shapes are placed once, two bones whose surrounding balls are apart cost a
comparison. A touch is near if the gap could close within the step at the present velocity, or is below `NEAR`.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np

from vitruvian.couple.contact_shapes import between, box_distance, nearest, place_cone

Array = np.ndarray
NEAR = 0.005  # [m]


class Touches(NamedTuple):
    """Touches near at hand, as many as `find` says; the second bone is pushed along the normal, the first against."""

    bones: Array  # (n, 2), -1 the world
    shapes: Array  # (n, 2): number of the plane, box or shape, and of the shape that is pushed
    point: Array  # [m], (n, 3)
    normal: Array  # (n, 3)
    gap: Array  # [m], negative inside, (n,)


def room(n: int) -> Touches:
    """Empty room for n touches."""
    return Touches(
        np.zeros((n, 2), np.int64), np.zeros((n, 2), np.int64), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros(n)
    )


@nb.njit(cache=True)
def find(shapes, planes, boxes, pairs, poses, reach, ends, touches):
    """Fill the touches whose gap is below `reach` [m] (n_bones + 1,), the farthest that a bone may come in the step;
    returns how many. ends: scratch (n, 2, 3)."""
    n = len(shapes.bone)
    count = 0
    for i in range(n):
        place_cone(poses, shapes, i, ends[i])
    for k in range(len(shapes.ball_shape)):
        i, e = shapes.ball_shape[k], shapes.ball_end[k]
        b = shapes.bone[i]
        for w in range(len(planes)):
            gap = -shapes.radius[i, e]
            for a in range(3):
                gap += (ends[i, e, a] - planes[w, a]) * planes[w, 3 + a]
            if gap < reach[b]:
                for a in range(3):
                    touches.normal[count, a] = planes[w, 3 + a]
                    touches.point[count, a] = ends[i, e, a] - (shapes.radius[i, e] + 0.5 * gap) * planes[w, 3 + a]
                count = _put(touches, count, -1, b, w, i, gap)
    for w in range(len(boxes)):
        for i in range(n):
            if shapes.bone[i] >= 0:
                count = _on_box(shapes, boxes[w], w, ends, i, reach[shapes.bone[i]], touches, count)
    for g in range(len(pairs.bones)):
        a, b = pairs.bones[g, 0], pairs.bones[g, 1]
        if a >= 0 and b >= 0:
            far2, most = 0.0, pairs.radius[a] + pairs.radius[b] + reach[a] + reach[b]
            for k in range(3):
                d = poses[a, k, 3] - poses[b, k, 3]
                for j in range(3):
                    d += poses[a, k, j] * pairs.centre[a, j] - poses[b, k, j] * pairs.centre[b, j]
                far2 += d * d
            if far2 > most * most:
                continue
        for m in range(pairs.start[g], pairs.start[g + 1]):
            count = _pair(shapes, pairs.shapes[m, 0], pairs.shapes[m, 1], ends, reach, touches, count)
    return count


@nb.njit(cache=True)
def _put(touches, count, a, b, first, second, gap):
    touches.bones[count, 0], touches.bones[count, 1] = a, b
    touches.shapes[count, 0], touches.shapes[count, 1] = first, second
    touches.gap[count] = gap
    return count + 1


@nb.njit(cache=True)
def _on_box(shapes, box, w, ends, i, near, touches, count):
    """Both ends, and the deepest point of the axis between them (the distance to a box is convex along a line)."""
    x, normal = np.empty(3), np.empty(3)
    p, r = ends[i], shapes.radius[i]
    for k in range(3):
        x[k] = 0.5 * (p[0, k] + p[1, k])
    if box_distance(box, x, normal) > shapes.reach[i] + near:
        return count
    low, high = 0.0, 1.0
    for _ in range(30):
        u, v = low + (high - low) / 3.0, high - (high - low) / 3.0
        for k in range(3):
            x[k] = p[0, k] + u * (p[1, k] - p[0, k])
        at_u = box_distance(box, x, normal) - r[0] - u * (r[1] - r[0])
        for k in range(3):
            x[k] = p[0, k] + v * (p[1, k] - p[0, k])
        if at_u < box_distance(box, x, normal) - r[0] - v * (r[1] - r[0]):
            high = v
        else:
            low = u
    middle = 0.5 * (low + high)
    for s in (0.0, 1.0, middle):
        if s == middle and (s < 0.05 or s > 0.95):
            continue
        for k in range(3):
            x[k] = p[0, k] + s * (p[1, k] - p[0, k])
        radius = r[0] + s * (r[1] - r[0])
        gap = box_distance(box, x, normal) - radius
        if gap < near:
            for k in range(3):
                touches.normal[count, k] = normal[k]
                touches.point[count, k] = x[k] - (radius + 0.5 * gap) * normal[k]
            count = _put(touches, count, -1, shapes.bone[i], w, i, gap)
    return count


@nb.njit(cache=True)
def _pair(shapes, i, j, ends, reach, touches, count):
    a, b = shapes.bone[i], shapes.bone[j]
    near = max(reach[a], 0.0) + max(reach[b], 0.0)  # the world's own reach is the last
    p, q, rp, rq = ends[i], ends[j], shapes.radius[i], shapes.radius[j]
    s, t, far = between(p, q)
    if far > near + max(rp[0], rp[1]) + max(rq[0], rq[1]):
        return count
    s, t = nearest(p, rp, q, rq, s, t)
    far = 0.0
    for k in range(3):
        d = q[0, k] + t * (q[1, k] - q[0, k]) - p[0, k] - s * (p[1, k] - p[0, k])
        touches.normal[count, k] = d
        far += d * d
    far = np.sqrt(far)
    radius = rp[0] + s * (rp[1] - rp[0])
    gap = far - radius - rq[0] - t * (rq[1] - rq[0])
    if gap >= near or far < 1e-9:
        return count
    for k in range(3):
        touches.normal[count, k] /= far
        touches.point[count, k] = p[0, k] + s * (p[1, k] - p[0, k]) + (radius + 0.5 * gap) * touches.normal[count, k]
    return _put(touches, count, a, b, i, j, gap)


@nb.njit(cache=True)
def reaches(carries, poses, screws, v, chain_start, chain, size, h, out):
    """How far [m] the flesh of each bone can come within a step, from its twist: h (|speed| + |turn| size) + NEAR."""
    for b in range(len(carries)):
        if not carries[b]:
            out[b] = 0.0
            continue
        w0, w1, w2, u0, u1, u2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for e in range(chain_start[b], chain_start[b + 1]):
            c = chain[e]
            w0 += screws[c, 0] * v[c]
            w1 += screws[c, 1] * v[c]
            w2 += screws[c, 2] * v[c]
            u0 += screws[c, 3] * v[c]
            u1 += screws[c, 4] * v[c]
            u2 += screws[c, 5] * v[c]
        x, y, z = poses[b, 0, 3], poses[b, 1, 3], poses[b, 2, 3]
        u0, u1, u2 = u0 + w1 * z - w2 * y, u1 + w2 * x - w0 * z, u2 + w0 * y - w1 * x
        speed = np.sqrt(u0 * u0 + u1 * u1 + u2 * u2) + size[b] * np.sqrt(w0 * w0 + w1 * w1 + w2 * w2)
        out[b] = NEAR + h * speed
    out[len(carries)] = 0.0
