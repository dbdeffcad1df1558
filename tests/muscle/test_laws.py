import numba as nb
import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.muscle import CurvedHill, ForceLaw, LinearHill, MuscleBuilder, SpringMuscle, force_laws, tension
from vitruvian.muscle.elements import tension_kernel
from vitruvian.skeleton import Inertia, SkeletonBuilder
from vitruvian.skeleton.joints import Fixed, Revolute


@ForceLaw
def gaussian(activation, length, rate, f_max, rest_length, width=0.45):
    s = length / rest_length
    return f_max * (activation * np.exp(-(((s - 1.0) / width) ** 2)) / (1.0 + np.exp(-4.0 * rate)) + 0.02 * np.exp(s))


@ForceLaw
def sloped(activation, length, rate, f_max, rest_length, damping):
    """A spring law with its slopes."""
    stretch = f_max * length / rest_length
    force = activation * stretch + damping * (1.0 + np.tanh(rate))
    return (
        force,
        damping * (1.0 + np.tanh(rate)),
        stretch,
        activation * f_max / rest_length,
        damping / np.cosh(rate) ** 2,
    )


@nb.njit
def _linear(activation, length, rate, f_max, rest_length):
    """`LinearHill` without passive force, once more."""
    out = np.empty_like(length)
    for i in range(len(out)):
        F_l = f_max[i] * max(0.0, (length[i] / rest_length[i] - 0.3) / 0.7)
        out[i] = activation[i] * F_l * max(0.0, 1.0 + min(rate[i], 0.0) / (8.0 * rest_length[i]))
    return out


compiled = ForceLaw(_linear, "compiled")


def states(n, rest_length, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(0, 1, n), rng.uniform(0.5, 1.5, n) * rest_length, rng.uniform(-2, 2, n) * rest_length


def hinge():
    b = SkeletonBuilder()
    b.add_bone("base", joint=Fixed(), inertia=Inertia.box(1.0, (1, 1, 1)))
    b.add_bone("rod", parent="base", joint=Revolute((0, 0, 1.0)), inertia=Inertia.box(1.0, (1, 0.1, 0.1)))
    return b.build()


def on_hinge(*elements):
    builder = MuscleBuilder(hinge())
    for k, element in enumerate(elements):
        builder.add_muscle(f"m{k}", [("base", (0, 0.5, 0)), ("rod", (0.8, 0.01 * k, 0))], element)
    return builder.build()


@pytest.mark.parametrize(
    "element", [gaussian(f_max=500.0, rest_length=0.2), sloped(f_max=500.0, rest_length=0.2, damping=3.0)]
)
def test_slopes_of_a_law_equal_finite_differences_given_or_not(element):
    laws, (a, l, v) = force_laws(["m"] * 300, [element] * 300), states(300, 0.2)
    at, h = tension(laws, a, l, v), 1e-4
    for k, (slope, unit) in enumerate(((at.capacity, 1.0), (at.stiffness, 0.2), (at.damping, 0.2))):
        steps = [(i == k) * h * unit for i in range(3)]
        ends = [tension(laws, a + s * steps[0], l + s * steps[1], v + s * steps[2]).force for s in (1, -1)]
        numeric = (ends[0] - ends[1]) / (2.0 * h * unit)
        assert slope == pytest.approx(numeric, rel=1e-5, abs=1e-3)
    assert at.passive == pytest.approx(tension(laws, np.zeros(300), l, v).force, rel=1e-12)


def test_numeric_slopes_at_no_and_full_activation_do_not_leave_zero_to_one():
    asked = []

    @ForceLaw
    def watched(activation, length, rate, f_max, rest_length):
        asked.append((activation.min(), activation.max(), length.min()))
        return activation * f_max * length / rest_length

    laws = force_laws("abc", [watched(f_max=100.0, rest_length=0.5)] * 3)
    got = tension(laws, np.array([0.0, 0.4, 1.0]), np.array([0.0, 0.5, 0.5]), np.zeros(3))
    assert np.min(asked, axis=0)[[0, 2]] == pytest.approx([0.0, 0.0], abs=0.0)
    assert np.max(asked, axis=0)[1] == 1.0
    assert got.capacity == pytest.approx([0.0, 100.0, 100.0], rel=1e-9)
    assert got.stiffness == pytest.approx([0.0, 80.0, 200.0], rel=1e-9)


def test_a_compiled_law_is_the_built_in_one_it_copies():
    ours, (a, l, v) = LinearHill(500.0, 0.2, passive=False), states(200, 0.2)
    v = np.where(np.abs(v) < 1e-3, 0.1, v)  # off the kink
    one = tension(force_laws(["m"] * 200, [ours] * 200), a, l, v)
    other = tension(force_laws(["m"] * 200, [compiled(f_max=500.0, rest_length=0.2)] * 200), a, l, v)
    for row in ("force", "passive", "capacity", "stiffness", "damping"):
        assert getattr(other, row) == pytest.approx(getattr(one, row), rel=1e-7, abs=1e-6), row


def test_muscles_of_several_laws_each_get_their_own_and_built_in_ones_keep_their_bits():
    elements = [
        LinearHill(300.0, 0.9),
        gaussian(f_max=200.0, rest_length=0.9),
        CurvedHill(50.0, 0.9, k_pe=50.0, b_pe=10.0, v_max=10.0),
        sloped(f_max=100.0, rest_length=0.9, damping=1.0),
        gaussian(f_max=400.0, rest_length=0.8, width=0.3),
        SpringMuscle(0.9, k_active=50.0, k_passive=50.0, damping=5.0),
    ]
    model = on_hinge(*elements)
    assert [g.law.name for g in model.custom] == ["gaussian", "sloped"]
    assert [g.muscles.tolist() for g in model.custom] == [[1, 4], [3]]
    assert model.f_max == pytest.approx([e.f_max for e in elements])
    assert model.rest_length == pytest.approx([e.rest_length for e in elements])
    a, l, v = states(6, model.rest_length, seed=3)
    together = tension(model, a, l, v)
    for i, element in enumerate(elements):
        alone = tension(force_laws(["m"], [element]), a[i : i + 1], l[i : i + 1], v[i : i + 1])
        for row in ("force", "passive", "capacity", "stiffness", "damping"):
            if i in (0, 2, 5):
                assert getattr(together, row)[i] == getattr(alone, row)[0]
            else:  # vectorised exp may differ in the last bit with the place in the array
                assert getattr(together, row)[i] == pytest.approx(getattr(alone, row)[0], rel=1e-6, abs=1e-9)


def test_the_kernel_of_built_in_laws_leaves_no_zero_where_a_law_of_ones_own_belongs():
    model, out = on_hinge(gaussian(f_max=200.0, rest_length=0.9)), np.empty((5, 1))
    tension_kernel(model.kind, model.table, np.ones(1), np.ones(1), np.zeros(1), out)
    assert np.isnan(out).all()


def test_a_model_of_built_in_laws_has_no_custom_ones():
    assert on_hinge(LinearHill(300.0, 0.9)).custom == ()


def test_a_stronger_muscle_of_any_law_pulls_so_much_harder():
    elements = [
        LinearHill(300.0, 0.9),
        CurvedHill(50.0, 0.9, k_pe=50.0, b_pe=10.0, v_max=10.0),
        SpringMuscle(0.9, k_active=50.0, k_passive=50.0, damping=5.0),
        gaussian(f_max=200.0, rest_length=0.9),
    ]
    model = on_hinge(*elements)
    a, l, v = states(4, 0.9)
    before, after = tension(model, a, l, v), tension(model.stronger(1.7), a, l, v)
    assert after.force == pytest.approx(1.7 * before.force)
    assert after.stiffness == pytest.approx(1.7 * before.stiffness, rel=1e-6)
    assert model.stronger(1.7).pcsa == pytest.approx(1.7 * model.pcsa)


def bad(function):
    """A law made of `function(activation, length, rate, f_max)`."""
    return ForceLaw(
        lambda activation, length, rate, f_max, rest_length: function(activation, length, rate, f_max), "bad"
    )


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda a, l, v, f: f * np.log(l - 0.7), r"gives nan as force at activation 0, length 0\.6 m, rate -1 m/s"),
        (lambda a, l, v, f: f * (a - 0.6), "gives -6 N, but a muscle cannot push, at activation 0, length"),
        (lambda a, l, v, f: 5.0, r"must return the force, shape \(54,\) .* it returned \(\)"),
        (lambda a, l, v, f: (f, f), r"or five arrays of that shape; it returned \(54,\), \(54,\)"),
        (lambda a, l, v, f: np.array([f, f, f, f, f]), r"it returned \(5, 54\)"),
        (lambda a, l, v, f: (f, f, f, f * np.inf, f), "gives inf as slope in length"),
        (lambda a, l, v, f: (f, 0 * f, f, f, f), "gives 0 N as passive force, which differs from its force"),
    ],
)
def test_a_law_that_is_none_is_refused_by_name_with_the_state(function, message):
    with pytest.raises(InputError, match=message) as error:
        on_hinge(LinearHill(1.0, 1.0), *[bad(function)(f_max=10.0, rest_length=1.0)] * 2)
    assert "muscle 'm1': force law 'bad'" in str(error.value)
    assert "\n" not in str(error.value)


def test_the_muscle_at_fault_is_named_among_those_of_the_law():
    law = ForceLaw(lambda activation, length, rate, f_max, rest_length, k: f_max * k + 0.0 * length, "lift")
    with pytest.raises(InputError, match="muscle 'm1': force law 'lift' gives -3 N"):
        on_hinge(law(f_max=1.0, rest_length=1.0, k=2.0), law(f_max=1.0, rest_length=1.0, k=-3.0))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: gaussian(f_max=1.0), "force law 'gaussian' needs rest_length"),
        (
            lambda: gaussian(f_max=1.0, rest_length=1.0, witdh=2.0),
            "unknown parameter of force law 'gaussian' 'witdh'; did you mean width",
        ),
        (lambda: gaussian(f_max="strong", rest_length=1.0), "f_max must be a finite number, got 'strong'"),
        (lambda: gaussian(f_max=1.0, rest_length=np.nan), "rest_length must be a finite number"),
        (lambda: ForceLaw(lambda a, l: l, "short"), r"force law 'short' needs the arguments .* got \(a, l\)"),
        (lambda: on_hinge(gaussian), r"muscle 'm0': give the force law its numbers, gaussian\(f_max=..., ...\)"),
        (lambda: on_hinge(gaussian(f_max=-1.0, rest_length=1.0)), "muscle 'm0': F_max must be positive, got -1"),
    ],
)
def test_bad_parameters_are_one_clear_line(make, message):
    with pytest.raises(InputError, match=message):
        make()
