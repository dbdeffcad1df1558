"""Triangles cut along the zero of a value, against areas and planes."""

import numpy as np
import pytest

from vitruvian.mesh import box
from vitruvian.view.cutting import split
from vitruvian.view.drawing import Triangles


def ball_of_triangles():
    vertices, faces = box((1.0, 1.0, 1.0))
    corner = vertices[faces] / np.linalg.norm(vertices[faces], axis=2, keepdims=True)
    m = len(faces)
    return Triangles(
        np.asarray(vertices, float), faces.astype(np.int32), corner.astype(np.float32), vertices.astype(np.float32),
        np.tile(np.arange(m, dtype=np.float32)[:, None], 4), np.ones(m, bool),
    )  # fmt: skip


def vectors(t):
    a, b, c = (t.vertices[t.faces[:, k]] for k in range(3))
    return np.cross(b - a, c - a)


def test_pieces_lie_on_one_side_and_make_up_the_whole():
    t = ball_of_triangles()
    normal = np.array([0.3, 0.5, 0.8])
    value = t.vertices @ normal - 0.07
    cut = split(t, value)
    at = (cut.vertices @ normal - 0.07)[cut.faces]
    assert ((at > 0.0).all(axis=1) | (at < 0.0).all(axis=1)).all()
    for k in range(len(t.faces)):  # the same area, facing the same way
        own = cut.finish[:, 0] == k
        assert np.allclose(vectors(cut)[own].sum(axis=0), vectors(t)[k], atol=1e-5)
        assert (vectors(cut)[own] @ vectors(t)[k] >= -1e-12).all()
    assert np.allclose(cut.colours, cut.vertices, atol=1e-6)  # what is linear on the triangles stays so
    assert np.allclose(np.linalg.norm(cut.normals, axis=2), 1.0, atol=1e-6)


def test_what_is_not_crossed_or_shall_stay_whole_is_left_alone():
    t = ball_of_triangles()
    assert split(t, t.vertices[:, 2] + 2.0) is t
    assert split(t, t.vertices[:, 2], np.ones(len(t.faces), bool)) is t
    assert len(split(t, t.vertices[:, 2]).faces) > len(t.faces)
    assert np.abs(split(t, t.vertices[:, 2]).vertices[:, 2]).min() == pytest.approx(0.0, abs=1e-5)
