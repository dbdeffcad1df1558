import numpy as np
import pytest

from vitruvian.mesh import box, sphere
from vitruvian.mesh.distance import mesh_volume
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


def still(shape, position, *, level=0.6, n=24):
    tank = Tank((n, n, n), 1.0 / n, particles=0)
    vertices, faces = shape
    bodies = RigidBodies([RigidBody.solid("body", np.asarray(vertices), faces, 500.0, position=position)])
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


def test_triangle_loads_sum_to_the_force_of_the_projection():
    tank, state, boundary, skins, _ = still(sphere(0.2, subdivisions=3), (0.5, 0.5, 0.55))
    state.w -= 9.81 * DT
    found = project(tank, state, boundary, DT)
    loads = pressure_forces(tank, state, boundary, len(skins[0].shape.mesh.faces))
    assert loads.sum(axis=0) == pytest.approx(found.impulses[0, 3:] / DT, rel=1e-9, abs=1e-6)


def test_documents_force_is_buoyancy_at_rest_and_pushes_back_when_moving():
    tank, state, boundary, skins, links = still(sphere(0.2, subdivisions=4), (0.5, 0.5, 0.3))
    volume = mesh_volume(skins[0].vertices, skins[0].shape.mesh.faces)
    rest = link_wrenches(velocity_forces(tank, state, boundary, skins, links.twists), skins, links.origins)
    assert rest[0, 5] == pytest.approx(1000.0 * 9.81 * volume, rel=1e-3)
    twist = np.array([[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]])
    moving = link_wrenches(velocity_forces(tank, state, boundary, skins, twist), skins, links.origins)
    # in water that does not yield, the front half feels rho v^2 cos^2: F = rho v^2 pi R^2 / 2
    assert moving[0, 3] == pytest.approx(-1000.0 * np.pi * 0.2**2 / 2.0, rel=0.02)
