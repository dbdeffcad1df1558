"""What drives and steers a swimmer, on the whole body."""

from __future__ import annotations

import numpy as np
import pytest

from vitruvian.anatomy import human
from vitruvian.control import tracking_error
from vitruvian.control.rhythm import MuscleKinematics, Rhythm, StrokeMotion, load_stroke
from vitruvian.control.rhythm.decode import LengthReader
from vitruvian.control.swim import (
    InverseDynamicsActuation,
    MuscleActuation,
    PdActuation,
    Pilot,
    SplineRhythm,
    heading,
    rate,
    stroke,
)
from vitruvian.couple import BodyStepper
from vitruvian.errors import InputError

DT = 1.0 / 192.0


@pytest.fixture(scope="module")
def body():
    return human(gravity=(0.0, 0.0, 0.0))


@pytest.fixture(scope="module")
def motion(body):
    return StrokeMotion(body, load_stroke("crawl"), 0.6)


@pytest.fixture(scope="module")
def rhythm(body):
    return Rhythm.learn(body, ["crawl"])


def _error(body, q, wanted):
    out = np.empty(body.skeleton.n_v)
    tracking_error(body.skeleton.topology, q, wanted, out)
    return out


def _started(body, motion):
    q, v, _ = motion.sample(0.0)
    state = body.at_rest(q)
    state.v = v.copy()
    return state


def _swim(body, actuation, state, steps):
    """Steps without water; the pelvis floats."""
    stepper = BodyStepper(body.skeleton, body.muscles)
    own = actuation.start(np.random.default_rng(0))
    for k in range(steps):
        controls = actuation.act(own, state, k * DT, DT)
        state.activation = controls.excitation
        state.q, state.v = stepper.step(
            state.q, state.v, state.activation, DT, torque=None if controls.torque is None else controls.torque.torque
        )
    return own, controls


def test_wanted_lengths_mean_the_pose_that_made_them(body, motion):
    measure, reader = MuscleKinematics(body), LengthReader(body)
    limbs = np.concatenate(
        [np.arange(body.skeleton.n_v)[body.skeleton.v_slice(b)] for b in ("Hu_l", "Ul_l", "Rad_l", "Fe_r", "Tfp_r")]
    )
    q = motion.sample(0.0)[0]
    for k in range(1, 12):
        wanted, v, a = motion.sample(k * DT)
        meant = reader.read(q, *measure(wanted, v, a))
        q = meant.q
    assert np.abs(_error(body, q, wanted)[limbs]).max() < 5e-3
    assert np.abs(meant.v - v)[limbs].max() < 0.02 * np.abs(v).max()
    assert np.abs(meant.a - a)[limbs].max() < 0.05 * np.abs(a).max()


def test_accelerations_of_the_rhythm_are_slopes_of_its_rates(body, rhythm):
    state = rhythm.start("crawl", 0.6, phase=0.3)
    rhythm.set_rate(state, 1.0)
    before, h = rhythm.accelerations(state), 1e-5
    first = rhythm.rates(state)
    rhythm.step(state, h)
    slope = (rhythm.rates(state) - first) / h
    assert np.abs(slope - 0.5 * (before + rhythm.accelerations(state))).max() < 1e-4 * np.abs(slope).max()


def test_splines_and_oscillators_want_the_same_lengths(body, rhythm):
    curves = SplineRhythm(body, "crawl")
    one, other = curves.start("crawl", 0.6), rhythm.start("crawl", 0.6)
    for _ in range(20):
        curves.step(one, DT)
        rhythm.step(other, DT)
    span = rhythm.amplitude[0].max()
    assert np.abs(one.length - other.length).max() < 0.01 * span
    with pytest.raises(InputError, match="share one rate"):
        curves.set_rate(one, 1.0, ["left arm"])


def test_muscles_lead_the_limbs_through_the_stroke(body, motion, rhythm):
    state = _started(body, motion)
    actuation = MuscleActuation(body, "crawl", 0.6, rhythm=rhythm)
    _, controls = _swim(body, actuation, state, 48)
    error = np.degrees(np.abs(_error(body, state.q, motion.sample(48 * DT)[0])))
    for bone, most in (("Ul_l", 3.0), ("Tfp_l", 3.0), ("Fe_l", 12.0), ("Hu_l", 15.0), ("Rad_r", 8.0)):
        assert error[body.skeleton.v_slice(bone)].max() < most, bone
    assert controls.excitation.min() >= 0.0
    assert controls.excitation.max() <= 1.0
    assert controls.asked == ("excitation",)


def test_muscles_hold_the_trunk_in_its_course(body):
    """Si's law lets the spine give way where all muscles together keep it."""
    motion = StrokeMotion(body, load_stroke("butterfly"), 0.9)
    learned = Rhythm.learn(body, ["butterfly"])
    rows = [body.skeleton.v_slice(f"{part}{i}").start for part, n in (("L", 5), ("T", 12)) for i in range(1, n + 1)]
    off = {}
    for feedback in ("balanced", "length"):
        state = _started(body, motion)
        _swim(body, MuscleActuation(body, "butterfly", 0.9, rhythm=learned, feedback=feedback), state, 72)
        off[feedback] = abs(np.degrees(_error(body, state.q, motion.sample(72 * DT)[0])[rows].sum()))
    assert off["balanced"] < 5.0
    assert off["length"] > 3.0 * off["balanced"]


@pytest.mark.parametrize("kind", [InverseDynamicsActuation, PdActuation])
def test_torques_leave_the_pelvis_alone_and_stay_within_what_muscles_could_give(body, motion, kind):
    state = _started(body, motion)
    free, bound = kind(body, "crawl", 0.6, limited=False), kind(body, "crawl", 0.6)
    state.q[body.skeleton.q_slice("Tfp_l")] += 1.6  # far off: more than the thigh can give
    strong = free.act(free.start(np.random.default_rng(0)), state, 0.0, DT)
    weak = bound.act(bound.start(np.random.default_rng(0)), state, 0.0, DT)
    assert not strong.torque.torque[:6].any()
    assert not strong.excitation.any()
    knee = body.skeleton.v_slice("Tfp_l")
    assert np.abs(weak.torque.torque[knee]).max() < np.abs(strong.torque.torque[knee]).max()
    assert weak.effort.missing > 1.0


def test_inverse_dynamics_follows_the_stroke_with_a_floating_pelvis(body, motion):
    state = _started(body, motion)
    actuation = InverseDynamicsActuation(body, "crawl", 0.6)
    _swim(body, actuation, state, 48)
    error = _error(body, state.q, motion.sample(48 * DT)[0])
    assert np.degrees(np.abs(error[actuation.rows]).max()) < 3.0  # clavicles, on a first rib that gives way: 2.5


def test_muscles_swim_a_stroke_from_a_file(body, tmp_path):
    own = tmp_path / "kick.toml"
    own.write_text('posture = "prone"\n[angles]\n"knee flexion" = [5, 30, 50, 10, 5, 5]\n')
    actuation = MuscleActuation(body, str(own), 0.6, control="spline")
    assert np.isfinite(actuation.start(np.random.default_rng(0)).rhythm.length).all()


def test_commands_reach_rate_stroke_and_heading(body, rhythm):
    pilot = Pilot(body, "crawl")
    plan = [(0.0, rate(1.1)), (0.0, heading(0.5)), (0.0, stroke("crawl"))]
    actuation = MuscleActuation(body, "crawl", 0.6, rhythm=rhythm, pilot=pilot, plan=plan)
    own = actuation.start(np.random.default_rng(0))
    actuation.act(own, _started(body, StrokeMotion(body, load_stroke("crawl"), 0.6)), 0.0, DT)
    assert own.rhythm.wanted_frequency == pytest.approx(2.0 * np.pi * 1.1)
    assert own.pilot.wanted_heading == 0.5
    with pytest.raises(InputError, match="must ascend"):
        MuscleActuation(body, "crawl", 0.6, rhythm=rhythm, plan=[(2.0, rate(1.0)), (1.0, rate(0.5))])
    torques = InverseDynamicsActuation(body, "crawl", 0.6, plan=[(0.0, stroke("butterfly"))])
    own = torques.start(np.random.default_rng(0))
    with pytest.raises(InputError, match="use actuation=muscles"):
        torques.act(own, body.at_rest(), 0.0, DT)
