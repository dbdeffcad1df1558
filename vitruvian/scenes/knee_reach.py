"""A leg follows a moving foothold by inverse kinematics through the fitted knee (Lee 2008, figure 6.3).

The hip is a ball joint, the knee the fitted curve spline joint, the ankle a universal joint: six freedoms, so the
foot can take any position and orientation within reach. At every step damped least squares with the joints' analytic
Jacobians finds the pose from the one before. Where the knee's axis goes, the leg follows without being told.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.control import Controls, honoured
from vitruvian.errors import Diverged
from vitruvian.mesh import box, capsule, join, tube
from vitruvian.scenes._leg import (
    ANKLE_CENTRE,
    FEMUR,
    FOOT,
    PELVIS_FROM_HIP,
    SHANK,
    Knee,
    fitted_knee,
    flexion_angle,
    internal_rotation,
    leg_meshes,
    patella_pose,
)
from vitruvian.skeleton import Inertia, Skeleton, SkeletonBuilder, Target, difference, joints, solve_ik
from vitruvian.spatial import inverse, log_so3, rotation_about, transform, transform_from_pose
from vitruvian.systems import BonesState, BonesSystem, Measure
from vitruvian.world import Camera, Mesh, Parameter, Recording, Report, Scene, Signal, World

Array = np.ndarray

HIP = np.array([-0.0835, 0.0, 0.92])  # [m]
MIDDLE = np.array([0.0, -0.16, -0.62])  # of the path, from the hip [m]
REACH = np.array([0.05, 0.17, 0.10])  # half its extent across, forwards and upwards [m]
PITCH = np.deg2rad(22.0)  # by which the foot rocks
TURN = np.deg2rad(8.0)  # by which it turns in and out
LIMITS = np.deg2rad((0.0, 130.0))  # flexion that the knee may take [rad]


def build_leg(knee: Knee) -> Skeleton:
    """Pelvis fixed; femur, tibia and foot hang from it."""
    builder = SkeletonBuilder()
    builder.add_bone(
        "pelvis", joint=joints.Fixed(), placement=transform(None, HIP + PELVIS_FROM_HIP), inertia=Inertia.none()
    )
    builder.add_bone(
        "femur",
        parent="pelvis",
        placement=transform(None, -PELVIS_FROM_HIP),
        joint=joints.Ball(),
        inertia=FEMUR,
    )
    builder.add_bone(
        "tibia",
        parent="femur",
        joint=joints.CurveSpline(knee.spline),
        inertia=SHANK,
        neutral=[knee.coordinate(np.deg2rad(40.0))],
        limits=knee.coordinate_range(*LIMITS),
    )
    builder.add_bone(
        "foot",
        parent="tibia",
        placement=transform(None, ANKLE_CENTRE),
        joint=joints.Universal((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
        inertia=FOOT,
        limits=(np.deg2rad((-50.0, -30.0)), np.deg2rad((50.0, 30.0))),
    )
    return builder.build()


def foothold(time: float, period: float) -> Array:
    """Where the foot's frame should be, shape (4, 4): a lying figure of eight, the foot rocking as it goes."""
    a = 2.0 * np.pi * time / period
    place = HIP + MIDDLE + REACH * np.array([np.sin(2.0 * a), np.cos(a), np.sin(a) + 0.35 * np.sin(2.0 * a)])
    rotation = rotation_about((0.0, 0.0, 1.0), TURN * np.sin(a + 0.5)) @ rotation_about(
        (1.0, 0.0, 0.0), PITCH * np.sin(a)
    )
    return transform(rotation, place)


class ReachSystem(BonesSystem):
    """A leg without masses' say: each step poses it so that the foot is where the foothold is then."""

    def __init__(self, skeleton: Skeleton, period: float, tolerance: float, **shown: Any) -> None:
        super().__init__(skeleton, books=False, **shown)
        self.period, self.tolerance = period, tolerance

    def start(self, rng: np.random.Generator) -> BonesState:
        state = super().start(rng)
        state.q[:] = self._reach(state.q, 0.0)
        return state

    def step(self, state: BonesState, controls: Controls | None, time: float, dt: float) -> None:
        honoured(controls, (), "a leg that is posed")
        q = self._reach(state.q, time + dt)
        state.v[:] = difference(self.skeleton, state.q, q) / dt
        state.q[:] = q

    def _reach(self, q: Array, time: float) -> Array:
        goal = foothold(time, self.period)
        target = Target("foot", position=goal[:3, 3], orientation=goal[:3, :3])
        found = solve_ik(self.skeleton, q, [target], tolerance=self.tolerance)
        if not np.isfinite(found.q).all():
            raise Diverged("foot", "inverse kinematics found no pose")
        return found.q


def build(parameters: Mapping[str, Any]) -> World:
    knee = _knee(parameters)
    period = parameters["period"]
    pose = lambda now: knee.spline(now.angle("tibia"))  # noqa: E731
    simulation = ReachSystem(
        build_leg(knee),
        period,
        parameters["tolerance"],
        meshes=(*leg_meshes(foot_on="foot", pelvis=True), *_signs(period)),
        followers={
            "patella": lambda now: patella_pose(now.pose("femur"), flexion_angle(pose(now))),
            "foothold": lambda now: foothold(now.time, period),
        },
        measures=(
            Measure(
                Signal("miss", "m", "distance of the foot from its foothold"),
                lambda now: np.linalg.norm(now.pose("foot")[:3, 3] - foothold(now.time, period)[:3, 3]),
            ),
            Measure(Signal("flexion", "rad", "knee flexion"), lambda now: flexion_angle(pose(now))),
            Measure(
                Signal("internal rotation", "rad", "internal rotation of the tibia"),
                lambda now: internal_rotation(pose(now)),
            ),
        ),
        cameras=(
            Camera("side", (-2.27, -1.48, 1.02), (-0.06, -0.08, 0.60)),
            Camera("front", (-0.5, -2.3, 0.9), (-0.06, 0.0, 0.60)),
        ),
    )
    return World(simulation, frame_rate=60.0, substeps=parameters["substeps"])


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    foot = recording.bodies.index("foot")
    far, turned = [], []
    for time, pose in zip(recording.time, recording.poses[:, foot]):
        away = inverse(foothold(float(time), parameters["period"])) @ transform_from_pose(pose)
        far.append(float(np.linalg.norm(away[:3, 3])))
        turned.append(float(np.linalg.norm(log_so3(away[:3, :3]))))
    flexion = np.rad2deg(recording.signals["flexion"])
    turn = np.rad2deg(recording.signals["internal rotation"])
    metrics = {
        "largest_miss_mm": 1e3 * max(far),
        "largest_miss_deg": float(np.rad2deg(max(turned))),
        "smallest_flexion_deg": float(flexion.min()),
        "largest_flexion_deg": float(flexion.max()),
        "internal_rotation_range_deg": float(np.ptp(turn)),
    }
    low, high = np.rad2deg(LIMITS)
    checks = {
        "foot meets its foothold within 0.01 mm": metrics["largest_miss_mm"] < 0.01,
        "foot keeps its orientation within 0.01°": metrics["largest_miss_deg"] < 0.01,
        "knee stays within its limits": low - 1e-6 <= flexion.min() and flexion.max() <= high + 1e-6,
    }
    return Report({name: bool(passed) for name, passed in checks.items()}, metrics)


def _knee(parameters: Mapping[str, Any]) -> Knee:
    return fitted_knee(
        seed=parameters["sample_seed"],
        samples=60,
        noise_position=0.5e-3,
        noise_angle=np.deg2rad(0.5),
        controls=10,
        smoothing=0.02,
    )


def _signs(period: float) -> tuple[Mesh, ...]:
    path = np.array([foothold(t, period)[:3, 3] for t in np.linspace(0.0, period, 240, endpoint=False)])
    axes = [capsule(np.zeros(3), 0.13 * axis, 0.004, sides=10) for axis in np.diag([1.0, -1.0, 1.0])]
    stand = box((0.03, 0.03, 0.5), (0.0, 0.045, HIP[2] + 0.37))
    return (
        Mesh("path", "", *tube(path, 0.003, closed=True, sides=8), layer="target", colour=(0.25, 0.45, 0.70)),
        Mesh("foothold", "foothold", *join(*axes), layer="target", colour=(0.85, 0.25, 0.18)),
        Mesh("stand", "", *stand, layer="stand", colour=(0.4, 0.42, 0.46)),
    )


scene = Scene(
    name="knee-reach",
    summary="A leg follows a moving foothold by inverse kinematics through the fitted knee",
    answers="Lee 2008, figure 6.3",
    seconds=6.0,
    build=build,
    check=check,
    parameters={
        "period": Parameter(3.0, "time for one round of the path", "s", low=0.2, high=100.0),
        "tolerance": Parameter(1e-7, "tolerance at which inverse kinematics stops", "m and rad", low=1e-12, high=1e-2),
        "sample_seed": Parameter(4, "seed of the noise in the knee's measurements", low=0, high=2**31 - 1),
        "substeps": Parameter(1, "steps per frame of 1/60 s", low=1, high=100),
    },
    qualities={"draft": {"substeps": 1}, "standard": {"substeps": 2}, "fine": {"substeps": 4}},
)
