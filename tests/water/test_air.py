import numpy as np

from vitruvian.water.air import TOLERANCE, remove_divergence


def test_divergence_of_the_layer_of_air_goes_while_known_faces_stay():
    rng = np.random.default_rng(1)
    n, h = 16, 1.0 / 16
    phi = np.broadcast_to((np.arange(n) + 0.5) * h - 0.47, (n, n, n)).copy()
    shapes = ((n + 1, n, n), (n, n + 1, n), (n, n, n + 1))
    flow = tuple(np.full(s, speed) for s, speed in zip(shapes, (9.0, 1.0, 1.0)))
    known = tuple(np.zeros(s, np.uint8) for s in shapes)
    wet = phi < 0.0
    for axis, mask in enumerate(known):
        low, high = [slice(None)] * 3, [slice(None)] * 3
        low[axis], high[axis] = slice(0, n), slice(1, n + 1)
        mask[tuple(low)][wet] = 1
        mask[tuple(high)][wet] = 1
    known[0][:] = 1  # and fast, which leaves the others room
    for f, mask in zip(flow, known):
        f[mask != 1] += 0.1 * rng.normal(size=int((mask != 1).sum())) - 0.5
    air = (phi >= 0.0) & (phi < h)

    def divergence():
        return sum(np.diff(f, axis=axis) for axis, f in enumerate(flow))

    before = np.abs(divergence()[air]).max()
    kept = [f[m == 1].copy() for f, m in zip(flow, known)]
    remove_divergence(phi, h, known, flow)
    assert all(np.array_equal(f[m == 1], k) for f, m, k in zip(flow, known, kept))
    # what softness leaves is a hundredth of the potential, itself of the size of the divergence
    assert np.abs(divergence()[air]).max() < (TOLERANCE + 0.02) * before


def test_squeezed_air_is_no_faster_than_the_fastest_face_of_its_cell():
    n, h = 8, 1.0 / 8
    phi = np.full((n, n, n), -h)
    phi[4, 4, 4] = 0.5 * h
    shapes = ((n + 1, n, n), (n, n + 1, n), (n, n, n + 1))
    flow = tuple(np.zeros(s) for s in shapes)
    known = tuple(np.ones(s, np.uint8) for s in shapes)
    flow[0][4, 4, 4], flow[0][5, 4, 4] = 3.0, -3.0
    known[2][4, 4, 5] = 0
    remove_divergence(phi, h, known, flow)
    assert flow[2][4, 4, 5] == 3.0
