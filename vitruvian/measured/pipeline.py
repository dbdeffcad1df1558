"""From a trial to everything that is known of it: size, poses, ground forces, moments, muscles, reactions.

    found = analyse(trial)              # a `Tracked`
    found.curves.angles["knee flexion, left"], found.metrics["residual"]

Steps: gaps filled (`trial`), size (`subject`), inverse kinematics (`kinematics`), ribs at rest (`control.Relaxer`),
filter (`smooth`), ground (`ground`), moments, muscles and reactions (`dynamics`), names that a clinician knows
(`curves`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter

import numpy as np

from vitruvian.anatomy import Body, human
from vitruvian.anatomy.proportions import SEGMENTS
from vitruvian.anatomy.scaling import STATURE
from vitruvian.control import Relaxer
from vitruvian.errors import InputError, unknown_name
from vitruvian.measured.curves import Curves, clinical_curves
from vitruvian.measured.dynamics import Forces, found_forces
from vitruvian.measured.ground import (
    GroundForce,
    estimated_contact,
    feet_without_plates,
    plate_forces,
    sole_motion,
)
from vitruvian.measured.kinematics import Fit, Goals, PoseFitter
from vitruvian.measured.literature import Peak, activity_of, peaks
from vitruvian.measured.proportions import Proportions
from vitruvian.measured.smooth import SMALL_MISSING, Course, closed_on_itself, smoothed
from vitruvian.measured.subject import (
    Subject,
    found_shape,
    found_size,
    placed,
    segment_lengths,
    start_pose,
    trial_goals,
)
from vitruvian.measured.trial import LONGEST_GAP, Trial, filled, thinned
from vitruvian.skeleton import bone_poses, centre_of_mass

Array = np.ndarray
Progress = Callable[[float, float], None]
LAWS = ("rigid", "elastic", "documents", "none")
PROPORTIONS = ("measured", "ours")
ODD = 1.2  # factor of a segment, or its inverse, that is told with a doubt
OTHER_HEIGHT = 0.02  # of the given height, by which segments may add up to another one
MOST_RATE = 10_000.0  # [1/s]
FAR_OFF = 0.1  # [m] of a marker or joint from our body that is named with its time
LYING = 0.2  # [heights] that the skull is above the pelvis in nobody who stands, bent or not
UNCARRIED = 0.1  # [body weights] rms left on the pelvis that is named where contact was estimated
FLOOR = 10.0  # percentile of the lowest point of the soles that is taken for the ground where nothing else says it


@dataclass(frozen=True)
class Settings:
    """How a trial is analysed."""

    height: float | None = None  # [m]; None finds it from the measured places
    mass: float | None = None  # [kg]; None goes with the cube of the height
    rate: float = 100.0  # [1/s] of everything after inverse kinematics
    cutoff: float = 6.0  # [Hz] of the low-pass filter, 0 for none
    gap: float = LONGEST_GAP  # [s] that is filled
    mapping: Mapping[str, str] = field(default_factory=dict)  # marker of the file -> site
    without: Sequence[str] = ()  # markers that are left out
    without_plates: Sequence[str] = ()  # force plates that are left out
    cycle: bool | None = None  # whether the motion closes on itself; None looks
    muscles: str = "rigid"  # force law of the muscles (`human`), or none: stop after the joint moments
    feet: str = "universal"  # joints of the ankles (`human`)
    proportions: str = "measured"  # of the segments; "ours" scales the whole body by one number


@dataclass(frozen=True, eq=False)
class Tracked:
    """What was found of a trial."""

    trial: Trial
    settings: Settings
    body: Body
    subject: Subject
    goals: Goals
    fit: Fit
    course: Course
    ground: GroundForce
    forces: Forces
    curves: Curves
    peaks: Sequence[Peak]
    remarks: Sequence[str]
    metrics: Mapping[str, float]
    lift: float  # [m] by which everything stands higher than in the file, so that the ground is at 0


def analyse(trial: Trial, settings: Settings | None = None, progress: Progress | None = None) -> Tracked:
    """Everything about a trial; `progress(done, 1)` tells how far it is."""
    s, begun = settings or Settings(), perf_counter()
    if s.muscles not in LAWS:
        raise unknown_name("muscles", s.muscles, LAWS)
    if s.proportions not in PROPORTIONS:
        raise unknown_name("proportions", s.proportions, PROPORTIONS)
    if not 0.0 < s.rate <= MOST_RATE or not 0.0 <= s.cutoff < MOST_RATE:
        raise InputError(
            f"rate must lie above 0 and not above {MOST_RATE:g}, cut-off not below 0, got {s.rate:g} and {s.cutoff:g}"
        )
    trial = thinned(filled(_without(trial, s), s.gap), max(s.rate, 3.0 * s.cutoff))
    remarks = list(trial.remarks)
    options = {"feet": s.feet, "muscles": "documents" if s.muscles == "none" else s.muscles}
    body = human(feet=s.feet)  # its muscles do not matter yet
    fitter = PoseFitter(body)
    goals, unknown = trial_goals(trial, body, s.mapping)
    if unknown:
        remarks.append(f"markers that are not known and not used: {', '.join(unknown)}")
    shape = _shape(trial, fitter, goals, s)
    body = human(**options, height=shape.size * STATURE, mass=s.mass, proportions=shape.factors)  # type: ignore[arg-type]
    remarks += _told_shape(shape, body, s)
    fitter = PoseFitter(body)
    goals, _ = trial_goals(trial, body, s.mapping)
    goals = placed(fitter, goals, start_pose(fitter, goals))
    tell = progress or (lambda done, total: None)
    fit = fitter.fit(goals, start_pose(fitter, goals), lambda done, total: tell(0.3 * done / total, 1.0))
    relaxer = Relaxer(body)
    q = np.array([relaxer.rest(pose, tolerance=1e-5) for pose in fit.q])
    closed = False
    if s.cycle is not False and not trial.plates:
        found = closed_on_itself(body, q)
        if s.cycle and found is None:
            raise InputError(f"{trial.name}: does not close on itself, so it is no cycle (--no-cycle)")
        if found is not None and (s.cycle or trial.segments is not None):
            bent, miss, where = found
            closed = bool(s.cycle) or miss < SMALL_MISSING
            off = f"it ends as it began but for {np.degrees(miss):.1f}° at {where}"
            remarks.append(f"taken as a cycle: {off}, spread over it" if closed else f"not taken as a cycle: {off}; "
                           "--cycle spreads that over it")  # fmt: skip
            q = bent if closed else q
    course = smoothed(body, trial.time, q, rate=s.rate, cutoff=s.cutoff, closed=closed)
    remarks.append(
        f"coordinates filtered at {s.cutoff:g} Hz (Butterworth, fourth order, no lag), {s.rate:g} frames a second"
        if s.cutoff
        else "not filtered"
    )
    lift = -course.q[0, 2]
    course, ground = _ground(body, course, trial, s, remarks)
    lift += course.q[0, 2]
    forces = found_forces(
        body, course, ground, lambda done, total: tell(0.4 + 0.6 * done / total, 1.0), muscles=s.muscles != "none"
    )
    if trial.plates:
        remarks += feet_without_plates(body, course, ground, forces.moment[:, :6])
    curves = clinical_curves(body, course, ground, forces)
    speed = _speed(body, course)
    metrics = _metrics(body, goals, fit, ground, forces, course, muscles=s.muscles != "none")
    metrics["speed_m_per_s"] = speed
    metrics |= {f"{name.replace(' ', '_')}_factor": factor for name, factor in shape.factors.items()}
    remarks += _doubts(trial, body, goals, fit, metrics)
    metrics["analysis_seconds"] = perf_counter() - begun
    tell(1.0, 1.0)
    lengths = segment_lengths(trial, goals, body, fit.q)
    subject = Subject(shape.size, shape.factors, shape.unseen, goals.names, unknown, lengths)
    published = peaks(curves, body.skeleton.mass, activity_of(speed), muscles=s.muscles != "none")
    return Tracked(
        trial, s, body, subject, goals, fit, course, ground, forces, curves, published, remarks, metrics, float(lift)
    )


def _shape(trial: Trial, fitter: PoseFitter, goals: Goals, s: Settings) -> Proportions:
    size = None if s.height is None else s.height / STATURE
    if s.proportions == "measured":
        return found_shape(trial, fitter.body, goals, size, s.mapping)
    return Proportions(found_size(fitter, goals)[0] if size is None else size, {}, tuple(SEGMENTS))


def _told_shape(shape: Proportions, body: Body, s: Settings) -> list[str]:
    out = []
    if s.height is None:
        out.append(f"height {body.stature:.3f} m found from the measured places")
    elif abs(body.stature - s.height) > OTHER_HEIGHT * s.height:
        out.append(
            f"its segments add up to a height of {body.stature:.3f} m, not to the {s.height:.3f} m that are given"
        )
    if shape.factors:
        told = ", ".join(f"{name} {factor:.3f}" for name, factor in shape.factors.items())
        out.append(f"lengths of segments against our body {shape.size * STATURE:.3f} m tall: {told}")
        odd = [name for name, factor in shape.factors.items() if not 1.0 / ODD < factor < ODD]
        if odd:
            out.append(f"few people have such segments: {', '.join(odd)}; is a marker elsewhere than its name says?")
    if shape.doubted:
        out.append(f"no segment's length follows markers that are far off any body: {', '.join(shape.doubted)}")
    if s.proportions == "ours":
        out.append("one scale for the whole body")
    elif shape.unseen:
        out.append(f"segments that nothing measures and that keep our proportions: {', '.join(shape.unseen)}")
    if s.mass is None:
        out.append("mass by the size of the body, since none was given")
    return out


def _without(trial: Trial, s: Settings) -> Trial:
    for name in s.without:
        if name not in trial.markers:
            raise InputError(f"{trial.name}: has no marker '{name}' to leave out; it has {', '.join(trial.markers)}")
    names = [p.name for p in trial.plates]
    for name in s.without_plates:
        if name not in names:
            raise InputError(f"{trial.name}: has no force plate '{name}'; it has {', '.join(names) or 'none'}")
    markers = {n: x for n, x in trial.markers.items() if n not in s.without}
    plates = [p for p in trial.plates if p.name not in s.without_plates]
    return replace(trial, markers=markers, plates=plates)


def _ground(body: Body, course: Course, trial: Trial, s: Settings, remarks: list[str]) -> tuple[Course, GroundForce]:
    if trial.plates:
        ground = plate_forces(body, course, trial.plates, s.cutoff)
        if ground.unused:
            remarks.append(f"force plates on which nobody stood: {', '.join(ground.unused)}")
        remarks.append("ground forces from force plates")
        return course, ground
    lowest = sole_motion(body, course)[0][..., 2].min(axis=(1, 2))
    height = float(np.percentile(lowest, FLOOR))
    q = course.q.copy()
    q[:, 2] -= height
    course = replace(course, q=q)
    remarks.append(
        f"no force plates: contact estimated from the motion; ground taken at {1000 * height:.0f} mm of the file"
    )
    return course, estimated_contact(body, course)


def _speed(body: Body, course: Course) -> float:
    way = centre_of_mass(body.skeleton, course.q[-1]) - centre_of_mass(body.skeleton, course.q[0])
    return float(np.linalg.norm(way[:2]) / (course.time[-1] - course.time[0]))


def _metrics(
    body: Body, goals: Goals, fit: Fit, ground: GroundForce, forces: Forces, course: Course, *, muscles: bool
) -> dict[str, float]:
    used = goals.point_weight > 0.0
    distance = fit.distance[:, used]
    far = float(np.sqrt(np.nanmean(distance**2)))
    weight = body.skeleton.mass * 9.81
    out = {"residual": far, "residual_rms_m": far, "residual_largest_m": float(np.nanmax(distance))}
    if fit.angle.size:
        turned = float(np.sqrt(np.mean(fit.angle**2)))
        out |= {"residual": turned, "residual_rms_rad": turned, "residual_largest_rad": float(fit.angle.max())}
    left = np.linalg.norm(forces.moment[:, 3:6], axis=1)
    if muscles:
        out["largest_reserve_nm"] = float(np.abs(forces.reserve).max())
        out["mean_activation"] = float(forces.activation.mean())
    return out | {
        "height_m": body.stature,
        "mass_kg": body.skeleton.mass,
        "pelvis_force_rms_bw": float(np.sqrt(np.mean(left**2))) / weight,
        "pelvis_moment_rms_nm": float(np.sqrt(np.mean((forces.moment[:, :3] ** 2).sum(axis=1)))),
        "ground_peak_bw": float(ground.force[:, :, 2].max()) / weight,
        "clip_seconds": float(course.time[-1]),
    }


def _doubts(trial: Trial, body: Body, goals: Goals, fit: Fit, metrics: Mapping[str, float]) -> list[str]:
    """What a reader should look at: the place that is met worst, with its time; a subject that never stands; forces
    that no contact gives."""
    out = []
    used = np.flatnonzero(goals.point_weight > 0.0)
    far = fit.distance[:, used]
    worst = np.nanmax(far, axis=0)
    order = [k for k in np.argsort(-worst) if worst[k] > FAR_OFF][:3]
    if order:
        told = ", ".join(
            f"{goals.names[used[k]]} {1000 * worst[k]:.0f} mm at {trial.time[int(np.nanargmax(far[:, k]))]:.2f} s"
            for k in order
        )
        out.append(f"met worst: {told}; a marker lost, mislabelled, or a body of another shape")
    s = body.skeleton
    up = [float((bone_poses(s, q)[s.index("Sku"), 2, 3] - q[2]) / (body.scale * STATURE)) for q in fit.q[::5]]
    if max(up) < LYING:
        out.append("the subject stands upright in no frame; is the vertical axis right (--up)?")
    if not trial.plates and metrics["pelvis_force_rms_bw"] > UNCARRIED:
        out.append(
            f"{100 * metrics['pelvis_force_rms_bw']:.0f} % of body weight (rms) is left on the pelvis: no contact of "
            "the soles gives what this motion asks for"
        )
    return out
