"""Arrays of the wrong length are refused by name, instead of being read beyond their end."""

import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.skeleton import (
    Inertia,
    SkeletonBuilder,
    bone_poses,
    bone_velocities,
    coordinate_rates,
    difference,
    energy,
    forward_dynamics,
    generalized_forces,
    hybrid_dynamics,
    integrate,
    inverse_dynamics,
    joints,
    mass_matrix,
    passive_derivatives,
    passive_forces,
    point_jacobian,
)


def arm():
    builder = SkeletonBuilder()
    for name, parent, joint in (("arm", None, joints.Ball()), ("hand", "arm", joints.Revolute((1.0, 0.0, 0.0)))):
        builder.add_bone(name, parent=parent, joint=joint, inertia=Inertia.box(1.0, (0.1, 0.2, 0.3)))
    return builder.build()


ARM = arm()
Q, V, W = ARM.neutral_q(), np.zeros(4), np.zeros((2, 6))
SHORT_Q, SHORT_V = Q[:-1], V[:-1]
FREE = np.zeros(4, dtype=bool)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: forward_dynamics(ARM, SHORT_Q, V, V), "q has 4 numbers; this skeleton needs 5"),
        (lambda: forward_dynamics(ARM, Q, Q, V), "v has 5 numbers; this skeleton needs 4"),
        (lambda: forward_dynamics(ARM, Q, V, SHORT_V), "tau has 3 numbers; this skeleton needs 4"),
        (lambda: forward_dynamics(ARM, Q, V, 1.0), "tau has 1 numbers; this skeleton needs 4"),
        (lambda: forward_dynamics(ARM, Q, V[:, None], V), r"v has the shape \(4, 1\); this skeleton needs \(4,\)"),
        (lambda: forward_dynamics(ARM, Q, V, V, W[:1]), r"wrenches has the shape \(1, 6\); this skeleton needs \(2, 6"),
        (lambda: forward_dynamics(ARM, Q, V, V, W[:, :3]), r"wrenches has the shape \(2, 3\)"),
        (lambda: inverse_dynamics(ARM, Q, V, SHORT_V), "a has 3 numbers; this skeleton needs 4"),
        (lambda: inverse_dynamics(ARM, Q, V, V, np.zeros((3, 6))), "wrenches has the shape"),
        (lambda: hybrid_dynamics(ARM, Q, V, FREE[:-1], V, V), "prescribed has 3 numbers; this skeleton needs 4"),
        (lambda: hybrid_dynamics(ARM, Q, V, FREE, SHORT_V, V), "tau has 3 numbers"),
        (lambda: hybrid_dynamics(ARM, Q, V, FREE, V, SHORT_V), "acceleration has 3 numbers"),
        (lambda: hybrid_dynamics(ARM, Q, V, FREE, V, V, W[:1]), "wrenches has the shape"),
        (lambda: mass_matrix(ARM, SHORT_Q), "q has 4 numbers"),
        (lambda: bone_poses(ARM, SHORT_Q), "q has 4 numbers"),
        (lambda: bone_velocities(ARM, Q, SHORT_V), "v has 3 numbers"),
        (lambda: point_jacobian(ARM, SHORT_Q, "hand", (0.0, 0.0, 0.0)), "q has 4 numbers"),
        (lambda: energy(ARM, Q, SHORT_V), "v has 3 numbers"),
        (lambda: integrate(ARM, SHORT_Q, V), "q has 4 numbers"),
        (lambda: integrate(ARM, Q, SHORT_V), "v has 3 numbers"),
        (lambda: coordinate_rates(ARM, Q, SHORT_V), "v has 3 numbers"),
        (lambda: difference(ARM, Q, SHORT_Q), "q1 has 4 numbers"),
        (lambda: passive_forces(ARM, SHORT_Q, V), "q has 4 numbers"),
        (lambda: passive_derivatives(ARM, Q, SHORT_V), "v has 3 numbers"),
        (lambda: generalized_forces(ARM, Q, [0, 1], np.zeros((2, 3)), np.zeros((1, 3))), "as many, not 2, 2 and 1"),
        (lambda: generalized_forces(ARM, Q, [2], np.zeros((1, 3)), np.zeros((1, 3))), "between -1 and 1, not 2"),
    ],
)
def test_an_array_of_the_wrong_length_is_refused_by_name(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_arrays_of_the_right_length_of_any_kind_are_taken():
    expected = forward_dynamics(ARM, Q, V, V)
    np.testing.assert_array_equal(forward_dynamics(ARM, list(Q), [0, 0, 0, 0], np.zeros(8)[::2], W), expected)
