"""Lattices of random solids: volume, and points that ride in them."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from vitruvian.flesh import box_lattice, embed, lattice_from_level_set

SPACING = 0.01  # [m]
lengths = st.floats(0.02, 0.05)
shifts = st.floats(0.0, 1.0)
triples = st.tuples(lengths, lengths, lengths).map(np.array)
offsets = st.tuples(shifts, shifts, shifts).map(lambda t: SPACING * np.array(t))


def box_distance(half, centre):
    def distance(points):
        away = np.abs(points - centre) - half
        return np.linalg.norm(np.maximum(away, 0.0), axis=1) + np.minimum(away.max(axis=1), 0.0)

    return distance


def around(reach, centre):
    return np.floor((centre - reach) / SPACING - 1.0) * SPACING, centre + reach + 2.0 * SPACING


@settings(max_examples=25)
@given(triples, offsets)
def test_lattice_of_a_box_holds_its_volume(half, centre):
    lattice = lattice_from_level_set(box_distance(half, centre), *around(half, centre), SPACING, samples=4, warn=False)
    # edges and corners are rounded where a fine cube is cut by more than one face, and slivers are dropped
    assert abs(lattice.volume.sum() / np.prod(2.0 * half) - 1.0) < 0.03
    assert np.isclose(lattice.node_volume.sum(), lattice.volume.sum(), rtol=1e-12)
    assert (lattice.volume > 0.0).all()
    assert (lattice.volume <= SPACING**3 * (1.0 + 1e-9)).all()
    middle = lattice.volume @ lattice.centres() / lattice.volume.sum()
    assert np.abs(middle - centre).max() < 0.03 * SPACING


@settings(max_examples=25)
@given(lengths, offsets)
def test_lattice_of_a_ball_holds_its_volume(radius, centre):
    def distance(points):
        return np.linalg.norm(points - centre, axis=1) - radius

    lattice = lattice_from_level_set(distance, *around(radius, centre), SPACING, samples=4, warn=False)
    assert abs(lattice.volume.sum() / (4.0 / 3.0 * np.pi * radius**3) - 1.0) < 0.02
    assert np.abs(lattice.volume @ lattice.centres() / lattice.volume.sum() - centre).max() < 0.03 * SPACING


@settings(max_examples=25)
@given(lengths, offsets, st.integers(0, 2**32 - 1))
def test_embedded_points_follow_every_linear_field_wherever_they_are(radius, centre, seed):
    rng = np.random.default_rng(seed)
    lattice = lattice_from_level_set(
        lambda points: np.linalg.norm(points - centre, axis=1) - radius, *around(radius, centre), SPACING, warn=False
    )
    points = centre + rng.uniform(-1.2, 1.2, (50, 3)) * radius  # some of them outside
    riding = embed(lattice, points)
    slope, shift = rng.normal(size=(3, 3)), rng.normal(size=3)
    assert np.allclose(riding.weights.sum(axis=1), 1.0, rtol=0.0, atol=1e-12)
    assert np.allclose(riding.positions(lattice.nodes @ slope + shift), points @ slope + shift, rtol=0.0, atol=1e-11)
    # forces on the points do the same work as what becomes of them on the nodes, and have the same sum and moment
    force = rng.normal(size=points.shape)
    nodal = riding.nodal_forces(force)
    assert np.allclose(nodal.sum(axis=0), force.sum(axis=0), rtol=0.0, atol=1e-11)
    moments = np.cross(lattice.nodes, nodal).sum(axis=0), np.cross(points, force).sum(axis=0)
    assert np.allclose(*moments, rtol=0.0, atol=1e-11)


@given(st.tuples(*[st.integers(1, 4)] * 3), st.floats(1e-3, 1.0), st.tuples(*[st.floats(-1.0, 1.0)] * 3))
def test_a_block_has_its_cells_nodes_and_volume(counts, spacing, origin):
    lattice = box_lattice(counts, spacing, origin)
    assert lattice.n_cells == np.prod(counts)
    assert lattice.n_nodes == np.prod(np.array(counts) + 1)
    assert np.allclose(lattice.volume, spacing**3, rtol=1e-12)
    assert np.allclose(lattice.nodes.min(axis=0), origin)
    assert np.allclose(lattice.nodes.max(axis=0), np.array(origin) + spacing * np.array(counts))
