import numpy as np
import pytest

from vitruvian.mesh import box, mesh_volume, sphere
from vitruvian.spatial import rotation_about
from vitruvian.water import (
    RigidBodies,
    RigidBody,
    Tank,
    buoyancy_correction,
    fill,
    link_wrenches,
    pressure_forces,
    project,
    rasterise,
    set_body_velocity,
    velocity_forces,
)

DT = 0.01


def still(shape, position, *, level=0.6, n=24, rotation=None):
    tank = Tank((n, n, n), 1.0 / n, particles=0)
    vertices, faces = shape
    solid = RigidBody.solid("body", np.asarray(vertices), faces, 500.0, position=position, rotation=rotation)
    bodies = RigidBodies([solid])
    body = bodies.start()
    state = fill(tank, level=level, mechanism=bodies, body=body)
    skins, links = bodies.skins(body), bodies.links(body)
    boundary = rasterise(tank, state, skins, links.origins)
    set_body_velocity(tank, state, boundary, skins, links.twists)
    return tank, state, boundary, skins, links


@pytest.mark.parametrize(
    ("shape", "position", "wet"),
    [
        (sphere(0.2, subdivisions=4), (0.5, 0.5, 0.3), 1.0),
        (sphere(0.2, subdivisions=4), (0.51, 0.48, 0.6), 0.5),
        (box((0.3, 0.25, 0.2)), (0.5, 0.47, 0.6), 0.5),
        (box((0.3, 0.25, 0.2)), (0.5, 0.47, 0.55), 0.75),
    ],
)
def test_pressure_and_correction_together_are_archimedes(shape, position, wet):
    tank, state, boundary, skins, _ = still(shape, position)
    state.w -= 9.81 * DT
    found = project(tank, state, boundary, DT, tolerance=1e-10)
    wrench = found.impulses[0] / DT + buoyancy_correction(tank, state, boundary, skins)[0]
    expected = 1000.0 * 9.81 * wet * mesh_volume(skins[0].vertices, skins[0].shape.mesh.faces)
    assert wrench[5] == pytest.approx(expected, rel=2e-3)
    assert np.abs(wrench[3:5]).max() < 1e-3 * expected
    assert np.abs(wrench[:3]).max() < 1e-3 * expected * 0.2


@pytest.mark.parametrize("shape", [sphere(0.2, subdivisions=3), box((0.5, 0.3, 0.16))])
def test_pressure_on_triangles_sums_to_the_wrench_on_the_body(shape):
    tilt = rotation_about((1.0, 0.0, 0.0), 0.3)
    tank, state, boundary, skins, links = still(shape, (0.51, 0.48, 0.55), rotation=tilt)
    state.w -= 9.81 * DT
    found = project(tank, state, boundary, DT)
    wrench = found.impulses / DT + buoyancy_correction(tank, state, boundary, skins)
    loads = pressure_forces(tank, state, boundary, skins)
    assert loads.shape == (len(skins[0].shape.mesh.faces), 6)
    assert link_wrenches(loads, skins, links.origins) == pytest.approx(wrench, rel=1e-9, abs=1e-6)


@pytest.mark.parametrize("size", [(0.5, 0.3, 0.16), (0.5, 0.16, 0.24)])
def test_documents_force_rights_a_box_of_twelve_triangles_as_theory_says(size):
    angle = np.deg2rad(5.0)
    length, breadth, height = size
    tilt = rotation_about((1.0, 0.0, 0.0), angle)
    tank, state, boundary, skins, links = still(box(size), (0.5, 0.5, 0.6), rotation=tilt)
    loads = velocity_forces(tank, state, boundary, skins, links.twists)
    displaced = 0.5 * length * breadth * height
    bm = length * breadth**3 / 12.0 / displaced
    arm = np.sin(angle) * (bm - 0.25 * height + 0.5 * bm * np.tan(angle) ** 2)
    assert -link_wrenches(loads, skins, links.origins)[0, 0] == pytest.approx(9810.0 * displaced * arm, rel=0.01)


def test_documents_force_is_buoyancy_at_rest_and_pushes_back_when_moving():
    tank, state, boundary, skins, links = still(sphere(0.2, subdivisions=4), (0.5, 0.5, 0.3))
    volume = mesh_volume(skins[0].vertices, skins[0].shape.mesh.faces)
    rest = link_wrenches(velocity_forces(tank, state, boundary, skins, links.twists), skins, links.origins)
    assert rest[0, 5] == pytest.approx(1000.0 * 9.81 * volume, rel=1e-3)
    twist = np.array([[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]])
    moving = link_wrenches(velocity_forces(tank, state, boundary, skins, twist), skins, links.origins)
    # in water that does not yield, the front half feels rho v^2 cos^2: F = rho v^2 pi R^2 / 2
    assert moving[0, 3] == pytest.approx(-1000.0 * np.pi * 0.2**2 / 2.0, rel=0.02)
