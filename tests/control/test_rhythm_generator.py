"""Oscillators, learning, and what a swimmer can ask of the rhythm."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from vitruvian.anatomy import human
from vitruvian.control.rhythm import (
    GROUPS,
    SI_LEARNING,
    SI_OSCILLATOR,
    Learning,
    LengthCycle,
    LengthGains,
    Oscillator,
    Rhythm,
    RhythmControl,
    StrokeMotion,
    activation,
    batch,
    incremental,
    learn_pattern,
    length_cycle,
    load_stroke,
)
from vitruvian.errors import InputError
from vitruvian.world.state import copy_state, flatten_state

DT = 1.0 / 192.0


@pytest.fixture(scope="module")
def body():
    return human()


@pytest.fixture(scope="module")
def rhythm(body):
    return Rhythm.learn(body, ["crawl", "butterfly"])


@pytest.fixture(scope="module")
def crawl(body):
    return length_cycle(StrokeMotion(body, load_stroke("crawl")), 192)


def waves(n=192):
    """Three signals whose derivatives are known."""
    x = np.arange(n) / n
    turn = 2 * np.pi
    terms = [(1.0, 1, 0.3), (0.4, 2, 1.0), (0.1, 5, 2.0)]
    length = np.stack([0.2 + a * 0.05 * np.sin(turn * k * x + p) for a, k, p in terms], axis=1)
    slope = np.stack([a * 0.05 * turn * k * np.cos(turn * k * x + p) for a, k, p in terms], axis=1)
    bend = np.stack([-a * 0.05 * (turn * k) ** 2 * np.sin(turn * k * x + p) for a, k, p in terms], axis=1)
    return LengthCycle(x, length, slope, bend)


def run(rhythm, state, seconds, dt=DT):
    for _ in range(round(seconds / dt)):
        rhythm.step(state, dt)


def test_incremental_regression_without_forgetting_equals_batch():
    rng, o = np.random.default_rng(0), SI_OSCILLATOR
    basis = o.basis(2 * np.pi * np.arange(150) / 150)
    f = rng.normal(size=(150, 5))
    one, other = incremental(basis, f, forgetting=1.0), batch(basis, f)
    assert np.abs(one - other).max() < 1e-12
    twice = incremental(basis, f, forgetting=1.0, cycles=2)
    assert np.abs(twice - batch(np.vstack([basis, basis]), np.vstack([f, f]))).max() < 1e-12


def test_batch_minimises_the_weighted_squares_of_4_4():
    o = SI_OSCILLATOR
    basis = o.basis(2 * np.pi * np.arange(150) / 150)
    f = np.random.default_rng(0).normal(size=(150, 1))
    w = batch(basis, f, start=1e12)[0]  # a weak prior

    def cost(w):
        return (basis * (f - w) ** 2).sum(axis=0)

    assert (cost(w) <= cost(w + 1e-3)).all()
    assert (cost(w) <= cost(w - 1e-3)).all()


def test_forgetting_gives_more_weight_to_recent_samples():
    o = SI_OSCILLATOR
    basis = o.basis(2 * np.pi * np.arange(200) / 200)
    f = np.where(np.arange(400) < 200, 1.0, 3.0)[:, None]
    both = np.vstack([basis, basis])
    old, new = (incremental(both, f, forgetting=x) for x in (1.0, 0.95))
    assert np.abs(old - 2.0).max() < 0.25
    assert np.abs(new[:, 5:20] - 3.0).max() < 0.01


@pytest.mark.parametrize("how", [Learning(), Learning(forgetting=1.0)])
def test_learned_weights_reproduce_known_waves(how):
    cycle = waves()
    pattern = learn_pattern("wave", cycle, Oscillator(), how)
    assert pattern.amplitude == pytest.approx(cycle.range)
    o, turn = Oscillator(), 2 * np.pi

    def flow(phase, s):
        y, z = s[:3], s[3:]
        drive = pattern.amplitude * (pattern.weights @ o.mixture(phase))
        return np.concatenate([z, o.alpha * (o.beta * (pattern.baseline - y) - z) + drive])

    start = np.concatenate([np.full(3, 0.5), np.zeros(3)])  # far off
    found = solve_ivp(flow, (0, 3 * turn), start, t_eval=turn * (2 + cycle.phase), rtol=1e-9, atol=1e-12)
    assert (np.abs(found.y[:3].T - cycle.length) / cycle.range).max() < 0.005


def test_one_round_of_regression_blurs_high_harmonics_and_more_rounds_mend_it():
    cycle, o = waves(), SI_OSCILLATOR
    errors = []
    for rounds in (1, 16):
        p = learn_pattern("wave", cycle, o, Learning(forgetting=1.0, rounds=rounds))
        drive = o.mixture(2 * np.pi * cycle.phase) @ p.weights.T
        wave = 2 * np.abs(np.fft.rfft(drive[:, 2])[5]) / len(drive)
        true = 0.5 * abs(-25 + 8 * 5j + 16)  # |(ik)^2 + alpha ik + alpha beta| times half the scaled range
        errors.append(abs(wave / true - 1.0))
    assert 0.2 < errors[0] < 0.6  # exp(-k^2 / h) = 0.67
    assert errors[1] < 0.01


def test_a_muscle_that_does_not_move_stays_at_its_length():
    cycle = waves()
    still = replace(cycle, length=np.full((192, 1), 0.1), slope=np.zeros((192, 1)), curvature=np.zeros((192, 1)))
    pattern = learn_pattern("still", still)
    assert pattern.amplitude[0] == 0.0
    assert pattern.baseline[0] == pytest.approx(0.1)
    assert np.isfinite(pattern.weights).all()


def test_every_muscle_belongs_to_one_of_ten_groups_and_sides_mirror(body, rhythm):
    count = np.bincount(rhythm.groups, minlength=len(GROUPS))
    assert len(rhythm.groups) == 860
    assert (count > 0).all()
    for a, b in ((0, 1), (3, 4), (6, 7), (8, 9)):
        assert count[a] == count[b]
    assert GROUPS[rhythm.groups[body.muscles.named("biceps_brachii")[0]]].endswith("arm")


def test_all_muscles_agree_with_the_crawl_within_two_percent_after_two_cycles_from_a_wrong_start(rhythm, crawl):
    state = rhythm.start("crawl", 1.0, lengths=np.full(860, 0.2))
    run(rhythm, state, 2.0)
    moving = crawl.range > 1e-9
    worst = 0.0
    for k in range(192):
        worst = max(worst, (np.abs(state.length - crawl.length[k])[moving] / crawl.range[moving]).max())
        rhythm.step(state, DT)
    assert worst < 0.02


def test_with_the_constants_of_the_thesis_most_muscles_follow_but_not_all_within_two_percent(body, crawl):
    rhythm = Rhythm.of(body, [learn_pattern("crawl", crawl, SI_OSCILLATOR, SI_LEARNING)], SI_OSCILLATOR)
    y, _ = rhythm.cycle("crawl", crawl.phase)
    moving = crawl.range > 1e-9
    error = (np.abs(y - crawl.length).max(axis=0) / np.where(moving, crawl.range, 1.0))[moving]
    assert 0.02 < np.median(error) < 0.15


def test_the_settled_cycle_is_where_the_integration_arrives(rhythm):
    state = rhythm.start("butterfly", 0.8, lengths=np.full(860, 0.2))
    run(rhythm, state, 3.0)
    y, z = rhythm.cycle("butterfly", state.phase[0] / (2 * np.pi))
    assert np.abs(state.length - y).max() < 1e-6
    assert np.abs(state.z - z).max() < 1e-5


def test_a_step_is_of_fourth_order(rhythm):
    ends = []
    for n in (24, 48, 96):
        state = rhythm.start("crawl", 1.0, lengths=np.full(860, 0.2))
        rhythm.set_rate(state, 1.5)
        run(rhythm, state, 0.25, 0.25 / n)
        ends.append(state.length.copy())
    ratio = np.linalg.norm(ends[0] - ends[1]) / np.linalg.norm(ends[1] - ends[2])
    assert 13.0 < ratio < 19.0


def test_lengths_do_not_depend_on_rate_only_on_phase(rhythm):
    slow, fast = rhythm.start("crawl", 0.5), rhythm.start("crawl", 1.0)
    run(rhythm, slow, 1.5, 2 * DT)
    run(rhythm, fast, 0.75, DT)
    assert np.abs(slow.length - fast.length).max() < 1e-14
    assert np.abs(rhythm.rates(fast) - 2 * rhythm.rates(slow)).max() < 1e-13


def test_speed_slides_and_rates_stay_continuous(rhythm):
    state = rhythm.start("crawl", 0.5)
    before = rhythm.rates(state)
    rhythm.set_rate(state, 1.0)
    assert np.abs(rhythm.rates(state) - before).max() == 0.0
    rhythm.step(state, 1e-6)
    assert np.abs(rhythm.rates(state) - before).max() < 1e-4 * np.abs(before).max()
    run(rhythm, state, 5.0)
    assert state.frequency == pytest.approx(np.full(10, 2 * np.pi), rel=1e-4)


def test_phase_is_the_integral_of_the_sliding_frequency(rhythm):
    state, total, n = rhythm.start("crawl", 0.5), 0.0, 2000
    rhythm.set_rate(state, 1.0)
    for _ in range(n):
        total += 0.5 * state.frequency[0] / n
        rhythm.step(state, 1.0 / n)
        total += 0.5 * state.frequency[0] / n
    assert state.phase[0] == pytest.approx(total, rel=1e-6)


@pytest.mark.parametrize("command", ["stroke", "turn", "hold", "gain"])
def test_wanted_lengths_are_once_continuously_differentiable_across_every_command(rhythm, command):
    state = rhythm.start("butterfly", 0.75, phase=0.3)
    h = 1e-6
    run(rhythm, state, 0.5)
    a = state.length.copy()
    rhythm.step(state, h)
    b = state.length.copy()
    {
        "stroke": lambda: rhythm.set_stroke(state, "crawl"),
        "turn": lambda: rhythm.set_turn(state, 1.0),
        "hold": lambda: rhythm.hold(state, ["left arm"]),
        "gain": lambda: rhythm.set_gain(state, 0.0),
    }[command]()
    rhythm.step(state, h)
    c = state.length.copy()
    scale = np.abs(rhythm.rates(state)).max()
    assert np.abs(c - 2 * b + a).max() / h < 1e-3 * scale  # the two one-sided slopes


def test_after_a_switch_the_new_stroke_is_swum_within_a_cycle(rhythm):
    state = rhythm.start("butterfly", 0.75)
    run(rhythm, state, 0.7)
    rhythm.set_stroke(state, "crawl")
    run(rhythm, state, 1.0 / 0.75)
    y, _ = rhythm.cycle("crawl", state.phase[0] / (2 * np.pi))
    assert np.abs(state.length - y).max() < 1e-4


def test_a_turn_to_the_left_shortens_the_left_side_and_fades_trunk_and_neck(rhythm):
    state = rhythm.start("crawl", 0.75)
    r0, g0 = rhythm.drive(state)
    rhythm.set_turn(state, 1.0)
    r, g = rhythm.drive(state)
    of = {name: rhythm.groups == i for i, name in enumerate(GROUPS)}
    for part in ("trunk", "neck"):
        assert (g < g0)[of[f"left {part}"]].all()
        assert (g > g0)[of[f"right {part}"]].all()
        assert (g == g0)[of[f"medial {part}"]].all()
        for side in ("left", "right", "medial"):
            assert (r[of[f"{side} {part}"]] <= r0[of[f"{side} {part}"]]).all()
    for limb in ("left arm", "right leg"):
        assert (r == r0)[of[limb]].all()
        assert (g == g0)[of[limb]].all()
    rhythm.set_turn(state, 0.0)
    assert all((x == y).all() for x, y in zip(rhythm.drive(state), (r0, g0)))


def test_a_held_arm_comes_to_rest_while_the_rest_swims_on_and_falls_in_again(rhythm):
    free, state = rhythm.start("crawl", 0.75), rhythm.start("crawl", 0.75)
    arm = rhythm.groups == GROUPS.index("left arm")
    straight = state.length + 0.01
    rhythm.hold(state, ["left arm"], straight)
    run(rhythm, state, 2.0)
    run(rhythm, free, 2.0)
    assert np.abs(state.length - straight)[arm].max() < 1e-6
    assert np.abs(rhythm.rates(state)[arm]).max() < 1e-5
    assert np.abs(state.length - free.length)[~arm].max() == 0.0
    rhythm.release(state, ["left arm"])
    run(rhythm, state, 2.0)
    run(rhythm, free, 2.0)
    assert np.abs(state.length - free.length).max() < 1e-6


def test_activation_follows_4_9_and_stays_between_zero_and_one():
    rest = np.array([0.1, 0.2, 0.1, 0.1])
    a = activation(
        np.array([0.11, 0.2, 0.2, 0.1]), np.array([0.0, 1.0, 0.0, 0.0]), np.array([0.1, 0.2, 0.1, 0.11]), 0.0, rest
    )
    assert a == pytest.approx([5 * 0.01 / 0.1, 0.005 * 1.0 / 0.2, 1.0, 0.0])
    assert activation(rest, 0.0, rest * 0.99, 0.0, rest, LengthGains(stiffness=10.0)) == pytest.approx(np.full(4, 0.1))


def test_the_controller_pulls_little_where_the_body_already_follows_and_obeys_its_plan(body, rhythm):
    motion = StrokeMotion(body, load_stroke("crawl"), 0.75)
    control = RhythmControl(rhythm, "crawl", 0.75, plan=[(0.1, lambda r, s: r.set_stroke(s, "butterfly"))])
    own = control.start(np.random.default_rng(0))
    state = body.at_rest(body.default_q)
    largest = []
    for k in range(30):
        state.q, state.v, _ = motion.sample(k * DT)
        largest.append(control.act(own, state, k * DT, DT).excitation.max())
    assert own.next_command == 1
    assert set(own.rhythm.stroke) == {rhythm.names.index("butterfly")}
    assert max(largest[:19]) < 0.02
    assert largest[-1] > 0.1


def test_a_copied_state_continues_to_the_same_bits(rhythm):
    state = rhythm.start("crawl", 0.75)
    rhythm.hold(state, ["left leg"])
    run(rhythm, state, 0.2)
    twin = copy_state(state)
    assert flatten_state(state)["held"].sum() == 1
    for s in (state, twin):
        run(rhythm, s, 0.2)
    assert state.length.tobytes() == twin.length.tobytes()


def test_wrong_commands_get_a_line_that_names_them(rhythm):
    state = rhythm.start("crawl", 0.75)
    for call, named in (
        (lambda: rhythm.set_stroke(state, "crwal"), "unknown stroke 'crwal'"),
        (lambda: rhythm.hold(state, ["left wing"]), "unknown muscle group 'left wing'"),
        (lambda: rhythm.set_rate(state, -1.0), "stroke rate"),
        (lambda: rhythm.set_turn(state, 2.0), "a turn must lie between"),
        (lambda: RhythmControl(rhythm, "dogpaddle"), "unknown stroke 'dogpaddle'"),
        (lambda: RhythmControl(rhythm, "crawl", plan=[(1.0, print), (0.5, print)]), "times of a plan must ascend"),
    ):
        with pytest.raises(InputError, match=named):
            call()
