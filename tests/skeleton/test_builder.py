"""Everything that can be wrong with a skeleton is an error that names the part, when it is built."""

import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.skeleton import Inertia, SkeletonBuilder, joints
from vitruvian.spatial import exp_se3

SOLID = Inertia.box(1.0, (0.1, 0.2, 0.3))
HINGE = joints.Revolute((0.0, 0.0, 1.0))
NAN = float("nan")


def build(*bones, springs=()):
    builder = SkeletonBuilder()
    for bone in bones:
        builder.add_bone(**{"joint": HINGE, "inertia": SOLID, **bone})
    for spring in springs:
        builder.add_spring(*spring)
    return builder.build()


@pytest.mark.parametrize(
    ("bones", "message"),
    [
        (
            [{"name": "arm", "parent": "hand"}, {"name": "hand", "parent": "arm"}],
            "'(arm|hand)': it is its own ancestor",
        ),
        ([{"name": "arm", "parent": "arm"}], "'arm': it is its own ancestor"),
        ([{"name": "arm"}, {"name": "hand", "parent": "amr"}], "'hand': unknown parent 'amr'; did you mean arm"),
        ([{"name": "arm"}, {"name": "arm"}], "'arm': this name is used twice"),
        ([], "at least one bone"),
        ([{"name": "arm", "inertia": Inertia(0.0)}], "'arm': mass is zero"),
        ([{"name": "arm", "inertia": Inertia(-1.0)}], "'arm': mass is negative"),
        ([{"name": "arm", "inertia": Inertia(NAN)}], "'arm': mass.*not finite"),
        (
            [{"name": "arm", "inertia": Inertia(0.0, (0, 0, 0), np.eye(3)), "joint": joints.Fixed()}],
            "'arm': .*inertia is not",
        ),
        (
            [{"name": "arm", "inertia": Inertia(1.0, (0, 0, 0), np.diag([1.0, 1.0, 2.1]))}],
            "'arm': .*triangle inequality",
        ),
        (
            [{"name": "arm", "inertia": Inertia(1.0, (0, 0, 0), np.diag([-1.0, 1.0, 1.0]))}],
            "'arm': .*negative principal",
        ),
        (
            [{"name": "arm", "inertia": Inertia(1.0, (0, 0, 0), [[1, 1, 0], [0, 1, 0], [0, 0, 1]])}],
            "'arm': .*not symmetric",
        ),
        ([{"name": "arm", "inertia": Inertia(1.0, (0, NAN, 0), np.eye(3))}], "'arm': .*not finite"),
        ([{"name": "arm", "placement": (0.0, NAN, 0.0)}], "'arm': placement is not finite"),
        ([{"name": "arm", "placement": 2.0 * np.eye(4)}], "'arm': placement is not a rigid motion"),
        ([{"name": "arm", "placement": np.diag([1.0, 1.0, -1.0, 1.0])}], "'arm': placement is not a rigid motion"),
        ([{"name": "arm", "stiffness": NAN}], "'arm': stiffness is not finite"),
        ([{"name": "arm", "damping": -1.0}], "'arm': damping is negative"),
        ([{"name": "arm", "stiffness": (1.0, 2.0)}], "'arm': stiffness needs one number or 1"),
        ([{"name": "arm", "limits": (1.0, -1.0)}], "'arm': a lower limit lies above"),
        ([{"name": "arm", "limits": (NAN, 1.0)}], "'arm': limits is not finite"),
        ([{"name": "arm", "neutral": (NAN,)}], "'arm': neutral is not finite"),
        ([{"name": "arm", "neutral": (0.0, 1.0)}], "'arm': neutral needs 1"),
        ([{"name": "arm", "joint": joints.Ball(), "neutral": (1.0, 1.0, 0.0, 0.0)}], "'arm': .*unit length"),
        ([{"name": "arm", "joint": "hinge"}], "'arm': joint must be one of"),
        ([{"name": "arm", "joint": joints.Revolute((0.0, 0.0, 2.0))}], "'arm': joint axis must be of unit length"),
        ([{"name": "arm", "joint": joints.Revolute((0.0, NAN, 1.0))}], "'arm': joint axis is not finite"),
        ([{"name": "arm", "joint": joints.Prismatic((1.0, 1.0, 0.0))}], "'arm': joint axis must be of unit length"),
        ([{"name": "arm", "joint": joints.Helical((0.0, 0.0, 1.0), NAN)}], "'arm': joint pitch is not finite"),
        ([{"name": "arm", "joint": joints.Cylindrical((0.0, 0.5, 0.0))}], "'arm': joint axis must be of unit length"),
        ([{"name": "arm", "joint": joints.Planar((0.0, 0.5, 0.0))}], "'arm': joint normal must be of unit length"),
        (
            [{"name": "arm", "joint": joints.Universal((0, 0, 1.0), (0, 0, 1.0))}],
            "'arm': the two joint axes are parallel",
        ),
        ([{"name": "arm", "joint": joints.Universal((0, 0, 1.0), (0, 2.0, 0))}], "'arm': joint axis2 must be of unit"),
        ([{"name": "arm", "joint": joints.Elliptic(0.0, 1.0)}], "'arm': semi-axes"),
        ([{"name": "arm", "joint": joints.Elliptic(NAN, 1.0)}], "'arm': joint a is not finite"),
    ],
)
def test_bad_bone_is_refused_by_name(bones, message):
    with pytest.raises(InputError, match=message):
        build(*bones)


def test_massless_bones_are_allowed_where_they_are_harmless():
    skeleton = build(
        {"name": "base", "joint": joints.Fixed(), "inertia": Inertia.none()},
        {"name": "link", "parent": "base", "inertia": Inertia.none()},
        {"name": "body", "parent": "link", "joint": joints.Revolute((1.0, 0.0, 0.0))},
        {"name": "tip", "parent": "body", "joint": joints.Fixed(), "inertia": Inertia.none()},
    )
    assert skeleton.mass == 1.0


def test_bone_that_no_inertia_opposes_is_refused():
    with pytest.raises(InputError, match="'arm': nothing resists its joint"):
        build({"name": "arm", "inertia": Inertia(1.0)})  # a point mass on the axis itself


def test_spline_whose_jacobian_vanishes_is_refused():
    same = [np.eye(4)] * 3
    frames = [exp_se3(0.3 * k * np.ones(6)) for k in range(4)]
    stuck = joints.CurveSpline([*frames, *([frames[-1]] * 4), *[f @ frames[-1] for f in frames]])
    with pytest.raises(InputError, match="'knee': the Jacobian of the curve spline joint vanishes at q = "):
        build({"name": "knee", "joint": stuck})
    with pytest.raises(InputError, match=r"'knee': .*vanishes"):
        build({"name": "knee", "joint": joints.CurveSpline([*same, *same])})
    flat = np.zeros((6, 5, 5))
    flat[0] = np.linspace(0.0, 1.0, 5)[:, None]  # moves along one coordinate only
    with pytest.raises(InputError, match="'scapula': the Jacobian of the spline joint loses rank"):
        build({"name": "scapula", "joint": joints.SurfaceSpline(flat, [(0, 1), (0, 1)])})


def test_bad_spline_numbers_are_refused():
    with pytest.raises(InputError, match="finite"):
        joints.SurfaceSpline(np.full((6, 5), NAN), [(0, 1)])
    with pytest.raises(InputError, match="shape"):
        joints.SurfaceSpline(np.zeros((5, 5)), [(0, 1)])
    with pytest.raises(InputError, match="empty domain"):
        joints.SurfaceSpline(np.zeros((6, 5)), [(1, 1)])
    with pytest.raises(InputError, match="too few"):
        joints.SurfaceSpline(np.zeros((6, 3)), [(0, 1)])


def test_custom_joint_is_held_to_its_own_transform():
    def transform(q):
        return exp_se3(q[0] * np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0]))

    def jacobian(q):
        return np.array([[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]]).T

    def hessian(q):
        return np.zeros((1, 1, 6))

    build({"name": "arm", "joint": joints.Custom(1, transform, jacobian, hessian)})
    for bad, message in (
        (joints.Custom(1, transform, lambda q: 2.0 * jacobian(q), hessian), "column 0 of the joint Jacobian disagrees"),
        (joints.Custom(1, transform, jacobian, lambda q: np.ones((1, 1, 6))), "the joint Hessian disagrees"),
        (joints.Custom(1, transform, lambda q: jacobian(q).T, hessian), "joint jacobian has the shape"),
        (joints.Custom(1, transform, lambda q: NAN * jacobian(q), hessian), "joint jacobian is not finite"),
        (joints.Custom(7, transform, jacobian, hessian), "1 to 6"),
    ):
        with pytest.raises(InputError, match=f"'arm': .*{message}"):
            build({"name": "arm", "joint": bad})


@pytest.mark.parametrize(
    ("spring", "message"),
    [
        (("tie", "arm", (0, 0, 0), "leg", (0, 0, 0), 1.0), "'tie': unknown bone 'leg'"),
        (("tie", "arm", (0, NAN, 0), None, (0, 0, 0), 1.0), "'tie': point is not finite"),
        (("tie", "arm", (0, 0, 0), None, (0, 0, 1), -1.0), "'tie': stiffness is negative"),
        (("tie", "arm", (0, 0, 0), None, (0, 0, 1), NAN), "'tie': stiffness is not finite"),
    ],
)
def test_bad_spring_is_refused_by_name(spring, message):
    with pytest.raises(InputError, match=message):
        build({"name": "arm"}, springs=[spring])


@pytest.mark.parametrize("name", ["", "  ", None, 3])
def test_a_name_must_be_a_string_that_says_something(name):
    with pytest.raises(InputError, match="the name of a bone must be a string that is not empty"):
        build({"name": name})
    with pytest.raises(InputError, match="the name of a spring must be a string that is not empty"):
        build({"name": "arm"}, springs=[(name, "arm", (0, 0, 0), None, (0, 0, 1), 1.0)])


@pytest.mark.parametrize(("end", "where"), [("arm", "bone 'arm'"), (None, "the world")])
def test_a_spring_from_a_bone_to_itself_is_refused(end, where):
    with pytest.raises(InputError, match=f"'tie': both ends are on {where}"):
        build({"name": "arm"}, springs=[("tie", end, (0, 0, 0), end, (0, 0, 1), 1.0)])


@pytest.mark.parametrize("which", range(3))
def test_custom_joint_whose_function_raises_is_refused_with_its_own_words(which):
    def broken(q):
        raise KeyError("no such table")

    functions = [lambda q: np.eye(4), lambda q: np.eye(6)[:, :1], lambda q: np.zeros((1, 1, 6))]
    functions[which] = broken
    name = ("transform", "jacobian", "hessian")[which]
    with pytest.raises(InputError, match=f"bone 'arm': joint {name} cannot be evaluated.*KeyError: 'no such table'"):
        build({"name": "arm", "joint": joints.Custom(1, *functions)})


def test_custom_joint_with_too_few_start_coordinates_is_refused():
    functions = [lambda q: np.eye(4), lambda q: np.eye(6)[:, :2], lambda q: np.zeros((2, 2, 6))]
    with pytest.raises(InputError, match="bone 'arm': joint start needs 2 numbers"):
        build({"name": "arm", "joint": joints.Custom(2, *functions, start=(0.0,))})


def test_bad_control_frames_are_refused_with_their_number():
    frames = np.array([exp_se3(0.3 * k * np.ones(6)) for k in range(7)])
    bent, holed = frames.copy(), frames.copy()
    bent[3, 0, 0] += 0.1
    holed[5, 1, 3] = NAN
    for bad, message in (
        (bent, "control frame 3 is not a rigid motion"),
        (holed, "control frame 5 holds a number that is not finite"),
        (frames[:3], "3 control frames are too few for order 4"),
        (frames[:0], "0 control frames are too few for order 4"),
        ([["a"]], "control frames are not"),
    ):
        with pytest.raises(InputError, match=f"curve spline joint: {message}"):
            joints.CurveSpline(bad)
    with pytest.raises(InputError, match="spline joint: controls is not made of numbers"):
        joints.SurfaceSpline([["a"]], [(0, 1)])


def test_gravity_must_be_a_number():
    with pytest.raises(InputError, match="gravity"):
        SkeletonBuilder((0.0, 0.0, NAN))


def test_bones_may_be_added_in_any_order_and_parents_come_first():
    skeleton = build({"name": "hand", "parent": "arm"}, {"name": "arm"}, {"name": "head"})
    assert skeleton.names == ("arm", "hand", "head")
    assert list(skeleton.parent) == [-1, 0, -1]
