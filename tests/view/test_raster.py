"""The renderer against geometry that can be worked out by hand."""

import dataclasses

import numpy as np
import pytest

from vitruvian.view.camera import pinhole
from vitruvian.view.drawing import Drawing, Model, Spheres, Triangles
from vitruvian.view.raster import cover, project
from vitruvian.view.raster.frame import FOUR, Setting, draw
from vitruvian.view.raster.light import _bounced
from vitruvian.view.raster.types import BAND, View
from vitruvian.world import Frame, Mesh, Stage

SIZE = (320, 240)
RED, BLUE = (0.9, 0.1, 0.1), (0.1, 0.1, 0.9)


def picture(meshes, eye=(0.0, -4.0, 0.0), target=(0.0, 0.0, 0.0), ground=None, threads=0, reach=1.5):
    drawing = Model(Stage(meshes=tuple(meshes))).draw(Frame())
    setting = Setting(np.zeros(3), reach, ground, 4, threads)
    return draw(drawing, pinhole(eye, target, SIZE), setting).astype(float)


def pane(y, colour, opacity, name):
    """A square across the view line at depth y."""
    corners = np.array([[-1.0, y, -1.0], [1.0, y, -1.0], [1.0, y, 1.0], [-1.0, y, 1.0]])
    return Mesh(name, "", corners, np.array([[0, 1, 2], [0, 2, 3]]), "glass", colour, opacity)


def covered_part(camera, vertices=None, faces=None, centre=None, radius=None):
    """Part of the picture's samples that a mesh or a ball covers."""
    view = View(*camera.eye.tolist(), *camera.axes.ravel().tolist(), camera.focal, *(0.5 * np.array(SIZE)).tolist())
    width, height = SIZE
    nearness = np.zeros((height, width, 4), dtype=np.float32)
    owner = np.full((height, width, 4), cover.BACKGROUND, dtype=np.int32)
    if faces is not None:
        bins = project.triangles_to_screen(vertices, faces, np.zeros(len(faces), bool), view, 1e-3, width, height, 4)
        for band in range(-(-height // BAND)):
            cover.cover_triangles(band, bins, FOUR, nearness, owner)
    else:
        bins = project.balls_to_screen(np.array([centre]), np.array([radius]), view, 1e-3, width, height)
        for band in range(-(-height // BAND)):
            cover.cover_balls(band, bins, view, False, 0, FOUR, nearness, owner)
    return (owner >= 0).mean(), nearness


@pytest.mark.parametrize("kind", ["mesh", "ball"])
def test_sphere_covers_the_area_of_its_perspective_silhouette(kind, demo):
    distance, radius = 4.0, 0.6
    camera = pinhole((0.0, -distance, 0.0), (0.0, 0.0, 0.0), SIZE)
    if kind == "mesh":
        vertices, faces = demo.ball(radius, 80, 160)
        part, nearness = covered_part(camera, vertices, faces)
    else:
        part, nearness = covered_part(camera, centre=(0.0, 0.0, 0.0), radius=radius)
    outline = camera.focal * radius / np.sqrt(distance**2 - radius**2)  # tangent cone
    expected = np.pi * outline**2 / (SIZE[0] * SIZE[1])
    assert part == pytest.approx(expected, rel=4e-3)
    assert 1.0 / nearness.max() == pytest.approx(distance - radius, rel=2e-3)


def test_off_axis_sphere_covers_an_ellipse_of_the_known_area():
    # A sphere seen at angle t from the axis, half-angle a: area = pi f^2 sin^2 a cos a / (cos^2 t - sin^2 a)^(3/2).
    camera = pinhole((0.0, -4.0, 0.0), (0.0, 0.0, 0.0), SIZE)
    centre, radius = np.array([0.5, 0.0, 0.3]), 0.4
    part, _ = covered_part(camera, centre=centre, radius=radius)
    away = centre - camera.eye
    sin_a2 = (radius / np.linalg.norm(away)) ** 2
    cos_t = (away @ camera.axes[2]) / np.linalg.norm(away)
    area = np.pi * camera.focal**2 * sin_a2 * np.sqrt(1.0 - sin_a2) / (cos_t**2 - sin_a2) ** 1.5
    assert part == pytest.approx(area / (SIZE[0] * SIZE[1]), rel=4e-3)


def test_triangle_that_passes_behind_the_camera_is_cut_and_fills_the_lower_half():
    camera = pinhole((0.0, 0.0, 1.0), (0.0, 10.0, 1.0), SIZE)
    floor = np.array([[-4000.0, -3000.0, 0.0], [4000.0, -3000.0, 0.0], [0.0, 60000.0, 0.0]])
    part, _ = covered_part(camera, floor, np.array([[0, 1, 2]], dtype=np.int32))
    assert part == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_nearer_solid_hides_the_farther_whatever_the_order(order):
    panes = [pane(-1.0, RED, 1.0, "near"), pane(1.0, BLUE, 1.0, "far")]
    middle = picture([panes[i] for i in order])[SIZE[1] // 2, SIZE[0] // 2]
    assert middle[0] > 2.0 * middle[2]


def test_nearer_of_two_clear_panes_tints_more_and_list_order_does_not_matter():
    red_first = picture([pane(-1.0, RED, 0.5, "near"), pane(1.0, BLUE, 0.5, "far")])
    swapped = picture([pane(1.0, BLUE, 0.5, "far"), pane(-1.0, RED, 0.5, "near")])
    blue_first = picture([pane(1.0, RED, 0.5, "far"), pane(-1.0, BLUE, 0.5, "near")])
    assert np.array_equal(red_first, swapped)
    at = (SIZE[1] // 2, SIZE[0] // 2)
    assert red_first[at][0] > red_first[at][2] + 20.0
    assert blue_first[at][2] > blue_first[at][0] + 20.0


def test_solid_behind_a_clear_pane_shows_through_and_in_front_hides_it(demo):
    solid = Mesh("ball", "", *demo.ball(0.3), "bones", RED)
    at = (SIZE[1] // 2, SIZE[0] // 2)
    behind = picture([solid, pane(-1.0, BLUE, 0.4, "pane")])[at]
    before = picture([solid, pane(1.0, BLUE, 0.4, "pane")])[at]
    alone = picture([solid])[at]
    assert np.array_equal(before, alone)
    assert behind[2] > alone[2] + 15.0
    assert behind[0] > behind[1]


def test_box_throws_its_shadow_on_the_ground_away_from_the_light(demo):
    box = Mesh("box", "", demo.box(0.5, 0.5, 0.5)[0] + (0.0, 0.0, 0.25), demo.box(1, 1, 1)[1], layer="bones")
    eye, target = (0.0, -5.0, 3.0), (0.0, 0.0, 0.0)
    with_box = picture([box], eye, target, ground=0.0)
    # The key light comes from over the camera's left shoulder, so the shade lies right of and behind the box.
    camera = pinhole(eye, target, SIZE)
    flat = Mesh("speck", "", 1e-4 * demo.box(1, 1, 1)[0] - (0.0, 0.0, 1.0), demo.box(1, 1, 1)[1], layer="bones")
    without = picture([flat], eye, target, ground=0.0)

    def at(x, y):
        c = camera.axes @ (np.array([x, y, 0.0]) - camera.eye)
        return int(0.5 * SIZE[1] + camera.focal * c[1] / c[2]), int(0.5 * SIZE[0] + camera.focal * c[0] / c[2])

    shade, lit = at(0.42, 0.38), at(-0.55, -0.4)
    assert with_box[shade].mean() < 0.85 * without[shade].mean()
    assert with_box[lit].mean() == pytest.approx(without[lit].mean(), rel=0.03)


def test_crease_where_two_walls_meet_is_darker_than_open_wall(demo):
    floor = Mesh("floor", "", demo.box(4, 4, 0.1)[0] - (0, 0, 0.05), demo.box(1, 1, 1)[1], "room", (0.8, 0.8, 0.8))
    wall = Mesh("wall", "", demo.box(4, 0.1, 4)[0] + (0, 1.0, 0), demo.box(1, 1, 1)[1], "room", (0.8, 0.8, 0.8))
    shot = picture([floor, wall], (0.0, -4.0, 2.0), (0.0, 0.5, 0.0), reach=3.0)
    camera = pinhole((0.0, -4.0, 2.0), (0.0, 0.5, 0.0), SIZE)

    def row(y):
        c = camera.axes @ (np.array([0.0, y, 0.0]) - camera.eye)
        return int(0.5 * SIZE[1] + camera.focal * c[1] / c[2])

    column = shot[:, SIZE[0] // 2].mean(axis=1)
    assert column[row(0.9)] < 0.97 * column[row(0.0)]


def test_light_things_light_each_other_in_a_crease():
    """What hides the sky from a white place sends light back to it, from a black one none; an open place stays open."""
    assert _bounced(1.0, 0.9) == pytest.approx(1.0, abs=0.01)
    assert _bounced(0.3, 0.0) == pytest.approx(0.3)
    assert 0.6 < _bounced(0.3, 0.9) < 0.8


def test_picture_has_the_same_bits_for_one_two_and_four_threads(demo):
    recording = demo.demo(2)
    drawing = Model(recording.stage).draw(recording.frame(1))
    camera = pinhole((1.3, -3.2, 1.6), (0.0, 0.0, 0.5), SIZE)
    shots = [draw(drawing, camera, Setting(np.array([0.0, 0.0, 0.5]), 1.4, 0.0, 4, n)) for n in (1, 2, 4)]
    assert np.array_equal(shots[0], shots[1])
    assert np.array_equal(shots[0], shots[2])


def test_vertices_that_are_not_numbers_are_left_out_without_harm(demo):
    good, bad = demo.ball(0.4), demo.ball(0.4)
    bad[0][::3] = np.nan
    shot = picture(
        [Mesh("good", "", *good, layer="bones"), dataclasses.replace(Mesh("bad", "", *bad, layer="bones"), colour=BLUE)]
    )
    assert np.isfinite(shot).all()


def test_empty_drawing_is_the_background_from_top_to_bottom():
    nothing = Triangles(
        np.zeros((0, 3)),
        np.zeros((0, 3), np.int32),
        np.zeros((0, 3, 3), np.float32),
        np.zeros((0, 3), np.float32),
        np.zeros((0, 4), np.float32),
    )
    spheres = Spheres(np.zeros((0, 3)), np.zeros(0), np.zeros((0, 3), np.float32))
    shot = draw(
        Drawing(nothing, nothing, spheres), pinhole((0, -3, 1), (0, 0, 0), SIZE), Setting(np.zeros(3), 1.0, None)
    )
    assert (shot == shot[:, :1]).all()
    assert shot[0, 0, 0] < shot[-1, 0, 0]


def test_leaving_out_what_turns_away_on_closed_surfaces_changes_nothing(demo):
    vertices, faces = demo.ball(0.6, 24, 48)
    mesh = Mesh("ball", "", vertices, faces, "bones", RED, 1.0)
    inside_out = dataclasses.replace(mesh, faces=faces[:, ::-1])
    shots = []
    for one in (mesh, inside_out):
        drawing = Model(Stage(meshes=(one,))).draw(Frame())
        assert drawing.solid.closed.all()
        for closed in (True, False):
            drawing.solid.closed = np.full(len(faces), closed)
            setting = Setting(np.zeros(3), 0.6, None, 4, 1)
            shots.append(draw(drawing, pinhole((0.0, -4.0, 0.3), (0.0, 0.0, 0.0), SIZE), setting))
    for shot in shots[1:]:
        np.testing.assert_array_equal(shot, shots[0])
    half = Mesh("half", "", vertices, faces[: len(faces) // 2], "bones", RED, 1.0)
    assert not Model(Stage(meshes=(half,))).draw(Frame()).solid.closed.any()
