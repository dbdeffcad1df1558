"""What swimming scenes say of recordings whose truth is known: made up here, without any simulation."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import cumulative_trapezoid

from vitruvian import scenes
from vitruvian.control.rhythm import Rhythm
from vitruvian.scenes._swim import MEASURES, own_mass
from vitruvian.scenes.swim_compare import CHANGES
from vitruvian.systems.swimmer_signals import BODY_PARTS, SIGNALS

BONES = ("Pel", "Ha_l", "Ha_r")


def settings(name, **options):
    return {key: p.default for key, p in scenes.find(name).parameters.items()} | options


def recording(seconds, rate, step=1.0, jump=(0.0, 0.0), **changed):
    """A prone swimmer who goes `step` metres ahead a cycle, faster and slower within it; rate(time) [1/s]."""
    time = np.arange(0.0, seconds + 1e-9, 1.0 / 48.0)
    fine = np.linspace(0.0, time[-1], 20001)
    phase = np.interp(time, fine, cumulative_trapezoid(rate(fine), fine, initial=0.0))
    signals = {s.name: np.zeros((len(time), len(s.components)) if s.components else len(time)) for s in SIGNALS}
    way = step * phase + 0.05 * np.sin(2.0 * np.pi * phase)
    signals["position"][:, 1] = -way
    signals["speed"] = np.gradient(way, time)
    signals["speed_ahead"] = signals["speed"].copy()
    signals["back_up"][:] = 1.0
    signals["stroke_phase"], signals["stroke_rate"] = phase, rate(time)
    signals["wanted_jump"] = np.tile(jump, (len(time), 1))
    signals["roll"][:, 1] = 15.0 * np.sin(2.0 * np.pi * phase)
    signals["height"] = -0.15 + 0.02 * np.cos(2.0 * np.pi * phase)
    out = SimpleNamespace(time=time, signals=signals | changed, stage=SimpleNamespace(bodies=BONES))
    out.poses = np.zeros((len(time), len(BONES), 7))
    out.poses[:, :, 1] = signals["position"][:, 1:2]
    return out


def checked(name, made, **options):
    return scenes.find(name).check(made, settings(name, **options))


# --- all of them ---------------------------------------------------------------------------------------------------


def test_a_crawler_who_keeps_his_mouth_under_water_in_one_stroke_is_told():
    told = "his lips come over calm water in every cycle"
    made = recording(4.0 / 0.7, lambda t: np.full_like(t, 0.7))
    phase = made.signals["stroke_phase"]
    made.signals["mouth_height"] = -0.1 + 0.13 * (np.abs(phase % 1.0 - 0.3) < 0.1)
    assert checked("crawl", made).checks[told]
    made.signals["mouth_height"][np.floor(phase) == 2] = -0.1
    assert not checked("crawl", made).checks[told]
    assert told not in checked("breaststroke", made).checks


def test_the_swing_of_the_speed_is_that_within_a_stroke_and_not_the_speeding_up_from_one_to_the_next():
    made = recording(4.0 / 0.7, lambda t: np.full_like(t, 0.7))
    steady = checked("crawl", made).metrics["speed_swing"]
    assert steady == pytest.approx(0.05 * 2.0 * np.pi, rel=0.02)
    made.signals["speed"] = made.signals["speed"] * (1.0 + np.floor(made.signals["stroke_phase"] + 1e-9))
    assert checked("crawl", made).metrics["speed_swing"] < 1.5 * steady


def test_momentum_ahead_that_nothing_gave_him_is_seen_beside_his_weight():
    made = recording(4.0 / 0.7, lambda t: np.full_like(t, 0.7))
    name = "impulses of water and weight are the body's momentum within 3 %"
    signals = made.signals
    signals["impulse_water"][:, 2] = 1000.0 * made.time
    signals["impulse_other"][:, 2] = -1000.0 * made.time
    signals["impulse_water"][:, 1] = 10.0 * np.sin(made.time)
    signals["momentum"][:, 1] = 10.0 * np.sin(made.time)
    assert checked("crawl", made).checks[name]
    signals["momentum"][:, 1] += made.time  # 6 N s of about 20 that passed, of 6000 upwards
    assert not checked("crawl", made).checks[name]


def test_a_paddled_raft_has_the_froude_efficiency_of_its_slip():
    """A hull held back by D at v and hands that push with D, slipping back at u: D v of D (v + u) is useful."""
    v, u, drag, drive, rate = 0.9, 0.6, 27.0, 80.0, 0.6
    made = recording(4.0 / rate, lambda t: np.full_like(t, rate), step=v / rate)
    made.signals["thrust_by_part"][:, BODY_PARTS.index("trunk")] = -drag
    wave = 2.0 * np.sin(2.0 * np.pi * made.signals["stroke_phase"]) ** 2  # the hands push in spurts
    made.signals["thrust_by_part"][:, BODY_PARTS.index("hands")] = drag * wave
    made.signals["work"][:, 0] = drive * made.time
    made.signals["work"][:, 1] = -drag * (v + u) * made.time
    m = checked("crawl", made).metrics
    assert m["mean_speed"] == pytest.approx(v, rel=2e-3)
    assert m["froude"] == pytest.approx(v / (v + u), rel=5e-3)
    assert m["stroke_length"] == pytest.approx(v / rate, rel=2e-3)
    assert m["power_w"] == pytest.approx(drive)
    assert m["energy_per_metre_j"] == pytest.approx(drive / v, rel=2e-3)


def test_a_recording_without_work_by_part_is_judged_and_its_table_says_what_is_not_there():
    made = recording(4.0 / 0.7, lambda t: np.full_like(t, 0.7))
    whole = checked("crawl", made)
    made.signals.pop("work_by_part")
    earlier = checked("crawl", made)
    assert earlier.metrics == pytest.approx(whole.metrics, nan_ok=True)
    assert earlier.checks == whole.checks
    assert [row[:2] for row in earlier.table] == [row[:2] for row in whole.table]
    assert {row[2] for row in earlier.table[1:]} == {"not recorded"}


STROKES = ("crawl", "butterfly", "backstroke", "breaststroke")
COMMANDS = ("swim-faster", "swim-follow", "swim-switch", "swim-turn", "perturb", "swim-compare")


@pytest.mark.parametrize("name", STROKES + COMMANDS)
def test_the_measures_of_a_stroke_are_always_there(name):
    """Not numbers where no cycle is whole."""
    made = recording(0.5, lambda t: np.full_like(t, 0.5))
    made.signals["distance"] = np.linspace(2.0, 1.5, len(made.time))  # to the ball that is followed
    metrics = checked(name, made).metrics
    assert all(np.isnan(metrics[m]) for m in MEASURES)


def test_every_lane_tells_what_its_stroke_costs():
    """A raft as above in each lane, the torque-driven ones with other powers; and the first lane's under the usual
    names."""
    v, u, drag, rate = 0.9, 0.6, 27.0, 0.7
    made = recording(3.0 / rate, lambda t: np.full_like(t, rate), step=v / rate)
    for n, lane in enumerate(CHANGES):
        made.signals[f"place_{lane}"] = made.signals["position"]
        made.signals[f"work_{lane}"] = made.time[:, None] * [80.0 + n, -drag * (v + u)]
        thrust = np.zeros((len(made.time), len(BODY_PARTS)))
        thrust[:, BODY_PARTS.index("trunk")], thrust[:, BODY_PARTS.index("hands")] = -drag, drag
        made.signals[f"thrust_{lane}"] = thrust
    m = checked("swim-compare", made, rate=rate).metrics
    assert [m[f"power_w_{lane}"] for lane in CHANGES] == pytest.approx([80.0 + n for n in range(len(CHANGES))])
    assert [m[f"froude_{lane}"] for lane in CHANGES] == pytest.approx([v / (v + u)] * len(CHANGES), rel=5e-3)
    assert m["power_w"] == pytest.approx(80.0)
    assert m["froude"] == m["froude_cpg"]
    assert m["stroke_length"] == pytest.approx(v / rate, rel=2e-3)


# --- swim-faster ---------------------------------------------------------------------------------------------------


def slides(time, at=4.1, slow=0.5, fast=1.0):
    return np.where(time < at, slow, fast + (slow - fast) * np.exp(-(time - at) / 0.5))


def test_cycles_follow_the_rate_in_force():
    """A metre a cycle is a metre a cycle however long the cycle lasts."""
    report = checked("swim-faster", recording(8.8, slides))
    m = report.metrics
    assert m["stroke_length"] == pytest.approx(1.0, abs=2e-3)
    assert m["speed_before"] == pytest.approx(0.5, abs=2e-3)
    assert m["rate_before"] == pytest.approx(0.5, abs=2e-3)
    assert 0.98 < m["rate_after"] < 1.0
    assert m["speed_after"] == pytest.approx(m["rate_after"], rel=5e-3)
    assert m["stroke_rate"] == pytest.approx(m["mean_speed"], rel=5e-3)
    assert 0.5 < m["stroke_rate"] < 1.0
    assert all(report.checks.values())


@pytest.mark.parametrize(("seconds", "slows"), [(8.8, True), (4.6, False)])
def test_a_swimmer_who_is_not_seen_to_get_faster_fails(seconds, slows):
    """Half a metre a cycle at twice the rate; and a recording that ends before the new rate is there."""
    made = recording(seconds, slides)
    if slows:
        phase = made.signals["stroke_phase"]
        made.signals["position"][:, 1] = -np.where(phase < 2.0, phase, 2.0 + 0.45 * (phase - 2.0))
    report = checked("swim-faster", made)
    assert not report.checks["a higher stroke rate is a higher speed, whole cycles before and after"]
    assert report.checks["forward in every cycle after the first"]


# --- swim-switch ---------------------------------------------------------------------------------------------------

AT = 3.3  # [s]
FORWARD = "forward in every stroke before, at and after the switch"
ARMS = "arms together before the switch, in turn after it"
SMOOTH = "wanted muscle lengths and their rates do not leap"
BAND = "crawl after the switch between 0.6 and 1.6 m/s"


def switched(jump=(0.0, 0.0), alternate=True, step=1.1):
    made = recording(6.7, lambda t: np.full_like(t, 0.7), step, jump)
    turn = 2.0 * np.pi * made.signals["stroke_phase"]
    made.poses[:, 1, 1] += 0.5 * np.cos(turn)
    late = (made.time > AT) & alternate
    made.poses[:, 2, 1] += np.where(late, -0.5, 0.5) * np.cos(turn)
    return made


def failed(report):
    return {name for name, passed in report.checks.items() if not passed}


def test_a_switch_that_goes_well_passes_every_check():
    report = checked("swim-switch", switched())
    assert not failed(report)
    assert report.metrics["speed_crawl"] == pytest.approx(0.77, abs=2e-3)
    assert report.metrics["speed_butterfly"] == pytest.approx(0.77, abs=2e-3)
    assert report.metrics["arms_alike_crawl"] == pytest.approx(-1.0)


def test_a_swimmer_who_comes_to_a_stop_at_the_switch_fails():
    made = switched()
    y = made.signals["position"][:, 1]
    stop = made.time > AT
    y[stop] = y[stop.argmax()] + 0.02 * (made.time[stop] - AT)
    assert failed(checked("swim-switch", made)) >= {FORWARD, BAND}


def test_one_stroke_backwards_just_after_the_switch_fails_though_the_mean_is_ahead():
    made = switched(step=1.6)
    y, back = made.signals["position"][:, 1], (made.time > AT) & (made.time < AT + 1.0 / 0.7)
    before, after = y[back.argmax()], y[back][-1]
    y[back] = before + np.linspace(0.0, 0.1, back.sum())
    y[made.time >= AT + 1.0 / 0.7] += before + 0.1 - after
    assert FORWARD in failed(checked("swim-switch", made))


def test_arms_that_go_on_together_are_no_crawl():
    assert failed(checked("swim-switch", switched(alternate=False))) == {ARMS}


@pytest.mark.parametrize("jump", [(1e-4, 0.0), (0.0, 1e-3)])
def test_wanted_lengths_that_leap_fail(jump):
    assert failed(checked("swim-switch", switched(jump=jump))) == {SMOOTH}


def test_a_swimmer_on_his_back_after_the_switch_fails():
    made = switched()
    made.signals["back_up"][made.time > 5.0] = -1.0
    assert failed(checked("swim-switch", made)) == {"prone"}


def test_a_run_that_ends_before_the_switch_fails():
    made = recording(3.2, lambda t: np.full_like(t, 0.7))
    assert failed(checked("swim-switch", made)) == {FORWARD, BAND}


def test_a_switch_in_the_water_leaves_wanted_lengths_smooth_and_one_that_jumps_is_seen(monkeypatch):
    quick = {"water": "still", "triangles": 1000, "at": 0.03, "rate": 0.7}
    world = scenes.find("swim-switch").build(settings("swim-switch", **quick))

    def seen():
        world.start()
        for _ in range(6):
            world.step()
        assert world.own.next_command == 1
        return world.observe().signals

    signals = seen()
    assert signals["stroke_phase"] == pytest.approx(0.7 * world.time, abs=1e-9)
    assert signals["stroke_rate"] == pytest.approx(0.7)
    np.testing.assert_array_equal(signals["wanted_jump"], 0.0)

    def leap(self, state, stroke, groups=()):
        state.stroke[:] = self.names.index(stroke)
        state.length[:] = self.cycle(stroke, float(state.phase[0]) / (2.0 * np.pi))[0]

    monkeypatch.setattr(Rhythm, "set_stroke", leap)
    assert seen()["wanted_jump"][0] > 1e-3


# --- perturb -------------------------------------------------------------------------------------------------------

SHOVE = 4.0  # [s]
ALL_BACK = "back in the cycle within three strokes"


def shoved(signal="", by=0.0, fades=1.0, seconds=8.4):
    """A swimmer whose `signal` a shove throws off by so much, which fades within so many seconds."""
    made = recording(seconds, lambda t: np.full_like(t, 0.7))
    if signal:
        off = np.where(made.time < SHOVE, 0.0, by * np.exp(-(made.time - SHOVE) / fades))
        made.signals[signal][..., -1 if made.signals[signal].ndim > 1 else slice(None)] += off
    return made


def test_an_undisturbed_swimmer_is_back_at_once():
    report = checked("perturb", shoved())
    assert not failed(report)
    assert report.metrics["strokes_to_recover"] == 1.0


@pytest.mark.parametrize(("signal", "by", "word"), [("roll", 40.0, "roll"), ("height", -0.1, "depth")])
def test_a_swimmer_thrown_over_or_under_must_come_back_to_the_cycle_he_had(signal, by, word):
    """A fade of half a second takes one stroke away (40 degrees against a swing of 15), one of 20 s is never seen."""
    soon = checked("perturb", shoved(signal, by, fades=0.5))
    assert not failed(soon)
    assert soon.metrics[f"{word}_strokes_to_recover"] == soon.metrics["strokes_to_recover"] == 2.0
    assert failed(checked("perturb", shoved(signal, by, fades=20.0))) == {ALL_BACK, f"{word} {ALL_BACK}"}


def test_a_swimmer_who_keeps_rolling_out_of_step_is_not_back_though_mean_and_range_are_right():
    made = shoved()
    late = made.time > SHOVE
    made.signals["roll"][late, 1] *= -1.0
    assert failed(checked("perturb", made)) == {ALL_BACK, f"roll {ALL_BACK}"}


@pytest.mark.parametrize("options", [{"seconds": 5.0}, {"at": 1.5}])
def test_a_shove_without_whole_strokes_before_and_after_it_shows_nothing(options):
    seconds = options.pop("seconds", 8.4)
    assert ALL_BACK in failed(checked("perturb", shoved(seconds=seconds), **options))


# --- float ---------------------------------------------------------------------------------------------------------


def let_go(highest, sinks, displaced):
    """A human who lets go: height [m] of his highest point, speed down [m/s], water displaced over his own mass."""
    made = recording(4.0, lambda t: np.full_like(t, 0.7))
    made.signals["velocity"][:, 2] = -sinks
    made.signals["displaced"][:] = displaced * own_mass() / 1000.0
    made.surface = lambda name, frame: SimpleNamespace(vertices=np.array([[0.0, 0.0, highest], [0.0, 0.0, -1.0]]))
    return made


def float_failed(lungs, **how):
    return failed(checked("float", let_go(**how), shape="human", lungs=lungs))


def test_empty_lungs_must_take_him_wholly_under_and_further_down():
    sunk = {"highest": -0.3, "sinks": 0.3, "displaced": 0.98}
    assert not float_failed("empty", **sunk)
    assert float_failed("empty", **sunk | {"highest": 0.1}) == {"no part of him is above the water in the end"}
    assert float_failed("empty", **sunk | {"sinks": -0.1}) == {"he goes down all the while"}
    assert float_failed("empty", **sunk | {"displaced": 1.01}) == {"he displaces less than his mass"}


def test_full_lungs_must_carry_his_mass_at_the_surface():
    afloat = {"highest": 0.05, "sinks": 0.0, "displaced": 1.002}
    assert not float_failed("full", **afloat)
    assert float_failed("full", **afloat | {"displaced": 0.98}) == {"he floats: displaces his mass within 1 %"}
    assert float_failed("full", **afloat | {"highest": -0.5}) == {"some part of him is above the water"}
