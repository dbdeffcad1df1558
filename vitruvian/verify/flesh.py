"""Flesh: the engineering tests of a solid-mechanics code, and what the coupling to bones must keep.

Patch test, rigid motion and finite differences are exact statements; bar, cantilever, pressure and frequency have
textbook answers; an independent finite-element library (scikit-fem) checks large strain. The claims stand in files of
their own, one theme each.
"""

from vitruvian.verify._flesh_beams import (
    axial_bar,
    cantilever_has_converged_with_two_cells,
    cantilever_in_plane_strain,
    cantilever_nu_0_30,
    cantilever_nu_0_45,
    cantilever_nu_0_49,
    cantilever_nu_0_499,
    cantilever_of_every_material,
    clamped_cantilever,
    first_bending_frequency,
    first_bending_frequency_in_time,
    uniform_pressure,
    venant_kirchhoff_bar,
    venant_kirchhoff_cantilever_bends_as_an_elastica,
)
from vitruvian.verify._flesh_block import (
    hyperelastic_block_agrees_with_scikit_fem,
)
from vitruvian.verify._flesh_bones import (
    attachment_forces_balance_the_skin,
    attachment_jacobian_is_the_derivative_of_the_pull,
    biceps_keeps_the_volume_of_the_flesh,
    every_bone_is_inside_the_skin,
    free_flight_keeps_angular_momentum,
    free_flight_keeps_momentum,
    free_spin_keeps_angular_momentum,
    multigrid_iterations_do_not_grow,
)
from vitruvian.verify._flesh_exact import (
    assembled_forces_and_stiffness_are_derivatives,
    embedded_forces_do_the_same_work,
    inverted_start_recovers,
    patch_test,
    patch_test_on_cut_cells,
    rigid_motion_is_force_free,
    single_precision_matrix_gives_the_same_equilibrium,
    stiffness_is_the_derivative_of_stress,
    stress_is_the_derivative_of_energy,
)
from vitruvian.verify._flesh_rod import a_rod_leaves_the_same_state_whichever_way_it_came
from vitruvian.verify._flesh_solver import (
    a_crushed_block_recovers,
    a_falling_body_does_not_turn,
    a_light_strip_sags_as_an_elastica,
    a_strongly_compressed_bar_stays_on_its_branch,
    energy_is_kept_over_five_seconds_of_vibration,
    light_bodies_fall_as_heavy_ones,
    no_wrong_balance_of_active_muscle_passes_as_converged,
    no_wrong_balance_passes_as_converged,
    spin_is_kept_over_five_seconds_at_default_settings,
)
from vitruvian.verify._flesh_touch import (
    a_folded_limb_finds_balance_in_every_step,
    an_arm_that_comes_down_stays_out_of_the_trunk,
    no_cell_of_the_flesh_lies_wholly_in_bone,
    the_elbow_of_the_body_flexes_to_120_degrees,
    thighs_pressed_together_stay_apart,
    walls_of_a_fold_stay_apart,
)

__all__ = [
    "a_crushed_block_recovers",
    "a_falling_body_does_not_turn",
    "a_folded_limb_finds_balance_in_every_step",
    "a_light_strip_sags_as_an_elastica",
    "a_rod_leaves_the_same_state_whichever_way_it_came",
    "a_strongly_compressed_bar_stays_on_its_branch",
    "an_arm_that_comes_down_stays_out_of_the_trunk",
    "assembled_forces_and_stiffness_are_derivatives",
    "attachment_forces_balance_the_skin",
    "attachment_jacobian_is_the_derivative_of_the_pull",
    "axial_bar",
    "biceps_keeps_the_volume_of_the_flesh",
    "cantilever_has_converged_with_two_cells",
    "cantilever_in_plane_strain",
    "cantilever_nu_0_30",
    "cantilever_nu_0_45",
    "cantilever_nu_0_49",
    "cantilever_nu_0_499",
    "cantilever_of_every_material",
    "clamped_cantilever",
    "embedded_forces_do_the_same_work",
    "energy_is_kept_over_five_seconds_of_vibration",
    "every_bone_is_inside_the_skin",
    "first_bending_frequency",
    "first_bending_frequency_in_time",
    "free_flight_keeps_angular_momentum",
    "free_flight_keeps_momentum",
    "free_spin_keeps_angular_momentum",
    "hyperelastic_block_agrees_with_scikit_fem",
    "inverted_start_recovers",
    "light_bodies_fall_as_heavy_ones",
    "multigrid_iterations_do_not_grow",
    "no_cell_of_the_flesh_lies_wholly_in_bone",
    "no_wrong_balance_of_active_muscle_passes_as_converged",
    "no_wrong_balance_passes_as_converged",
    "patch_test",
    "patch_test_on_cut_cells",
    "rigid_motion_is_force_free",
    "single_precision_matrix_gives_the_same_equilibrium",
    "spin_is_kept_over_five_seconds_at_default_settings",
    "stiffness_is_the_derivative_of_stress",
    "stress_is_the_derivative_of_energy",
    "the_elbow_of_the_body_flexes_to_120_degrees",
    "thighs_pressed_together_stay_apart",
    "uniform_pressure",
    "venant_kirchhoff_bar",
    "venant_kirchhoff_cantilever_bends_as_an_elastica",
    "walls_of_a_fold_stay_apart",
]
