"""Water in pictures against optics: Schlick's mirror, Beer and Lambert's depth, air and water along a ray."""

import numpy as np
import pytest

from vitruvian.mesh import box
from vitruvian.systems.colours import WATER
from vitruvian.view import Shooting, one_frame
from vitruvian.view.camera import BOB, follow_shift
from vitruvian.view.drawing import Model
from vitruvian.view.raster.water import F0, INDEX, faded, media, mirror_from_below
from vitruvian.view.sea import POOL_DEPTH, Rim, open_water, pool_floor, surround
from vitruvian.world import Camera, Frame, Mesh, Stage, Surface, SurfaceFrame


def wet(near, is_water, start=-1):
    out = np.empty(len(near), np.int32)
    media(len(near), np.array(near, np.float32), np.array(is_water, np.float32), out, start)
    return out.tolist()


def test_ray_is_in_water_between_odd_and_even_surfaces():
    assert wet([0.9, 0.8, 0.7, 0.6], [1, 1, 1, 1]) == [0, -1, 2, -1]
    assert wet([0.9, 0.8, 0.7], [1, 0, 1]) == [0, 0, -1]  # skin in the water does not end it
    assert wet([0.9, 0.8], [0, 1]) == [-1, 1]


def test_an_eye_in_water_leaves_it_at_the_first_surface():
    assert wet([0.9, 0.8, 0.7], [1, 0, 1], start=-2) == [-1, -1, 2]
    assert wet([0.9, 0.8], [0, 1], start=-2) == [-2, -1]


def test_from_below_everything_is_mirrored_beyond_the_angle_of_total_reflection():
    critical = np.arcsin(1.0 / INDEX)
    assert mirror_from_below(1.0) == pytest.approx(F0)
    assert mirror_from_below(np.cos(critical + 0.01)) == 1.0
    assert F0 < mirror_from_below(np.cos(critical - 0.1)) < 0.5


def test_edge_shared_by_two_triangles_counts_once():
    assert wet([0.9, 0.9, 0.5], [1, 1, 1]) == [0, 0, -1]


def test_light_fades_exponentially_with_the_path_and_ends_as_the_colour_of_the_depth():
    once = faded(1.0, 0.0, 2.0, 0.3)
    assert once == pytest.approx(np.exp(-2.0 * 0.3))
    assert faded(once, 0.0, 2.0, 0.3) == pytest.approx(faded(1.0, 0.0, 2.0, 0.6))
    assert faded(1.0, 0.2, 2.0, 100.0) == pytest.approx(0.2)
    assert faded(1.0, 0.2, 2.0, 0.0) == 1.0


def above(depth, eye):
    """Mean colour in the middle of a picture of water of this depth over a white floor."""
    vertices, faces = box((4.0, 4.0, depth), (0.0, 0.0, 0.5 * depth + 1e-3))
    floor, floor_faces = box((4.0, 4.0, 0.2), (0.0, 0.0, -0.1))
    stage = Stage(
        meshes=(Mesh("floor", "", floor, floor_faces, layer="things", colour=(0.9, 0.9, 0.9)),),
        surfaces=(Surface("water", faces, layer="water", colour=WATER, opacity=0.5),),
        cameras=(Camera("eye", eye, (0.0, 0.0, depth)),),
        ground=None,
    )
    frame = Frame(surfaces={"water": SurfaceFrame(vertices)})
    picture = Shooting(one_frame(stage, frame), size=(64, 48), words=False).shoot(0)
    return picture[20:28, 28:36].reshape(-1, 3).mean(axis=0)


def test_deeper_water_is_darker_and_bluer_and_grazing_water_mirrors_the_sky():
    shallow, deep = above(0.05, (0.0, -0.5, 9.0)), above(1.5, (0.0, -0.5, 9.0))
    assert deep.mean() < shallow.mean() - 20
    assert deep[2] - deep[0] > shallow[2] - shallow[0] + 20
    grazing = above(1.5, (0.0, -9.0, 2.1))
    # The sky is paler than the depth: less blue over red.
    assert grazing[2] - grazing[0] < 0.7 * (deep[2] - deep[0])
    assert pytest.approx(((1.33 - 1.0) / (1.33 + 1.0)) ** 2, abs=1e-3) == F0


def sheet(n=12, half=1.0, drop=0.0):
    """A square sheet of water at height 0, its middle lowered by `drop` [m]."""
    x = np.linspace(-half, half, n)
    vertices = np.stack([*np.meshgrid(x, x, indexing="ij"), np.zeros((n, n))], axis=-1)
    vertices[1:-1, 1:-1, 2] -= drop
    i = np.arange(n * n).reshape(n, n)
    a, b, c, d = i[:-1, :-1].ravel(), i[1:, :-1].ravel(), i[1:, 1:].ravel(), i[:-1, 1:].ravel()
    return vertices.reshape(-1, 3), np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])


def swimmer_picture(eye, target, *, size=(96, 64), **options):
    """A red box half a metre under a sheet of open water."""
    vertices, faces = box((0.3, 0.3, 0.1), (0.0, 0.0, -0.5))
    stage = Stage(
        meshes=(Mesh("body", "", vertices, faces, layer="things", colour=(0.9, 0.1, 0.1)),),
        surfaces=(Surface("water", None, layer="water", colour=WATER, opacity=0.45),),
        cameras=(Camera("eye", eye, target),),
        ground=None,
    )
    patch = SurfaceFrame(*sheet(**options))
    return Shooting(one_frame(stage, Frame(surfaces={"water": patch})), size=size, words=False).shoot(0).astype(int)


def blue(pixels):
    return (pixels[..., 2] - pixels[..., 0]).mean()


def test_open_water_goes_on_beyond_the_window_to_the_horizon():
    picture = swimmer_picture((0.5, 0.0, 6.0), (0.0, 0.0, 0.0))
    assert min(blue(picture[k, j]) for k in (2, -3) for j in (2, -3)) > 40  # corners lie 2 m from a window of 1 m


def test_a_camera_near_the_surface_sees_below_it_through_a_cut_with_the_waterline_on_top():
    picture = swimmer_picture((4.0, 0.0, 0.1), (0.0, 0.0, -0.2), drop=0.05)
    red = picture[..., 0] - picture[..., 2]
    assert red.max() > 30  # the body is seen through a metre of water
    assert blue(picture[-8:]) > 60 > 30 > blue(picture[:8])
    rows = np.array([blue(picture[k]) for k in range(len(picture))])
    assert (np.diff((rows > 50).astype(int)) != 0).sum() == 1  # one line parts air from water


def test_a_camera_under_water_sees_water_all_around_and_things_fade_with_distance():
    near = swimmer_picture((1.5, 0.0, -0.8), (0.0, 0.0, -0.5))
    far = swimmer_picture((6.0, 0.0, -0.8), (0.0, 0.0, -0.5))
    assert all(blue(p[[0, -1]]) > 25 for p in (near, far))
    assert (near[..., 0] - near[..., 2]).max() > (far[..., 0] - far[..., 2]).max() + 20


def test_a_camera_keeps_its_height_while_what_it_follows_bobs():
    stage = Stage(bodies=("b",))

    def at(*place):
        return Frame(poses=np.array([[*place, 1.0, 0.0, 0.0, 0.0]]))

    assert follow_shift(stage, "b", at(0, 0, 0), at(1, 2, 0.2)).tolist() == [1.0, 2.0, 0.0]
    assert follow_shift(stage, "b", at(0, 0, 0), at(1, 2, -1.0))[2] == pytest.approx(BOB - 1.0)


def test_drops_within_a_drawn_sheet_of_spray_are_not_drawn_again():
    from vitruvian.view.drawing import Model
    from vitruvian.world import Points

    vertices, faces = box((0.1, 0.1, 0.1))
    stage = Stage(surfaces=(Surface("spray surface", None, layer="water"),), points=(Points("spray", 0.005),))
    frame = Frame(
        surfaces={"spray surface": SurfaceFrame(vertices, faces)},
        points={"spray": np.array([[0.05, 0.05, 0.04], [0.5, 0.0, 0.0]])},
    )
    assert Model(stage).draw(frame).spheres.centres.tolist() == [[0.5, 0.0, 0.0]]


def test_water_that_flies_as_a_sheet_is_drawn_as_foam_not_as_clear_water():
    from vitruvian.view.drawing import Model

    corners, faces = np.eye(3), np.array([[0, 1, 2]])
    stage = Stage(surfaces=(Surface("spray surface", None, layer="water", opacity=0.8, colour=(0.2, 0.4, 0.9)),))
    clear = Model(stage).draw(Frame(surfaces={"spray surface": SurfaceFrame(corners, faces)})).clear
    assert (clear.finish[:, 3] == 0.0).all()
    assert clear.colours.min() > 0.8


def test_the_pool_has_tiles_and_a_lane_line_that_stand_still_in_the_world():
    def rim(y):
        return Rim(np.array([-2.0, y - 3.0]), np.array([2.0, y + 3.0]), 0.1, ())

    here, on = pool_floor(rim(0.0)), pool_floor(rim(0.3))
    assert np.allclose(here.vertices[:, 2].min(), 0.1 - POOL_DEPTH)
    tiles = {tuple(np.round(v, 6)) for v in here.vertices[:-4]}
    assert len(tiles & {tuple(np.round(v, 6)) for v in on.vertices[:-4]}) > 0.9 * len(tiles)
    assert np.ptp(here.vertices[-4:, 0]) == 0.25
    assert here.colours[-1].sum() < 0.3 * here.colours[0].sum()


def test_an_eye_under_water_sees_the_body_again_as_an_image_in_the_surface():
    # From 4 m away the surface is seen far outside the window to the air; box at -0.5, image at +0.5.
    picture = swimmer_picture((4.0, 0.0, -0.8), (0.0, 0.0, -0.1))
    red = (picture[..., 0] - picture[..., 2])[:, 40:56].max(axis=1)  # by row, in the middle columns
    own, image = red[len(red) // 2 + 4 :].max(), red[: len(red) // 2].max()
    assert own > 30
    assert 10 < image < own + 40


def test_a_body_in_deep_water_appears_higher_to_an_eye_above_it():
    # The box's middle is half a metre down and 1 m away from below an eye at 1 m: 33.7 degrees if light went straight.
    picture = swimmer_picture((1.0, 0.0, 1.0), (0.0, 0.0, -0.5), size=(96, 96))
    red = np.argwhere(picture[..., 0] - picture[..., 2] > 20)
    middle = red[:, 0].mean()
    assert middle < 46.0  # above the middle of the picture, to which a straight ray would go


def test_mirror_image_of_a_body_that_sticks_out_ends_at_the_surface_and_has_its_head():
    low, faces = box((0.4, 0.4, 0.6), (3.0, 0.0, 0.1))  # half in the water, half out
    head, head_faces = box((0.2, 0.2, 0.2), (3.4, 0.0, -0.3))
    eye, target = np.array([0.0, 0.0, -1.0]), np.array([3.0, 0.0, 0.0])
    stage = Stage(
        meshes=(Mesh("head", "", head, head_faces, layer="skin"), Mesh("bone", "", 0.5 * low, faces, layer="bones")),
        surfaces=(
            Surface("skin", faces, layer="skin", opacity=0.5),
            Surface("water", None, layer="water", colour=WATER, opacity=0.45),
        ),
        cameras=(Camera("eye", tuple(eye), tuple(target)),),
    )
    frame = Frame(surfaces={"skin": SurfaceFrame(low), "water": SurfaceFrame(*sheet(half=5.0))})
    drawing, medium = surround(Model(stage).draw(frame), open_water(stage), frame, eye, target, 1.0)
    assert medium.wet
    assert drawing.image is not None
    seen = drawing.image.vertices[drawing.image.faces]
    inner = seen[(seen[..., 0] < 3.25).all(axis=1)]
    assert inner[..., 2].min() == pytest.approx(0.0, abs=1e-5)  # down to the surface, without a gap
    assert inner[..., 2].max() == pytest.approx(0.2)
    assert np.abs(seen[..., 0] - 3.5).min() < 1e-9  # the head
    assert seen[..., 0].min() > 2.7  # no bones
