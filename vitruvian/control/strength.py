"""How strong a body is: isometric joint torques in given poses, beside what people can do.

`sum`: all muscles that help at full activation, the others at rest, about one axis of one joint; what a dynamometer
sees of a limb. `balanced`: the greatest force on a bone (or pure moment) that all joints together can hold with 0 <=
a <= 1, by linear programming, as the moment at the named joint; the only fair measure for the spine, where many
joints must hold at once,

    max x,   R a - k d = x load,   0 <= a <= 1,   low <= d <= high,   load . d = 0  over the spine.

The loaded bone is held by the measuring device; between it and the pelvis the joints of the spine may yield (d) within
their ranges against their ligaments' stiffness k, so that the bone stays. Other joints may yield by 2 degrees.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from vitruvian.anatomy import Body
from vitruvian.anatomy.tables import read_csv
from vitruvian.control.inverse import InverseDynamics
from vitruvian.control.poses import pose
from vitruvian.couple import BodyStepper
from vitruvian.errors import InputError
from vitruvian.skeleton import bone_poses, difference, world_twists

Array = np.ndarray
GIVE = np.radians(2.0)  # by which joints outside of the spine may yield, so that their ligaments help
SPINE = (*(f"{part}{i}" for part, n in (("L", 5), ("T", 12), ("C", 7)) for i in range(n, 0, -1)), "Sku")
SOFT = ("Hyo", "Thy")  # hung in soft tissue that is not modelled: they yield as they need


@dataclass(frozen=True)
class StrengthTest:
    """A movement, its pose and the human band [N m]."""

    movement: str
    condition: str
    pose: dict
    joint: str  # bone whose joint is measured
    axis: str  # "+" or "-" of a hinge, or a world axis about which the far bone is turned
    low: float
    high: float
    method: str  # sum, balanced, balanced moment
    loaded: str  # bone that the force acts on, for balanced tests
    source: str

    @property
    def name(self) -> str:
        return f"{self.movement}, {self.condition}"


def strength_tests() -> list[StrengthTest]:
    """The rows of `strength_bands.csv`."""
    out = []
    for r in read_csv("strength_bands.csv"):
        table = tomllib.loads(f"pose = {r['pose_deg']}")["pose"]
        out.append(
            StrengthTest(
                r["movement"],
                r["condition"],
                table,
                r["joint"],
                r["axis"],
                float(r["low_Nm"]),
                float(r["high_Nm"]),
                r["method"],
                r["loaded_bone"],
                r["source"],
            )
        )
    return out


def strength(body: Body, test: StrengthTest) -> float:
    """The torque [N m] that the body reaches in a test."""
    q = pose(body, test.pose)
    held = np.zeros(body.skeleton.n_v, dtype=bool)
    held[: body.skeleton.joints[0].n_v] = True
    inverse = InverseDynamics(body, BodyStepper(body.skeleton, body.muscles, held=held))
    state = body.at_rest(q)
    state.activation[:] = 1.0  # force is not linear in activation where a tendon stretches
    R = inverse.demand(state, np.zeros(body.skeleton.n_v), 2e-3).map.dense()
    if test.method == "sum":
        return float(np.maximum(_about_axis(body, q, test, inverse) @ R, 0.0).sum())
    if test.method not in ("balanced", "balanced moment"):
        raise InputError(f"strength test '{test.name}': unknown method '{test.method}'")
    load, moment = _load(body, q, test)
    s, at = body.skeleton, inverse.driven
    bones = [n.split()[0] for n in inverse.names]
    spine = np.array([b in SPINE for b in bones])
    turned = difference(s, s.neutral_q(), q)[at]
    low = np.where(spine, np.minimum(s.forces.low[at] - turned, -GIVE), -GIVE)
    high = np.where(spine, np.maximum(s.forces.high[at] - turned, GIVE), GIVE)
    soft = np.array([b in SOFT for b in bones])
    yields = np.where(soft, -np.inf, low), np.where(soft, np.inf, high)
    return moment * _greatest(R, load[at], s.forces.stiffness[at], yields, spine)


def _about_axis(body: Body, q: Array, test: StrengthTest, inverse: InverseDynamics) -> Array:
    """Row vector (n_driven,) that turns joint torques into the torque about the test's axis."""
    s = body.skeleton
    at = s.v_slice(test.joint)
    row = np.zeros(s.n_v)
    if test.axis in ("+", "-"):
        row[at.start] = 1.0 if test.axis == "+" else -1.0
    else:
        R = bone_poses(s, q)[s.index(test.joint), :3, :3]
        row[at] = R.T @ np.array([float(x) for x in test.axis.split()])
    return row[inverse.driven]


def _load(body: Body, q: Array, test: StrengthTest) -> tuple[Array, float]:
    """Joint torques (n_v,) that muscles must give against a unit load, and its moment at the measured joint [N m]."""
    s = body.skeleton
    poses, screws = world_twists(s, q)
    axis = np.array([float(x) for x in test.axis.split()])
    moved = s.supports[s.index(test.loaded)]
    if test.method == "balanced moment":
        return np.where(moved, screws[:, :3] @ axis, 0.0), 1.0
    point = poses[s.index(test.loaded), :3, 3] + (np.array([0.0, -0.08, 0.08]) if test.loaded == "Sku" else 0.0)
    arm = point - poses[s.index(test.joint), :3, 3]
    force = np.cross(axis, [0.0, 0.0, 1.0])  # muscles turn about +axis: the top would move along axis x up
    torque = (np.cross(screws[:, :3], point) + screws[:, 3:]) @ force
    return np.where(moved, torque, 0.0), float(np.cross(arm, force) @ axis)


def _greatest(R: Array, load: Array, stiffness: Array, yields: tuple[Array, Array], spine: Array) -> float:
    """max x such that R a - stiffness d = x load, 0 <= a <= 1, d within `yields`, load . d = 0 over the spine."""
    n, rows = R.shape[1], R.shape[0]
    cost = np.zeros(n + rows + 1)
    cost[-1] = -1.0
    still = np.concatenate([np.zeros(n), np.where(spine, load, 0.0), [0.0]])
    equal = np.vstack([np.column_stack([R, -np.diag(stiffness), -load]), still])
    bounds = [(0.0, 1.0)] * n + list(zip(*yields)) + [(0.0, None)]
    found = linprog(cost, A_eq=equal, b_eq=np.zeros(rows + 1), bounds=bounds)
    return float(found.x[-1]) if found.status == 0 else 0.0
