import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.mesh import box, mesh_distance, mesh_volume, sphere, topology
from vitruvian.mesh.distance import closest_on_triangle

H = 1.0 / 32
NODES = (33, 33, 33)


def nodes_of(box_):
    axes = [np.arange(lo, hi) * H for lo, hi in box_]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)


@pytest.mark.parametrize("centre", [(0.5, 0.52, 0.47), (0.5, 0.5, 0.05), (0.02, 0.5, 0.5)])
def test_distance_of_a_ball_wherever_the_grid_cuts_it(centre):
    vertices, faces = sphere(0.2, centre, subdivisions=4)
    distance, triangle, where = mesh_distance(
        np.asarray(vertices), topology(faces, len(vertices)), np.zeros(3), H, NODES, 2.0 * H
    )
    exact = np.linalg.norm(nodes_of(where) - centre, axis=-1) - 0.2
    assert np.abs(distance - np.clip(exact, -2.0 * H, 2.0 * H)).max() < 0.03 * H
    assert np.array_equal(triangle >= 0, np.abs(distance) < 2.0 * H)


def test_distance_of_a_box_is_exact_at_edges_and_corners():
    size = np.array([0.5, 0.3, 0.4])
    vertices, faces = box(tuple(size), (0.5, 0.5, 0.5))
    distance, _, where = mesh_distance(
        np.asarray(vertices), topology(faces, len(vertices)), np.zeros(3), H, NODES, 2.0 * H
    )
    q = np.abs(nodes_of(where) - 0.5) - 0.5 * size
    exact = np.linalg.norm(np.maximum(q, 0.0), axis=-1) + np.minimum(q.max(axis=-1), 0.0)
    assert np.abs(distance - np.clip(exact, -2.0 * H, 2.0 * H)).max() < 1e-12


def test_a_mesh_that_misses_the_grid_leaves_it_empty():
    vertices, faces = sphere(0.1, (3.0, 0.5, 0.5))
    distance, _, where = mesh_distance(
        np.asarray(vertices), topology(faces, len(vertices)), np.zeros(3), H, NODES, 2.0 * H
    )
    assert distance.size == 0
    assert not where.any()


def test_a_mesh_with_a_hole_is_refused_by_name():
    vertices, faces = sphere(0.1)
    with pytest.raises(InputError, match=r"bowl: the mesh has a hole \(3 open edges\)"):
        topology(faces[1:], len(vertices), "bowl")


def test_a_flipped_triangle_is_refused():
    vertices, faces = sphere(0.1)
    faces = np.array(faces)
    faces[0] = faces[0, ::-1]
    with pytest.raises(InputError, match="opposite ways"):
        topology(faces, len(vertices), "ball")


def test_volume_is_signed():
    vertices, faces = box((0.2, 0.3, 0.4))
    assert mesh_volume(np.asarray(vertices), faces) == pytest.approx(0.024)
    assert mesh_volume(np.asarray(vertices), np.asarray(faces)[:, ::-1]) == pytest.approx(-0.024)


def test_a_node_that_lies_on_a_vertex_has_distance_nothing():
    vertices, faces = box((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))
    distance, triangle, where = mesh_distance(
        np.asarray(vertices), topology(faces, len(vertices)), np.zeros(3), H, NODES, 2.0 * H
    )
    corner = tuple(8 - where[:, 0])
    assert distance[corner] == 0.0
    assert triangle[corner] >= 0


def test_a_mesh_that_passes_through_itself_is_the_union_of_its_parts():
    one, faces = sphere(0.2, (0.4, 0.5, 0.5), subdivisions=4)
    other, _ = sphere(0.2, (0.6, 0.52, 0.5), subdivisions=4)
    vertices = np.concatenate([one, other])
    faces = np.concatenate([faces, np.asarray(faces) + len(one)])
    distance, _, where = mesh_distance(vertices, topology(faces, len(vertices)), np.zeros(3), H, NODES, 2.0 * H)
    at = nodes_of(where)
    exact = np.minimum(*(np.linalg.norm(at - c, axis=-1) - 0.2 for c in ((0.4, 0.5, 0.5), (0.6, 0.52, 0.5))))
    sure = np.abs(exact) > 0.03 * H
    assert np.array_equal(distance[sure] < 0.0, exact[sure] < 0.0)
    outside = exact > 0.0
    assert np.abs(distance - np.clip(exact, -2.0 * H, 2.0 * H))[outside].max() < 0.03 * H


@pytest.mark.parametrize("along", [0.0, 0.3, 0.5, 1.0])
def test_triangles_without_area_change_nothing(along):
    vertices, faces = (np.asarray(a) for a in box((0.5, 0.3, 0.4), (0.5, 0.5, 0.5)))
    a, b, c = faces[0]
    between = (1.0 - along) * vertices[a] + along * vertices[b]  # on an edge, or on top of one of its ends
    new = len(vertices)
    cut = np.concatenate([faces[1:], [[a, new, c], [new, b, c], [a, b, new]]])
    found = [
        mesh_distance(v, topology(f, len(v)), np.zeros(3), H, NODES, 2.0 * H)[0]
        for v, f in ((vertices, faces), (np.vstack([vertices, between]), cut))
    ]
    assert np.abs(found[0] - found[1]).max() < 1e-12


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
@pytest.mark.parametrize("middle", [(0.0, 0.0, 0.0), (0.3, 0.1, 0.7), (0.9, 0.3, 2.1)])
def test_the_nearest_point_of_a_flat_triangle_is_on_its_longest_edge(middle, order):
    line = np.array([[0.0, 0.0, 0.0], middle, [0.9, 0.3, 2.1]])
    a, b, c = line[list(order)]
    for at in np.random.default_rng(1).uniform(-1.0, 3.0, (50, 3)):
        s, t, _ = closest_on_triangle(*at, a, b, c)
        near = line[2] * np.clip(at @ line[2] / (line[2] @ line[2]), 0.0, 1.0)
        assert np.linalg.norm(a + s * (b - a) + t * (c - a) - near) < 1e-7
