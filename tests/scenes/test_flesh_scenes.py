"""The flesh scenes run and pass their own checks, shortened."""

from types import SimpleNamespace

import numpy as np
import pytest
from numba import njit
from scipy.spatial import cKDTree

from vitruvian.mesh import volume
from vitruvian.scenes import find, poke
from vitruvian.systems.tissue import block_skin
from vitruvian.world import Recording, run_world, scene_parameters


def played(tmp_path, name, seconds, **settings):
    scene = find(name)
    parameters = scene_parameters(scene, "draft", settings)
    run_world(scene.build(parameters), tmp_path / name, seconds=seconds)
    recording = Recording.open(tmp_path / name)
    return scene.check(recording, parameters), recording


@pytest.mark.parametrize("case", ["press", "twist", "muscle", "tangle"])
def test_block_passes_its_own_checks(tmp_path, case):
    report, recording = played(tmp_path, "block", 1.6, case=case, cells=2)
    assert report.checks
    assert all(report.checks.values()), report
    assert np.isfinite(recording.surface("skin", -1 % recording.n_frames).values).all()


def test_beam_rings_as_beam_theory_says(tmp_path):
    report, _ = played(tmp_path, "beam", 0.4)
    assert report.checks["rings at the first bending frequency within 3 %"], report


def test_block_skin_is_closed_and_outward():
    assert volume(block_skin((1.0, 2.0, 3.0), (2, 3, 4))) == pytest.approx(6.0)


def test_section_area_of_a_ball():
    from vitruvian.mesh import sphere
    from vitruvian.mesh.section import section_area

    vertices, faces = sphere(0.1, subdivisions=4)
    area = section_area(vertices, faces, np.array([0.0, 0.0, 0.03]), np.array([0.0, 0.0, 2.0]))
    assert area == pytest.approx(np.pi * (0.1**2 - 0.03**2), rel=0.01)


@njit
def windings(points, vertices, faces):
    """How often a closed surface goes round each point: signed crossings of the ray upward."""
    out = np.zeros(len(points))
    for f in range(len(faces)):
        a, b, c = vertices[faces[f, 0]], vertices[faces[f, 1]], vertices[faces[f, 2]]
        ux, uy, uz, vx, vy, vz = b[0] - a[0], b[1] - a[1], b[2] - a[2], c[0] - a[0], c[1] - a[1], c[2] - a[2]
        area = ux * vy - uy * vx
        if area == 0.0:
            continue
        for i in range(len(points)):
            x, y, z = points[i, 0] - a[0], points[i, 1] - a[1], points[i, 2] - a[2]
            s, r = (x * vy - y * vx) / area, (ux * y - uy * x) / area
            if s >= 0.0 and r >= 0.0 and s + r <= 1.0 and s * uz + r * vz > z:
                out[i] += np.sign(area)
    return out


def test_biceps_bulges_with_activation_and_no_belly_comes_through_the_skin(tmp_path):
    report, recording = played(tmp_path, "biceps", 0.4)
    skin, belly = (recording.surface(name, recording.n_frames - 1).vertices for name in ("skin", "bellies"))
    faces = next(s.faces for s in recording.stage.surfaces if s.name == "skin")
    assert len(belly) > 1000
    shallow = belly[cKDTree(skin).query(belly)[0] < 0.01].astype(float)
    flat = skin[faces][:, :, :2]  # only what lies above or below them counts
    over = (flat.max(axis=1) >= shallow[:, :2].min(axis=0)) & (flat.min(axis=1) <= shallow[:, :2].max(axis=0))
    assert windings(shallow, skin.astype(float), faces[over.all(axis=1)]).min() > 0.5
    assert report.checks["cross-section grows with activation, elbow held"], report
    assert all(report.checks.values()), report
    assert report.metrics["growth_held"] > 0.015


def test_poke_reaches_the_spine_and_moves_it(tmp_path):
    report, recording = played(tmp_path, "poke", 0.3)
    assert all(report.checks.values()), report
    assert report.metrics["strongest_push_n"] > 1.0
    assert report.metrics["moved_l3_mm"] > 0.01
    assert np.abs(recording.signals["moved_l3"][0]) < 1e-9


@pytest.mark.parametrize(
    ("newtons", "millimetres", "moves"), [(90.0, 1.5, True), (90.0, 0.6, False), (12.0, 0.3, True), (12.0, 0.1, False)]
)
def test_poke_asks_a_soft_belly_for_less(newtons, millimetres, moves):
    """A belly that breathes gives way to the rod: the spine has to move by as much a newton, not by as much."""
    push = np.zeros((3, 3))
    push[1, 1] = newtons
    signals = {"push": push, "bone_force": push, "volume": np.ones(3), "spine": 0.3 * push[:, 1]}
    signals |= {f"moved_{bone}": 1e-3 * millimetres * np.array([0.0, 1.0, -1.5]) for bone in ("l3", "t6", "head")}
    recording = SimpleNamespace(signals=signals, time=np.array([0.0, 0.8, 1.6]))
    found = poke.check(recording, {"depth": 0.03, "two_way": True}).checks
    assert found["the push moves the spine (0.01 mm a newton)"] == moves
    alone = poke.check(recording, {"depth": 0.0, "two_way": True}).checks
    assert not any("spine" in name for name in alone)


def test_the_fall_of_jiggle_is_twice_integrated_from_its_acceleration():
    from vitruvian.scenes.jiggle import acceleration, height

    h = 1e-4
    for time in (0.05, 0.15, 0.21, 0.25, 0.5):
        bend = (height(time + h, 0.2) - 2.0 * height(time, 0.2) + height(time - h, 0.2)) / h**2
        assert bend == pytest.approx(acceleration(time, 0.2), rel=1e-4, abs=1e-4)


def test_jiggle_starts_weightless_and_at_rest(tmp_path):
    report, recording = played(tmp_path, "jiggle", 0.1, build="muscular")
    assert report.checks["volume stays within 1 %"]
    assert np.abs(recording.signals["belly"]).max() < 1e-3  # in free fall nothing swings
    assert np.abs(recording.signals["head"]).max() < 2e-3
