"""Subdivision: affine maps survive it, borders stay closed, a cube becomes round."""

import numpy as np

from vitruvian.mesh.catmull_clark import catmull_clark, refined_part

CUBE = np.array([[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]])
CORNERS = np.array([[x, y, z] for z in (-1.0, 1.0) for y in (-1.0, 1.0) for x in (-1.0, 1.0)])


def plate(n):
    i, j = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    a = i * (n + 1) + j
    quads = np.stack([a, a + n + 1, a + n + 2, a + 1], axis=-1).reshape(-1, 4)
    x, y = np.meshgrid(np.arange(n + 1.0), np.arange(n + 1.0), indexing="ij")
    return np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1), quads


def test_weights_sum_to_one_and_a_plate_stays_flat():
    v, quads = plate(3)
    matrix, fine = catmull_clark(quads, len(v))
    assert np.allclose(matrix.sum(axis=1), 1.0)
    new = matrix @ v
    assert np.allclose(new[:, 2], 0.0)
    assert len(fine) == 4 * len(quads)
    area = np.cross(new[fine[:, 1]] - new[fine[:, 0]], new[fine[:, 3]] - new[fine[:, 0]])[:, 2]
    assert (area > 0).all()


def test_vertex_rule_of_a_cube():
    matrix, fine = catmull_clark(CUBE, 8)
    new = matrix @ CORNERS
    # F = (1/3, 1/3, 1/3), R = (2/3, 2/3, 2/3), n = 3: (F + 2 R)/3 = 5/9
    assert np.allclose(np.abs(new[:8]), 5.0 / 9.0)
    assert len(fine) == 24


def test_a_part_is_refined_without_gaps():
    v, quads = plate(4)
    v = v + np.array([0.0, 0.0, 1.0]) * np.sin(v[:, :1] + 2.0 * v[:, 1:2])
    part = np.zeros(len(quads), bool)
    part[5:7] = True
    matrix, new_quads, parent = refined_part(quads, len(v), part)
    new = matrix @ v
    assert len(new_quads) == len(quads) - 2 + 8
    assert (np.bincount(parent) == np.where(part, 4, 1)).all()
    outside = np.unique(quads[~part])
    assert np.allclose(new[outside], v[outside])
    # new vertices on the border lie on the edges that the other side still has
    ends = np.sort(np.stack([new_quads, np.roll(new_quads, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
    edges, count = np.unique(ends, axis=0, return_counts=True)
    alone = np.unique(edges[count == 1])
    for k in alone[alone >= len(v)]:
        row = matrix[k].toarray().ravel()
        assert sorted(row[row > 0]) == [0.5, 0.5]
