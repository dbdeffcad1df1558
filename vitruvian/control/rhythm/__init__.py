"""Rhythm: strokes as files, muscle lengths over a cycle, central pattern generators, commands to a swimmer."""

from vitruvian.control.rhythm.control import LengthGains, RhythmControl, RhythmControlState, activation
from vitruvian.control.rhythm.generator import Rhythm, RhythmState
from vitruvian.control.rhythm.groups import GROUPS, muscle_groups
from vitruvian.control.rhythm.learning import SI_LEARNING, Learning, Pattern, batch, incremental, learn_pattern
from vitruvian.control.rhythm.lengths import LengthCycle, MuscleKinematics, length_cycle
from vitruvian.control.rhythm.limits import StrokeWarning
from vitruvian.control.rhythm.motion import StrokeMotion
from vitruvian.control.rhythm.oscillator import SI_OSCILLATOR, Oscillator
from vitruvian.control.rhythm.shaping import shaped, write_stroke
from vitruvian.control.rhythm.spline import PeriodicSpline
from vitruvian.control.rhythm.stroke import Stroke, load_stroke, parse_stroke, stroke_names, stroke_table
from vitruvian.control.rhythm.symmetry import arms_together

__all__ = [
    "GROUPS",
    "SI_LEARNING",
    "SI_OSCILLATOR",
    "Learning",
    "LengthCycle",
    "LengthGains",
    "MuscleKinematics",
    "Oscillator",
    "Pattern",
    "PeriodicSpline",
    "Rhythm",
    "RhythmControl",
    "RhythmControlState",
    "RhythmState",
    "Stroke",
    "StrokeMotion",
    "StrokeWarning",
    "activation",
    "arms_together",
    "batch",
    "incremental",
    "learn_pattern",
    "length_cycle",
    "load_stroke",
    "muscle_groups",
    "parse_stroke",
    "shaped",
    "stroke_names",
    "stroke_table",
    "write_stroke",
]
