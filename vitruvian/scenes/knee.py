"""A relaxed lower leg swings from a knee that was fitted to measured-looking transforms (Lee 2008, figure 6.2).

Noisy samples of how the tibia stands on the femur (see `_leg`) are turned into a curve spline joint: coordinates by the
natural parameterisation, control frames by least squares on SE(3), smoothed by pulling the joint's Hessian towards zero
(sections 6.4.1–6.4.3). The thigh rests on a seat and the shank is let go near extension, as in the pendulum test that
clinicians use (Wartenberg 1951). The instantaneous axis of the joint is drawn as it moves, over the fan of all axes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitruvian.mesh import box, capsule, join
from vitruvian.scenes._leg import (
    FEMUR,
    KNEE_CENTRE,
    Knee,
    axis_of,
    fitted_knee,
    flexion_angle,
    internal_rotation,
    knee_transform,
    leg_meshes,
    patella_pose,
    shank_with_foot,
)
from vitruvian.skeleton import Skeleton, SkeletonBuilder, joints
from vitruvian.spatial import inverse, log_so3, rotation_about, transform
from vitruvian.systems import BonesSystem, LinesLayer, Measure, Now
from vitruvian.world import Camera, Lines, LinesFrame, Mesh, Parameter, Recording, Report, Scene, Signal, World

Array = np.ndarray

LIMITS = np.deg2rad((2.0, 118.0))  # flexion at which soft tissue begins to resist [rad]
LIMIT_STIFFNESS, LIMIT_DAMPING = 120.0, 2.0  # [N m/rad], [N m s/rad]
HIP = (0.0, 0.30, 0.62)  # [m]
HALF_AXIS = 0.085  # half the length of a drawn axis [m]


def build_knee(knee: Knee, damping: float = 0.0, gravity: float = 9.81) -> Skeleton:
    """Femur fixed on the seat, pointing forwards; tibia with fibula and foot on the fitted joint."""
    builder = SkeletonBuilder(gravity=(0.0, 0.0, -gravity))
    seated = transform(rotation_about((1.0, 0.0, 0.0), -0.5 * np.pi), HIP)
    builder.add_bone("femur", joint=joints.Fixed(), placement=seated, inertia=FEMUR)
    builder.add_bone(
        "tibia",
        parent="femur",
        joint=joints.CurveSpline(knee.spline),
        inertia=shank_with_foot(),
        damping=damping,
        limits=(knee.coordinate(LIMITS[0]), knee.coordinate(LIMITS[1])),
        limit_stiffness=LIMIT_STIFFNESS,
        limit_damping=LIMIT_DAMPING,
    )
    return builder.build()


def knee_of(parameters: Mapping[str, Any]) -> Knee:
    """The knee that the parameters ask for."""
    return fitted_knee(
        seed=parameters["sample_seed"],
        samples=parameters["samples"],
        noise_position=1e-3 * parameters["noise_mm"],
        noise_angle=np.deg2rad(parameters["noise_deg"]),
        controls=parameters["controls"],
        smoothing=parameters["smoothing"],
    )


def build(parameters: Mapping[str, Any]) -> World:
    knee = knee_of(parameters)
    skeleton = build_knee(knee, parameters["damping"], parameters["gravity"])
    pose = lambda now: knee.spline(now.q[0])  # noqa: E731
    simulation = BonesSystem(
        skeleton,
        q=np.array([knee.coordinate(np.deg2rad(parameters["release"]))]),
        meshes=(*leg_meshes(foot_on="tibia"), *_furniture(knee)),
        followers={"patella": lambda now: patella_pose(now.pose("femur"), flexion_angle(pose(now)))},
        layers=(LinesLayer(_AXIS, lambda now: _axis_line(knee, now)),),
        measures=(
            Measure(Signal("flexion", "rad", "knee flexion"), lambda now: flexion_angle(pose(now))),
            Measure(
                Signal("internal rotation", "rad", "internal rotation of the tibia"),
                lambda now: internal_rotation(pose(now)),
            ),
            Measure(
                Signal("axis", "m", "point of the axis nearest the knee centre, in the femur", ("back", "up")),
                lambda now: axis_of(knee.spline, now.q[0])[0][1:] - KNEE_CENTRE[1:],
            ),
            Measure(
                Signal("axis tilt", "rad", "tilt of the axis from left–right"),
                lambda now: np.arccos(min(1.0, abs(axis_of(knee.spline, now.q[0])[1][0]))),
            ),
            Measure(Signal("fit error position", "m", "distance from the true path"), lambda now: _miss(pose(now))[0]),
            Measure(Signal("fit error angle", "rad", "angle from the true path"), lambda now: _miss(pose(now))[1]),
        ),
        cameras=(
            Camera("side", (-1.30, -0.75, 0.72), (0.0, -0.08, 0.37)),
            Camera("knee", (-0.42, -0.55, 0.70), (0.0, -0.11, 0.57)),
            Camera("front", (-0.5, -1.6, 0.8), (0.0, -0.1, 0.42)),
        ),
    )
    return World(simulation, frame_rate=60.0, substeps=parameters["substeps"])


def check(recording: Recording, parameters: Mapping[str, Any]) -> Report:
    knee = knee_of(parameters)
    signals = recording.signals
    flexion, turn = np.rad2deg(signals["flexion"]), np.rad2deg(signals["internal rotation"])
    balance = signals["balance"]
    scale = float(np.ptp(signals["energy"][:, 1]))
    inside = np.linspace(*knee.coordinate_range(np.deg2rad(0.0), np.deg2rad(120.0)), 60)
    miss = np.array([_miss(knee.spline(q)) for q in inside])
    places = np.array([axis_of(knee.spline, q)[0] for q in inside])
    metrics = {
        "fit_to_samples_rms_mm": 1e3 * _rms(knee.position_error),
        "fit_to_samples_rms_deg": np.rad2deg(_rms(knee.rotation_error)),
        "fit_to_truth_rms_mm": 1e3 * _rms(miss[:, 0]),
        "fit_to_truth_rms_deg": np.rad2deg(_rms(miss[:, 1])),
        "internal_rotation_over_range_deg": float(
            np.rad2deg(internal_rotation(knee.spline(inside[-1])) - internal_rotation(knee.spline(inside[0])))
        ),
        "axis_travel_mm": 1e3 * float(np.linalg.norm(np.ptp(places[:, 1:], axis=0))),
        "largest_flexion_deg": float(flexion.max()),
        "smallest_flexion_deg": float(flexion.min()),
        "internal_rotation_in_swing_deg": float(np.ptp(turn)),
        "energy_drift": float(np.abs(balance - balance[0]).max() / scale),
    }
    noise = max(parameters["noise_mm"], 0.05)
    noise_deg = max(parameters["noise_deg"], 0.05)
    checks = {
        "fit is nearer to the truth than the samples are": metrics["fit_to_truth_rms_mm"] < np.sqrt(3.0) * noise
        and metrics["fit_to_truth_rms_deg"] < np.sqrt(3.0) * noise_deg,
        "tibia turns inwards by 15° to 22°": 15.0 < metrics["internal_rotation_over_range_deg"] < 22.0,
        "axis moves by 4 mm or more": metrics["axis_travel_mm"] > 4.0,
        "soft limits hold": flexion.min() > -8.0 and flexion.max() < 140.0,
        "energy within 0.1 %, damping counted": metrics["energy_drift"] < 1e-3,
    }
    return Report({name: bool(passed) for name, passed in checks.items()}, metrics)


def _miss(pose: Array) -> tuple[float, float]:
    """How far a pose is from the true path at the same flexion: [m], [rad]."""
    away = inverse(knee_transform(flexion_angle(pose))) @ pose
    return float(np.linalg.norm(away[:3, 3])), float(np.linalg.norm(log_so3(away[:3, :3])))


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


_AXIS = Lines(
    "axis", np.array([0, 2]), np.array([0.0045]), names=("instantaneous axis",), layer="axis", colour=(0.85, 0.2, 0.15)
)


def _axis_line(knee: Knee, now: Now) -> LinesFrame:
    place, direction = axis_of(knee.spline, now.q[0])
    femur = now.pose("femur")
    ends = place + HALF_AXIS * np.array([[-1.0], [1.0]]) * direction
    return LinesFrame(ends @ femur[:3, :3].T + femur[:3, 3])


def _furniture(knee: Knee) -> tuple[Mesh, ...]:
    fan = []
    for q in np.linspace(*knee.coordinate_range(0.0, np.deg2rad(120.0)), 13):
        place, direction = axis_of(knee.spline, q)
        fan.append(capsule(place - HALF_AXIS * direction, place + HALF_AXIS * direction, 0.0012, sides=8))
    seat = box((0.24, 0.26, 0.05), (0.0, HIP[1] + 0.07, HIP[2] - 0.075))
    legs = [box((0.03, 0.03, HIP[2] - 0.1), (x, y, 0.5 * (HIP[2] - 0.1))) for x in (-0.1, 0.1) for y in (0.27, 0.47)]
    return (
        Mesh("axes", "femur", *join(*fan), layer="axis", colour=(0.25, 0.45, 0.70)),
        Mesh("seat", "", *join(seat, *legs), layer="seat", colour=(0.46, 0.36, 0.27)),
    )


scene = Scene(
    name="knee",
    summary="A lower leg swings from a knee joint that was fitted to noisy measurements",
    answers="Lee 2008, figure 6.2",
    seconds=6.0,
    build=build,
    check=check,
    parameters={
        "release": Parameter(20.0, "flexion at which the shank is let go", "°", low=0.0, high=120.0),
        "damping": Parameter(0.35, "damping of the relaxed knee", "N m s/rad", low=0.0, high=10.0),
        "gravity": Parameter(9.81, "acceleration of free fall", "m/s²", low=0.0, high=100.0),
        "samples": Parameter(60, "transforms that were measured", low=10, high=1000),
        "noise_mm": Parameter(0.5, "noise of measured positions, per axis", "mm", low=0.0, high=10.0),
        "noise_deg": Parameter(0.5, "noise of measured angles, per axis", "°", low=0.0, high=10.0),
        "sample_seed": Parameter(4, "seed of the noise", low=0, high=2**31 - 1),
        "controls": Parameter(10, "control frames of the joint", low=4, high=100),
        "smoothing": Parameter(
            0.02, "weight of a steady axis against passing through the samples", low=0.0, high=0.999
        ),
        "substeps": Parameter(8, "steps per frame of 1/60 s", low=1, high=1000),
    },
    qualities={"draft": {"substeps": 8}, "standard": {"substeps": 16}, "fine": {"substeps": 32}},
)
