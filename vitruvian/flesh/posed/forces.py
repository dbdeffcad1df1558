"""Corotated tetrahedra with pose-based plasticity (Liu & al. 2013, eqs. 12-16), in a form that has an energy.

With F and F_p the deformation gradients of the shape and of its reference, Q = polar(F F_pᵀ) and G = Q F_p:

    E = V (μ |F - G|² + λ' / 2 (G:(F - G))²),      P = 2 μ (F - G) + λ' (G:(F - G)) G,      λ' = 3 λ / |F_p|²

The μ-term is Liu's, for his R R_pᵀ is Q; it is the exact gradient since Q is where |F - Q F_p| is least. P Fᵀ is
symmetric, so no element makes angular momentum, and F_p = I gives plain corotated elasticity. Liu's λ-term has no
energy. `shapes` has F, G and Q, `polar` the rotations, `blocks` how elements are taken in blocks.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from vitruvian.flesh.posed.blocks import DET, EDGES, FAST, REST, ROWS, SCALARS, SLOPES, F, P, nine, row_by
from vitruvian.flesh.posed.model import CHUNK
from vitruvian.flesh.posed.shapes import shape_rotations, shapes_of
from vitruvian.flesh.posed.skinning import add_loads, damp_nodes, frame_rates

SHARES = 4  # sums that forces are gathered in, on up to so many threads


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
            f1, f2, f3 = row_by(p0, p1, p2, s0, s3, s6, s1, s4, s7, s2, s5, s8)
            f[to], f[to + 3 * CHUNK], f[to + 6 * CHUNK], f[to + 9 * CHUNK] = f1 + f2 + f3, f1, f2, f3


@njit(cache=True, error_model="numpy")
def block_forces(corners, slopes, shear, bulk, x, pose, block, f, force):
    """Add the elastic forces [N] of a block to force (n_nodes, 3); the flat scratch f then holds V P, G, Q.

    corners, slopes, shear, bulk: those of the flesh, flat. What fills up the last block has no stiffness."""
    shapes_of(corners, slopes, x, pose, block, f)
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
    _gather(sums, force)


@njit(cache=True, error_model="numpy")
def damped_forces(flesh, poses, twists, rate, x, u, pose, force, wrenches, direction):
    """Elastic forces and pose-based damping (`add_pose_damping`) together, nodes shared out as blocks are."""
    sums, loads = np.zeros((SHARES, len(x), 3)), np.zeros((SHARES, *poses.shape))
    rates = np.empty_like(poses)
    frame_rates(poses, twists, rates)
    corners, slopes = flesh.corners.reshape(-1), flesh.slopes.reshape(-1)
    shear, bulk = flesh.shear.reshape(-1), flesh.bulk.reshape(-1)
    carried_by = flesh.bone, flesh.mass, flesh.carriers, flesh.carrier, flesh.bound
    direction[:] = 0.0
    _damped_out(corners, slopes, shear, bulk, carried_by, rates, rate, x, u, pose, sums, loads, direction)
    _gather(sums, force)
    for share in range(SHARES):
        add_loads(poses, loads[share], wrenches)


@njit(cache=True)
def _gather(sums, force):
    out, flat = force.reshape(-1), sums.reshape(-1)
    n = len(out)
    for share in range(len(sums)):
        for k in range(n):
            out[k] += flat[share * n + k]


@njit(cache=True, error_model="numpy", parallel=True)
def _shared_out(corners, slopes, shear, bulk, x, pose, sums):
    for share in prange(SHARES):
        _share(corners, slopes, shear, bulk, x, pose, share, sums[share])


@njit(cache=True, error_model="numpy", parallel=True)
def _damped_out(corners, slopes, shear, bulk, carried_by, rates, rate, x, u, pose, sums, loads, direction):
    for share in prange(SHARES):
        _share(corners, slopes, shear, bulk, x, pose, share, sums[share])
        first, last = share * len(x) // SHARES, (share + 1) * len(x) // SHARES
        damp_nodes(carried_by, rates, rate, x, u, pose, first, last, sums[share], loads[share], direction)


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
