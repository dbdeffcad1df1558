"""A right leg with a knee as it is measured: the tibia rolls, slides and turns on the femur instead of hinging.

Freeman and Pinskerova (2005, J. Biomech. 38:197–208; Iwaki et al. 2000, JBJS 82-B:1189–1195) describe the knee by the
centres of the two posterior femoral condyles: from full extension to 120° of flexion the medial centre hardly moves on
the tibia (a few mm), the lateral one rolls back about 20 mm, so the tibia turns inwards by about 20°, fastest early on
(the screw-home motion). `knee_transform` writes that down; `knee_samples` measures it with noise, as fluoroscopy would.

Frames are ours (x left, y back, z up) with the femur's origin in the hip and the tibia's between the condyles; lengths
and masses are those of the 75 kg adult whose bone surfaces are shown (Delp et al. 1990).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from vitruvian.mesh import bone_mesh
from vitruvian.skeleton import Inertia
from vitruvian.spatial import Se3Spline, exp_se3, fit_curve, natural_coordinates, rotation_about, transform
from vitruvian.world import Mesh

Array = np.ndarray

MEDIAL_ROLLBACK = 0.003  # [m] over the measured range
LATERAL_ROLLBACK = 0.019  # [m]
CONDYLE_DISTANCE = 0.046  # [m] between the two centres
MEASURED_FLEXION = np.deg2rad(120.0)  # [rad]
SCREW_HOME = 2.2  # how much faster the lateral side rolls early than late (exponent over the range)

KNEE_CENTRE = np.array([0.0, 0.0036, -0.395])  # [m] in the femur, midway between the condyles' centres
ANKLE_CENTRE = np.array([0.0, 0.0, -0.40])  # [m] in the tibia
PATELLA_ARM = np.array([0.0, -0.040, -0.014])  # [m] of the patella's origin from the knee centre, knee extended
PELVIS_FROM_HIP = -np.array([-0.0835, 0.0707, -0.0661])  # [m] of the pelvis's origin from the right hip

SAMPLED = tuple(np.deg2rad((-10.0, 145.0)))  # flexion between which it is measured [rad]
METRIC = 0.1  # displacement that counts as much as one radian when frames are compared [m]

FEMUR = Inertia.ellipsoid(9.3014, (0.065, 0.065, 0.21), com=(0.0, 0.0, -0.20))
SHANK = Inertia.ellipsoid(3.7075, (0.045, 0.045, 0.20), com=(0.0, 0.0, -0.1867))
FOOT = Inertia.ellipsoid(1.25, (0.045, 0.12, 0.035), com=(0.0, -0.06, -0.03))


def knee_transform(flexion: float) -> Array:
    """The tibia's frame in the femur's, shape (4, 4), at a flexion angle [rad]."""
    share = flexion / MEASURED_FLEXION
    medial = MEDIAL_ROLLBACK * share
    lateral = LATERAL_ROLLBACK * np.expm1(-SCREW_HOME * share) / np.expm1(-SCREW_HOME)
    turn = np.arctan2(lateral - medial, CONDYLE_DISTANCE)
    rotation = rotation_about((1.0, 0.0, 0.0), flexion) @ rotation_about((0.0, 0.0, 1.0), turn)
    back = np.array([0.0, 0.5 * (medial + lateral), 0.0])
    return transform(rotation, KNEE_CENTRE - rotation @ back)


def knee_samples(
    rng: np.random.Generator, count: int, noise_position: float, noise_angle: float, low: float, high: float
) -> tuple[Array, Array]:
    """Flexion angles [rad] (count,) and noisy transforms (count, 4, 4); noise is Gaussian [m] and [rad] per axis."""
    flexion = np.linspace(low, high, count)
    sigma = np.array([noise_angle] * 3 + [noise_position] * 3)
    samples = np.array([knee_transform(angle) @ exp_se3(sigma * rng.standard_normal(6)) for angle in flexion])
    return flexion, samples


@dataclass(frozen=True)
class Knee:
    """A fitted knee: the curve of the tibia in the femur, and how far it stays from its samples ([m], [rad])."""

    spline: Se3Spline
    position_error: Array
    rotation_error: Array

    def coordinate(self, flexion: float) -> float:
        """The joint coordinate at a flexion angle [rad]; flexion grows with it."""
        low, high = self.spline.domain
        return float(brentq(lambda q: flexion_angle(self.spline(q)) - flexion, low, high, xtol=1e-13))

    def coordinate_range(self, low: float, high: float) -> tuple[float, float]:
        """Coordinates between two flexion angles [rad]."""
        return self.coordinate(low), self.coordinate(high)


def fitted_knee(
    *,
    seed: int,
    samples: int,
    noise_position: float,
    noise_angle: float,
    controls: int,
    smoothing: float,
) -> Knee:
    """Measure the knee with noise [m], [rad], then fit and smooth a curve on SE(3) (Lee 2008, section 6.4).

    Coordinates are natural on the noisy path, less what noise alone adds to its length: they are scaled to the flexion
    that was swept, so that the coordinate stays close to the flexion angle.
    """
    rng = np.random.default_rng(seed)
    flexion, frames = knee_samples(rng, samples, noise_position, noise_angle, *SAMPLED)
    coarse = frames[:: max(1, samples // 12)]  # steps that are long against the noise
    length = natural_coordinates(coarse, length=METRIC)[-1]
    q = np.linspace(0.0, length, samples) + flexion[0]
    fit = fit_curve(q, frames, n_controls=controls, smoothing=smoothing, length=METRIC)
    return Knee(fit.spline, fit.position_error, fit.rotation_error)


def axis_of(spline: Se3Spline, q: float) -> tuple[Array, Array]:
    """The instantaneous screw axis in the femur: its point nearest the knee centre [m] and its direction, (3,) each."""
    pose, twist, _ = spline.evaluate(q)
    omega = pose[:3, :3] @ twist[:3]
    velocity = pose[:3, :3] @ twist[3:]
    place = pose[:3, 3] + np.cross(omega, velocity) / (omega @ omega)
    direction = omega / np.linalg.norm(omega)
    return place + direction * (direction @ (KNEE_CENTRE - place)), direction


def internal_rotation(tibia_in_femur: Array) -> float:
    """Axial rotation [rad] of the tibia from a transform, inwards positive (the other rotation is flexion)."""
    rotation = tibia_in_femur[:3, :3]
    return float(np.arctan2(-rotation[0, 1], rotation[0, 0]))


def flexion_angle(tibia_in_femur: Array) -> float:
    """Flexion [rad] of a transform."""
    rotation = tibia_in_femur[:3, :3]
    return float(np.arctan2(-rotation[1, 2], rotation[2, 2]))


def shank_with_foot() -> Inertia:
    """Shank and foot as one body in the tibia's frame."""
    shank, foot = SHANK, FOOT.moved(transform(None, ANKLE_CENTRE))
    mass = shank.mass + foot.mass
    com = (shank.mass * np.asarray(shank.com) + foot.mass * np.asarray(foot.com)) / mass
    matrix = np.zeros((3, 3))
    for part in (shank, foot):
        r = np.asarray(part.com) - com
        matrix += np.asarray(part.matrix) + part.mass * ((r @ r) * np.eye(3) - np.outer(r, r))
    return Inertia(mass, com, matrix)


def patella_pose(femur: Array, flexion: float) -> Array:
    """Where the patella is seen, shape (4, 4): it glides about the condyles, turning by 0.7 of the flexion.

    It carries no load here: it is only shown, so that the knee can be read.
    """
    about_knee = transform(rotation_about((1.0, 0.0, 0.0), 0.7 * flexion), KNEE_CENTRE)
    return femur @ about_knee @ transform(None, PATELLA_ARM)


def leg_meshes(*, foot_on: str, pelvis: bool = False) -> tuple[Mesh, ...]:
    """Bone surfaces on the bodies femur, tibia, patella (and pelvis); those of the foot ride on `foot_on`."""
    parts = [("femur", "femur", "r_femur"), ("tibia", "tibia", "r_tibia"), ("fibula", "tibia", "r_fibula")]
    parts.append(("patella", "patella", "r_patella"))
    if pelvis:
        parts += [("right hip bone", "pelvis", "r_pelvis"), ("left hip bone", "pelvis", "l_pelvis")]
        parts.append(("sacrum", "pelvis", "sacrum"))
    parts += [("talus", foot_on, "r_talus"), ("foot bones", foot_on, "r_foot"), ("toes", foot_on, "r_bofoot")]
    meshes = []
    for name, body, bone in parts:
        vertices, faces = _placed(bone)
        if body == "tibia" and bone in ("r_talus", "r_foot", "r_bofoot"):
            vertices = vertices + ANKLE_CENTRE
        meshes.append(Mesh(name, body, vertices, faces, layer="bones"))
    return tuple(meshes)


# Heel bones and toes hang below the talus frame, which is ours of the foot (OpenSim's offsets, our axes).
_OFFSETS = {
    "r_foot": (-0.00792, 0.04877, -0.04195),
    "r_bofoot": (-0.00792 - 0.00108, 0.04877 - 0.1788, -0.04195 - 0.002),
}


def _placed(bone: str) -> tuple[Array, Array]:
    vertices, faces = bone_mesh(bone, smooth=0 if bone in ("r_foot", "r_bofoot") else 1)
    return vertices + np.array(_OFFSETS.get(bone, (0.0, 0.0, 0.0))), faces
