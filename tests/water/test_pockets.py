import numpy as np

from vitruvian.water.multigrid import System
from vitruvian.water.pockets import find_pockets


def tank(wet, open_faces=1.0):
    """Wet cells joined to each other, air above the top plane."""
    arrays = [np.zeros(tuple(n + 2 for n in wet.shape)) for _ in range(4)]
    cx, cy, cz, diagonal = arrays
    padded = np.pad(wet, 1)
    for axis, c in enumerate((cx, cy, cz)):
        c[padded & np.roll(padded, 1, axis)] = open_faces
        diagonal += c + np.roll(c, -1, axis)
    diagonal[:, :, -2][padded[:, :, -2]] += 2.0
    return System(cx, cy, cz, diagonal, np.full(diagonal.shape[:2], wet.shape[2] + 1, np.int64))


def test_open_water_has_no_pockets():
    assert find_pockets(tank(np.ones((8, 9, 10), bool))) is None


def test_regions_behind_closed_walls_are_numbered_apart():
    wet = np.ones((12, 12, 12), bool)
    wet[2:7, 2:7, 2:7] = False
    wet[3:6, 3:6, 3:6] = True
    wet[9:12, 0:3, 0:4] = False
    wet[10, 1, 1:3] = True
    found = find_pockets(tank(wet))[1:-1, 1:-1, 1:-1]
    inside = np.zeros_like(wet)
    inside[3:6, 3:6, 3:6] = inside[10, 1, 1:3] = True
    assert np.array_equal(found > 0, inside)
    assert len(np.unique(found[3:6, 3:6, 3:6])) == 1
    assert found[10, 1, 1] != found[4, 4, 4]


def test_a_winding_corridor_is_followed_to_the_air():
    wet = np.zeros((15, 15, 5), bool)
    for n in range(0, 15, 2):
        wet[n, :, 1] = True
        if n < 14:
            wet[n + 1, 14 if n % 4 == 0 else 0, 1] = True
    wet[0, 0, 1:] = True
    assert find_pockets(tank(wet)) is None
    wet[0, 0, 3] = False
    found = find_pockets(tank(wet))[1:-1, 1:-1, 1:-1]
    assert np.array_equal(found > 0, wet & (np.arange(5) < 3))
