"""Breath: cavities, airway and lungs by themselves; whole breaths, laughter and coughs of the trunk; bodies that
breathe while they do something else; breaths from markers. The claims stand in files of their own."""

from vitruvian.verify._breath_bodies import (
    a_breathing_skin_gains_what_the_lungs_gain,
    a_recorded_breath_is_the_trunks,
    a_standing_body_breathes,
    flesh_grows_by_what_its_lungs_hold,
    flotation_changes_with_breath,
)
from vitruvian.verify._breath_capture import (
    a_wide_breath_is_found_from_markers,
    activations_are_found_from_markers,
)
from vitruvian.verify._breath_trunk import (
    a_calm_breath_is_half_a_litre,
    a_calm_breath_presses_on_the_belly,
    a_cough_blows_like_a_human_one,
    a_tense_belly_takes_half_of_the_breath,
    airway_does_not_ring,
    deep_and_panting_are_adult,
    elements_cross_at_right_angles,
    finer_bellies_breathe_alike,
    flow_law_at_its_printed_points,
    gas_is_accounted_for,
    laughter_has_five_calls_a_second,
    lungs_follow_a_laugh,
    pressure_is_the_gradient_of_energy,
    ribs_lag_down_the_cage,
    steps_converge,
    the_belly_keeps_its_volume,
    the_belly_keeps_its_volume_under_a_ball,
    tissue_pressure_at_its_printed_points,
    work_is_booked,
)

__all__ = [
    "a_breathing_skin_gains_what_the_lungs_gain",
    "a_calm_breath_is_half_a_litre",
    "a_calm_breath_presses_on_the_belly",
    "a_cough_blows_like_a_human_one",
    "a_recorded_breath_is_the_trunks",
    "a_standing_body_breathes",
    "a_tense_belly_takes_half_of_the_breath",
    "a_wide_breath_is_found_from_markers",
    "activations_are_found_from_markers",
    "airway_does_not_ring",
    "deep_and_panting_are_adult",
    "elements_cross_at_right_angles",
    "finer_bellies_breathe_alike",
    "flesh_grows_by_what_its_lungs_hold",
    "flotation_changes_with_breath",
    "flow_law_at_its_printed_points",
    "gas_is_accounted_for",
    "laughter_has_five_calls_a_second",
    "lungs_follow_a_laugh",
    "pressure_is_the_gradient_of_energy",
    "ribs_lag_down_the_cage",
    "steps_converge",
    "the_belly_keeps_its_volume",
    "the_belly_keeps_its_volume_under_a_ball",
    "tissue_pressure_at_its_printed_points",
    "work_is_booked",
]
