"""Two balls that overlap: the lens between them has a known volume and thickness."""

import numpy as np
import pytest

from vitruvian.mesh import sphere
from vitruvian.mesh.overlap import overlap_parts, winding_numbers


def two_balls(distance, radius=0.05):
    ball, faces = sphere(radius)
    vertices = np.concatenate([ball, ball + np.array([distance, 0.0, 0.0])])
    return vertices, np.concatenate([faces, faces + len(ball)])


def test_a_ball_lies_in_itself_nowhere_and_has_its_volume():
    vertices, faces = two_balls(0.12)
    assert overlap_parts(vertices, faces, 0.002) == []
    volume = (winding_numbers(vertices, faces, 0.002) == 1).sum() * 0.002**3
    assert volume == pytest.approx(2.0 * 4.0 / 3.0 * np.pi * 0.05**3, rel=0.03)


def test_lens_between_two_balls():
    d, r = 0.08, 0.05
    lens = np.pi * (4.0 * r + d) * (2.0 * r - d) ** 2 / 12.0
    ((middle, volume, thickness),) = overlap_parts(*two_balls(d), 0.002)
    assert volume == pytest.approx(lens, rel=0.1)
    assert thickness == pytest.approx(2.0 * r - d, abs=0.003)
    assert middle == pytest.approx([d / 2.0, 0.0, 0.0], abs=1e-3)
