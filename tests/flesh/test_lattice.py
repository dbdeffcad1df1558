"""The lattice holds the volume that the level set encloses, and does not glue separate parts."""

import warnings

import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.flesh import attach, box_lattice, embed, lattice_from_level_set, lattice_from_values, sample_surface
from vitruvian.flesh.lattice.kernels import tissue_boxes
from vitruvian.flesh.lattice.trilinear import gradients


def ball(points):
    return np.linalg.norm(points, axis=1) - 0.05


def test_volume_of_a_ball_is_held_but_for_dropped_slivers():
    exact = 4.0 / 3.0 * np.pi * 0.05**3
    for samples, error in ((2, 0.03), (4, 0.01)):
        lattice = lattice_from_level_set(ball, [-0.06] * 3, [0.06] * 3, 0.02, samples=samples)
        assert lattice.volume.sum() == pytest.approx(exact, rel=error)


def test_quadrature_of_a_cut_cell_is_exact_to_degree_two():
    normal = np.array([1.0, 2.0, 3.0])
    phi = np.stack(np.meshgrid([0, 1], [0, 1], [0, 1], indexing="ij"), axis=-1) @ normal - 2.5
    lattice = lattice_from_values(phi.astype(float), np.zeros(3), 1.0, samples=1)
    axis = (np.arange(120) + 0.5) / 120
    samples = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    samples = samples[samples @ normal < 2.5]
    points = lattice.points[0]
    assert lattice.volume[0] == pytest.approx((2.5**3 - 1.5**3 - 0.5**3) / 36)  # inclusion and exclusion
    assert points.mean(axis=0) == pytest.approx(samples.mean(axis=0), rel=5e-3)
    assert points.T @ points / 4 == pytest.approx(samples.T @ samples / len(samples), rel=1e-2)


def bone(points):
    return np.linalg.norm(points - [0.003, 0.0, 0.002], axis=1) - 0.032


def test_no_cell_lies_wholly_in_bone_and_nothing_is_lost():
    box = [-0.06] * 3, [0.06] * 3, 0.01
    whole, hollow = lattice_from_level_set(ball, *box), lattice_from_level_set(ball, *box, solid=bone)
    axis = np.linspace(0.0, 0.01, 9)
    inner = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    points = (hollow.origin + 0.01 * hollow.cells[:, None] + inner).reshape(-1, 3)
    assert (bone(points).reshape(-1, len(inner)) > -1e-3).any(axis=1).all()  # the points asked are 5 mm apart
    assert len(hollow.carved) > 50  # of the ball's 137 cubes
    assert hollow.n_cells + len(hollow.carved) == whole.n_cells
    assert hollow.volume.sum() + hollow.carved[:, 3].sum() == pytest.approx(whole.volume.sum(), rel=1e-12)
    first = hollow.volume @ hollow.centres() + hollow.carved[:, 3] @ hollow.carved[:, :3]
    assert first == pytest.approx(whole.volume @ whole.centres(), rel=1e-9)
    assert hollow.node_volume.sum() == pytest.approx(hollow.volume.sum())
    # the surface of the bone still lies in cells
    direction = np.random.default_rng(2).standard_normal((300, 3))
    surface = [0.003, 0.0, 0.002] + 0.032 * direction / np.linalg.norm(direction, axis=1)[:, None]
    weights = embed(hollow, surface).weights
    assert weights.min() >= -1e-12
    assert weights.max() <= 1.0


def test_bone_that_fills_everything_is_an_error():
    with pytest.raises(InputError, match="no room"):
        lattice_from_level_set(ball, [-0.02] * 3, [0.02] * 3, 0.02, solid=ball)


def test_node_volumes_sum_to_the_tissue_and_are_positive():
    lattice = lattice_from_level_set(ball, [-0.06] * 3, [0.06] * 3, 0.02)
    assert lattice.node_volume.sum() == pytest.approx(lattice.volume.sum())
    assert lattice.node_volume.min() > 0.0


def test_two_fingers_in_one_cell_get_their_own_nodes():
    def fingers(points):  # two plates 8 mm apart in x, joined at z < 0
        apart = np.abs(np.abs(points[:, 0]) - 0.01) - 0.006
        return np.where(points[:, 2] < 0.0, np.abs(points[:, 0]) - 0.016, apart)

    together = lattice_from_level_set(fingers, [-0.02, 0, -0.04], [0.02, 0.02, 0.04], 0.04, samples=20, thin=True)
    assert together.n_cells == 3  # the root, and one cell for each finger
    upper = together.cells[:, 2] == 1
    tips = together.cell_nodes[upper][:, 4:]
    assert not set(tips[0]) & set(tips[1])
    left = embed(together, np.array([[-0.01, 0.01, 0.03]]))
    right = embed(together, np.array([[0.01, 0.01, 0.03]]))
    assert left.element[0] != right.element[0]


def test_a_lattice_coarser_than_a_limb_is_refused_unless_asked_for():
    def limb(points):
        return np.linalg.norm(points[:, 1:], axis=1) - 0.04

    box = [0.0, -0.05, -0.05], [0.4, 0.05, 0.05]
    with pytest.raises(InputError, match=r"100 % of the tissue is one cell thick.* take 50 mm or less"):
        lattice_from_level_set(limb, *box, 0.1)
    assert lattice_from_level_set(limb, *box, 0.1, thin=True).n_cells == 4
    lattice_from_level_set(limb, *box, 0.025)


def test_a_thin_limb_on_a_thick_trunk_is_warned_of_unless_asked_for():
    def trunk_and_limb(points):
        trunk = np.linalg.norm(points, axis=1) - 0.15
        limb = np.maximum(np.hypot(points[:, 1], points[:, 2]) - 0.012, np.abs(points[:, 0] - 0.3) - 0.3)
        return np.minimum(trunk, limb)

    box = [-0.16] * 3, [0.61, 0.16, 0.16]
    with pytest.warns(UserWarning, match=r"0\.8. % of the tissue \(1.. cm³\) lies in parts one cell of 30 mm thick"):
        lattice_from_level_set(trunk_and_limb, *box, 0.03)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lattice_from_level_set(trunk_and_limb, *box, 0.03, thin=True)
        lattice_from_level_set(trunk_and_limb, *box, 0.03, warn=False)
        lattice_from_level_set(trunk_and_limb, *box, 0.01)
        lattice_from_level_set(ball, [-0.06] * 3, [0.06] * 3, 0.02)  # caps of one cell are no limbs


@pytest.mark.parametrize(
    ("points", "word"), [(np.nan, "shape"), ([[0.0, np.nan, 0.0]], "1 of 1 points"), ([[0.0, 1.0]], "shape")]
)
def test_points_that_are_none_are_refused(points, word):
    with pytest.raises(InputError, match=word):
        embed(box_lattice((2, 2, 2), 0.1), points)


def test_embedded_points_reproduce_linear_maps_also_outside():
    lattice = lattice_from_level_set(ball, [-0.06] * 3, [0.06] * 3, 0.02)
    points = np.random.default_rng(0).uniform(-0.07, 0.07, (50, 3))
    matrix = np.random.default_rng(1).standard_normal((3, 3))
    assert embed(lattice, points).positions(lattice.nodes @ matrix) == pytest.approx(points @ matrix, abs=1e-12)


def test_bone_far_outside_the_tissue_is_refused_by_number():
    lattice = lattice_from_level_set(ball, [-0.06] * 3, [0.06] * 3, 0.02)
    points, areas = np.array([[0.0, 0.0, 0.0], [0.3, 0.0, 0.0]]), np.full(2, 1e-4)
    poses = np.stack([np.eye(4)] * 2)
    with pytest.raises(InputError, match="1 points, the first of bone 1"):
        attach(lattice, np.array([0, 1]), points, areas, poses)
    with pytest.raises(InputError, match="bone 2 does not exist"):
        attach(lattice, np.array([0, 2]), points[[0, 0]], areas, poses)
    with pytest.raises(InputError, match="positive area"):
        attach(lattice, np.array([0, 1]), points[[0, 0]], -areas, poses)
    with pytest.raises(InputError, match="stiffness"):
        attach(lattice, np.array([0, 1]), points[[0, 0]], areas, poses, stiffness=-1.0)


def test_surface_samples_stand_for_the_whole_area():
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    points, areas = sample_surface(vertices, faces, 0.05)
    assert areas.sum() == pytest.approx(1.5 + np.sqrt(3) / 2)
    on_slant = np.abs(points.sum(axis=1) - 1.0) < 1e-12
    assert areas[on_slant].sum() == pytest.approx(np.sqrt(3) / 2, rel=0.02)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: lattice_from_level_set(ball, [0] * 3, [1] * 3, -0.1), "spacing"),
        (lambda: lattice_from_level_set(ball, [0] * 3, [1] * 3, np.inf), "spacing .m. must be positive and finite"),
        (lambda: lattice_from_level_set(ball, [0] * 3, [0, 1, 1], 0.1), "empty"),
        (lambda: lattice_from_level_set(ball, [0] * 3, [1e3] * 3, 0.01), "too many"),
        (lambda: lattice_from_level_set(lambda p: p[:, 0] + 1.0, [0] * 3, [1] * 3, 0.5), "negative inside"),
        (lambda: lattice_from_values(np.full((3, 3, 3), np.nan), np.zeros(3), 0.1), "finite"),
        (lambda: box_lattice((0, 1, 1), 0.1), "counts"),
        (lambda: lattice_from_level_set(lambda p: ball(p - 0.5), [0] * 3, [1] * 3, 0.5, samples=32), "coarser"),
    ],
)
def test_nonsense_is_refused_by_name(call, word):
    with pytest.raises(InputError, match=word):
        call()


def test_folded_cells_are_those_that_turn_over_at_a_corner_of_their_tissue():
    """Against F = Σ x ⊗ ∇N by NumPy, on full and cut cells."""
    lattice = lattice_from_level_set(
        lambda p: np.linalg.norm(p - 0.5, axis=1) - 0.37, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0), 0.1
    )
    low, high = tissue_boxes(lattice.points)
    corner = np.array([[k & 1, (k >> 1) & 1, k >> 2] for k in range(8)])
    ask = np.where(corner[None], high[:, None], low[:, None])
    slopes = gradients(ask, lattice.spacing)
    rng = np.random.default_rng(3)
    counts = []
    for noise in (0.0, 0.02, 0.03, 0.05):
        x = lattice.nodes + noise * rng.standard_normal(lattice.nodes.shape) + 3.0
        f = np.einsum("nci,nkcj->nkij", x[lattice.cell_nodes], slopes)
        counts.append(int((np.linalg.det(f) <= 0.0).any(axis=1).sum()))
        assert lattice.folded(x) == counts[-1]
    assert counts[0] == 0
    assert 5 < counts[1] < counts[3] < lattice.n_cells
