"""Reflexes that keep a swimmer on his course: from what he feels to what he does about it.

Two things turn him. A bend: spine and neck curve to the side where he wants to go and the legs trail to that side, a
rudder. And a bank: he rides with his head up by 5 to 10 degrees, so the water lifts him along his back, and a rolled
back points aside (an aeroplane's). A bend rolls him the other way, and what rolls him back is where his arms go: an arm
that passes wide of the shoulder presses its side up. So the heading asks for a bank and a bend, the bank for the arms:

    bank* = k_h (heading* - heading) + k_i integral - k_r turning,     within the largest bank
    bend  = k_s bank*,                                                 more with an arm held straight on that side
    arms  = k_b (roll - bank*),                                        the paths of the arms turned to the left
    arch  = k_p (pitch* - pitch) + k_z (z* - z) - k_d z'

The docs have what was measured.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitruvian.control.senses import FeltCourse
from vitruvian.control.senses.course import wrapped

Array = np.ndarray


@dataclass(frozen=True)
class Reflexes:
    """Gains and bounds."""

    heading: float = 1.0  # k_h [rad/rad]
    drift: float = 0.15  # k_i [1/s]: against what stays off
    turning: float = 0.5  # k_r [s]
    largest_bank: float = 0.2  # [rad]; beyond 0.5 the arms cannot right him any more
    bend: float = 0.7  # k_s [rad/rad]
    sharp_bend: float = 2.25  # k_s while one arm is held straight, which rolls him to its side
    bank: float = 1.0  # k_b [rad/rad]
    largest_arms: float = 0.5  # [rad]
    pitch: float = 2.0  # k_p [rad/rad]
    level: float = 0.05  # [rad] head up, the pitch to keep: flatter, the hips must flex so far that the legs brake
    depth: float = 1.0  # k_z [rad/m]
    sinking: float = 0.5  # k_d [rad s/m]
    largest_arch: float = 0.6  # [rad]
    steady: float = 0.25  # [rad] of roll up to which a straight arm is taken
    rolled: float = 0.35  # [rad] of roll from which it swims again
    sharp: float = 0.6  # [rad] off the heading from which a straight arm may be held
    done: float = 0.35  # [rad] at which it is released
    speed: float = 0.5  # stroke rate per speed missing [1/s per m/s], each second


def bank_wanted(g: Reflexes, course: FeltCourse, heading: float, drift: float, dt: float) -> tuple[float, float]:
    """Bank [rad], left side down, that leads to a heading [rad]; and the integral [rad] after dt [s]."""
    most = g.largest_bank
    off = wrapped(heading - course.heading)
    if abs(off) < g.sharp and course.known > 1.0 - 1e-6:  # a turn asked for is no drift
        drift = float(np.clip(drift + g.drift * off * dt, -0.5 * most, 0.5 * most))
    bank = g.heading * off + drift - g.turning * course.turning
    return float(np.clip(bank, -most, most)), drift


def arms_for(g: Reflexes, course: FeltCourse, bank: float) -> float:
    """How far the arms' paths turn to the left [rad], for a bank [rad]."""
    return float(np.clip(g.bank * (course.roll - bank), -g.largest_arms, g.largest_arms))


def arch_for(g: Reflexes, course: FeltCourse, height: float) -> float:
    """How far the back arches [rad], for a height of the chest [m], nan for any."""
    arch = g.pitch * (g.level - course.pitch)
    if np.isfinite(height):
        arch += g.depth * (height - course.height) - g.sinking * course.rising
    return float(np.clip(arch, -g.largest_arch, g.largest_arch))


def pace_for(g: Reflexes, course: FeltCourse, speed: float, rate: float, dt: float) -> float:
    """Stroke rate [1/s] after dt [s], for a speed [m/s]."""
    return float(np.clip(rate + g.speed * (speed - course.speed) * dt, 0.3, 1.6))
