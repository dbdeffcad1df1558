import numpy as np
import pytest

from vitruvian.couple import BodyInWater, BodyStepper, BonePart, BoneParts
from vitruvian.errors import InputError
from vitruvian.mesh import capsule
from vitruvian.muscle import MuscleBuilder
from vitruvian.skeleton import Inertia, SkeletonBuilder, bone_poses, joints
from vitruvian.spatial import transform
from vitruvian.water import RigidBodies, RigidBody, Tank, fill, step

LENGTH, RADIUS, GAP = 0.22, 0.06, 0.02


def chain(n_links, density, *, stiffness=0.0, damping=0.05):
    """Capsules along x on hinges about y; the first is free."""
    reach = 0.5 * LENGTH - RADIUS
    vertices, faces = capsule(np.array([-reach, 0, 0]), np.array([reach, 0, 0]), RADIUS, sides=16)
    vertices = np.asarray(vertices)
    solid = RigidBody.solid("link", vertices, faces, density)
    builder = SkeletonBuilder(gravity=(0.0, 0.0, -9.81))
    parts = []
    half = 0.5 * (LENGTH + GAP)
    for n in range(n_links):
        if n == 0:
            builder.add_bone("link0", joint=joints.Free(), inertia=Inertia(solid.mass, (0, 0, 0), solid.inertia))
            offset = np.zeros(3)
        else:
            offset = np.array([half, 0.0, 0.0])
            builder.add_bone(
                f"link{n}",
                parent=f"link{n - 1}",
                joint=joints.Revolute((0.0, 1.0, 0.0)),
                placement=transform(None, (half if n == 1 else 2.0 * half, 0.0, 0.0)),
                inertia=Inertia(solid.mass, tuple(offset), solid.inertia),
                stiffness=stiffness,
                damping=damping,
            )
        parts.append(BonePart(f"link{n}", vertices + offset, np.asarray(faces)))
    skeleton = builder.build()
    return BodyInWater(BodyStepper(skeleton, MuscleBuilder(skeleton).build()), BoneParts(skeleton, parts))


def placed(bones, x, z):
    q = bones.skeleton.neutral_q()
    q[:3] = (x, 0.25, z)
    return bones.start(q)


def test_mobility_is_the_velocity_change_of_a_unit_impulse():
    bones = chain(3, 700.0)
    state = placed(bones, 0.2, 0.5)
    state.q[-2:] = (0.4, -0.7)
    wading = bones.begin(state)
    wading.advance(state, 0.0, 0.01)
    links = wading.links(state)
    impulse = np.zeros((3, 6))
    impulse[2] = (0.1, -0.2, 0.3, 0.4, 0.5, -0.6)
    before = links.twists.copy()
    wading.receive(state, impulse)
    change = wading.links(state).twists - before
    assert change.ravel() == pytest.approx(links.mobility @ impulse.ravel(), abs=1e-12)
    assert links.mobility == pytest.approx(links.mobility.T, abs=1e-12)


def test_one_link_moves_like_a_rigid_body():
    tank = Tank((16, 10, 16), 0.05)
    bones = chain(1, 500.0)
    state = placed(bones, 0.4, 0.45)
    reach = 0.5 * LENGTH - RADIUS
    vertices, faces = capsule(np.array([-reach, 0, 0]), np.array([reach, 0, 0]), RADIUS, sides=16)
    rigid = RigidBodies([RigidBody.solid("link", np.asarray(vertices), faces, 500.0, position=(0.4, 0.25, 0.45))])
    body = rigid.start()
    wading = bones.begin(state)
    water = fill(tank, level=0.5, mechanism=wading, body=state)
    other = fill(tank, level=0.5, mechanism=rigid, body=body)
    for _ in range(3):
        step(tank, water, 0.01, mechanism=wading, body=state)
        step(tank, other, 0.01, mechanism=rigid, body=body)
    assert state.v[3:] == pytest.approx(body.velocity[0], abs=1e-5)


@pytest.mark.parametrize("density", [300.0, 980.0])
def test_a_chain_floats_without_growing_oscillations(density):
    tank = Tank((28, 10, 16), 0.05)
    bones = chain(4, density)
    state = placed(bones, 0.25, 0.47)
    wading = bones.begin(state)
    water = fill(tank, level=0.5, mechanism=wading, body=state)
    speeds = []
    for _ in range(20):
        step(tank, water, 0.02, mechanism=wading, body=state)
        speeds.append(float(np.abs(wading.links(state).twists[:, 3:]).max()))
    assert np.isfinite(speeds).all()
    assert max(speeds) < 1.0
    # the links bend little: a straight chain stays straight on calm water
    assert np.abs(state.q[-3:]).max() < 0.2


def test_bones_without_surface_are_refused():
    builder = SkeletonBuilder()
    builder.add_bone("a", joint=joints.Free(), inertia=Inertia.sphere(1.0, 0.1))
    with pytest.raises(InputError, match="surface"):
        BoneParts(builder.build(), [])


def test_forces_on_rigid_parts_do_the_work_that_their_wrenches_do():
    bones, rng = chain(3, 700.0), np.random.default_rng(0)
    skin = bones.skin
    place = skin.place(bone_poses(bones.skeleton, bones.skeleton.neutral_q()))
    twists, forces = rng.normal(size=(3, 6)), rng.normal(size=place.vertices.shape)
    assert np.sum(forces * place.velocities(twists)) == pytest.approx(
        np.sum(place.wrenches(forces) * twists), rel=1e-12
    )
