import numpy as np
import pytest

from vitruvian.anatomy import arm
from vitruvian.couple import BodyStepper
from vitruvian.muscle import ForceLaw, LinearHill, MuscleBuilder
from vitruvian.skeleton import Inertia, SkeletonBuilder
from vitruvian.skeleton.joints import Fixed, Revolute


@ForceLaw
def gaussian(activation, length, rate, f_max, rest_length, width=0.45):
    return activation * f_max * np.exp(-(((length / rest_length - 1.0) / width) ** 2))


@ForceLaw
def copied(activation, length, rate, f_max, rest_length):
    """`LinearHill` without passive force, in NumPy, with its slopes."""
    F_l = f_max * np.maximum(0.0, (length / rest_length - 0.3) / 0.7)
    F_v = np.maximum(0.0, 1.0 + np.minimum(rate, 0.0) / (8.0 * rest_length))
    k = np.where(F_l > 0.0, f_max / (0.7 * rest_length), 0.0)
    d = np.where((rate < 0.0) & (F_v > 0.0), 1.0 / (8.0 * rest_length), 0.0)
    return activation * F_l * F_v, 0.0 * F_l, F_l * F_v, activation * k * F_v, activation * F_l * d


def test_a_muscle_with_its_own_law_holds_a_rod_where_its_moment_is_that_of_gravity():
    bones = SkeletonBuilder()
    bones.add_bone("post", joint=Fixed(), inertia=Inertia.box(1.0, (0.1, 0.1, 0.4)))
    rod = Inertia.box(1.0, (0.3, 0.02, 0.02), (0.15, 0, 0))
    bones.add_bone("rod", parent="post", joint=Revolute((0, 1, 0)), inertia=rod, damping=0.3)
    skeleton = bones.build()
    muscles = MuscleBuilder(skeleton)
    muscles.add_muscle("flexor", [("post", (0, 0, 0.2)), ("rod", (0.1, 0, 0))], gaussian(f_max=60.0, rest_length=0.2))
    stepper, q, v = BodyStepper(skeleton, muscles.build()), np.zeros(1), np.zeros(1)
    for _ in range(2500):
        q, v = stepper.step(q, v, np.array([0.3]), 0.002)
    force, length = stepper.found.tension[0, 0], stepper.found.length[0]
    assert force == pytest.approx(0.3 * 60.0 * np.exp(-(((length / 0.2 - 1.0) / 0.45) ** 2)))
    assert force * 0.1 * 0.2 / length == pytest.approx(1.0 * 9.81 * 0.15, rel=1e-4)  # both times cos q
    assert np.degrees(-q[0]) == pytest.approx(np.degrees(np.arcsin((0.05 - length**2) / 0.04)), abs=0.01)


def test_an_arm_whose_muscles_have_a_copied_law_moves_as_the_built_in_one():
    body = arm("left")
    states = []
    for make in (lambda f, l: LinearHill(f, l, passive=False), lambda f, l: copied(f_max=f, rest_length=l)):
        builder = MuscleBuilder(body.skeleton)
        for m, name in enumerate(body.muscles.names):
            bones, local = body.muscles.path(m)
            points = [(body.skeleton.names[b], p) for b, p in zip(bones, local)]
            builder.add_muscle(name, points, make(body.muscles.f_max[m], body.muscles.rest_length[m]))
        stepper = BodyStepper(body.skeleton, builder.build())
        q, v = body.default_q, np.zeros(body.skeleton.n_v)
        a = np.random.default_rng(0).uniform(0.0, 0.3, body.muscles.n_muscles)
        for _ in range(20):
            q, v = stepper.step(q, v, a, 0.002)
        states.append((q, v))
    assert np.abs(states[0][1]).max() > 0.1
    assert states[1][0] == pytest.approx(states[0][0], abs=1e-10)
    assert states[1][1] == pytest.approx(states[0][1], abs=1e-8)
