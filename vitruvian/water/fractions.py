"""How much of each face and cell a body leaves open, from its signed distance at nodes, one or more to a cell's edge.

A square between nodes is split into four triangles about its centre (whose value is the mean of the corners); in each
the distance is linear, so the open part has a closed form. A cube is split into 24 tetrahedra in the same way. Nothing
is sampled, so the fractions are continuous in the body's position (Batty, Bertails and Bridson 2007; Ng, Min and Gibou
2009). Of a limb thinner than two cells the nodes of the grid see too little, so the nodes may be finer than the cells.
What a body thinner than a cell cuts is not found from distances at all but in `pieces`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

SLIVER = 0.01  # faces with a smaller open part are closed: the force is the same and the solve a quarter shorter


@njit(cache=True)
def triangle_fraction(a: float, b: float, c: float) -> float:
    """Part of a triangle where the linear function with corner values a, b, c is positive."""
    n = (a > 0.0) + (b > 0.0) + (c > 0.0)
    if n == 3:
        return 1.0
    if n == 0:
        return 0.0
    if n == 1:
        if b > 0.0:
            a, b = b, a
        elif c > 0.0:
            a, c = c, a
        return a * a / ((a - b) * (a - c))
    if b <= 0.0:
        a, b = b, a
    elif c <= 0.0:
        a, c = c, a
    return 1.0 - a * a / ((a - b) * (a - c))


@njit(cache=True)
def square_fraction(a: float, b: float, c: float, d: float) -> float:
    """Open part of a square with corner values a, b, c, d in cyclic order."""
    if a > 0.0 and b > 0.0 and c > 0.0 and d > 0.0:
        return 1.0
    if a <= 0.0 and b <= 0.0 and c <= 0.0 and d <= 0.0:
        return 0.0
    m = 0.25 * (a + b + c + d)
    return 0.25 * (
        triangle_fraction(a, b, m)
        + triangle_fraction(b, c, m)
        + triangle_fraction(c, d, m)
        + triangle_fraction(d, a, m)
    )


@njit(cache=True)
def tetrahedron_fraction(a: float, b: float, c: float, d: float) -> float:
    """Part of a tetrahedron where the linear function with these corner values is positive."""
    n = (a > 0.0) + (b > 0.0) + (c > 0.0) + (d > 0.0)
    if n == 4:
        return 1.0
    if n == 0:
        return 0.0
    if n > 2:
        return 1.0 - tetrahedron_fraction(-a, -b, -c, -d)
    if n == 1:
        if b > 0.0:
            a, b = b, a
        elif c > 0.0:
            a, c = c, a
        elif d > 0.0:
            a, d = d, a
        return a * a * a / ((a - b) * (a - c) * (a - d))
    # two positive: sort so that a, b > 0 >= c, d
    if a <= 0.0:
        if c > 0.0:
            a, c = c, a
        else:
            a, d = d, a
    if b <= 0.0:
        if c > 0.0:
            b, c = c, b
        else:
            b, d = d, b
    # the prism between the two positive corners, cut into three tetrahedra
    ac, ad, bc, bd = a / (a - c), a / (a - d), b / (b - c), b / (b - d)
    return bc * bd + ac * (1.0 - bc) * bd + ac * ad * (1.0 - bd)


@njit(cache=True)
def cell_fraction(p, i, j, k):
    """Open part of the cell (i, j, k) from nodal distances p."""
    a000, a100, a010, a110 = p[i, j, k], p[i + 1, j, k], p[i, j + 1, k], p[i + 1, j + 1, k]
    a001, a101, a011, a111 = p[i, j, k + 1], p[i + 1, j, k + 1], p[i, j + 1, k + 1], p[i + 1, j + 1, k + 1]
    n = (a000 > 0) + (a100 > 0) + (a010 > 0) + (a110 > 0) + (a001 > 0) + (a101 > 0) + (a011 > 0) + (a111 > 0)
    if n == 8:
        return 1.0
    if n == 0:
        return 0.0
    m = 0.125 * (a000 + a100 + a010 + a110 + a001 + a101 + a011 + a111)
    return (
        _pyramid(a000, a010, a011, a001, m)
        + _pyramid(a100, a110, a111, a101, m)
        + _pyramid(a000, a100, a101, a001, m)
        + _pyramid(a010, a110, a111, a011, m)
        + _pyramid(a000, a100, a110, a010, m)
        + _pyramid(a001, a101, a111, a011, m)
    ) / 6.0


@njit(cache=True)
def _pyramid(a: float, b: float, c: float, d: float, m: float) -> float:
    f = 0.25 * (a + b + c + d)
    return 0.25 * (
        tetrahedron_fraction(a, b, f, m)
        + tetrahedron_fraction(b, c, f, m)
        + tetrahedron_fraction(c, d, f, m)
        + tetrahedron_fraction(d, a, f, m)
    )


@njit(cache=True)
def open_fractions(psi, r, band, ox, oy, oz, volume):
    """Fill face fractions ox, oy, oz (MAC shapes) and cell fractions from the distance psi at nodes r to a cell's edge,
    shape (r nx + 1, r ny + 1, r nz + 1), clamped to +-band. A cell without a node within the band is not cut.
    """
    nx, ny, nz = volume.shape
    cut = np.zeros(volume.shape, np.bool_)
    for i in range(psi.shape[0]):
        for j in range(psi.shape[1]):
            for k in range(psi.shape[2]):
                if abs(psi[i, j, k]) < band:  # a node on the side of a cell is its neighbour's as well
                    for a in range(max(0, (i - 1) // r), min(nx, i // r + 1)):
                        for b in range(max(0, (j - 1) // r), min(ny, j // r + 1)):
                            for c in range(max(0, (k - 1) // r), min(nz, k // r + 1)):
                                cut[a, b, c] = True
    for i in range(nx):
        for j in range(ny):
            for k in range(nz):
                if cut[i, j, k]:
                    volume[i, j, k] = _part_of_cell(psi, r, i, j, k)
                else:
                    volume[i, j, k] = 1.0 if psi[r * i, r * j, r * k] > 0.0 else 0.0
    for j in range(ny):
        for k in range(nz):
            _row_of_faces(psi[:, r * j : r * j + r + 1, r * k : r * k + r + 1], r, cut[:, j, k], ox[:, j, k])
    for i in range(nx):
        for k in range(nz):
            part = psi[r * i : r * i + r + 1, :, r * k : r * k + r + 1]
            _row_of_faces(part.transpose(1, 0, 2), r, cut[i, :, k], oy[i, :, k])
        for j in range(ny):
            part = psi[r * i : r * i + r + 1, r * j : r * j + r + 1, :]
            _row_of_faces(part.transpose(2, 0, 1), r, cut[i, j, :], oz[i, j, :])


@njit(cache=True)
def _part_of_cell(psi, r, i, j, k):
    total = 0.0
    for a in range(r * i, r * i + r):
        for b in range(r * j, r * j + r):
            for c in range(r * k, r * k + r):
                total += cell_fraction(psi, a, b, c)
    return total / r**3


@njit(cache=True)
def _row_of_faces(psi, r, cut, opened):
    """Open parts (n + 1,) of the faces across a row of n cells; psi has shape (r n + 1, r + 1, r + 1), cut (n,)."""
    n = len(cut)
    for i in range(n + 1):
        if not ((i > 0 and cut[i - 1]) or (i < n and cut[i])):
            opened[i] = 1.0 if psi[r * i, 0, 0] > 0.0 else 0.0
            continue
        total = 0.0
        for b in range(r):
            for c in range(r):
                at = r * i
                total += square_fraction(psi[at, b, c], psi[at, b + 1, c], psi[at, b + 1, c + 1], psi[at, b, c + 1])
        opened[i] = total / (r * r) if total >= SLIVER * r * r else 0.0
