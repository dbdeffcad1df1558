"""Corotated tetrahedra with pose-based plasticity (Liu & al. 2013, eqs. 12-16), in a form that has an energy.

With F and F_p the deformation gradients of the shape and of its reference, Q = polar(F F_pᵀ) and G = Q F_p:

    E = V (μ |F - G|² + λ' / 2 (G:(F - G))²),      P = 2 μ (F - G) + λ' (G:(F - G)) G,      λ' = 3 λ / |F_p|²

The μ-term is Liu's, for his R R_pᵀ is Q; it is the exact gradient since Q is where |F - Q F_p| is least. P Fᵀ is
symmetric, so no element makes angular momentum, and F_p = I gives plain corotated elasticity. Liu's λ-term has no
energy.

The rotation of the polar decomposition A = R S comes without iterating on matrices: I1 = tr S is the largest root of

    l⁴ - 2 |A|² l² - 8 det(A) l + |A|⁴ - 4 |cof A|²      (Horn 1987), and
    R = ((I1² - I2) A + I1 cof A - A Aᵀ A) / (I1 I2 - I3)

by Cayley and Hamilton, with I2 = (I1² - |A|²)/2, I3 = det A. Inverted elements get the rotation with the smallest
singular value negative. I1 is found by Newton's method from √3 |A| downwards, as many steps as the slowest element of
a block needs.

Elements are taken in blocks of `CHUNK`. A block's numbers lie in rows of a flat scratch at distances that the compiler
knows, so that it sees that no loop writes what a later turn of it reads, and turns the loops into vector instructions.

In creases skinning may fold a reference shape. One with less than `LEAST` of its volume is led towards its rotation
until it has that: F_p ← (1 - s) F_p + s polar(F_p), det F_p = LEAST.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from vitruvian.flesh.posed.model import CHUNK

LEAST = 0.2  # of an element's volume: no reference shape has less
SURE, MOST = 4, 10  # Newton steps that all elements take, and how many more at most
NEAR = 1e-9  # a step so small, of I1, is the last: the next would be in the rounding
F, P, A = 0, 9, 18  # rows of a block's scratch: F (later V P), F_p (later G), F F_pᵀ (later Q)
EDGES, SLOPES, SCALARS, ROWS = 27, 45, 54, 59  # edges of shape and reference (later forces); inverse rest edges
NORM, DET, REST, ROOT, CHANGE = (SCALARS + k for k in range(5))  # |A|², det A, the quartic's last term, I1
SHARES = 4  # sums that forces are gathered in, on up to so many threads
FAST = {"contract"}  # a product and a sum in one instruction


def scratch() -> np.ndarray:
    """Room for a block, (ROWS, CHUNK)."""
    return np.zeros((ROWS, CHUNK))


@njit(cache=True, error_model="numpy")
def shape_rotations(flesh, x, pose, block, w):
    """Fill F, G = Q F_p and Q of a block of elements into the scratch w (ROWS, CHUNK); returns how many are real."""
    _shapes(flesh.corners.reshape(-1), flesh.slopes.reshape(-1), x, pose, block, w.reshape(-1))
    return min(CHUNK, len(flesh.place) - block * CHUNK)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _shapes(corners, slopes, x, pose, block, f):
    """That with plain arrays: counting who holds the many of `flesh` takes as long as a block's arithmetic."""
    _edges(corners, 4 * CHUNK * block, x, pose, f)
    for k in range(9 * CHUNK):
        f[SLOPES * CHUNK + k] = slopes[9 * CHUNK * block + k]
    _gradients(f)
    if _least_volume(f) < LEAST:
        _unfold(f)
    _product(f)
    polar(f)
    _turned(f)


@njit(cache=True)
def _edges(corners, c, x, pose, f):
    for k in range(CHUNK):
        i, j = np.uint32(corners[c + k]), np.uint32(corners[c + CHUNK + k])
        l, m = np.uint32(corners[c + 2 * CHUNK + k]), np.uint32(corners[c + 3 * CHUNK + k])
        for a in range(3):
            at = (EDGES + a) * CHUNK + k
            o, r = x[i, a], pose[i, a]
            f[at], f[at + 3 * CHUNK], f[at + 6 * CHUNK] = x[j, a] - o, x[l, a] - o, x[m, a] - o
            f[at + 9 * CHUNK] = pose[j, a] - r
            f[at + 12 * CHUNK] = pose[l, a] - r
            f[at + 15 * CHUNK] = pose[m, a] - r


@njit(cache=True, fastmath=FAST)
def nine(f, row, k):
    """A 3×3 matrix of element k, row by row, from nine rows of a block's flat scratch."""
    p = row * CHUNK + k
    return (
        f[p], f[p + CHUNK], f[p + 2 * CHUNK], f[p + 3 * CHUNK], f[p + 4 * CHUNK], f[p + 5 * CHUNK],
        f[p + 6 * CHUNK], f[p + 7 * CHUNK], f[p + 8 * CHUNK],
    )  # fmt: skip


@njit(cache=True, fastmath=FAST)
def _gradients(f):
    """F and F_p: edges times the inverse of those at rest."""
    for edges, out in ((EDGES, F), (EDGES + 9, P)):
        for k in range(CHUNK):
            s0, s1, s2, s3, s4, s5, s6, s7, s8 = nine(f, SLOPES, k)
            a, b, c, d, e, g, h, i, j = nine(f, edges, k)
            p = out * CHUNK + k
            f[p], f[p + CHUNK], f[p + 2 * CHUNK] = _row(a, d, h, s0, s1, s2, s3, s4, s5, s6, s7, s8)
            f[p + 3 * CHUNK], f[p + 4 * CHUNK], f[p + 5 * CHUNK] = _row(b, e, i, s0, s1, s2, s3, s4, s5, s6, s7, s8)
            f[p + 6 * CHUNK], f[p + 7 * CHUNK], f[p + 8 * CHUNK] = _row(c, g, j, s0, s1, s2, s3, s4, s5, s6, s7, s8)


@njit(cache=True, fastmath=FAST)
def _row(u, v, w, s0, s1, s2, s3, s4, s5, s6, s7, s8):
    """(u, v, w) S."""
    return u * s0 + v * s3 + w * s6, u * s1 + v * s4 + w * s7, u * s2 + v * s5 + w * s8


@njit(cache=True, fastmath=FAST)
def _least_volume(f):
    """Smallest det F_p of the block; each in row DET."""
    for k in range(CHUNK):
        a, b, c, d, e, g, h, i, j = nine(f, P, k)
        f[DET * CHUNK + k] = a * (e * j - g * i) + b * (g * h - d * j) + c * (d * i - e * h)
    least = f[DET * CHUNK]
    for k in range(CHUNK):
        least = min(least, f[DET * CHUNK + k])
    return least


@njit(cache=True, error_model="numpy")
def _unfold(f):
    """Reference shapes F_p of a block with `LEAST` of their volume or more, in place; rows A and below are used."""
    for k in range(9 * CHUNK):
        f[A * CHUNK + k] = f[P * CHUNK + k]
    polar(f)
    for k in range(CHUNK):
        third = f[DET * CHUNK + k]
        if third >= LEAST:
            continue
        trace = 0.0  # I1 of the symmetric factor F_p Rᵀ, closer than the root that R is made from
        for j in range(9):
            trace += f[(P + j) * CHUNK + k] * f[(A + j) * CHUNK + k]
        s = _lead(trace, 0.5 * (trace * trace - f[NORM * CHUNK + k]), third)
        for j in range(9):
            at = (P + j) * CHUNK + k
            f[at] = (1.0 - s) * f[at] + s * f[(A + j) * CHUNK + k]


@njit(cache=True, error_model="numpy")
def _lead(trace, second, third):
    """s with det((1 - s) S + s I) = LEAST: Newton's method, by halves where it leaves what is known."""
    low, high, s = 0.0, 1.0, 0.5
    for _ in range(40):
        r = 1.0 - s
        far = r * r * (r * third + s * second) + s * s * (r * trace + s) - LEAST
        if far < 0.0:
            low = s
        else:
            high = s
        slope = r * r * (second - 3.0 * third) + 2.0 * r * s * (trace - second) + s * s * (3.0 - trace)
        new = s - far / slope
        if not (low < new < high):
            new = 0.5 * (low + high)
        done = abs(new - s) < NEAR
        s = new
        if done:
            break
    return s


@njit(cache=True, fastmath=FAST)
def _product(f):
    """A = F F_pᵀ."""
    for k in range(CHUNK):
        a, b, c, d, e, g, h, i, j = nine(f, P, k)
        u0, v0, w0, u1, v1, w1, u2, v2, w2 = nine(f, F, k)
        p = A * CHUNK + k
        f[p], f[p + CHUNK], f[p + 2 * CHUNK] = _row(u0, v0, w0, a, d, h, b, e, i, c, g, j)
        f[p + 3 * CHUNK], f[p + 4 * CHUNK], f[p + 5 * CHUNK] = _row(u1, v1, w1, a, d, h, b, e, i, c, g, j)
        f[p + 6 * CHUNK], f[p + 7 * CHUNK], f[p + 8 * CHUNK] = _row(u2, v2, w2, a, d, h, b, e, i, c, g, j)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def polar(f):
    """The rotations of the matrices in rows A of a block's flat scratch, in their place."""
    _first_roots(f)
    for _ in range(MOST):
        if _newton(f) <= 0.0:
            break
    _rotations(f)


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _first_roots(f):
    for k in range(CHUNK):
        a, b, c, d, e, g, h, i, j = nine(f, A, k)
        ca, cb, cc = e * j - g * i, g * h - d * j, d * i - e * h
        cd, ce, cf = c * i - b * j, a * j - c * h, b * h - a * i
        cg, ch, ci = b * g - c * e, c * d - a * g, a * e - b * d
        n = a * a + b * b + c * c + d * d + e * e + g * g + h * h + i * i + j * j
        m = ca * ca + cb * cb + cc * cc + cd * cd + ce * ce + cf * cf + cg * cg + ch * ch + ci * ci
        det = a * ca + b * cb + c * cc
        z = n * n - 4.0 * m
        l = np.sqrt(3.0 * n)
        for _ in range(SURE):
            l2 = l * l
            slope = 4.0 * l * (l2 - n) - 8.0 * det
            l = l - ((l2 - 2.0 * n) * l2 - 8.0 * det * l + z) / max(slope, 1e-300)
        f[NORM * CHUNK + k], f[DET * CHUNK + k], f[REST * CHUNK + k], f[ROOT * CHUNK + k] = n, det, z, l


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _newton(f):
    """One more step; what is returned is positive while one of them is not yet `NEAR`."""
    for k in range(CHUNK):
        n, det, z, l = f[NORM * CHUNK + k], f[DET * CHUNK + k], f[REST * CHUNK + k], f[ROOT * CHUNK + k]
        l2 = l * l
        slope = 4.0 * l * (l2 - n) - 8.0 * det
        change = ((l2 - 2.0 * n) * l2 - 8.0 * det * l + z) / max(slope, 1e-300)
        f[ROOT * CHUNK + k] = l - change
        f[CHANGE * CHUNK + k] = change - NEAR * l
    most = f[CHANGE * CHUNK]
    for k in range(CHUNK):
        most = max(most, f[CHANGE * CHUNK + k])
    return most


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _rotations(f):
    for k in range(CHUNK):
        a, b, c, d, e, g, h, i, j = nine(f, A, k)
        n, det, l = f[NORM * CHUNK + k], f[DET * CHUNK + k], f[ROOT * CHUNK + k]
        i2 = 0.5 * (l * l - n)
        scale = 1.0 / max(l * i2 - det, 1e-300)
        v = l * scale
        u = (l * l - i2) * scale
        m00, m01 = u - scale * (a * a + b * b + c * c), -scale * (a * d + b * e + c * g)
        m02, m11 = -scale * (a * h + b * i + c * j), u - scale * (d * d + e * e + g * g)
        m12, m22 = -scale * (d * h + e * i + g * j), u - scale * (h * h + i * i + j * j)
        p = A * CHUNK + k
        f[p] = m00 * a + m01 * d + m02 * h + v * (e * j - g * i)
        f[p + CHUNK] = m00 * b + m01 * e + m02 * i + v * (g * h - d * j)
        f[p + 2 * CHUNK] = m00 * c + m01 * g + m02 * j + v * (d * i - e * h)
        f[p + 3 * CHUNK] = m01 * a + m11 * d + m12 * h + v * (c * i - b * j)
        f[p + 4 * CHUNK] = m01 * b + m11 * e + m12 * i + v * (a * j - c * h)
        f[p + 5 * CHUNK] = m01 * c + m11 * g + m12 * j + v * (b * h - a * i)
        f[p + 6 * CHUNK] = m02 * a + m12 * d + m22 * h + v * (b * g - c * e)
        f[p + 7 * CHUNK] = m02 * b + m12 * e + m22 * i + v * (c * d - a * g)
        f[p + 8 * CHUNK] = m02 * c + m12 * g + m22 * j + v * (a * e - b * d)


@njit(cache=True, fastmath=FAST)
def _turned(f):
    """G = Q F_p in place of F_p."""
    for k in range(CHUNK):
        a, b, c, d, e, g, h, i, j = nine(f, P, k)
        u0, v0, w0, u1, v1, w1, u2, v2, w2 = nine(f, A, k)
        p = P * CHUNK + k
        f[p], f[p + CHUNK], f[p + 2 * CHUNK] = _row(u0, v0, w0, a, b, c, d, e, g, h, i, j)
        f[p + 3 * CHUNK], f[p + 4 * CHUNK], f[p + 5 * CHUNK] = _row(u1, v1, w1, a, b, c, d, e, g, h, i, j)
        f[p + 6 * CHUNK], f[p + 7 * CHUNK], f[p + 8 * CHUNK] = _row(u2, v2, w2, a, b, c, d, e, g, h, i, j)


@njit(cache=True, error_model="numpy")
def stress(flesh, block, w):
    """V P in place of F; the energy [J] of each element in row SCALARS."""
    _load_moduli(flesh.shear.reshape(-1), flesh.bulk.reshape(-1), block, w.reshape(-1))
    _stress(w.reshape(-1))


@njit(cache=True)
def _load_moduli(shear, bulk, block, f):
    for k in range(CHUNK):
        f[DET * CHUNK + k] = shear[CHUNK * block + k]
        f[REST * CHUNK + k] = bulk[CHUNK * block + k]


@njit(cache=True, error_model="numpy", fastmath=FAST)
def _stress(f):
    for k in range(CHUNK):
        along = size = far = 0.0  # G:(F - G), |G|², |F - G|²
        for j in range(9):
            g = f[(P + j) * CHUNK + k]
            d = f[(F + j) * CHUNK + k] - g
            along += d * g
            size += g * g
            far += d * d
        shear, bulk = f[DET * CHUNK + k], f[REST * CHUNK + k] / size
        f[SCALARS * CHUNK + k] = 0.5 * (shear * far + bulk * along * along)
        pull = bulk * along
        for j in range(9):
            at = (F + j) * CHUNK + k
            g = f[(P + j) * CHUNK + k]
            f[at] = shear * (f[at] - g) + pull * g


@njit(cache=True, fastmath=FAST)
def _pulls(f):
    """Minus the forces on corners 1 to 3 of the elements, the force on corner 0, in rows EDGES + 3 corner + a."""
    for k in range(CHUNK):
        s0, s1, s2, s3, s4, s5, s6, s7, s8 = nine(f, SLOPES, k)
        for a in range(3):
            at, to = (F + 3 * a) * CHUNK + k, (EDGES + a) * CHUNK + k
            p0, p1, p2 = f[at], f[at + CHUNK], f[at + 2 * CHUNK]
            f1, f2, f3 = _row(p0, p1, p2, s0, s3, s6, s1, s4, s7, s2, s5, s8)
            f[to], f[to + 3 * CHUNK], f[to + 6 * CHUNK], f[to + 9 * CHUNK] = f1 + f2 + f3, f1, f2, f3


@njit(cache=True, error_model="numpy")
def block_forces(corners, slopes, shear, bulk, x, pose, block, f, force):
    """Add the elastic forces [N] of a block to force (n_nodes, 3); the flat scratch f then holds V P, G, Q.

    corners, slopes, shear, bulk: those of the flesh, flat. What fills up the last block has no stiffness."""
    _shapes(corners, slopes, x, pose, block, f)
    _load_moduli(shear, bulk, block, f)
    _stress(f)
    _pulls(f)
    c = 4 * CHUNK * block
    for k in range(CHUNK):
        i, j = np.uint32(corners[c + k]), np.uint32(corners[c + CHUNK + k])
        l, m = np.uint32(corners[c + 2 * CHUNK + k]), np.uint32(corners[c + 3 * CHUNK + k])
        for a in range(3):
            at = (EDGES + a) * CHUNK + k
            force[i, a] += f[at]
            force[j, a] -= f[at + 3 * CHUNK]
            force[l, a] -= f[at + 6 * CHUNK]
            force[m, a] -= f[at + 9 * CHUNK]


@njit(cache=True, error_model="numpy")
def elastic_forces(flesh, x, pose, force):
    """Add the elastic forces [N] on nodes at x with reference shape `pose` [m] to force (n_nodes, 3).

    Blocks go to `SHARES` sums, on as many threads as there are; the same bits on any number of them."""
    sums = np.zeros((SHARES, len(x), 3))
    corners, slopes = flesh.corners.reshape(-1), flesh.slopes.reshape(-1)
    shear, bulk = flesh.shear.reshape(-1), flesh.bulk.reshape(-1)
    _shared_out(corners, slopes, shear, bulk, x, pose, sums)
    for share in range(SHARES):
        for i in range(len(x)):
            for a in range(3):
                force[i, a] += sums[share, i, a]


@njit(cache=True, error_model="numpy", parallel=True)
def _shared_out(corners, slopes, shear, bulk, x, pose, sums):
    for share in prange(SHARES):
        _share(corners, slopes, shear, bulk, x, pose, share, sums[share])


@njit(cache=True, error_model="numpy")
def _share(corners, slopes, shear, bulk, x, pose, share, force):
    f, blocks = np.empty(ROWS * CHUNK), len(shear) // CHUNK
    for block in range(share * blocks // SHARES, (share + 1) * blocks // SHARES):
        block_forces(corners, slopes, shear, bulk, x, pose, block, f, force)


@njit(cache=True, error_model="numpy")
def elastic_energy(flesh, x, pose):
    """Energy [J] of all elements."""
    w, total = np.empty((ROWS, CHUNK)), 0.0
    for block in range(len(flesh.corners)):
        count = shape_rotations(flesh, x, pose, block, w)
        stress(flesh, block, w)
        for k in range(count):
            total += w[SCALARS, k]
    return total
