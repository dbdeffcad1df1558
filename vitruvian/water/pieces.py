"""Cells that a thin body cuts into several wet pieces, each with its own pressure, and edges that end inside a cell.

The nodes of the lattice in a cell (its faces' included) are joined along edges that no triangle cuts; what hangs
together is a piece. A face is open between a piece on one side and a piece on the other over the area that both reach,
clipped at the crossings themselves, so that it changes continuously as the body moves. So nothing leaks through a sheet
however thin it is and however it lies, and the pressure may jump across it.

Where a sheet ends inside a cell, the cell is one piece and the flow along an axis must pass beside the sheet. With b
the part of its cross-section that the sheet takes, the way between the neighbours' centres has the resistance of that
throat and of the flow's turning round the edge:

    two cells' lengths + k,      k = (1 + TURN + l) b / (1 - b),      TURN = sqrt(2)

l is the length of the throat, the sheet's thickness t in cells; from half a cell on 1 - t, since the faces that a
thicker one closes count it more and more by themselves. k is shared by the two faces in proportion to how near the
sheet's middle lies to each. So it is for a plate no thicker than a cell that lies across a face: a part of k moves to
the face that its middle nears, so that it does not change hands all at once while the plate is wholly within a cell. A
sheet within the face itself leaves the open part (1 - b) / (1 + TURN b). That is exact for the edge of a half plane in
the five-point lattice: with this open part of the last face, and no other, the far field is that of an edge displaced
by b cells. The way along the sheet to its edge, from a piece in the cell before, has the resistance 1 + BEND b (2 - b)
where the sheet lies in the middle of cells (less elsewhere, in proportion to the product of its gaps): with it the edge
of the far field moves as the sheet's own until its cell turns from one piece to two
(`tests/water/test_edges_of_sheets.py`). An edge that lies askew to the grid, or a corner, meets more faces for each
length of it, N where an edge along the grid meets one: the piece beside the sheet then has several such ways, and each
resists N times as much, N = |x|_1 / |x|_2 with x the open parts of those ways along the three axes. Effective open
parts take the place of geometric ones everywhere.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from vitruvian.water.boundary import Pieces, no_pieces
from vitruvian.water.crossings import Lattice
from vitruvian.water.fractions import SLIVER
from vitruvian.water.piece_faces import face_pairs, longer, number_at
from vitruvian.water.piece_kinds import MOST_PIECES, RIM, cell_kinds, label_nodes
from vitruvian.water.piece_walls import half_at, half_length, piece_volume, same_piece, walls

Array = np.ndarray
TURN = np.sqrt(2.0)  # resistance of turning round an edge, in cells for each covered cell
BEND = 0.8  # of the way along a sheet to its edge at the far side of a cell; five-point lattice, within 3 % for all b


def split_cells(lattice: Lattice, r: int, corners: Array, half: Array, ox: Array, oy: Array, oz: Array) -> Pieces:
    """Find split cells and edges from a lattice r to a cell's edge, and set the open parts of their faces in place.

    corners: triangles in cells from the first node of the lattice's lines (`crossings.ASIDE`), shape (n, 3, 3). half:
    length of water that each cell gives to its faces along each axis, set in place too, shape (3, cells).
    """
    kind = np.zeros((ox.shape[0] - 1, ox.shape[1], ox.shape[2]), np.uint8)
    if cell_kinds(lattice.wet, lattice.low, lattice.high, r, kind) == 0:
        return no_pieces()
    return Pieces(*_split(lattice.wet, lattice.low, lattice.high, r, corners, kind, TURN, BEND, half, ox, oy, oz))


# --- kernels -------------------------------------------------------------------------------------------------------


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
                    pieces[n] = label_nodes(wet, low, r, i, j, k, labels[n], stack)
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
            if up == 0 and number_at(number, a - da, b - db, c - dc) >= 0:
                continue  # the neighbour has seen to it
            i, j, k = a + up * da, b + up * db, c + up * dc
            if pairs + 64 > room:
                room *= 2
                faces, ends, opened, middle = longer(faces, ends, opened, middle, room)
            begin[face_count] = pairs
            where[face_count, 0], where[face_count, 1], where[face_count, 2], where[face_count, 3] = axis, i, j, k
            lower, upper = number_at(number, i - da, j - db, k - dc), number_at(number, i, j, k)
            pairs = face_pairs(wet, low, high, r, axis, i, j, k, lower, upper, labels, ends, opened, middle, pairs)
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
    inside = np.zeros(count, np.bool_)
    extra = np.full((count, MOST_PIECES), -2, np.int64)
    extra_cells = np.empty((count * (MOST_PIECES - 1), 3), np.int64)
    extras = 0
    for n in range(count):
        own[n] = int(np.argmax(reach[n]))
        extra[n, own[n]] = -1
        inside[n] = _about_centre(labels[n], r, own[n])
        for m in range(pieces[n]):
            if m != own[n] and reach[n, m] >= SLIVER:
                extra[n, m] = extras
                extra_cells[extras] = cells[n]
                extras += 1
    # throats
    area, moment = np.zeros((count, 3, 2)), np.zeros((count, 3, 2))
    walls(corners, number, area, moment)
    halves = np.empty((count, MOST_PIECES, 3))
    space = np.empty(count)
    extra_volume = np.zeros(extras)
    for n in range(count):
        space[n] = piece_volume(sides[n].sum(axis=0), area[n], moment[n], 1)
        for m in range(pieces[n]):
            volume = piece_volume(sides[n, m], area[n], moment[n], pieces[n])
            if extra[n, m] >= 0:
                extra_volume[extra[n, m]] = volume
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
                same_piece(wet, low, r, cells[n, 0], cells[n, 1], cells[n, 2], labels[n], axis, share)
            below = moment[n, axis, 0] / area[n, axis, 0]
            above = 1.0 - moment[n, axis, 1] / area[n, axis, 1]
            s = height[n, axis] = min(max(0.5 * (below + 1.0 - above), 0.0), 1.0)
            for m in range(pieces[n]):
                part = min(both * share[m], 1.0 - SLIVER)
                covered[n, axis] += part
                more = (1.0 + turn + _throat(1.0 - below - above)) * part / (1.0 - part)
                throat[n, axis, 0, m] = (1.0 - s) * more
                throat[n, axis, 1, m] = s * more
                more = 4.0 * bend * part * (2.0 - part)
                beside[n, axis, 0, m] = (1.0 - s) * more
                beside[n, axis, 1, m] = s * more
    # bodies that lie across a face, their two walls in the cells on either side of it
    within = np.zeros(face_count)
    for f in range(face_count):
        axis, i, j, k = where[f, 0], where[f, 1], where[f, 2], where[f, 3]
        lower = number_at(number, i - (axis == 0), j - (axis == 1), k - (axis == 2))
        upper = number_at(number, i, j, k)
        if lower < 0 or upper < 0 or pieces[lower] != 1 or pieces[upper] != 1:
            continue
        geometric = 0.0
        for p in range(begin[f], begin[f + 1]):
            geometric += opened[p]
        ends_low = area[lower, axis, 0] - covered[lower, axis]
        ends_high = area[upper, axis, 1] - covered[upper, axis]
        part = min(min(ends_low, ends_high), 1.0 - geometric)
        if part <= 0.0 or geometric < SLIVER:
            continue
        low_wall = moment[lower, axis, 0] / area[lower, axis, 0] - 1.0
        high_wall = moment[upper, axis, 1] / area[upper, axis, 1]
        thick = high_wall - low_wall
        middle_at = 0.5 * (low_wall + high_wall) if thick <= 1.0 else 0.0
        around = 1.0 + turn + _throat(thick)
        within[f] = part * ((1.0 - abs(middle_at)) * around - 1.0)
        more = abs(middle_at) * around * part / (1.0 - part)
        if middle_at > 0.0:
            throat[upper, axis, 1, 0] += more
        else:
            throat[lower, axis, 0, 0] += more
    # ways along a sheet to its edge, by the piece that they come from
    ways = np.zeros((count, MOST_PIECES, 3))
    for f in range(face_count):
        axis, i, j, k = where[f, 0], where[f, 1], where[f, 2], where[f, 3]
        lower = number_at(number, i - (axis == 0), j - (axis == 1), k - (axis == 2))
        upper = number_at(number, i, j, k)
        for p in range(begin[f], begin[f + 1]):
            for q in range(begin[f], begin[f + 1]):
                if upper >= 0 and ends[q, 0] == ends[p, 0] and ends[q, 1] != ends[p, 1]:
                    ways[upper, ends[p, 1], axis] += opened[p]
                if lower >= 0 and ends[q, 1] == ends[p, 1] and ends[q, 0] != ends[p, 0]:
                    ways[lower, ends[p, 0], axis] += opened[p]
    # effective open parts
    kept = 0
    was, opened_was = ends.copy(), opened.copy()
    for f in range(face_count):
        axis, i, j, k = where[f, 0], where[f, 1], where[f, 2], where[f, 3]
        lower = number_at(number, i - (axis == 0), j - (axis == 1), k - (axis == 2))
        upper = number_at(number, i, j, k)
        at_side = i - (axis == 0) < 0 or j - (axis == 1) < 0 or k - (axis == 2) < 0 or i >= nx or j >= ny or k >= nz
        total = 0.0
        for p in range(begin[f], begin[f + 1]):
            la, lb = was[p, 0], was[p, 1]
            one = extra[lower, la] if lower >= 0 else -1
            two = extra[upper, lb] if upper >= 0 else -1
            if one == -2 or two == -2 or opened_was[p] < SLIVER:
                continue
            resistance = 1.0 + within[f]
            if lower >= 0:
                resistance += throat[lower, axis, 1, la]
            if upper >= 0:
                resistance += throat[upper, axis, 0, lb]
            # beside a sheet that ends in the next cell, both sides of it are open to that cell's one piece
            for q in range(begin[f], begin[f + 1]):
                if q == p:
                    continue
                askew = 1.0
                if upper >= 0 and was[q, 0] == la and was[q, 1] != lb:
                    askew = _askew(ways[upper, lb])
                elif lower >= 0 and was[q, 1] == lb and was[q, 0] != la:
                    askew = _askew(ways[lower, la])
                resistance += (askew - 1.0) * 4.0 * opened_was[p] * opened_was[q]
                for t in range(2):
                    across = (axis + 1 + t) % 3
                    if lower >= 0 and was[q, 0] == la and was[q, 1] != lb:
                        side = 0 if middle[p, t] < height[lower, across] else 1
                        resistance += askew * opened_was[p] * beside[lower, across, side, la]
                    if upper >= 0 and was[q, 1] == lb and was[q, 0] != la:
                        side = 0 if middle[p, t] < height[upper, across] else 1
                        resistance += askew * opened_was[p] * beside[upper, across, side, lb]
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
                lengths[kept] = halves[lower, la, axis] if lower >= 0 else half_at(half, axis, di, dj, dk)
                lengths[kept] += halves[upper, lb, axis] if upper >= 0 else half_at(half, axis, i, j, k)
                kept += 1
        if axis == 0:
            ox[i, j, k] = total
        elif axis == 1:
            oy[i, j, k] = total
        else:
            oz[i, j, k] = total
    return (
        extra_cells[:extras].copy(), faces[:kept].copy(), ends[:kept].copy(), opened[:kept].copy(),
        lengths[:kept].copy(), cells, inside, space, extra_volume,
    )  # fmt: skip


@njit(cache=True)
def _about_centre(label, r, piece):
    """Whether all nodes about the centre of a cell, or the one in it, belong to a piece."""
    for a in range(r // 2, (r + 1) // 2 + 1):
        for b in range(r // 2, (r + 1) // 2 + 1):
            for c in range(r // 2, (r + 1) // 2 + 1):
                if label[a, b, c] != piece:
                    return False
    return True


@njit(cache=True)
def _askew(ways):
    """Faces that an edge meets for each cell's length of it, from the ways to it along the three axes."""
    size = np.sqrt(ways[0] * ways[0] + ways[1] * ways[1] + ways[2] * ways[2])
    return (ways[0] + ways[1] + ways[2]) / size if size > 0.0 else 1.0


@njit(cache=True, inline="always")
def _throat(thick):
    return max(min(thick, 1.0 - thick), 0.0)
