"""Soft characters: elements with a reference shape that follows the pose, weights, both steps, momentum, contact."""

from vitruvian.verify._soft_control import (
    a_policy_is_learned_the_same_on_two_workers,
    a_policy_keeps_a_soft_mascot_up,
    inverse_dynamics_bears_who_stands,
    reference_shapes_do_not_fold,
)
from vitruvian.verify._soft_exact import (
    embedded_forces_do_the_same_work,
    forces_are_the_gradient_of_the_energy,
    patch_test,
    rest_and_rigid_motion_are_force_free,
    stress_makes_no_angular_momentum,
    the_cone_of_friction_is_kept,
    the_surface_rides_inside_its_tetrahedra,
    weights_are_a_share_out,
    weights_minimise_the_biharmonic_energy,
)
from vitruvian.verify._soft_motion import (
    a_retargeted_run_leaves_and_meets_the_ground,
    a_search_finds_the_same_on_two_workers,
    a_standing_mascot_weighs_what_it_weighs,
    an_elbow_falls_short_without_plasticity,
    an_elbow_reaches_its_target_with_plasticity,
    implicit_and_explicit_steps_agree_as_the_step_shrinks,
    kicking_keeps_angular_momentum,
    kicking_keeps_angular_momentum_in_explicit_steps,
    node_damping_takes_angular_momentum,
    rayleigh_damping_takes_angular_momentum,
    standing_feet_do_not_slide,
)

__all__ = [
    "a_policy_is_learned_the_same_on_two_workers",
    "a_policy_keeps_a_soft_mascot_up",
    "a_retargeted_run_leaves_and_meets_the_ground",
    "a_search_finds_the_same_on_two_workers",
    "a_standing_mascot_weighs_what_it_weighs",
    "an_elbow_falls_short_without_plasticity",
    "an_elbow_reaches_its_target_with_plasticity",
    "embedded_forces_do_the_same_work",
    "forces_are_the_gradient_of_the_energy",
    "implicit_and_explicit_steps_agree_as_the_step_shrinks",
    "inverse_dynamics_bears_who_stands",
    "kicking_keeps_angular_momentum",
    "kicking_keeps_angular_momentum_in_explicit_steps",
    "node_damping_takes_angular_momentum",
    "patch_test",
    "rayleigh_damping_takes_angular_momentum",
    "reference_shapes_do_not_fold",
    "rest_and_rigid_motion_are_force_free",
    "standing_feet_do_not_slide",
    "stress_makes_no_angular_momentum",
    "the_cone_of_friction_is_kept",
    "the_surface_rides_inside_its_tetrahedra",
    "weights_are_a_share_out",
    "weights_minimise_the_biharmonic_energy",
]
