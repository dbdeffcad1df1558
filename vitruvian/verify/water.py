"""Water: projection, Archimedes, waves, surface tracking and bodies against analytic answers and experiments.

Hydrostatics p = rho g d; Archimedes F = rho g V; Taylor-Green decay exp(-2 nu k^2 t); added mass of a ball rho V / 2;
Enright's deformation field; Martin and Moyce's dam break; the standard drag curve of a ball. Bodies are meshes,
as in the scenes. The claims stand in files of their own, one theme each.
"""

from vitruvian.verify._water_archimedes import (
    a_half_dense_ball_floats_at_its_draught_by_formula,
    a_half_dense_ball_floats_at_its_draught_by_pressure,
    a_half_dense_box_floats_at_its_draught_by_formula,
    a_half_dense_box_floats_at_its_draught_by_pressure,
    a_low_box_let_go_tilted_comes_back_upright,
    a_low_box_let_go_tilted_rolls_with_its_period_by_formula,
    a_low_box_let_go_tilted_rolls_with_its_period_by_pressure,
    a_tall_box_capsizes_by_formula,
    a_tall_box_capsizes_by_pressure,
    displacement_of_the_grid_alone,
    neutral_density_ratio_by_formula,
    neutral_density_ratio_by_pressure,
)
from vitruvian.verify._water_bodies import (
    a_chain_of_bones_calms_down,
    a_chain_of_bones_floats,
    added_mass_of_a_ball,
    added_mass_of_thin_limbs,
    light_balls_start_to_rise_as_added_mass_lets_them,
    light_bodies_and_plates_stay_stable,
    momentum_at_an_impulsive_start,
    momentum_in_a_full_closed_tank,
    momentum_in_an_open_topped_tank,
    terminal_speed_of_a_ball,
)
from vitruvian.verify._water_drag import (
    drag_does_not_jump_where_viscosity_begins,
    drag_of_a_slender_body_in_ideal_flow,
    friction_on_a_body_is_what_its_water_loses,
)
from vitruvian.verify._water_patches import (
    a_hand_in_a_patch_holds_the_force_of_a_fine_grid,
    a_hand_in_a_patch_is_pushed_steadily,
    a_hand_in_a_patch_starts_as_on_a_fine_grid,
    patches_keep_the_book_of_momentum,
)
from vitruvian.verify._water_projection import (
    divergence_in_cut_cells,
    hydrostatic_pressure,
    same_bits_for_one_and_two_threads,
    taylor_green_decay,
    taylor_green_order,
    taylor_green_order_of_the_default_scheme,
    thin_tanks_take_few_iterations,
)
from vitruvian.verify._water_surface import (
    dam_break_drift_before_it_is_put_right,
    dam_break_front,
    dam_break_keeps_volume,
    dam_break_volume_with_nothing_put_right,
    enright_deformation_keeps_volume,
    no_step_of_a_dam_break_raises_its_energy,
    slosh_drifts_little_before_it_is_put_right,
    slosh_keeps_volume,
    that_dam_break_needs_little_put_back,
)
from vitruvian.verify._water_thin import (
    added_mass_of_discs_thinner_than_a_cell,
    added_mass_of_plates_thinner_than_a_cell,
    momentum_of_a_thin_plate_and_its_water,
)
from vitruvian.verify._water_waves import waves_of_11_cells_lose_little, waves_of_16_cells_keep_their_period

__all__ = [
    "a_chain_of_bones_calms_down",
    "a_chain_of_bones_floats",
    "a_half_dense_ball_floats_at_its_draught_by_formula",
    "a_half_dense_ball_floats_at_its_draught_by_pressure",
    "a_half_dense_box_floats_at_its_draught_by_formula",
    "a_half_dense_box_floats_at_its_draught_by_pressure",
    "a_hand_in_a_patch_holds_the_force_of_a_fine_grid",
    "a_hand_in_a_patch_is_pushed_steadily",
    "a_hand_in_a_patch_starts_as_on_a_fine_grid",
    "a_low_box_let_go_tilted_comes_back_upright",
    "a_low_box_let_go_tilted_rolls_with_its_period_by_formula",
    "a_low_box_let_go_tilted_rolls_with_its_period_by_pressure",
    "a_tall_box_capsizes_by_formula",
    "a_tall_box_capsizes_by_pressure",
    "added_mass_of_a_ball",
    "added_mass_of_discs_thinner_than_a_cell",
    "added_mass_of_plates_thinner_than_a_cell",
    "added_mass_of_thin_limbs",
    "dam_break_drift_before_it_is_put_right",
    "dam_break_front",
    "dam_break_keeps_volume",
    "dam_break_volume_with_nothing_put_right",
    "displacement_of_the_grid_alone",
    "divergence_in_cut_cells",
    "drag_does_not_jump_where_viscosity_begins",
    "drag_of_a_slender_body_in_ideal_flow",
    "enright_deformation_keeps_volume",
    "friction_on_a_body_is_what_its_water_loses",
    "hydrostatic_pressure",
    "light_balls_start_to_rise_as_added_mass_lets_them",
    "light_bodies_and_plates_stay_stable",
    "momentum_at_an_impulsive_start",
    "momentum_in_a_full_closed_tank",
    "momentum_in_an_open_topped_tank",
    "momentum_of_a_thin_plate_and_its_water",
    "neutral_density_ratio_by_formula",
    "neutral_density_ratio_by_pressure",
    "no_step_of_a_dam_break_raises_its_energy",
    "patches_keep_the_book_of_momentum",
    "same_bits_for_one_and_two_threads",
    "slosh_drifts_little_before_it_is_put_right",
    "slosh_keeps_volume",
    "taylor_green_decay",
    "taylor_green_order",
    "taylor_green_order_of_the_default_scheme",
    "terminal_speed_of_a_ball",
    "that_dam_break_needs_little_put_back",
    "thin_tanks_take_few_iterations",
    "waves_of_11_cells_lose_little",
    "waves_of_16_cells_keep_their_period",
]
