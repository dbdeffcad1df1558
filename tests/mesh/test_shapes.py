import numpy as np
import pytest
import trimesh

from vitruvian.errors import InputError
from vitruvian.mesh import (
    box,
    capsule,
    cylinder,
    ellipsoid,
    extrude,
    grid_faces,
    join,
    lathe,
    moved,
    open_box,
    sphere,
    tube,
    volume,
)
from vitruvian.mesh.outline import rounded

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
ANGLE = 2.0 * np.pi * np.arange(200) / 200
CIRCLE = np.column_stack([np.cos(ANGLE), np.sin(ANGLE)])

SHAPES = {
    "box": (box((1.0, 2.0, 3.0)), 6.0),
    "open box": (open_box((1.0, 2.0, 3.0), 0.1), 6.0 - 0.8 * 1.8 * 2.9),
    "sphere": (sphere(0.5, subdivisions=4), np.pi / 6.0),
    "ellipsoid": (ellipsoid((0.5, 1.0, 2.0), subdivisions=4), 4.0 / 3.0 * np.pi),
    "cylinder": (cylinder(0.5, 2.0, sides=200), 0.5 * np.pi),
    "capsule": (capsule(np.zeros(3), np.array([1.0, 1.0, 0.0]), 0.3), np.pi * (0.09 * np.sqrt(2.0) + 0.036)),
    "open tube": (tube(np.array([[0.0, 0, 0], [0, 0, 1], [0, 0, 2]]), 0.1, sides=100), 0.02 * np.pi),
    "ring": (tube(np.column_stack([CIRCLE, 0.0 * ANGLE]), 0.1, closed=True, sides=60), 2.0 * np.pi * 0.01 * np.pi),
    "plate": (extrude(CIRCLE, 0.2), 0.2 * np.pi),
    "plate with a hole": (extrude(CIRCLE, 0.2, holes=(0.5 * CIRCLE,)), 0.15 * np.pi),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shape_is_closed_faces_outwards_and_has_its_volume(name):
    shape, expected = SHAPES[name]
    mesh = trimesh.Trimesh(*shape, process=False)
    assert mesh.is_watertight
    assert mesh.is_winding_consistent
    assert volume(shape) == pytest.approx(expected, rel=0.02)
    assert mesh.volume == pytest.approx(volume(shape), rel=1e-9)


def test_bevelled_plate_is_closed_and_loses_only_its_rim():
    loop = rounded(SQUARE, 0.05)
    flat, bevelled = extrude(loop, 0.2), extrude(loop, 0.2, bevel=0.04)
    mesh = trimesh.Trimesh(*bevelled, process=False)
    assert mesh.is_watertight
    assert 0.95 * volume(flat) < volume(bevelled) < volume(flat)


def test_wire_keeps_its_radius_along_a_knotted_curve():
    points = np.column_stack(
        [np.sin(ANGLE) + 2 * np.sin(2 * ANGLE), np.cos(ANGLE) - 2 * np.cos(2 * ANGLE), -np.sin(3 * ANGLE)]
    )
    vertices, _ = tube(points, 0.1, closed=True, sides=8)
    rings = vertices.reshape(200, 8, 3)
    assert np.allclose(np.linalg.norm(rings - points[:, None], axis=2), 0.1)
    # No seam: the twist between neighbouring rings is the same at the join as elsewhere.
    step = np.linalg.norm(np.roll(rings, -1, axis=0) - rings, axis=2).max(axis=1)
    assert step[-1] < 2.0 * np.median(step)


def test_joined_and_moved_shapes_keep_their_volume():
    turn = np.eye(4)
    turn[:3, 3] = (3.0, 0.0, 0.0)
    both = join(box((1.0, 1.0, 1.0)), moved(box((1.0, 1.0, 1.0)), turn))
    assert volume(both) == pytest.approx(2.0)
    assert grid_faces(3, 4).shape == (12, 3)


def test_impossible_sizes_are_refused():
    with pytest.raises(InputError, match="ellipsoid"):
        sphere(-1.0)
    with pytest.raises(InputError, match="no room"):
        open_box((1.0, 1.0, 1.0), 0.5)
    with pytest.raises(InputError, match="bevel"):
        extrude(CIRCLE, 0.1, bevel=0.2)
    with pytest.raises(InputError, match="axis"):
        lathe(np.array([[0.5, 0.0], [0.5, 1.0]]))
