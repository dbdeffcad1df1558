"""An instant of a system: found once, copied, and read in the right frame."""

import numpy as np
import pytest

from vitruvian.skeleton import Inertia, SkeletonBuilder, joints
from vitruvian.systems import BonesSystem, Measure, Now
from vitruvian.systems.measures import read
from vitruvian.world import Signal


def test_what_is_asked_for_twice_at_an_instant_is_found_once():
    calls = []

    def find(now):
        calls.append(now.time)
        return np.array([now.time])

    def other(now):
        return -1.0

    now = Now(None, None, None, 3.0)
    assert now.once(find) is now.once(find)
    assert now.once(other) == -1.0
    assert calls == [3.0]
    later = Now(None, None, None, 4.0)
    assert later.once(find) == 4.0  # another instant, found anew
    assert calls == [3.0, 4.0]


def test_a_vector_signal_is_a_copy_and_a_number_is_a_float():
    kept = np.array([1.0, 2.0])
    out = read(
        [Measure(Signal("v", "m", "", ("x", "y")), lambda now: kept), Measure(Signal("n", "m"), lambda now: kept[1])],
        Now(None, None),
    )
    kept += 10.0
    assert list(out["v"]) == [1.0, 2.0]
    assert out["n"] == 2.0
    assert type(out["n"]) is float
    assert list(read([Measure(Signal("l", "", "", ("a", "b")), lambda now: [1, 2])], Now(None, None))["l"]) == [1, 2]


def rods():
    builder = SkeletonBuilder()
    rod = Inertia.sphere(2.0, 0.1, com=(0.0, 0.0, -0.5))
    builder.add_bone("upper", joint=joints.Revolute((0, 1, 0)), inertia=rod)
    builder.add_bone("lower", parent="upper", placement=(0, 0, -1.0), joint=joints.Revolute((0, 1, 0)), inertia=rod)
    return BonesSystem(builder.build(), q=np.array([0.5 * np.pi, 0.3]), v=np.array([2.0, 0.0]))


def test_points_angles_and_momentum_of_bones():
    system = rods()
    now = Now(system, system.start(np.random.default_rng(0)))
    # a quarter turn about y takes -z to -x
    assert now.point("lower") == pytest.approx([-1.0, 0.0, 0.0], abs=1e-12)
    assert now.point("upper", (0.0, 0.2, -0.5)) == pytest.approx([-0.5, 0.2, 0.0], abs=1e-12)
    assert now.angle("lower") == 0.3
    assert now.pose("upper")[:3, 2] == pytest.approx([1.0, 0.0, 0.0], abs=1e-12)
    # both turn as one about the origin: L = ω Σ (I + m r²)
    own, reach = 0.4 * 2.0 * 0.1**2, (-1.0 - 0.5 * np.cos(0.3), 0.5 * np.sin(0.3))
    expected = 2.0 * (2.0 * own + 2.0 * (0.25 + reach[0] ** 2 + reach[1] ** 2))
    assert now.angular_momentum() == pytest.approx([0.0, expected, 0.0], rel=1e-9, abs=1e-12)
