"""The swimmer: the rhythm of its muscles (Si 2013, chapter 4).

Every claim is measured on the whole body, 846 muscles, and on all four strokes.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from vitruvian.anatomy import Body, human
from vitruvian.control.rhythm import (
    SI_OSCILLATOR,
    LengthCycle,
    MuscleKinematics,
    Rhythm,
    StrokeMotion,
    batch,
    incremental,
    length_cycle,
    load_stroke,
    stroke_names,
)
from vitruvian.control.rhythm.learning import STILL, target
from vitruvian.verify import _swim_control, _swim_momentum, _swim_strokes, _swim_water
from vitruvian.verify.book import Finding, claim, worst

RATE = 0.75  # [1/s]
PER_CYCLE = 256  # steps of the oscillators
WRONG = 0.2  # [m] at which every wanted length begins, as in Si 2013, section 4.2


@claim
def a_learned_rhythm_reproduces_every_muscle_length() -> Finding:
    """Largest error of any muscle in the third cycle after a wrong start, in parts of its range; four strokes."""
    rhythm, found = _rhythm(), []
    for name in stroke_names():
        taught = _cycle(name, PER_CYCLE)
        moving = taught.range > STILL
        state = rhythm.start(name, RATE, lengths=np.full(len(moving), WRONG))
        errors = np.zeros(len(moving))
        for k in range(3 * PER_CYCLE):
            if k >= 2 * PER_CYCLE:
                errors = np.maximum(errors, np.abs(state.length - taught.length[k % PER_CYCLE]))
            rhythm.step(state, 1.0 / (RATE * PER_CYCLE))
        part = errors[moving] / taught.range[moving]
        found.append((float(part.max()), name, _body().muscles.names[np.flatnonzero(moving)[part.argmax()]]))
    largest = worst(value for value, _, _ in found)
    muscle = next(m for value, _, m in found if not value < largest)
    each = ", ".join(f"{name} {100 * value:.2f} %" for value, name, _ in found)
    still = len(moving) - int(moving.sum())
    return Finding.error(largest, 0.02, "of range", f"{each}; worst {muscle}; {still} muscles do not move")


@claim
def batch_and_incremental_regression_agree() -> Finding:
    """Largest relative difference of the weights at a forgetting factor of 1, all muscles of the crawl."""
    taught, turn, o = _cycle("crawl", 192), 2.0 * np.pi, SI_OSCILLATOR
    span = np.where(taught.range > STILL, taught.range, 1.0)
    f = target(o, (taught.length - taught.middle) / span, taught.slope / span / turn, taught.curvature / span / turn**2)
    basis = o.basis(turn * taught.phase)
    one, other = incremental(basis, f, forgetting=1.0), batch(basis, f)
    free = batch(basis, f, start=1e12)
    scale = np.abs(other).max()
    prior = np.abs(free - other).max() / scale
    detail = f"{one.size} weights; both start from P = 1, which costs {100 * prior:.1f} % against no prior"
    return Finding.error(float(np.abs(one - other).max() / scale), 1e-12, "of the largest", detail)


@claim
def wanted_lengths_are_smooth_across_a_switch_of_strokes() -> Finding:
    """Slopes just before and just after each of the twelve switches: difference in parts of the largest slope."""
    rhythm, h = _rhythm(), 1e-6
    bends: list[float] = []
    errors: list[float] = []
    for old in stroke_names():
        for new in stroke_names():
            if old == new:
                continue
            state = rhythm.start(old, RATE, phase=0.4)
            seen = [state.length.copy()]
            for k in range(2):
                if k == 1:
                    rhythm.set_stroke(state, new)
                rhythm.step(state, h)
                seen.append(state.length.copy())
            jump = np.abs(seen[2] - 2.0 * seen[1] + seen[0]).max() / h
            scale = np.abs(rhythm.rates(state)).max()
            errors.append(float(jump / scale))
            bends.append(float(jump / h))
    return Finding.error(
        worst(errors), 1e-3, "", f"slopes over {h:g} s; second derivatives jump, by {worst(bends):.0f} m/s² at most"
    )


@claim
def length_rates_and_accelerations_are_those_of_the_motion() -> Finding:
    """Rates and accelerations of all muscles against central differences of lengths and rates, four strokes."""
    measure, h = MuscleKinematics(_body()), 1e-5
    errors: list[float] = []
    for name in stroke_names():
        motion = StrokeMotion(_body(), load_stroke(name))
        for x in (0.06, 0.31, 0.52, 0.77):  # between key poses, where third derivatives jump
            before, here, after = (np.array(measure(*motion.at(x + k * h))) for k in (-1, 0, 1))
            numeric = (after - before)[:2] / (2.0 * h)
            errors.append(float((np.abs(numeric - here[1:]) / np.abs(here[1:]).max(axis=1, keepdims=True)).max()))
    return Finding.error(worst(errors), 1e-6, "relative", "846 muscles, 4 strokes, 4 instants")


@claim
def a_floating_human_displaces_his_mass() -> Finding:
    """Mass of the water that a relaxed human displaces in the end, over his own; normal and full lungs."""
    return _swim_water.displaced_mass()


@claim
def empty_lungs_sink_and_full_ones_float() -> Finding:
    """Height of the centre of mass after ten seconds, empty less full lungs."""
    return _swim_water.sinking()


@claim
def impulses_on_the_body_are_its_momentum() -> Finding:
    """Momentum that a swimmer gained less impulses of water and weight, over a whole stroke."""
    return _swim_water.booked_momentum()


@claim
def full_lungs_float_in_simulated_water() -> Finding:
    """Mass of the water that a relaxed human displaces, over his own; simulated water, coarse cells, full lungs."""
    return _swim_water.afloat_in_flow()


@claim
def empty_lungs_sink_in_simulated_water() -> Finding:
    """Height of the highest point of a human after five seconds, on his way down; simulated water, coarse cells."""
    return _swim_water.sinking_in_flow()


@claim
def a_streamlined_swimmer_glides_with_little_drag() -> Finding:
    """Towing force over the square of the speed, hands together overhead, under the surface of simulated water."""
    return _swim_water.streamlined_drag()


@claim
def a_crawl_by_muscles_swims_a_metre_a_second() -> Finding:
    """Mean speed over the second and third stroke; simulated water."""
    return _swim_strokes.speed("crawl", 1.0)


@claim
def a_butterfly_by_muscles_swims_a_metre_a_second() -> Finding:
    """Mean speed over the second stroke; simulated water."""
    return _swim_strokes.speed("butterfly", 1.0)


@claim
def a_backstroke_by_muscles_swims_80_centimetres_a_second() -> Finding:
    """Mean speed over the second and third stroke; simulated water."""
    return _swim_strokes.speed("backstroke", 0.8)


@claim
def a_breaststroke_by_muscles_swims_70_centimetres_a_second() -> Finding:
    """Mean speed over the second and third stroke; simulated water."""
    return _swim_strokes.speed("breaststroke", 0.7)


@claim
def forces_on_body_and_water_are_equal_and_opposite() -> Finding:
    """Impulses booked on a swimmer and received by the faces of his water, over a stroke: gap in parts of all of it."""
    return _swim_momentum.equal_and_opposite()


@claim
def control_reads_the_wanted_pose_off_muscle_lengths() -> Finding:
    """Largest error of any limb's joint in the pose that 846 wanted lengths are found to mean, four strokes."""
    return _swim_control.decoding()


@claim
def control_by_muscles_leads_elbows_hips_and_knees() -> Finding:
    """rms deviation from the crawl in still water, the worst of them; beside it eq. 4.9 alone and joint torques."""
    return _swim_control.following()


@cache
def _body() -> Body:
    return human()


@cache
def _cycle(name: str, samples: int) -> LengthCycle:
    return length_cycle(StrokeMotion(_body(), load_stroke(name)), samples)


@cache
def _rhythm() -> Rhythm:
    return Rhythm.learn(_body())
