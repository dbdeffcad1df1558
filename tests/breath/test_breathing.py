"""A recorded breath carried by bodies that do something else."""

import numpy as np
import pytest

from vitruvian.anatomy import bound_skin, human
from vitruvian.anatomy.density import enclosed
from vitruvian.breath.surface import volume_gradient
from vitruvian.control import Beat
from vitruvian.control.behaviour import Behaviour, Curve
from vitruvian.couple import StillWater
from vitruvian.errors import InputError
from vitruvian.skeleton import bone_poses, integrate
from vitruvian.systems import BodySystem, Breathing, StrokeLock, SwimmerSystem
from vitruvian.systems.breath_record import behaviour_period
from vitruvian.world import World


@pytest.fixture(scope="module")
def body():
    return human()


@pytest.fixture(scope="module")
def calm(body):
    return Breathing(body, "calm")


def test_a_period_goes_round_and_closes(calm):
    record = calm.record
    assert record.period == pytest.approx(4.0)
    assert record.at(4.3) == pytest.approx(record.at(8.3), abs=1e-12)
    assert not record.at(0.0).any()  # bodies start at rest
    assert 0.4 < 1e3 * np.ptp(record.table[:, 0]) < 0.7


def test_rates_are_those_of_the_record(calm):
    h = 1e-5
    for t in (0.4, 2.77):
        slope = (calm.record.at(t + h) - calm.record.at(t - h)) / (2.0 * h)
        assert calm.record.at(t, 1) == pytest.approx(slope, rel=1e-5, abs=1e-6 * np.abs(slope).max())


def test_the_skin_gains_what_the_lungs_gain_and_its_rate_is_its_derivative(calm, body):
    field = calm.field(bound_skin(body, triangles=8000))
    gained = enclosed(field.skin.rest + field.offset(1.0), field.skin.faces)[0] - field.rest_volume
    assert gained == pytest.approx(calm.volume(1.0), rel=0.01)
    h = 1e-5
    for t in (0.6, 1.3):
        slope = (field.offset(t + h) - field.offset(t - h)) / (2.0 * h)
        assert field.rate(t, 2.0) == pytest.approx(2.0 * slope, abs=1e-6)
    assert np.linalg.norm(field.offset(1.1), axis=1).max() > 3e-3
    arms = np.abs(field.skin.rest[:, 0]) > 0.4
    assert not field.offset(1.1)[arms].any()


def test_a_body_breathes_and_books_it(body, calm):
    system = BodySystem(body, breathing=calm, books=True, drawn=False)
    world = World(system, frame_rate=100.0)
    world.start()
    for _ in range(20):
        world.step()
    frame = system.observe(world.state, None, world.time)
    assert frame.signals["breath_volume"] == pytest.approx(1e3 * calm.volume(0.2))
    assert "skin" in frame.surfaces
    assert world.state.book.work["breath"] != 0.0


def test_a_stroke_leads_the_breath(body):
    lock = StrokeLock(0.4, 0.7)
    breathing = Breathing(body, "calm", lock)
    period, fullest = breathing.record.period, breathing.record.fullest
    clock, pace = breathing.clock(0.4 / 0.7)
    assert clock == pytest.approx(fullest * period)
    assert pace == pytest.approx(0.7 * period)
    clock, pace = breathing.clock(2.0, Beat(2.0, 3.4, 1.1))
    assert clock == pytest.approx((3.0 + fullest) * period)
    assert pace == pytest.approx(1.1 * period)


def test_a_swimmer_displaces_more_with_his_breath_in(body, calm):
    skin = bound_skin(body, triangles=4000)
    swimmer = SwimmerSystem(body, skin, water=StillWater(), breathing=calm, drawn=False)
    state = swimmer.start(np.random.default_rng(0))
    volumes = []
    for clock in (0.0, 1.1):
        state.breath = np.array([clock, 1.0])
        place = swimmer.moving_skin(state).place(np.array(_poses(body)))
        volumes.append(enclosed(place.vertices, skin.faces)[0])
    assert 1e3 * (volumes[1] - volumes[0]) == pytest.approx(1e3 * (calm.volume(1.1) - calm.volume(0.0)), rel=0.02)


def test_a_bent_swimmer_displaces_just_what_he_breathes_in(body, calm):
    skin = bound_skin(body, triangles=4000)
    field = calm.field(skin)
    turn = np.zeros(body.skeleton.n_v)
    for bone in ("L4", "L2", "T12", "T10", "T8", "T6"):
        turn[body.skeleton.v_slice(bone).start] = 0.12  # forward
    poses = _poses(body, integrate(body.skeleton, body.default_q, turn, 1.0))
    clocks = (0.0, 1.1, 1.1 + 1e-4)
    places = [field.on(None, np.array([c, 1.0])).place(poses) for c in clocks]
    volumes = [enclosed(p.vertices, skin.faces)[0] for p in places]
    before = enclosed(skin.place(poses).vertices, skin.faces)[0]
    for volume, clock in zip(volumes, clocks):
        assert volume - before == pytest.approx(calm.volume(clock), rel=1e-3, abs=1e-9)
    plain = skin.place(poses).vertices + np.einsum("nij,nj->ni", poses[field.main, :3, :3], field.offset(1.1))
    assert enclosed(plain, skin.faces)[0] - before < 0.95 * calm.volume(1.1)  # what there is to make up
    # the velocities take the same volume along, and belong to the places
    slope = np.zeros_like(skin.rest)
    volume_gradient(skin.faces, places[1].vertices, slope)
    flux = np.vdot(slope, places[1].drift)
    assert flux == pytest.approx((volumes[2] - volumes[1]) / 1e-4, rel=0.01)
    step = (places[2].vertices - places[1].vertices) / 1e-4
    assert places[1].drift == pytest.approx(step, abs=0.02 * np.abs(step).max())


def _poses(body, q=None):
    return bone_poses(body.skeleton, body.default_q if q is None else q)


def test_periods_that_do_not_fit_are_refused():
    odd = Behaviour("odd", (Curve("diaphragm", "half", 0.1, period=4.0), Curve("abdomen", "half", 0.1, period=3.0)))
    with pytest.raises(InputError, match="do not fit together"):
        behaviour_period(odd)


def test_a_body_of_another_size_is_refused():
    with pytest.raises(InputError, match="tables' size"):
        Breathing(human(height=1.6), "calm")


def test_an_unknown_breath_is_named(body):
    with pytest.raises(InputError, match="calm"):
        Breathing(body, "clam")
