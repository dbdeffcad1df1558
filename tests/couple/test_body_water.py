"""A body in water: forces through the mobility, courses, books of momentum and energy."""

import numpy as np
import pytest

from vitruvian.anatomy import human
from vitruvian.couple import BodyInWater, BodyStepper, JointCourse, JointTorques, StillWater, SwimmerState
from vitruvian.errors import InputError
from vitruvian.mesh import capsule
from vitruvian.muscle import MuscleBuilder
from vitruvian.skeleton import bone_poses, centroidal_momentum, difference, energy, integrate
from vitruvian.skin import bind


@pytest.fixture(scope="module")
def body():
    return human()


@pytest.fixture(scope="module")
def mechanism(body) -> BodyInWater:
    """The human with a capsule about the trunk and forearms for a skin: no data package is needed."""
    s = body.skeleton
    rest = bone_poses(s, body.default_q)
    names, points, faces, weights = ("T6", "Ul_l", "Fe_r"), [], [], []
    for k, (name, radius, half) in enumerate((("T6", 0.25, 0.45), ("Ul_l", 0.08, 0.15), ("Fe_r", 0.15, 0.3))):
        middle = rest[s.index(name), :3, 3]
        axis = np.array([0.0, 0.0, half]) if k != 1 else np.array([half, 0.0, 0.0])
        x, f = capsule(middle - axis, middle + axis, radius, sides=12)
        faces.append(np.asarray(f) + sum(map(len, points)))
        points.append(np.asarray(x))
        weights.append(np.tile(np.eye(3)[k], (len(x), 1)))
    skin = bind(s, body.default_q, np.concatenate(points), np.concatenate(faces), names, np.concatenate(weights))
    return BodyInWater(BodyStepper(s, MuscleBuilder(s).build()), skin)


def swimmer(mechanism, body, v=None) -> SwimmerState:
    q = body.default_q.copy()
    q[2] -= 1.6
    return mechanism.start(q, v)


def shaken(body, scale=0.5):
    return scale * np.random.default_rng(2).standard_normal(body.skeleton.n_v) * body.driven


def test_water_moves_the_body_by_the_impulses_that_are_booked(body, mechanism):
    state = swimmer(mechanism, body, shaken(body))
    before = centroidal_momentum(body.skeleton, state.q, state.v)[3:]
    for n in range(24):
        wading = mechanism.begin(state, None)
        wading.still(StillWater(), n / 192, 1 / 192)
        wading.end(1 / 192)
    gained = centroidal_momentum(body.skeleton, state.q, state.v)[3:] - before
    received = state.book.impulse["water"] + state.book.impulse["weight"]
    assert np.linalg.norm(gained - received) < 3e-3 * np.linalg.norm(state.book.impulse["water"])


def test_energy_is_lost_to_the_water_and_by_nothing_that_pushes(body, mechanism):
    state = swimmer(mechanism, body, shaken(body, 1.0))
    first = energy(body.skeleton, state.q, state.v).total
    for n in range(48):
        wading = mechanism.begin(state, None)
        wading.still(StillWater(), n / 192, 1 / 192)
        wading.end(1 / 192)
    last = energy(body.skeleton, state.q, state.v).total
    # joint damping and the implicit step only take energy away
    assert last - first < state.book.work["water"] + 1e-6 * abs(first)


def test_mobility_tells_how_links_yield_to_impulses(body, mechanism):
    state = swimmer(mechanism, body, shaken(body))
    wading = mechanism.begin(state, JointTorques(np.zeros(body.skeleton.n_v), 20.0, 2.0))
    wading.advance(state, 0.0, 1 / 192)
    links = wading.links(state)
    impulses = np.random.default_rng(4).standard_normal((3, 6))
    wading.receive(state, impulses)
    change = wading.links(state).twists - links.twists
    np.testing.assert_allclose((links.mobility @ impulses.ravel()).reshape(3, 6), change, atol=1e-9)
    eigenvalues = np.linalg.eigvalsh(links.mobility)
    assert eigenvalues.min() > -1e-9 * eigenvalues.max()


def test_joints_on_a_course_stay_on_it_and_the_root_is_free(body, mechanism):
    s = body.skeleton
    state = swimmer(mechanism, body)
    turn = shaken(body, 0.3)

    def sample(time):
        return integrate(s, body.default_q, np.sin(4.0 * time) * turn, 1.0)

    for n in range(24):
        wading = mechanism.begin(state, JointCourse(sample))
        wading.still(StillWater(), n / 192, 1 / 192)
        wading.end(1 / 192)
    off = difference(s, sample(24 / 192), state.q)[6:]
    assert np.abs(off).max() < 1e-9
    assert np.linalg.norm(state.v[:6]) > 1e-3
    assert state.book.work["drive"] != 0.0


def test_a_skin_in_pieces_reports_speeds_that_its_links_and_drift_give(body, mechanism):
    state = swimmer(mechanism, body, shaken(body))
    wading = mechanism.begin(state)
    wading.advance(state, 0.0, 1 / 192)
    (skin,), links = wading.skins(state), wading.links(state)
    corners, t = skin.vertices[skin.shape.mesh.faces], links.twists[skin.shape.links][:, None]
    arms = corners - links.origins[skin.shape.links][:, None]
    speed = t[..., 3:] + np.cross(np.broadcast_to(t[..., :3], arms.shape), arms) + skin.drift
    np.testing.assert_allclose(speed, wading.pose().velocities(state.v)[skin.shape.mesh.faces], atol=1e-9)


def test_a_held_pelvis_is_refused(body, mechanism):
    s = body.skeleton
    held = np.zeros(s.n_v, bool)
    held[:6] = True
    with pytest.raises(InputError, match="free pelvis"):
        BodyInWater(BodyStepper(s, MuscleBuilder(s).build(), held=held), mechanism.skin)
