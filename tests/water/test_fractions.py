import numpy as np
import pytest

from vitruvian.water.fractions import open_fractions, tetrahedron_fraction, triangle_fraction


def fractions_of(psi, detail=1):
    nx, ny, nz = ((n - 1) // detail for n in psi.shape)
    faces = np.empty((nx + 1, ny, nz)), np.empty((nx, ny + 1, nz)), np.empty((nx, ny, nz + 1))
    volume = np.empty((nx, ny, nz))
    open_fractions(psi, detail, np.inf, *faces, volume)
    return *faces, volume


def nodes_of(cells, detail):
    g = np.linspace(0.0, cells, cells * detail + 1)
    return np.meshgrid(g, g, g, indexing="ij")


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


@pytest.mark.parametrize("detail", [2, 3])
def test_a_finer_look_keeps_the_volume_of_a_ball_two_cells_wide(detail):
    x, y, z = nodes_of(6, detail)
    psi = np.sqrt((x - 3.2) ** 2 + (y - 2.9) ** 2 + (z - 3.1) ** 2) - 1.0
    *_, volume = fractions_of(psi, detail)
    *_, coarse = fractions_of(psi[::detail, ::detail, ::detail])
    exact = 4.0 / 3.0 * np.pi
    assert (1.0 - volume).sum() == pytest.approx(exact, rel=0.6 / detail**2)
    assert abs((1.0 - coarse).sum() - exact) > 2.0 * abs((1.0 - volume).sum() - exact)


def test_cells_beyond_the_band_are_open_or_closed_as_their_nodes_are():
    x, y, z = nodes_of(8, 2)
    psi = np.sqrt((x - 4.1) ** 2 + (y - 3.9) ** 2 + (z - 4.0) ** 2) - 3.0
    everything = fractions_of(psi, 2)
    band = 0.875
    clamped = np.clip(psi, -band, band)
    made = tuple(np.empty_like(f) for f in everything)
    open_fractions(clamped, 2, band, *made)
    for a, b in zip(everything, made):
        assert np.abs(a - b).max() < 0.02  # corners of cut squares may lie beyond the band
