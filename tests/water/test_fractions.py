import numpy as np
import pytest

from vitruvian.water.fractions import open_fractions, tetrahedron_fraction, triangle_fraction


def fractions_of(psi):
    nx, ny, nz = (n - 1 for n in psi.shape)
    faces = np.empty((nx + 1, ny, nz)), np.empty((nx, ny + 1, nz)), np.empty((nx, ny, nz + 1))
    volume = np.empty((nx, ny, nz))
    open_fractions(psi, np.array([[0, nx], [0, ny], [0, nz]]), *faces, volume)
    return *faces, volume


def test_a_tilted_plane_opens_cells_by_its_exact_volume():
    n = 6
    nodes = np.stack(np.meshgrid(*[np.arange(n + 1.0)] * 3, indexing="ij"), axis=-1)
    normal = np.array([0.48, 0.6, 0.64])
    psi = nodes @ normal - 4.3
    *_, volume = fractions_of(psi)
    rng = np.random.default_rng(0)
    points = rng.random((400_000, 3)) * n
    assert volume.sum() / n**3 == pytest.approx(np.mean(points @ normal > 4.3), abs=2e-3)


def test_triangle_and_tetrahedron_fractions_equal_sampling():
    rng = np.random.default_rng(1)
    bary3 = rng.dirichlet(np.ones(3), 200_000)
    bary4 = rng.dirichlet(np.ones(4), 200_000)
    for _ in range(10):
        a = rng.normal(size=4)
        assert triangle_fraction(*a[:3]) == pytest.approx(np.mean(bary3 @ a[:3] > 0.0), abs=5e-3)
        assert tetrahedron_fraction(*a) == pytest.approx(np.mean(bary4 @ a > 0.0), abs=5e-3)


def test_the_closed_area_of_a_ball_sums_to_nothing_and_its_volume_converges():
    n, radius = 24, 0.3
    g = np.linspace(0.0, 1.0, n + 1)
    x, y, z = np.meshgrid(g, g, g, indexing="ij")
    psi = np.sqrt((x - 0.51) ** 2 + (y - 0.48) ** 2 + (z - 0.5) ** 2) - radius
    ox, _, _, volume = fractions_of(psi)
    assert np.diff(1.0 - ox, axis=0).sum() == pytest.approx(0.0, abs=1e-9)
    assert (1.0 - volume).sum() / n**3 == pytest.approx(4.0 / 3.0 * np.pi * radius**3, rel=0.02)
