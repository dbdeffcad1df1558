"""Further pieces of split cells in the pressure system.

Each piece is wet or dry by its own level set (`sides.piece_levels`), not by its cell's: a wall may have water on one
side and air on the other.

A pair of pieces (a, b) of which one is not its cell's own brings w_ab (P_a - P_b)^2 / l_ab to the system's energy in
place of the same between the cells' own pieces, and its share w_ab s (u - u_body) to the divergence of its two pieces;
l is the length of the water that moves with the face. Further pieces have unknowns in the padding of the grid's
arrays, where all coefficients are zero, so that every sum over the grid counts them.

The arrays of the system hold a grid's matrix that the multigrid can take: in it each further piece is one with the
neighbour that it is most open to, so that the two sides of a sheet stay apart on every level. What differs from the
true matrix is a short list of couplings (`Split`). The preconditioner smooths on the few cells about the pieces with
the true matrix, does a cycle with the grid's, and smooths again in opposite order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from vitruvian.water.boundary import Boundary
from vitruvian.water.ghost import share

Array = np.ndarray
SWEEPS = 3  # of Gauss-Seidel about the pieces before and after the cycle
NONE, DRY = -1, -2
ROUNDING = 1e-9  # coefficients below it are none


@dataclass
class Split:
    """Couplings beside the grid's matrix; places are flat in the padded arrays."""

    slot: Array  # place of each further piece, -1 where it is one with its cell's own, -2 where it is dry; shape (n,)
    level: Array  # level set [m] of each further piece, shape (n,)
    one: Array  # place of one end of each coupling, shape (m,)
    two: Array  # of the other, -1 for a known pressure of 0
    amount: Array  # coefficient, negative where the grid's matrix has too much
    joined: Array  # neighbour that stands for each further piece in the grid's matrix, shape (n,)
    near: Array  # places of the cells and pieces to be smoothed, in order
    near_start: Array  # where each one's couplings begin, shape (near + 1,)
    near_place: Array  # the other ends
    near_amount: Array  # and their coefficients
    near_diagonal: Array

    def pockets(self, pockets: Array | None, diagonal: Array) -> Array | None:
        """Number further pieces as the neighbours that they are joined to, and alike what couplings connect; a pocket
        that one connects with a known pressure is none. Pieces may be open to each other alone, which the grid's matrix
        does not know: there are pockets then though the grid has none. diagonal: of the grid's matrix.
        """
        flat = diagonal.reshape(-1)
        if pockets is None:
            if (flat[self.joined[self.slot >= 0]] > 0.0).all():
                return None
            pockets = np.zeros(diagonal.shape, np.int64)
        _join(self.slot, self.joined, self.one, self.two, self.amount, flat, pockets.reshape(-1))
        return pockets if pockets.any() else None

    def alive(self, diagonal: Array, place: Array) -> Array:
        """Whether anything is open to the unknowns at the given padded places, shape (rows, 3); a cell's own piece may
        be shut in where further ones of the cell are not.
        """
        out = diagonal.reshape(-1) > 0.0
        out[self.near] = self.near_diagonal >= ROUNDING
        return out[np.ravel_multi_index(tuple(place.T), diagonal.shape)]

    def places(self, b: Boundary, cells: Array, shape: tuple[int, ...]) -> Array:
        """Padded place of the unknown of each of the boundary's rows, shape (rows, 3); cells: those of their cells."""
        own = np.ravel_multi_index(tuple(cells.T), shape)
        slot = np.where(b.row_piece >= 0, self.slot[b.row_piece], NONE)
        flat = np.where(slot >= 0, slot, np.where(slot == DRY, 0, own))  # the grid's corner is never pressed
        return np.stack(np.unravel_index(flat, shape), axis=1)


def add_pieces(
    b: Boundary, phi: Array, flow: tuple[Array, Array, Array], coefficients: tuple[Array, Array, Array],
    diagonal: Array, top: Array, right: Array, x: Array, fall: float, level: Array | None = None,
) -> Split | None:  # fmt: skip
    """Change the system of cells' own pieces with unit lengths (arrays padded, in place) into that of all pieces and
    true lengths; fall: the speed [m/s] that gravity has given all w; level: level set [m] of each further piece, that
    of its cell unless told. None without further pieces.
    """
    p = b.pieces
    level = phi[tuple(p.cells.T)] if level is None else level
    cx, cy, cz = coefficients
    _lengthen(b.long_faces, b.long_open, b.lengths, phi, cx, cy, cz, diagonal, right, fall)
    if not len(p.cells):
        return None
    slot, joined, one, two, amount = _build(
        p.cells, p.faces, p.ends, p.opened, p.lengths, phi, level, *flow, b.body_x, b.body_y, b.body_z, cx, cy, cz,
        diagonal, int(top.max()), right, x, fall,
    )  # fmt: skip
    active = slot >= 0
    if not active.any() and not (slot == DRY).any():
        return None
    near = _near(cx, cy, cz, slot[active], joined[active], one, two, p.cells)
    split = Split(slot, level, one, two, amount, joined, near, *_rows(cx, cy, cz, diagonal, near, one, two, amount))
    dead = near[split.near_diagonal < ROUNDING]
    right.reshape(-1)[dead] = x.reshape(-1)[dead] = 0.0
    return split


def finish_velocity(
    b: Boundary, split: Split | None, phi: Array, x: Array, fall: float, flow: tuple[Array, Array, Array]
) -> tuple[float, Array]:
    """Velocity of faces with lengths or pieces of their own, once unit lengths have set it: the mean over the masses
    that move with them. Returns what gravity has given them more than the rest, in cells' masses [m/s], and which of
    them have water beside them.
    """
    p = b.pieces
    slot = np.full(len(p.cells), NONE) if split is None else split.slot
    level = phi[tuple(p.cells.T)] if split is None else split.level
    more, mass = _update(
        b.long_faces, b.long_open, b.lengths, b.pair_face, p.ends, p.opened, p.lengths, slot, level, phi, x, fall,
        *flow,
    )  # fmt: skip
    return float(more), mass > 0.0


# --- kernels -------------------------------------------------------------------------------------------------------


@njit(cache=True)
def _join(slot, joined, one, two, amount, diagonal, pockets):
    count = pockets.max()
    for e in range(len(slot)):
        if slot[e] >= 0:
            at = joined[e]
            if diagonal[at] == 0.0 and pockets[at] == 0:  # open to further pieces alone: the grid's matrix knows it not
                count += 1
                pockets[at] = count
            pockets[slot[e]] = pockets[at]
    same = np.arange(count + 1)  # the number that each one goes by
    for m in range(len(one)):
        if amount[m] <= 0.0:
            continue
        a, b = pockets[one[m]], pockets[two[m]] if two[m] >= 0 else 0
        while same[a] != a:
            a = same[a]
        while same[b] != b:
            b = same[b]
        same[max(a, b)] = min(a, b)
    for n in range(pockets.size):
        a = pockets[n]
        while same[a] != a:
            a = same[a]
        pockets[n] = a


@njit(cache=True)
def _build(
    cells, faces, ends, opened, lengths, phi, level, u, v, w, bx, by, bz, cx, cy, cz, diagonal, wet, right, x, fall
):  # fmt: skip
    sx, sy, sz = diagonal.shape
    n = len(cells)
    slot = np.full(n, NONE, np.int64)
    joined = np.full(n, NONE, np.int64)
    flat_d, flat_r, flat_x = diagonal.reshape(-1), right.reshape(-1), x.reshape(-1)
    # the neighbour that each piece is most open to, itself a cell's own piece or joined to one
    best = np.zeros(n)
    for _ in range(4):
        changed = False
        for m in range(len(faces)):
            lo, hi = _cells_of(faces[m], sy, sz)
            for end in range(2):
                e, other = ends[m, end], ends[m, 1 - end]
                if e < 0 or opened[m] <= best[e] or level[e] >= 0.0:
                    continue
                beyond = hi if end == 0 else lo
                if other >= 0:
                    beyond = joined[other]
                if beyond >= 0 and flat_d[beyond] > 0.0:
                    joined[e] = beyond
                    best[e] = opened[m]
                    changed = True
        if not changed:
            break
    used = 0
    room = sy - 2
    for e in range(n):
        if joined[e] >= 0 and used < 2 * room * (wet - 1):
            plane, rest = used // (room * (wet - 1)), used % (room * (wet - 1))
            j, k = 1 + rest % room, 1 + rest // room
            slot[e] = ((0 if plane == 0 else sx - 1) * sy + j) * sz + k
            used += 1
        else:
            joined[e] = NONE
            # wet, with no unknown of its own, it is one with the cell's own piece, if that is wet
            if level[e] >= 0.0 or phi[cells[e, 0], cells[e, 1], cells[e, 2]] >= 0.0:
                slot[e] = DRY
    one, two, amount = np.empty(2 * len(faces), np.int64), np.empty(2 * len(faces), np.int64), np.empty(2 * len(faces))
    count = 0
    for m in range(len(faces)):
        ea, eb = ends[m, 0], ends[m, 1]
        sa = slot[ea] if ea >= 0 else NONE
        sb = slot[eb] if eb >= 0 else NONE
        axis, i, j, k = faces[m, 0], faces[m, 1], faces[m, 2], faces[m, 3]
        la, lb = _cells_of(faces[m], sy, sz)
        c = cx if axis == 0 else (cy if axis == 1 else cz)
        qa, qb = phi[i - (axis == 0), j - (axis == 1), k - (axis == 2)], phi[i, j, k]
        pa, pb = (level[ea] if ea >= 0 else qa), (level[eb] if eb >= 0 else qb)
        if sa == NONE and sb == NONE:  # no unknowns of their own: parts of the cells' own pieces, at true length
            if qa < 0.0 and qb < 0.0:
                change = opened[m] * (1.0 / lengths[m] - 1.0)
                c[i + 1, j + 1, k + 1] += change
                flat_d[la] += change
                flat_d[lb] += change
                if axis == 2:
                    flat_r[la] -= change * fall
                    flat_r[lb] += change * fall
            continue
        # what the grid has for the cells' own pieces goes
        a = opened[m]
        if qa < 0.0 and qb < 0.0:
            c[i + 1, j + 1, k + 1] -= a
            flat_d[la] -= a
            flat_d[lb] -= a
        elif qa < 0.0:
            flat_d[la] -= share(a, qa, qb)
        elif qb < 0.0:
            flat_d[lb] -= share(a, qb, qa)
        # the true one comes; a dry piece has no place, one that is none of its own has its cell's
        ta = sa if sa >= 0 else (la if sa == NONE else NONE)
        tb = sb if sb >= 0 else (lb if sb == NONE else NONE)
        ra, rb = (joined[ea] if sa >= 0 else la), (joined[eb] if sb >= 0 else lb)
        if sa == NONE and ea >= 0:
            pa = qa
        if sb == NONE and eb >= 0:
            pb = qb
        if ta >= 0 and tb >= 0 and pa < 0.0 and pb < 0.0:
            a /= lengths[m]
            one[count], two[count], amount[count] = ta, tb, a
            count += 1
            if ra != rb and _couple(cx, cy, cz, ra, rb, a, sy, sz):
                flat_d[ra] += a
                flat_d[rb] += a
                one[count], two[count], amount[count] = ra, rb, -a
                count += 1
        elif (ta >= 0 and pa < 0.0) or (tb >= 0 and pb < 0.0):
            low = ta >= 0 and pa < 0.0
            true, base = (ta, ra) if low else (tb, rb)
            inner, outer = (pa, pb) if low else (pb, pa)
            if outer < 0.0:  # shut in, without a place: nothing passes
                continue
            a = share(a, inner, outer)
            flat_d[base] += a
            if true != base:
                one[count], two[count], amount[count] = true, NONE, a
                one[count + 1], two[count + 1], amount[count + 1] = base, NONE, -a
                count += 2
        if axis == 0:
            passing = opened[m] * (u[i, j, k] - bx[i, j, k])
        elif axis == 1:
            passing = opened[m] * (v[i, j, k] - by[i, j, k])
        else:
            passing = opened[m] * (w[i, j, k] - bz[i, j, k])
            more = opened[m] * (1.0 / lengths[m] - 1.0) * fall
            if ta >= 0 and tb >= 0 and pa < 0.0 and pb < 0.0:
                flat_r[ta] -= more
                flat_r[tb] += more
        if sa != NONE:  # not for its cell, which has counted it if it is wet
            if qa < 0.0:
                flat_r[la] += passing
            if sa >= 0:
                flat_r[sa] -= passing
        if sb != NONE:
            if qb < 0.0:
                flat_r[lb] -= passing
            if sb >= 0:
                flat_r[sb] += passing
    for e in range(n):
        if slot[e] >= 0:
            flat_x[slot[e]] = flat_x[joined[e]]
    for m in range(len(faces)):  # what has gone altogether leaves no rounding behind, which multigrid would divide by
        axis, i, j, k = faces[m, 0], faces[m, 1], faces[m, 2], faces[m, 3]
        la, lb = _cells_of(faces[m], sy, sz)
        c = cx if axis == 0 else (cy if axis == 1 else cz)
        if c[i + 1, j + 1, k + 1] < ROUNDING:
            c[i + 1, j + 1, k + 1] = 0.0
        for at in (la, lb):
            if flat_d[at] < ROUNDING:
                flat_d[at] = 0.0
    return slot, joined, one[:count].copy(), two[:count].copy(), amount[:count].copy()


@njit(cache=True, inline="always")
def _own(cell, sy, sz):
    return ((cell[0] + 1) * sy + cell[1] + 1) * sz + cell[2] + 1


@njit(cache=True, inline="always")
def _cells_of(face, sy, sz):
    """Places of the cells on either side of a face."""
    hi = ((face[1] + 1) * sy + face[2] + 1) * sz + face[3] + 1
    step = sy * sz if face[0] == 0 else (sz if face[0] == 1 else 1)
    return hi - step, hi


@njit(cache=True)
def _couple(cx, cy, cz, a, b, amount, sy, sz):
    """Couple two cells of the grid's matrix if they are neighbours."""
    lo, hi = min(a, b), max(a, b)
    step = hi - lo
    if step == sy * sz:
        cx.reshape(-1)[hi] += amount
    elif step == sz:
        cy.reshape(-1)[hi] += amount
    elif step == 1:
        cz.reshape(-1)[hi] += amount
    else:
        return False
    return True


@njit(cache=True)
def _near(cx, cy, cz, slot, joined, one, two, cells):
    """Pieces, the cells that their couplings reach, their own cells, and the neighbours of all those."""
    _, sy, sz = cx.shape
    seen = np.zeros(cx.size, np.bool_)
    out = np.empty(len(slot) + 14 * len(one) + 7 * len(cells), np.int64)
    count = 0
    for m in range(len(slot)):
        seen[slot[m]] = True
        out[count] = slot[m]
        count += 1
    pieces = count
    for m in range(len(one)):
        for end in range(2):
            at = one[m] if end == 0 else two[m]
            if at >= 0 and not seen[at]:
                seen[at] = True
                out[count] = at
                count += 1
    for m in range(len(cells)):
        at = _own(cells[m], sy, sz)
        if not seen[at]:
            seen[at] = True
            out[count] = at
            count += 1
    ring = count
    fx, fy, fz = cx.reshape(-1), cy.reshape(-1), cz.reshape(-1)
    for m in range(pieces, ring):
        at = out[m]
        for side in range(6):
            step = sy * sz if side < 2 else (sz if side < 4 else 1)
            other = at - step if side % 2 == 0 else at + step
            face = at if side % 2 == 0 else other
            c = fx[face] if side < 2 else (fy[face] if side < 4 else fz[face])
            if c > 0.0 and not seen[other]:
                seen[other] = True
                out[count] = other
                count += 1
    return out[:count].copy()


@njit(cache=True)
def _rows(cx, cy, cz, diagonal, near, one, two, amount):
    """Rows of the true matrix for the given places, as lists."""
    sx, sy, sz = cx.shape
    fx, fy, fz, fd = cx.reshape(-1), cy.reshape(-1), cz.reshape(-1), diagonal.reshape(-1)
    inside = sx * sy * sz
    row = np.full(inside, NONE, np.int32)
    for n in range(len(near)):
        row[near[n]] = n
    size = np.zeros(len(near) + 1, np.int64)
    main = np.zeros(len(near))
    for n in range(len(near)):
        main[n] = fd[near[n]]
        if fd[near[n]] > 0.0:
            size[n + 1] += 6
    for m in range(len(one)):
        a, b = one[m], two[m]
        main[row[a]] += amount[m]
        if b >= 0:
            main[row[b]] += amount[m]
            size[row[a] + 1] += 1
            size[row[b] + 1] += 1
    start = np.cumsum(size)
    place, value = np.zeros(start[-1], np.int64), np.zeros(start[-1])
    fill = start[:-1].copy()
    for n in range(len(near)):
        at = near[n]
        if fd[at] <= 0.0:
            continue
        for side in range(6):
            step = sy * sz if side < 2 else (sz if side < 4 else 1)
            other = at - step if side % 2 == 0 else at + step
            face = at if side % 2 == 0 else other
            place[fill[n]] = other
            value[fill[n]] = fx[face] if side < 2 else (fy[face] if side < 4 else fz[face])
            fill[n] += 1
    for m in range(len(one)):
        if two[m] >= 0:
            a, b = row[one[m]], row[two[m]]
            place[fill[a]], value[fill[a]] = two[m], amount[m]
            place[fill[b]], value[fill[b]] = one[m], amount[m]
            fill[a] += 1
            fill[b] += 1
    return start, place, value, main


@njit(cache=True)
def _lengthen(faces, opened, lengths, phi, cx, cy, cz, diagonal, right, fall):
    for m in range(len(faces)):
        axis, i, j, k = faces[m, 0], faces[m, 1], faces[m, 2], faces[m, 3]
        a, b, c = i - (axis == 0), j - (axis == 1), k - (axis == 2)
        if a < 0 or b < 0 or c < 0 or i >= phi.shape[0] or j >= phi.shape[1] or k >= phi.shape[2]:
            continue
        if phi[a, b, c] >= 0.0 or phi[i, j, k] >= 0.0:
            continue
        change = opened[m] * (1.0 / lengths[m] - 1.0)
        coefficient = cx if axis == 0 else (cy if axis == 1 else cz)
        coefficient[i + 1, j + 1, k + 1] += change
        diagonal[a + 1, b + 1, c + 1] += change
        diagonal[i + 1, j + 1, k + 1] += change
        if axis == 2:
            right[a + 1, b + 1, c + 1] -= change * fall
            right[i + 1, j + 1, k + 1] += change * fall


@njit(cache=True)
def _update(faces, opened, lengths, pair_face, ends, pair_open, pair_length, slot, level, phi, x, fall, u, v, w):
    _, sy, sz = x.shape
    flat = x.reshape(-1)
    push, mass, more = np.zeros(len(faces)), np.zeros(len(faces)), np.zeros(len(faces))
    jump = np.zeros(len(faces))
    for m in range(len(faces)):
        axis, i, j, k = faces[m, 0], faces[m, 1], faces[m, 2], faces[m, 3]
        a, b, c = i - (axis == 0), j - (axis == 1), k - (axis == 2)
        if a < 0 or b < 0 or c < 0 or i >= phi.shape[0] or j >= phi.shape[1] or k >= phi.shape[2]:
            continue
        kind = _kind(phi[a, b, c], phi[i, j, k])
        if kind == 0:
            continue
        lo, hi = _cells_of(faces[m], sy, sz)
        jump[m] = _jump(kind, phi[a, b, c], phi[i, j, k], flat[lo], flat[hi])
        length = lengths[m] if kind == 3 else 1.0
        push[m] = opened[m] * jump[m]
        mass[m] = opened[m] * length
        more[m] = opened[m] * (1.0 - length)
    for p in range(len(pair_face)):
        m = pair_face[p]
        axis, i, j, k = faces[m, 0], faces[m, 1], faces[m, 2], faces[m, 3]
        lo, hi = _cells_of(faces[m], sy, sz)
        below, above = phi[i - (axis == 0), j - (axis == 1), k - (axis == 2)], phi[i, j, k]
        e, f = ends[p, 0], ends[p, 1]
        if e >= 0 and slot[e] != NONE:
            below, lo = level[e], slot[e]
        if f >= 0 and slot[f] != NONE:
            above, hi = level[f], slot[f]
        kind = _kind(below, above)
        if (lo < 0 and below < 0.0) or (hi < 0 and above < 0.0):  # wet, but shut in
            continue
        if kind == 0:
            continue
        length = pair_length[p] if kind == 3 else 1.0
        push[m] += pair_open[p] * _jump(kind, below, above, flat[max(lo, 0)], flat[max(hi, 0)])
        mass[m] += pair_open[p] * length
        more[m] += pair_open[p] * (1.0 - length)
    total = 0.0
    for m in range(len(faces)):
        axis, i, j, k = faces[m, 0], faces[m, 1], faces[m, 2], faces[m, 3]
        # without water beside it only what the cells' own pieces have given it is taken back
        change = jump[m] - push[m] / mass[m] if mass[m] > 0.0 else jump[m]
        if axis == 0:
            u[i, j, k] += change
        elif axis == 1:
            v[i, j, k] += change
        else:
            w[i, j, k] += change + (more[m] / mass[m] * fall if mass[m] > 0.0 else 0.0)
            total += more[m] * fall
    return total, mass


@njit(cache=True, inline="always")
def _kind(below, above):
    """Of the two sides of a face: 3 both wet, 1 the low one, 2 the high one."""
    return (1 if below < 0.0 else 0) + (2 if above < 0.0 else 0)


@njit(cache=True, inline="always")
def _jump(kind, below, above, low, high):
    """Pressure difference over a face, with the ghost value where one side is air."""
    if kind == 3:
        return high - low
    if kind == 1:
        return -low * share(1.0, below, above)
    if kind == 2:
        return high * share(1.0, above, below)
    return 0.0


@njit(cache=True)
def add_couplings(x, y, one, two, amount):
    """y += C x on flat arrays, C the couplings; returns x . C x."""
    work = 0.0
    for m in range(len(one)):
        a, b = one[m], two[m]
        if b >= 0:
            jump = x[a] - x[b]
            y[a] += amount[m] * jump
            y[b] -= amount[m] * jump
        else:
            jump = x[a]
            y[a] += amount[m] * jump
        work += amount[m] * np.float64(jump) * np.float64(jump)
    return work


@njit(cache=True)
def smooth(z, r, near, start, place, amount, inverse, backward):
    """Sweeps of Gauss-Seidel with the true matrix over the places near pieces, from the present z."""
    n = len(near)
    for _ in range(SWEEPS):
        for m in range(n):
            c = n - 1 - m if backward else m
            total = np.float64(r[near[c]])
            for s in range(start[c], start[c + 1]):
                total += amount[s] * z[place[s]]
            z[near[c]] = total * inverse[c]


@njit(cache=True)
def subtract_near(r, z, near, start, place, amount, diagonal):
    """r -= A z for a z that is zero but near pieces."""
    for c in range(len(near)):
        value = z[near[c]]
        r[near[c]] -= diagonal[c] * value
        for s in range(start[c], start[c + 1]):
            r[place[s]] += amount[s] * value
