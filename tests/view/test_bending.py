"""Places and images seen through calm water, against Fermat's principle and Snell's law."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from vitruvian.view.bending import INDEX, apparent, beyond_window, mirrored


@pytest.mark.parametrize("height", [0.3, 4.0, -1.5])
def test_light_takes_the_fastest_way(height):
    rng = np.random.default_rng(0)
    eye, level = np.array([0.5, -2.0, 0.1 + height]), 0.1
    points = rng.uniform(-3.0, 3.0, (40, 3))
    points[:, 2] = level - np.sign(height) * rng.uniform(0.01, 3.0, 40)
    seen = apparent(points, eye, level)
    here, there = (1.0, INDEX) if height > 0 else (INDEX, 1.0)
    for point, at in zip(points, seen, strict=True):
        across = point[:2] - eye[:2]

        def took(part, point=point, across=across):
            crossing = np.append(eye[:2] + part * across, level)
            return here * np.linalg.norm(crossing - eye) + there * np.linalg.norm(point - crossing)

        part = minimize_scalar(took, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-10}).x
        crossing = np.append(eye[:2] + part * across, level)
        ray, true = at - eye, crossing - eye
        assert np.linalg.norm(np.cross(ray, true)) < 1e-4 * np.linalg.norm(ray) * np.linalg.norm(true)
        way = np.linalg.norm(true) + np.linalg.norm(point - crossing)
        assert np.linalg.norm(ray) == pytest.approx(way, rel=1e-4)


def test_straight_down_a_thing_keeps_its_direction_and_dry_things_their_place():
    eye = np.array([0.0, 0.0, 2.0])
    points = np.array([[0.0, 0.0, -1.0], [1.0, 0.0, 0.5], [1.0, 0.0, 0.0]])
    seen = apparent(points, eye, 0.0)
    assert np.allclose(seen, points, atol=1e-6)


def test_water_looks_shallower_than_it_is():
    eye = np.array([0.0, 0.0, 2.0])
    seen = apparent(np.array([[2.0, 0.0, -1.0]]), eye, 0.0)[0]
    assert np.arctan2(seen[0], eye[2] - seen[2]) > np.arctan2(2.0, 3.0)  # higher up in the picture


def test_what_barely_leaves_the_water_far_away_is_seen_at_the_edge_of_the_window():
    eye = np.array([0.0, 0.0, -1.0])
    edge = np.tan(np.arcsin(1.0 / INDEX))
    for height in (1e-9, 1e-6, 1e-4):
        seen = apparent(np.array([[6.0, 0.0, height]]), eye, 0.0)[0]
        assert seen[0] / (seen[2] + 1.0) == pytest.approx(edge, rel=1e-3)


def test_a_mirror_image_is_where_the_mirrored_ray_goes_and_not_in_the_window_to_the_air():
    eye = np.array([0.0, 0.0, -1.0])
    points = np.array([[3.0, 0.0, -0.2], [0.1, 0.0, -0.2]])
    image = mirrored(points, 0.0)
    assert np.allclose(image[0], [3.0, 0.0, 0.2])
    outside = beyond_window(image, eye)
    assert outside[0] > 0.0 > outside[1]
    edge = np.tan(np.arcsin(1.0 / INDEX))
    assert beyond_window(np.array([[2.0 * edge, 0.0, 1.0]]), eye)[0] == pytest.approx(0.0, abs=1e-12)
