"""The level set made a distance again: nearest points of its tricubic surface, handed on outwards.

For each cell beside the surface the nearest point of the tricubic interpolant's zero set is found (Chopp 2001), in thin
sheets the plane through the crossings along the axes; these points are handed on outwards, so that the surface itself
moves by no more than the interpolation error. `extend_distance` goes beyond the band by fast sweeping (Zhao 2005).
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from vitruvian.water.interpolate import cubic_slope
from vitruvian.water.sides import ALL, FAR, NOTHING, NOWHERE, bits_at, sees, walk
from vitruvian.water.volume import one_sided

BAND = 5  # cells on each side in which phi is a distance; beyond, it is +-BAND h
ASIDE = (
    2.1  # squared distance [cells] beside a wall, where the cell next to it may be the only one that meets the surface
)
Array = np.ndarray


def redistance(phi: Array, h: float, number: Array = NOWHERE, seen: Array = NOTHING) -> Array:
    """The signed distance [m] to the zero set of phi, in the band, and for cells beside thin bodies to what they see of
    it (number, seen: `sides.looked`).
    """
    closest = np.empty((*phi.shape, 3))  # nearest point in cells
    normal = np.empty((*phi.shape, 3))  # of the surface there; for the cells beside it alone
    layer = np.zeros(phi.shape, np.uint8)
    _nearest_points(phi, h, number, seen, closest, normal, layer)
    out = np.empty_like(phi)
    _hand_on(phi, h, number, seen, closest, normal, layer, out)
    return out


def extend_distance(phi: Array, h: float, box: Array, number: Array = NOWHERE, seen: Array = NOTHING) -> None:
    """Continue a banded distance through the cells of `box` ((3, 2), low and high) by fast sweeping, in place."""
    _sweep(phi, h, BAND * h - 1e-9 * h, box, number, seen)


# --- kernels -------------------------------------------------------------------------------------------------------


@njit(cache=True, inline="always")
def beside(phi, i, j, k, bits):
    """Whether a neighbour that the cell sees lies on the other side of the surface."""
    nx, ny, nz = phi.shape
    s = phi[i, j, k] < 0.0
    return (
        (i > 0 and (phi[i - 1, j, k] < 0.0) != s and sees(bits, -1, 0, 0))
        or (i < nx - 1 and (phi[i + 1, j, k] < 0.0) != s and sees(bits, 1, 0, 0))
        or (j > 0 and (phi[i, j - 1, k] < 0.0) != s and sees(bits, 0, -1, 0))
        or (j < ny - 1 and (phi[i, j + 1, k] < 0.0) != s and sees(bits, 0, 1, 0))
        or (k > 0 and (phi[i, j, k - 1] < 0.0) != s and sees(bits, 0, 0, -1))
        or (k < nz - 1 and (phi[i, j, k + 1] < 0.0) != s and sees(bits, 0, 0, 1))
    )


@njit(cache=True)
def smoothness(phi, i, j, k):
    """Size of the central slope over that of the steepest one-sided ones: 1 where phi is smooth, 0 amid a thin
    sheet.
    """
    nx, ny, nz = phi.shape
    central = steep = 0.0
    for axis in range(3):
        n = nx if axis == 0 else (ny if axis == 1 else nz)
        low = one_sided(phi, i, j, k, axis, -1, n)
        high = one_sided(phi, i, j, k, axis, 1, n)
        central += 0.25 * (low + high) ** 2
        steep += max(low * low, high * high)
    return np.sqrt(central / steep) if steep > 0.0 else 0.0


@njit(cache=True)
def _crossing(phi, i, j, k, axis, bits):
    """Distance in cells to the surface that the cell sees along an axis and its sign; 9 if there is none."""
    nx, ny, nz = phi.shape
    p = phi[i, j, k]
    best = 9.0
    side = 0.0
    for s in (-1, 1):
        a, b, c = i, j, k
        if axis == 0:
            a += s
        elif axis == 1:
            b += s
        else:
            c += s
        if a < 0 or b < 0 or c < 0 or a >= nx or b >= ny or c >= nz or not sees(bits, a - i, b - j, c - k):
            continue
        q = phi[a, b, c]
        if (q < 0.0) != (p < 0.0):
            t = p / (p - q)
            if t < best:
                best = t
                side = float(s)
    return best, side


@njit(cache=True, parallel=True)
def _nearest_points(phi, h, number, seen, closest, normal, layer):
    nx, ny, nz = phi.shape
    walled = len(seen) > 0
    for ii in prange(nx):
        i = np.int64(ii)
        for j in range(ny):
            for k in range(nz):
                if abs(phi[i, j, k]) > 3.0 * h:
                    continue
                bits = bits_at(number, seen, i, j, k)
                if not beside(phi, i, j, k, bits):
                    continue
                layer[i, j, k] = 1
                x0, y0, z0 = float(i), float(j), float(k)
                x, y, z = x0, y0, z0
                good = False
                # within a sheet thinner than two cells the slope changes sign and a cubic would thicken it; beside a
                # thin body it would take in what lies behind
                plain = not walled or number[i, j, k] == FAR
                for _ in range(8 if plain and smoothness(phi, i, j, k) > 0.7 else 0):
                    value, gx, gy, gz = cubic_slope(phi, x, y, z)
                    g2 = gx * gx + gy * gy + gz * gz
                    if g2 < 0.04 * h * h:
                        break
                    # towards the surface, and along it towards the foot of the perpendicular
                    t = value / g2
                    dx, dy, dz = x0 - x, y0 - y, z0 - z
                    along = (dx * gx + dy * gy + dz * gz) / g2
                    sx = -t * gx + dx - along * gx
                    sy = -t * gy + dy - along * gy
                    sz = -t * gz + dz - along * gz
                    x, y, z = x + sx, y + sy, z + sz
                    if sx * sx + sy * sy + sz * sz < 1e-6:
                        good = True
                        break
                    if (x - x0) ** 2 + (y - y0) ** 2 + (z - z0) ** 2 > 3.0:
                        break
                value, gx, gy, gz = cubic_slope(phi, x, y, z) if good else (h, 0.0, 0.0, 0.0)
                if good and abs(value) < 1e-2 * h and (x - x0) ** 2 + (y - y0) ** 2 + (z - z0) ** 2 < 2.0:
                    closest[i, j, k, 0], closest[i, j, k, 1], closest[i, j, k, 2] = x, y, z
                    g = np.sqrt(gx * gx + gy * gy + gz * gz)
                    normal[i, j, k, 0], normal[i, j, k, 1], normal[i, j, k, 2] = gx / g, gy / g, gz / g
                    continue
                # rough spot: the plane through the crossings along the axes
                tx, sx = _crossing(phi, i, j, k, 0, bits)
                ty, sy = _crossing(phi, i, j, k, 1, bits)
                tz, sz = _crossing(phi, i, j, k, 2, bits)
                tx, ty, tz = max(tx, 1e-6), max(ty, 1e-6), max(tz, 1e-6)
                ax = sx / tx if tx < 2.0 else 0.0
                ay = sy / ty if ty < 2.0 else 0.0
                az = sz / tz if tz < 2.0 else 0.0
                n2 = ax * ax + ay * ay + az * az
                closest[i, j, k, 0] = x0 + ax / n2
                closest[i, j, k, 1] = y0 + ay / n2
                closest[i, j, k, 2] = z0 + az / n2
                side = 1.0 if phi[i, j, k] < 0.0 else -1.0
                n1 = side / np.sqrt(n2)
                normal[i, j, k, 0], normal[i, j, k, 1], normal[i, j, k, 2] = ax * n1, ay * n1, az * n1


@njit(cache=True, parallel=True)
def _hand_on(phi, h, number, seen, closest, normal, layer, out):
    nx, ny, nz = phi.shape
    walled = len(seen) > 0
    # range of k in each column that has been reached; only cells next to it can be reached next
    low = np.full((nx, ny), nz, np.int64)
    high = np.full((nx, ny), -1, np.int64)
    for ii in prange(nx):
        i = np.int64(ii)
        for j in range(ny):
            for k in range(nz):
                if layer[i, j, k] != 0:
                    low[i, j] = min(low[i, j], k)
                    high[i, j] = k
    for step in range(BAND):
        mark = np.uint8(step + 2)
        new_low = low.copy()
        new_high = high.copy()
        for ii in prange(nx):
            i = np.int64(ii)
            for j in range(ny):
                k0, k1 = nz, -1
                for a in range(max(int(i) - 1, 0), min(int(i) + 2, nx)):
                    for b in range(max(j - 1, 0), min(j + 2, ny)):
                        k0 = min(k0, low[a, b])
                        k1 = max(k1, high[a, b])
                for k in range(max(k0 - 1, 0), min(k1 + 2, nz)):
                    if layer[i, j, k] != 0:
                        continue
                    best = 1e30
                    p = q = r = 0
                    behind = walled and number[i, j, k] != FAR
                    bits = bits_at(number, seen, i, j, k)
                    for a in range(max(int(i) - 1, 0), min(int(i) + 2, nx)):
                        for b in range(max(j - 1, 0), min(j + 2, ny)):
                            for c in range(max(k - 1, 0), min(k + 2, nz)):
                                if 0 < layer[a, b, c] < mark and sees(bits, a - i, b - j, c - k):
                                    dx = i - closest[a, b, c, 0]
                                    dy = j - closest[a, b, c, 1]
                                    dz = k - closest[a, b, c, 2]
                                    d = dx * dx + dy * dy + dz * dz
                                    if d < best and not (
                                        behind and not _in_sight(number, seen, i, j, k, closest[a, b, c])
                                    ):
                                        best = d
                                        p, q, r = a, b, c
                    if best < 1e29:
                        if step == 0:
                            _foot(
                                phi[i, j, k], closest[p, q, r], normal[p, q, r], ASIDE if behind else 1.0, i, j, k,
                                closest[i, j, k],
                            )  # fmt: skip
                            if behind:
                                _beside_wall(number, seen, i, j, k, closest[p, q, r], closest[i, j, k])
                        else:
                            for a in range(3):
                                closest[i, j, k, a] = closest[p, q, r, a]
                        layer[i, j, k] = mark
                        new_low[i, j] = min(new_low[i, j], k)
                        new_high[i, j] = max(new_high[i, j], k)
        low = new_low
        high = new_high
    far = BAND * h
    for ii in prange(nx):
        i = np.int64(ii)
        for j in range(ny):
            for k in range(nz):
                d = far
                if layer[i, j, k] != 0:
                    dx, dy, dz = closest[i, j, k, 0] - i, closest[i, j, k, 1] - j, closest[i, j, k, 2] - k
                    best = dx * dx + dy * dy + dz * dz
                    if layer[i, j, k] > 1:
                        # a neighbour of a later layer may know a nearer point than the one handed on first
                        behind = walled and number[i, j, k] != FAR
                        bits = bits_at(number, seen, i, j, k)
                        for a in range(max(int(i) - 1, 0), min(int(i) + 2, nx)):
                            for b in range(max(j - 1, 0), min(j + 2, ny)):
                                for c in range(max(k - 1, 0), min(k + 2, nz)):
                                    if layer[a, b, c] != 0 and sees(bits, a - i, b - j, c - k):
                                        dx = closest[a, b, c, 0] - i
                                        dy = closest[a, b, c, 1] - j
                                        dz = closest[a, b, c, 2] - k
                                        d2 = dx * dx + dy * dy + dz * dz
                                        if d2 < best and not (
                                            behind and not _in_sight(number, seen, i, j, k, closest[a, b, c])
                                        ):
                                            best = d2
                    d = min(far, h * np.sqrt(best))
                out[i, j, k] = -d if phi[i, j, k] < 0.0 else d


@njit(cache=True)
def _in_sight(number, seen, i, j, k, point):
    """Whether no wall lies between a cell's centre and a point."""
    return walk(number, seen, i, j, k, point[0], point[1], point[2])[6]


@njit(cache=True)
def _beside_wall(number, seen, i, j, k, known, foot):
    """Take the known point instead of the foot if a wall lies on the way along the surface between them."""
    p, q, r, _, _, _, _ = walk(number, seen, i, j, k, foot[0], foot[1], foot[2])
    x, y, z = p + known[0] - foot[0], q + known[1] - foot[1], r + known[2] - foot[2]
    if not walk(number, seen, p, q, r, x, y, z)[6]:
        for a in range(3):
            foot[a] = known[a]


@njit(cache=True, inline="always")
def _foot(value, known, normal, reach, i, j, k, out):
    """Foot of the perpendicular to the tangent plane at a neighbour's nearest point, if its squared distance from that
    is within reach."""
    dx, dy, dz = i - known[0], j - known[1], k - known[2]
    nx, ny, nz = normal[0], normal[1], normal[2]
    along = dx * nx + dy * ny + dz * nz
    aside = dx * dx + dy * dy + dz * dz - along * along
    if aside < reach and (along < 0.0) == (value < 0.0):
        out[0], out[1], out[2] = i - along * nx, j - along * ny, k - along * nz
    else:
        out[0], out[1], out[2] = known[0], known[1], known[2]


@njit(cache=True, inline="always")
def _alike(phi, s, i, j, k):
    """Distance of a cell to the surface if it lies on the side s of it, else one that never counts."""
    return s * phi[i, j, k] if s * phi[i, j, k] > 0.0 else 1e9


@njit(cache=True)
def _sweep(phi, h, far, box, number, seen):
    """Godunov upwind eikonal sweeps through the cells whose |phi| is at the band's edge."""
    i0, i1, j0, j1, k0, k1 = box[0, 0], box[0, 1], box[1, 0], box[1, 1], box[2, 0], box[2, 1]
    _nx, _ny, _nz = phi.shape
    fixed = np.empty((i1 - i0, j1 - j0, k1 - k0), np.uint8)
    for i in range(i0, i1):
        for j in range(j0, j1):
            for k in range(k0, k1):
                free = abs(phi[i, j, k]) >= far
                fixed[i - i0, j - j0, k - k0] = 0 if free else 1
                if free:
                    phi[i, j, k] = 1e9 if phi[i, j, k] > 0.0 else -1e9
    for sweep in range(8):
        for i_ in range(i1 - i0):
            i = i1 - 1 - i_ if sweep & 1 else i0 + i_
            for j_ in range(j1 - j0):
                j = j1 - 1 - j_ if sweep & 2 else j0 + j_
                for k_ in range(k1 - k0):
                    k = k1 - 1 - k_ if sweep & 4 else k0 + k_
                    if fixed[i - i0, j - j0, k - k0]:
                        continue
                    p = phi[i, j, k]
                    s = -1.0 if p < 0.0 else 1.0
                    a = min(s * phi[max(i - 1, i0), j, k], s * phi[min(i + 1, i1 - 1), j, k])
                    b = min(s * phi[i, max(j - 1, j0), k], s * phi[i, min(j + 1, j1 - 1), k])
                    c = min(s * phi[i, j, max(k - 1, k0)], s * phi[i, j, min(k + 1, k1 - 1)])
                    bits = bits_at(number, seen, i, j, k)
                    if bits != ALL:
                        # far from it what lies behind a wall counts if it is wet or dry alike
                        a = min(_alike(phi, s, max(i - 1, i0), j, k), _alike(phi, s, min(i + 1, i1 - 1), j, k))
                        b = min(_alike(phi, s, i, max(j - 1, j0), k), _alike(phi, s, i, min(j + 1, j1 - 1), k))
                        c = min(_alike(phi, s, i, j, max(k - 1, k0)), _alike(phi, s, i, j, min(k + 1, k1 - 1)))
                    if a > b:
                        a, b = b, a
                    if b > c:
                        b, c = c, b
                    if a > b:
                        a, b = b, a
                    if a > 1e8:
                        continue
                    d = a + h
                    if d > b:
                        d = 0.5 * (a + b + np.sqrt(max(0.0, 2.0 * h * h - (a - b) ** 2)))
                        if d > c:
                            q = a + b + c
                            d = (q + np.sqrt(max(0.0, q * q - 3.0 * (a * a + b * b + c * c - h * h)))) / 3.0
                    phi[i, j, k] = s * min(abs(p), d)
    for i in range(i0, i1):
        for j in range(j0, j1):
            for k in range(k0, k1):
                if abs(phi[i, j, k]) > 1e8:
                    phi[i, j, k] = far if phi[i, j, k] > 0.0 else -far
