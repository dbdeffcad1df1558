"""Water in pictures against optics: Schlick's mirror, Beer and Lambert's depth, air and water along a ray."""

import numpy as np
import pytest

from vitruvian.mesh.shapes import box
from vitruvian.view.memory import one_frame
from vitruvian.view.raster.water import F0, faded, media
from vitruvian.view.render import Shooting
from vitruvian.world.stage import WATER, Camera, Frame, Mesh, Stage, Surface, SurfaceFrame


def wet(near, is_water):
    out = np.empty(len(near), np.int32)
    media(len(near), np.array(near, np.float32), np.array(is_water, np.float32), out)
    return out.tolist()


def test_ray_is_in_water_between_odd_and_even_surfaces():
    assert wet([0.9, 0.8, 0.7, 0.6], [1, 1, 1, 1]) == [0, -1, 2, -1]
    assert wet([0.9, 0.8, 0.7], [1, 0, 1]) == [0, 0, -1]  # skin in the water does not end it
    assert wet([0.9, 0.8], [0, 1]) == [-1, 1]


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
