"""Cells that a thin body cuts into several wet pieces, each with its own pressure, and edges that end inside a cell.

The nodes of the lattice in a cell (its faces' included) are joined along edges that no triangle cuts; what hangs
together is a piece. A face is open between a piece on one side and a piece on the other over the area that both reach,
clipped at the crossings themselves, so that it changes continuously as the body moves. So nothing leaks through a sheet
however thin it is and however it lies, and the pressure may jump across it.

Where a sheet ends inside a cell, the cell is one piece and the flow along an axis must pass beside the sheet. With b
the part of its cross-section that the sheet takes, the way between the neighbours' centres has the resistance of that
throat and of the flow's turning round the edge:

    two cells' lengths + k,      k = (1 + TURN) b / (1 - b),      TURN = sqrt(2)

k is shared by the two faces: the nearer one takes more, in proportion to the gap on its other side. A sheet within the
face itself leaves the open part (1 - b) / (1 + TURN b). That is exact for the edge of a half plane in the five-point
lattice: with this open part of the last face, and no other, the far field is that of an edge displaced by b cells. The
way along the sheet to its edge, from a piece in the cell before, has the resistance 1 + BEND b (2 - b) where the sheet
lies in the middle of cells (less elsewhere, in proportion to the product of its gaps): with it the edge of the far
field moves as the sheet's own until its cell turns from one piece to two (`tests/water/test_edges_of_sheets.py`).
Effective open parts take the place of geometric ones everywhere.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from vitruvian.water.boundary import Pieces, no_pieces
from vitruvian.water.crossings import Lattice
from vitruvian.water.fractions import SLIVER

Array = np.ndarray
TURN = np.sqrt(2.0)  # resistance of turning round an edge, in cells for each covered cell
BEND = 0.8  # of the way along a sheet to its edge at the far side of a cell; five-point lattice, within 3 % for all b
MOST_PIECES = 8  # in a cell
SHORTEST = 0.125  # half length of a sliver
OPEN, CUT, RIM, THIN = 0, 1, 2, 3


def split_cells(lattice: Lattice, r: int, corners: Array, half: Array, ox: Array, oy: Array, oz: Array) -> Pieces:
    """Find split cells and edges from a lattice r to a cell's edge, and set the open parts of their faces in place.

    corners: triangles in cells from the lattice's first node, shape (n, 3, 3). half: length of water that each cell
    gives to its faces along each axis, set in place too, shape (3, cells).
    """
    kind = np.zeros((ox.shape[0] - 1, ox.shape[1], ox.shape[2]), np.uint8)
    if _kinds(lattice.wet, lattice.low, lattice.high, r, kind) == 0:
        return no_pieces()
    return Pieces(*_split(lattice.wet, lattice.low, lattice.high, r, corners, kind, TURN, BEND, half, ox, oy, oz))


# --- kernels -------------------------------------------------------------------------------------------------------


@njit(cache=True)
def _kinds(wet, low, high, r, kind):
    """Mark cells that the skin cuts, those that it splits or crosses with water on both sides, and their neighbours;
    returns the number of split or crossed ones.
    """
    nx, ny, nz = kind.shape
    for axis in range(3):
        for i in range(wet.shape[0]):
            for j in range(wet.shape[1]):
                for k in range(wet.shape[2]):
                    if low[axis, i, j, k] <= 1.0:
                        i0 = i // r if axis == 0 else max(0, (i - 1) // r)
                        j0 = j // r if axis == 1 else max(0, (j - 1) // r)
                        k0 = k // r if axis == 2 else max(0, (k - 1) // r)
                        for a in range(i0, min(nx, i // r + 1)):
                            for b in range(j0, min(ny, j // r + 1)):
                                for c in range(k0, min(nz, k // r + 1)):
                                    kind[a, b, c] = CUT
    label = np.empty((r + 1, r + 1, r + 1), np.int8)
    stack = np.empty(((r + 1) ** 3, 3), np.int64)
    found = 0
    for i in range(nx):
        for j in range(ny):
            for k in range(nz):
                if kind[i, j, k] != OPEN:
                    count = _label(wet, low, r, i, j, k, label, stack)
                    if count > 1 or (count == 1 and _crossed(wet, low, r, i, j, k)):
                        kind[i, j, k] = THIN
                        found += 1
                    for axis in range(3):
                        p, q, s = i + (axis == 0), j + (axis == 1), k + (axis == 2)
                        if p < nx and q < ny and s < nz and kind[p, q, s] and _across(wet, r, i, j, k, axis, 2):
                            found += (kind[i, j, k] == CUT) + (kind[p, q, s] == CUT)
                            kind[i, j, k] = kind[p, q, s] = THIN
                        p, q, s = p + (axis == 0), q + (axis == 1), s + (axis == 2)
                        if p < nx and q < ny and s < nz and kind[p, q, s] and _across(wet, r, i, j, k, axis, 3):
                            found += (kind[i, j, k] == CUT) + (kind[p, q, s] == CUT)
                            kind[i, j, k] = kind[p, q, s] = THIN
    if found:
        for i in range(nx):
            for j in range(ny):
                for k in range(nz):
                    if kind[i, j, k] == CUT and (
                        (i > 0 and kind[i - 1, j, k] == THIN)
                        or (i < nx - 1 and kind[i + 1, j, k] == THIN)
                        or (j > 0 and kind[i, j - 1, k] == THIN)
                        or (j < ny - 1 and kind[i, j + 1, k] == THIN)
                        or (k > 0 and kind[i, j, k - 1] == THIN)
                        or (k < nz - 1 and kind[i, j, k + 1] == THIN)
                    ):
                        kind[i, j, k] = RIM
    return found


@njit(cache=True)
def _label(wet, low, r, i, j, k, label, stack):
    """Number the pieces of a cell's wet nodes from 0, dry ones -1; returns their count."""
    label[:] = -1
    count = 0
    for a in range(r + 1):
        for b in range(r + 1):
            for c in range(r + 1):
                if label[a, b, c] >= 0 or not wet[r * i + a, r * j + b, r * k + c]:
                    continue
                if count == MOST_PIECES:
                    return count
                stack[0, 0], stack[0, 1], stack[0, 2] = a, b, c
                label[a, b, c] = count
                size = 1
                while size:
                    size -= 1
                    p, q, s = stack[size, 0], stack[size, 1], stack[size, 2]
                    for side in range(6):
                        axis, up = side // 2, side % 2
                        e = p + (2 * up - 1 if axis == 0 else 0)
                        f = q + (2 * up - 1 if axis == 1 else 0)
                        g = s + (2 * up - 1 if axis == 2 else 0)
                        if not (0 <= e <= r and 0 <= f <= r and 0 <= g <= r) or label[e, f, g] >= 0:
                            continue
                        x, y, z = r * i + min(p, e), r * j + min(q, f), r * k + min(s, g)
                        if wet[r * i + e, r * j + f, r * k + g] and low[axis, x, y, z] > 1.0:
                            label[e, f, g] = count
                            stack[size, 0], stack[size, 1], stack[size, 2] = e, f, g
                            size += 1
                count += 1
    return count


@njit(cache=True)
def _crossed(wet, low, r, i, j, k):
    """Whether a row of the cell is wet at both ends and cut between them."""
    x, y, z = r * i, r * j, r * k
    for a in range(r + 1):
        for b in range(r + 1):
            for axis in range(3):
                if axis == 0:
                    both = wet[x, y + a, z + b] and wet[x + r, y + a, z + b]
                elif axis == 1:
                    both = wet[x + a, y, z + b] and wet[x + a, y + r, z + b]
                else:
                    both = wet[x + a, y + b, z] and wet[x + a, y + b, z + r]
                if both and _row_cut(low, axis, x, y, z, a, b, r):
                    return True
    return False


@njit(cache=True)
def _across(wet, r, i, j, k, axis, count):
    """Whether a row along an axis is dry between `count` cells from this one on and wet at the far ends of both."""
    m = r * (count - 1)
    x, y, z = r * i, r * j, r * k
    for a in range(r + 1):
        for b in range(r + 1):
            if axis == 0:
                dry = not (wet[x + r, y + a, z + b] or wet[x + m, y + a, z + b])
                if dry and wet[x, y + a, z + b] and wet[x + m + r, y + a, z + b]:
                    return True
            elif axis == 1:
                dry = not (wet[x + a, y + r, z + b] or wet[x + a, y + m, z + b])
                if dry and wet[x + a, y, z + b] and wet[x + a, y + m + r, z + b]:
                    return True
            else:
                dry = not (wet[x + a, y + b, z + r] or wet[x + a, y + b, z + m])
                if dry and wet[x + a, y + b, z] and wet[x + a, y + b, z + m + r]:
                    return True
    return False


@njit(cache=True)
def _row_cut(low, axis, x, y, z, a, b, r):
    for m in range(r):
        if axis == 0:
            cut = low[0, x + m, y + a, z + b] <= 1.0
        elif axis == 1:
            cut = low[1, x + a, y + m, z + b] <= 1.0
        else:
            cut = low[2, x + a, y + b, z + m] <= 1.0
        if cut:
            return True
    return False


@njit(cache=True)
def _square(wet, low, high, axis, i, j, k, area, first):
    """Open parts of the fine square that begins at a node, one for each set of joined corners: their areas and one
    corner of each; returns their count.
    """
    e, f = (axis + 1) % 3, (axis + 2) % 3
    w = np.empty(4, np.bool_)
    ahead = np.empty(4)  # free length of edge c from corner c
    back = np.empty(4)  # free length of edge c from corner c + 1
    at = np.empty(3, np.int64)
    for c in range(4):
        at[0], at[1], at[2] = i, j, k
        at[e] += 1 if c == 1 or c == 2 else 0
        at[f] += 1 if c >= 2 else 0
        w[c] = wet[at[0], at[1], at[2]]
        at[0], at[1], at[2] = i, j, k
        if c == 1:
            at[e] += 1
        elif c == 2:
            at[f] += 1
        along = e if c % 2 == 0 else f
        lo, hi = low[along, at[0], at[1], at[2]], high[along, at[0], at[1], at[2]]
        ahead[c], back[c] = (lo, hi) if c < 2 else (hi, lo)
    joined = np.empty(4, np.bool_)
    breaks = 0
    for c in range(4):
        n = (c + 1) % 4
        joined[c] = w[c] and w[n] and ahead[c] > 1.0
        if not joined[c]:
            breaks += 1
        if ahead[c] > 1.0:  # two lines that round off differently
            ahead[c] = back[c] = 0.5
    if breaks <= 1:
        area[0], first[0] = 1.0, 0
        return 1
    count = 0
    for c in range(4):
        if not w[c] or joined[(c + 3) % 4]:
            continue
        last, m = c, 1
        while joined[last]:
            last = (last + 1) % 4
            m += 1
        a, b = back[(c + 3) % 4], ahead[last]
        if m == 1:
            area[count] = 0.5 * a * b
        elif m == 2:
            area[count] = 0.5 * (a + b)
        else:
            area[count] = 1.0 - 0.5 * (1.0 - a) * (1.0 - b)
        first[count] = c
        count += 1
    return count


@njit(cache=True)
def _clip(triangle, i, j, k, work, other):
    """Part of a triangle inside a cell, as a polygon in `work`; returns its corners."""
    n = 3
    for c in range(3):
        for d in range(3):
            work[c, d] = triangle[c, d]
    for side in range(6):
        axis, up = side // 2, side % 2
        bound = (i if axis == 0 else (j if axis == 1 else k)) + up
        sign = 1.0 - 2.0 * up
        m = 0
        for c in range(n):
            p, q = work[c], work[(c + 1) % n]
            a, b = sign * (p[axis] - bound), sign * (q[axis] - bound)
            if a >= 0.0:
                other[m] = p
                m += 1
            if (a >= 0.0) != (b >= 0.0):
                t = a / (a - b)
                for d in range(3):
                    other[m, d] = p[d] + t * (q[d] - p[d])
                m += 1
        n = m
        if n == 0:
            return 0
        work[:n] = other[:n]
    return n


@njit(cache=True)
def _walls(corners, number, area, moment):
    """Projected area of the skin in each numbered cell that faces down and up each axis, and its first moment along
    that axis from the cell's low side; (cells, axis, side).
    """
    work, other = np.empty((12, 3)), np.empty((12, 3))
    low, high = np.empty(3, np.int64), np.empty(3, np.int64)
    for t in range(corners.shape[0]):
        tri = corners[t]
        for d in range(3):
            low[d] = max(0, int(np.floor(min(tri[0, d], min(tri[1, d], tri[2, d])))))
            high[d] = min(number.shape[d] - 1, int(np.floor(max(tri[0, d], max(tri[1, d], tri[2, d])))))
        for i in range(low[0], high[0] + 1):
            for j in range(low[1], high[1] + 1):
                for k in range(low[2], high[2] + 1):
                    n = number[i, j, k]
                    if n < 0:
                        continue
                    m = _clip(tri, i, j, k, work, other)
                    for c in range(1, m - 1):
                        for axis in range(3):
                            e, f = (axis + 1) % 3, (axis + 2) % 3
                            part = 0.5 * (
                                (work[c, e] - work[0, e]) * (work[c + 1, f] - work[0, f])
                                - (work[c, f] - work[0, f]) * (work[c + 1, e] - work[0, e])
                            )
                            side = 1 if part > 0.0 else 0
                            place = (work[0, axis] + work[c, axis] + work[c + 1, axis]) / 3.0
                            area[n, axis, side] += abs(part)
                            moment[n, axis, side] += abs(part) * (place - (i if axis == 0 else (j if axis == 1 else k)))


@njit(cache=True)
def _same_piece(wet, low, r, i, j, k, label, axis, share):
    """Parts of the rows of a cell along an axis that are cut between two ends of the same piece, by piece."""
    share[:] = 0.0
    total = 0.0
    x, y, z = r * i, r * j, r * k
    for a in range(r + 1):
        for b in range(r + 1):
            if axis == 0:
                p, q = label[0, a, b], label[r, a, b]
            elif axis == 1:
                p, q = label[a, 0, b], label[a, r, b]
            else:
                p, q = label[a, b, 0], label[a, b, r]
            if p < 0 or q < 0 or not _row_cut(low, axis, x, y, z, a, b, r):
                continue
            weight = (0.5 if a == 0 or a == r else 1.0) * (0.5 if b == 0 or b == r else 1.0)
            total += weight
            if p == q:
                share[p] += weight
    if total > 0.0:
        for m in range(len(share)):
            share[m] /= total


@njit(cache=True)
def _split(wet, low, high, r, corners, kind, turn, bend, half, ox, oy, oz):
    nx, ny, nz = kind.shape
    number = np.full(kind.shape, -1, np.int64)
    count = 0
    for i in range(nx):
        for j in range(ny):
            for k in range(nz):
                if kind[i, j, k] >= RIM:
                    number[i, j, k] = count
                    count += 1
    cells = np.empty((count, 3), np.int64)
    labels = np.empty((count, r + 1, r + 1, r + 1), np.int8)
    pieces = np.empty(count, np.int64)
    stack = np.empty(((r + 1) ** 3, 3), np.int64)
    for i in range(nx):
        for j in range(ny):
            for k in range(nz):
                n = number[i, j, k]
                if n >= 0:
                    cells[n, 0], cells[n, 1], cells[n, 2] = i, j, k
                    pieces[n] = _label(wet, low, r, i, j, k, labels[n], stack)
    # geometric open parts between pieces
    room = 16 * count + 64
    faces = np.empty((room, 4), np.int64)
    ends = np.empty((room, 2), np.int64)
    opened = np.empty(room)
    middle = np.zeros((room, 2))  # of each pair's area on its face, along the next two axes, from its low corner
    begin = np.empty(6 * count + 1, np.int64)  # of each face's pairs
    where = np.empty((6 * count + 1, 4), np.int64)
    face_count = pairs = 0
    reach = np.zeros((count, MOST_PIECES))  # open part of each piece's faces, summed
    sides = np.zeros((count, MOST_PIECES, 3, 2))  # open part of each piece's faces
    for n in range(count):
        for side in range(6):
            axis, up = side // 2, side % 2
            a, b, c = cells[n, 0], cells[n, 1], cells[n, 2]
            da, db, dc = (1 if axis == 0 else 0), (1 if axis == 1 else 0), (1 if axis == 2 else 0)
            if up == 0 and _at(number, a - da, b - db, c - dc) >= 0:
                continue  # the neighbour has seen to it
            i, j, k = a + up * da, b + up * db, c + up * dc
            if pairs + 64 > room:
                room *= 2
                faces, ends, opened, middle = _longer(faces, ends, opened, middle, room)
            begin[face_count] = pairs
            where[face_count, 0], where[face_count, 1], where[face_count, 2], where[face_count, 3] = axis, i, j, k
            lower, upper = _at(number, i - da, j - db, k - dc), _at(number, i, j, k)
            pairs = _pairs(wet, low, high, r, axis, i, j, k, lower, upper, labels, ends, opened, middle, pairs)
            face_count += 1
            for p in range(begin[face_count - 1], pairs):
                if lower >= 0:
                    reach[lower, ends[p, 0]] += opened[p]
                    sides[lower, ends[p, 0], axis, 1] += opened[p]
                if upper >= 0:
                    reach[upper, ends[p, 1]] += opened[p]
                    sides[upper, ends[p, 1], axis, 0] += opened[p]
    begin[face_count] = pairs
    # the largest piece is the cell's own, specks are none
    own = np.empty(count, np.int64)
    extra = np.full((count, MOST_PIECES), -2, np.int64)
    extra_cells = np.empty((count * (MOST_PIECES - 1), 3), np.int64)
    extras = 0
    for n in range(count):
        own[n] = int(np.argmax(reach[n]))
        extra[n, own[n]] = -1
        for m in range(pieces[n]):
            if m != own[n] and reach[n, m] >= SLIVER:
                extra[n, m] = extras
                extra_cells[extras] = cells[n]
                extras += 1
    # throats
    area, moment = np.zeros((count, 3, 2)), np.zeros((count, 3, 2))
    _walls(corners, number, area, moment)
    halves = np.empty((count, MOST_PIECES, 3))
    for n in range(count):
        for m in range(pieces[n]):
            volume = _volume(sides[n, m], area[n], moment[n], pieces[n])
            for axis in range(3):
                halves[n, m, axis] = half_length(volume, sides[n, m, axis, 0] + sides[n, m, axis, 1])
        for axis in range(3):
            half[axis, cells[n, 0], cells[n, 1], cells[n, 2]] = halves[n, own[n], axis] if pieces[n] else 0.5
    lengths = np.empty(room)
    covered = np.zeros((count, 3))  # part of the rows that end at a sheet with the same piece behind it
    throat = np.zeros((count, 3, 2, MOST_PIECES))  # share of k below and above the sheet
    beside = np.zeros((count, 3, 2, MOST_PIECES))  # the same of the way along the sheet to its edge
    height = np.zeros((count, 3))  # of the sheet in the cell
    share = np.empty(MOST_PIECES)
    for n in range(count):
        for axis in range(3):
            both = min(area[n, axis, 0], area[n, axis, 1])
            if both < 1e-9 or pieces[n] == 0:
                continue
            if pieces[n] == 1:
                share[:] = 0.0
                share[0] = 1.0
            else:
                _same_piece(wet, low, r, cells[n, 0], cells[n, 1], cells[n, 2], labels[n], axis, share)
            below = moment[n, axis, 0] / area[n, axis, 0]
            above = 1.0 - moment[n, axis, 1] / area[n, axis, 1]
            s = below / max(below + above, 1e-9)
            height[n, axis] = 0.5 * (below + 1.0 - above)
            for m in range(pieces[n]):
                part = min(both * share[m], 1.0 - SLIVER)
                covered[n, axis] += part
                more = (1.0 + turn) * part / (1.0 - part)
                throat[n, axis, 0, m] = (1.0 - s) * more
                throat[n, axis, 1, m] = s * more
                more = 4.0 * bend * part * (2.0 - part)
                beside[n, axis, 0, m] = (1.0 - s) * more
                beside[n, axis, 1, m] = s * more
    # effective open parts
    kept = 0
    was, opened_was = ends.copy(), opened.copy()
    for f in range(face_count):
        axis, i, j, k = where[f, 0], where[f, 1], where[f, 2], where[f, 3]
        lower = _at(number, i - (axis == 0), j - (axis == 1), k - (axis == 2))
        upper = _at(number, i, j, k)
        within = 0.0
        if lower >= 0 and upper >= 0 and pieces[lower] == 1 and pieces[upper] == 1:
            geometric = 0.0
            for p in range(begin[f], begin[f + 1]):
                geometric += opened_was[p]
            ends_low = area[lower, axis, 0] - covered[lower, axis]
            ends_high = area[upper, axis, 1] - covered[upper, axis]
            within = max(0.0, min(min(ends_low, ends_high), 1.0 - geometric))
        at_side = i - (axis == 0) < 0 or j - (axis == 1) < 0 or k - (axis == 2) < 0 or i >= nx or j >= ny or k >= nz
        total = 0.0
        for p in range(begin[f], begin[f + 1]):
            la, lb = was[p, 0], was[p, 1]
            one = extra[lower, la] if lower >= 0 else -1
            two = extra[upper, lb] if upper >= 0 else -1
            if one == -2 or two == -2 or opened_was[p] < SLIVER:
                continue
            resistance = 1.0 + turn * within
            if lower >= 0:
                resistance += throat[lower, axis, 1, la]
            if upper >= 0:
                resistance += throat[upper, axis, 0, lb]
            # beside a sheet that ends in the next cell, both sides of it are open to that cell's one piece
            for q in range(begin[f], begin[f + 1]):
                if q == p:
                    continue
                for t in range(2):
                    across = (axis + 1 + t) % 3
                    if lower >= 0 and was[q, 0] == la and was[q, 1] != lb:
                        side = 0 if middle[p, t] < height[lower, across] else 1
                        resistance += opened_was[p] * beside[lower, across, side, la]
                    if upper >= 0 and was[q, 1] == lb and was[q, 0] != la:
                        side = 0 if middle[p, t] < height[upper, across] else 1
                        resistance += opened_was[p] * beside[upper, across, side, lb]
            w = opened_was[p] / resistance
            if w < SLIVER:
                continue
            if (one >= 0 or two >= 0) and at_side:
                continue  # beyond the side of the tank there is nothing that a further piece could be open to
            total += w
            if one >= 0 or two >= 0:
                faces[kept] = where[f]
                ends[kept, 0], ends[kept, 1], opened[kept] = one, two, w
                di, dj, dk = i - (axis == 0), j - (axis == 1), k - (axis == 2)
                lengths[kept] = halves[lower, la, axis] if lower >= 0 else _half_at(half, axis, di, dj, dk)
                lengths[kept] += halves[upper, lb, axis] if upper >= 0 else _half_at(half, axis, i, j, k)
                kept += 1
        if axis == 0:
            ox[i, j, k] = total
        elif axis == 1:
            oy[i, j, k] = total
        else:
            oz[i, j, k] = total
    return (
        extra_cells[:extras].copy(), faces[:kept].copy(), ends[:kept].copy(), opened[:kept].copy(),
        lengths[:kept].copy(), cells,
    )  # fmt: skip


@njit(cache=True)
def _volume(sides, area, moment, pieces):
    """Volume of a piece by the divergence theorem, the mean over the axes: of x n_x over faces and walls."""
    total = 0.0
    for axis in range(3):
        v = 0.5 * (sides[axis, 0] + sides[axis, 1])
        if pieces == 1:
            for side in range(2):
                v += (1.0 - 2.0 * side) * (moment[axis, side] - 0.5 * area[axis, side])
        else:  # of the walls that face this piece
            wall = sides[axis, 0] - sides[axis, 1]
            side = 0 if wall > 0.0 else 1
            if area[axis, side] > 1e-9:
                v += wall * (moment[axis, side] / area[axis, side] - 0.5)
        total += v / 3.0
    return min(max(total, 0.0), 1.0)


@njit(cache=True, inline="always")
def half_length(volume, opened):
    """Length of a cell's water that moves with each of its faces along an axis, which are open by `opened` in sum: half
    of what reaches both, all of what ends at a wall.
    """
    return min(max(volume / opened, SHORTEST), 1.0) if opened > SLIVER else 0.5


@njit(cache=True, inline="always")
def _half_at(half, axis, i, j, k):
    _, nx, ny, nz = half.shape
    return half[axis, i, j, k] if 0 <= i < nx and 0 <= j < ny and 0 <= k < nz else 0.5


@njit(cache=True)
def long_faces(half, ox, oy, oz):
    """Faces between whose cells' centres lies water of a length other than 1: axis, i, j, k and it."""
    room = 64
    faces, lengths = np.empty((room, 4), np.int64), np.empty(room)
    count = 0
    for axis in range(3):
        opened = ox if axis == 0 else (oy if axis == 1 else oz)
        for i in range(opened.shape[0]):
            for j in range(opened.shape[1]):
                for k in range(opened.shape[2]):
                    if opened[i, j, k] <= 0.0:
                        continue
                    length = _half_at(half, axis, i - (axis == 0), j - (axis == 1), k - (axis == 2))
                    length += _half_at(half, axis, i, j, k)
                    if abs(length - 1.0) < 1e-9:
                        continue
                    if count == room:
                        room *= 2
                        more_faces, more = np.empty((room, 4), np.int64), np.empty(room)
                        more_faces[:count], more[:count] = faces, lengths
                        faces, lengths = more_faces, more
                    faces[count, 0], faces[count, 1], faces[count, 2], faces[count, 3] = axis, i, j, k
                    lengths[count] = length
                    count += 1
    return faces[:count].copy(), lengths[:count].copy()


@njit(cache=True, inline="always")
def _at(number, i, j, k):
    nx, ny, nz = number.shape
    return number[i, j, k] if 0 <= i < nx and 0 <= j < ny and 0 <= k < nz else -1


@njit(cache=True)
def _longer(faces, ends, opened, middle, room):
    f, e, o, m = np.empty((room, 4), np.int64), np.empty((room, 2), np.int64), np.empty(room), np.zeros((room, 2))
    f[: len(faces)], e[: len(ends)], o[: len(opened)], m[: len(middle)] = faces, ends, opened, middle
    return f, e, o, m


@njit(cache=True)
def _pairs(wet, low, high, r, axis, i, j, k, lower, upper, labels, ends, opened, middle, count):
    """Add the pairs of pieces that a face joins; cells without a number are one piece, 0."""
    first = count
    area, corner = np.empty(4), np.empty(4, np.int64)
    e, f = (axis + 1) % 3, (axis + 2) % 3
    at = np.empty(3, np.int64)
    for a in range(r):
        for b in range(r):
            at[0], at[1], at[2] = r * i, r * j, r * k
            at[e] += a
            at[f] += b
            groups = _square(wet, low, high, axis, at[0], at[1], at[2], area, corner)
            for g in range(groups):
                c = corner[g]
                at[axis], at[e], at[f] = 0, a + (1 if c == 1 or c == 2 else 0), b + (1 if c >= 2 else 0)
                hi = int(labels[upper, at[0], at[1], at[2]]) if upper >= 0 else 0
                at[axis] = r
                lo = int(labels[lower, at[0], at[1], at[2]]) if lower >= 0 else 0
                if lo < 0 or hi < 0:
                    continue
                found = -1
                for p in range(first, count):
                    if ends[p, 0] == lo and ends[p, 1] == hi:
                        found = p
                if found < 0:
                    found = count
                    ends[found, 0], ends[found, 1], opened[found] = lo, hi, 0.0
                    middle[found, 0] = middle[found, 1] = 0.0
                    count += 1
                opened[found] += area[g] / (r * r)
                # a corner stands for its part of the square, which is near enough to tell sides
                middle[found, 0] += area[g] * at[e]
                middle[found, 1] += area[g] * at[f]
    for p in range(first, count):
        middle[p] /= max(opened[p], 1e-12) * r**3
    return count
