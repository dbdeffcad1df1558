"""Tubes, normals, cameras, colours and browser meshes."""

import numpy as np
import pytest
import trimesh

from vitruvian.mesh import box
from vitruvian.view import normals
from vitruvian.view.camera import MARGIN, auto_view, bounds_of, pinhole
from vitruvian.view.colour import colour_map, linear_from_srgb, srgb_from_linear
from vitruvian.view.creases import siding, split_at_creases
from vitruvian.view.drawing import Model
from vitruvian.world import Frame, Mesh, Stage


def test_corner_normals_of_a_box_are_flat_and_of_a_ball_radial(demo):
    vertices, faces = demo.box(1.0, 2.0, 3.0)
    corner = normals.corner_normals(vertices, faces, normals.around(vertices, faces))
    assert np.allclose(np.abs(corner).max(axis=2), 1.0)
    vertices, faces = demo.ball(0.5, 40, 80)
    corner = normals.corner_normals(vertices, faces, normals.around(vertices, faces))
    outward = vertices[faces] / 0.5
    assert (np.einsum("fik,fik->fi", corner, outward) > 0.999).all()


def test_unwelded_triangles_shade_as_smoothly_as_welded_ones(demo):
    vertices, faces = demo.ball(0.5)
    loose = vertices[faces].reshape(-1, 3)
    alone = np.arange(len(loose), dtype=np.int32).reshape(-1, 3)
    welded = normals.corner_normals(vertices, faces, normals.around(vertices, faces))
    assert np.allclose(normals.corner_normals(loose, alone, normals.around(loose, alone)), welded, atol=1e-5)


@pytest.mark.parametrize("size", [(1280, 720), (400, 900), (900, 700)])
def test_auto_view_holds_everything_and_leaves_the_margin_at_two_opposite_edges(size):
    rng = np.random.default_rng(7)
    clouds = [rng.normal(size=(500, 3)) * (0.3, 0.2, 0.8) + (x, 0.0, 1.0) for x in (0.0, 1.0, 1.5)]
    camera = pinhole(*auto_view(bounds_of(clouds), size), size)
    across, down, ahead = camera.axes @ (np.concatenate(clouds) - camera.eye).T
    x, y = camera.focal * across / ahead / (0.5 * size[0]), camera.focal * down / ahead / (0.5 * size[1])
    assert (ahead > 0.0).all()
    assert max(np.abs(x).max(), np.abs(y).max()) == pytest.approx(1.0 - MARGIN, abs=0.005)
    # What is shown stands in the middle: exactly where it is tight, nearly (by perspective) where there is room.
    off = sorted((abs(x.max() + x.min()), abs(y.max() + y.min())))
    assert off[0] < 0.005
    assert off[1] < 0.1


def test_auto_view_of_one_point_looks_at_it():
    eye, target = auto_view(bounds_of([np.array([[1.0, 2.0, 3.0]])]), (640, 480))
    assert np.allclose(target, [1.0, 2.0, 3.0])
    assert np.linalg.norm(eye - target) == pytest.approx(1e-2)


def test_srgb_round_trip_and_known_middle_grey():
    steps = np.linspace(0.0, 1.0, 33)
    assert np.allclose(srgb_from_linear(linear_from_srgb(steps)), steps)
    assert linear_from_srgb((0.5,))[0] == pytest.approx(0.21404, abs=1e-4)


def test_maps_are_chosen_by_name_and_range_and_hold_at_their_ends():
    activation = colour_map("activation", "", (0.0, 1.0))
    assert np.allclose(activation(np.array([-3.0, 2.0])), activation(np.array([0.0, 1.0])))
    strain = colour_map("strain", "1", (-1.0, 1.0))
    assert np.ptp(strain(np.array([0.0]))) < 0.02  # zero is grey
    assert np.allclose(colour_map("stress", "Pa", (0.0, 5.0))(np.array([np.nan])), 0.5)
    assert np.isfinite(colour_map("stress", "Pa", (2.0, 2.0))(np.array([2.0]))).all()


def test_closed_meshes_are_turned_outwards_and_open_ones_shown_from_both_sides(demo):
    vertices, faces = demo.ball(0.5)
    inside_out = np.ascontiguousarray(faces[:, ::-1])
    for given in (faces, inside_out):
        turned, how = siding(vertices, given)
        assert how["side"] == "front"
        assert trimesh.Trimesh(vertices, turned, process=False).volume > 0.0
    assert siding(vertices, faces[:-3])[1]["side"] == "double"


def test_box_is_split_along_its_edges_and_a_ball_is_not(demo):
    vertices, faces = demo.box(1, 1, 1)
    split, new_faces, origin = split_at_creases(vertices, faces)
    assert len(split) == 24
    assert np.allclose(split[new_faces], vertices[faces])
    assert np.allclose(vertices[origin], split)
    vertices, faces = demo.ball(1.0)
    assert len(split_at_creases(vertices, faces)[0]) == len(vertices)


def test_rigid_parts_go_with_their_bodies_and_one_without_a_place_is_left_out():
    vertices, faces = box((0.1, 0.2, 0.3))
    meshes = tuple(Mesh(f"m{k}", name, vertices, faces, layer="bones") for k, name in enumerate(("a", "b", "")))
    model = Model(Stage(bodies=("a", "b"), meshes=meshes, ground=None))
    half = np.sqrt(0.5)
    poses = np.array([[1.0, 2.0, 3.0, half, 0.0, 0.0, half], [np.nan, 0, 0, 1, 0, 0, 0]])
    drawn = model.draw(Frame(poses=poses)).solid
    n, m = len(vertices), len(faces)
    turned = np.stack([-vertices[:, 1], vertices[:, 0], vertices[:, 2]], axis=1)  # a quarter turn about z
    assert np.allclose(drawn.vertices[:n], turned + poses[0, :3])
    assert len(drawn.faces) == 2 * m
    assert np.isfinite(drawn.vertices[drawn.faces]).all()
    assert np.isfinite(drawn.normals).all()
    assert np.allclose(drawn.vertices[2 * n :], vertices)
    a, b, c = (drawn.vertices[drawn.faces[:m, k]] for k in range(3))
    across = np.cross(b - a, c - a)
    assert np.allclose(drawn.normals[:m, 0], across / np.linalg.norm(across, axis=1, keepdims=True), atol=1e-6)
