import numpy as np
import pytest

from vitruvian.anatomy import arm
from vitruvian.control import ComputedMuscleControl, Gains, KeyMotion, pose, tracking_error
from vitruvian.errors import InputError
from vitruvian.muscle import ActivationDynamics
from vitruvian.skeleton import Inertia, difference, integrate
from vitruvian.systems import BodySystem, Held, Push
from vitruvian.world import World


@pytest.fixture(scope="module")
def body():
    return arm("left")


@pytest.fixture(scope="module")
def motion(body):
    start = pose(body, {"left arm": {"direction": [0.4, -0.3, -1.0]}, "left elbow": 20})
    return KeyMotion.through(body, [0.0, 0.6], [start, pose(body, {"left elbow": 70}, start)])


def world(body, motion, gains=None, pushes=(), **options):
    simulation = BodySystem(body, motion.sample(0.0)[0], drawn=False, pushes=pushes)
    control = ComputedMuscleControl(body, simulation.stepper.twin(), motion, gains, **options)
    return World(simulation, control, frame_rate=60.0, substeps=8)


def worst_error(w, motion, seconds):
    out, worst = np.empty(w.simulation.body.skeleton.n_v), 0.0
    w.start()
    while w.time < seconds:
        w.step()
        tracking_error(w.simulation.body.skeleton.topology, w.state.q, motion.sample(w.time)[0], out)
        worst = max(worst, float(np.degrees(np.abs(out).max())))
    return worst


def test_error_of_rotations_and_hinges_equals_the_skeletons_difference(body):
    rng = np.random.default_rng(0)
    a, b = (integrate(body.skeleton, body.default_q, rng.normal(size=body.skeleton.n_v)) for _ in range(2))
    out = np.empty(body.skeleton.n_v)
    tracking_error(body.skeleton.topology, a, b, out)
    assert out == pytest.approx(difference(body.skeleton, a, b), abs=1e-12)


def test_an_arm_follows_its_motion_within_two_degrees(body, motion):
    assert worst_error(world(body, motion), motion, 0.8) < 2.0


def test_part_by_part_solve_follows_too(body, motion):
    assert worst_error(world(body, motion, regions=True), motion, 0.8) < 2.0


def test_excitations_make_up_for_the_activation_lag(body, motion):
    lagging = ActivationDynamics()
    simulation = BodySystem(body, motion.sample(0.0)[0], drawn=False, dynamics=lagging)
    knowing = ComputedMuscleControl(body, simulation.stepper.twin(), motion, dynamics=lagging)
    blind = ComputedMuscleControl(body, simulation.stepper.twin(), motion)
    errors = [worst_error(World(simulation, c, frame_rate=60.0, substeps=8), motion, 0.8) for c in (knowing, blind)]
    assert errors[0] < 2.0
    assert errors[0] < 0.7 * errors[1]


def test_a_load_is_sensed_as_one_minus_the_exponential_of_time_over_lag(body, motion):
    still = KeyMotion.through(body, [0.0], [motion.keys[0]])
    held = [Held("Ha_l", Inertia(2.0), start=0.1), Held("Ul_l", Inertia(1.0))]
    simulation = BodySystem(body, motion.keys[0], drawn=False, held=held)
    lag, hand = 0.15, body.skeleton.index("Ha_l")
    control = ComputedMuscleControl(body, simulation.stepper.twin(), still, Gains(sensor_lag=lag))
    own, state = control.start(np.random.default_rng(0)), simulation.start(np.random.default_rng(0))
    dt, seen = 0.005, []
    for k in range(100):
        simulation.surround(state, k * dt)
        control.act(own, state, k * dt, dt)
        seen.append(own.load.value[hand, 0])
    t = np.arange(1, 101) * dt  # sensed at the end of the step
    expected = np.where(t > 0.1 + 1e-9, 2.0 * (1.0 - np.exp(-(t - 0.1) / lag)), 0.0)
    assert seen == pytest.approx(expected, abs=1e-9)
    assert own.load.value[body.skeleton.index("Ul_l"), 0] == pytest.approx(1.0)  # there from the start: known


def test_torque_that_muscles_cannot_give_is_recorded_with_its_joint(body, motion):
    still = KeyMotion.through(body, [0.0], [motion.keys[0]])
    shown = {}
    for mass in (0.5, 60.0):
        simulation = BodySystem(body, motion.keys[0], drawn=False, held=[Held("Ha_l", Inertia(mass, (0.1, 0.0, 0.0)))])
        control = ComputedMuscleControl(body, simulation.stepper.twin(), still, Gains(sensor_lag=0.0))
        state = simulation.start(np.random.default_rng(0))
        controls = control.act(control.start(np.random.default_rng(0)), state, 0.0, 0.001)
        shown[mass] = simulation.observe(state, controls, 0.0).signals
    assert shown[0.5]["missing_torque"] < 0.1
    assert shown[60.0]["missing_torque"] > 5.0
    lacking = int(shown[60.0]["missing_at"])
    assert body.skeleton.names[lacking] in ("Cla_l", "Hu_l", "Ul_l", "Rad_l", "Ha_l")
    assert body.skeleton.joints[lacking].n_v


@pytest.mark.parametrize("lag", [0.0, 0.2])
def test_a_push_moves_the_arm_only_if_senses_lag(body, motion, lag):
    still = KeyMotion.through(body, [0.0], [motion.keys[0]])
    push = [Push("Ha_l", (0.0, 0.0, -20.0), 0.1, 0.3)]
    worst = worst_error(world(body, still, Gains(sensor_lag=lag), pushes=push), still, 0.5)
    assert (worst > 1.0) if lag else (worst < 0.6)


def test_same_bits_whenever_it_is_run(body, motion):
    runs = []
    for _ in range(2):
        w = world(body, motion, coactivation={"left arm": 0.3})
        w.advance(0.1)
        runs.append(w.state.q)
    assert (runs[0] == runs[1]).all()


def test_bad_settings_are_named(body, motion):
    with pytest.raises(InputError, match="unknown body part 'tail'"):
        world(body, motion, coactivation={"tail": 1.0})
    with pytest.raises(InputError, match="coactivation must not be negative"):
        world(body, motion, coactivation=-0.5)
    with pytest.raises(InputError, match="control rate must be positive"):
        world(body, motion, Gains(rate=0.0))
    with pytest.raises(InputError, match="unknown bone 'Ha_x'"):
        BodySystem(body, pushes=[Push("Ha_x", (0, 0, 1), 0, 1)])
