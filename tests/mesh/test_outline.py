import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.mesh import perimeter, resampled
from vitruvian.mesh.outline import area_properties, rounded, signed_area, tangents, triangulate

SQUARE = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0]])


def test_area_properties_of_a_rectangle_with_a_hole_are_exact():
    hole = SQUARE[::-1] * 0.5 + np.array([0.5, 0.25])
    area, centroid, second = area_properties(SQUARE, (hole,))
    assert area == pytest.approx(1.5)
    assert np.allclose(centroid, (1.0, 0.5))
    # Plate minus plate: b³h/12 about the common centre.
    assert np.allclose(second, np.diag([8.0 / 12 - 1.0 * 0.5 / 12, 2.0 / 12 - 0.125 / 12]))


def test_rounding_keeps_straight_runs_and_removes_corners():
    loop = rounded(SQUARE, 0.05, count=600)
    assert np.min(np.linalg.norm(loop[:, None] - SQUARE, axis=2)) > 0.02
    middle = loop[np.abs(loop[:, 0] - 1.0) < 0.3, 1]
    assert np.max(np.minimum(np.abs(middle), np.abs(middle - 1.0))) < 1e-9
    turn = np.abs(np.diff(np.unwrap(np.arctan2(*tangents(loop).T[::-1]))))
    assert turn.max() < 0.25


def test_resampled_points_are_evenly_spaced():
    loop = resampled(SQUARE, 60)
    assert np.allclose(np.linalg.norm(np.roll(loop, -1, axis=0) - loop, axis=1), 0.1)
    assert perimeter(loop) == pytest.approx(6.0)


@pytest.mark.parametrize("count", [40, 400])
def test_triangles_fill_a_bent_outline_with_holes(count):
    corners = np.array([[0, 0], [4, 0], [4, 4], [2.6, 4], [2.6, 1.4], [1.4, 1.4], [1.4, 4], [0, 4.0]])
    loop = resampled(corners, count)
    holes = tuple(
        0.3 * np.column_stack([np.cos(t), -np.sin(t)]) + c
        for c in ((0.7, 0.7), (3.3, 2.0))
        for t in [np.linspace(0, 2 * np.pi, 20, endpoint=False)]
    )
    triangles = triangulate(loop, holes)
    points = np.vstack([loop, *holes])
    areas = np.array([signed_area(points[t]) for t in triangles])
    assert areas.min() > 0.0
    assert areas.sum() == pytest.approx(signed_area(loop) + sum(signed_area(h) for h in holes))


def test_an_outline_that_crosses_itself_is_refused():
    with pytest.raises(InputError, match="crosses itself"):
        triangulate(np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0], [-1, 0.5], [0.2, 0.5]])[::-1])
