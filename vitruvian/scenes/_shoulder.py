"""A right shoulder girdle: the scapula glides over the rib cage on a spline surface (Lee 2008, section 6.5, figure
6.4).

The back of the rib cage is fitted by an ellipsoid. A point on the blade moves over an ellipsoid of the same shape,
just outside, by its coordinates q = (forwards around the ribs, upwards) [m], and the blade keeps its angle to the
surface. That leaves one rotation, about the normal: it is chosen at every q such that the acromion stays one
clavicle's length from the sternum, which is what turns the scapula upwards when it rises. The six channels of the
joint (three translations, three Euler angles) are then fitted by tensor-product B-splines.

Where the bones stand at rest is that of the upper limb model whose surfaces are shown (Holzbaur, Murray and Delp 2005).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, least_squares
from scipy.spatial import ConvexHull

from vitruvian.mesh import rib_cage
from vitruvian.mesh.packages import OPENSIM_TO_WORLD
from vitruvian.skeleton import SurfaceFit, fit_surface
from vitruvian.spatial import inverse, rotation_about, transform

Array = np.ndarray

STERNUM = OPENSIM_TO_WORLD @ np.array([0.006325, 0.00693, 0.025465])  # sternoclavicular joint in the thorax [m]
CLAVICLE = OPENSIM_TO_WORLD @ np.array([-0.01433, 0.02007, 0.1355])  # from there to the acromion [m]
SHOULDER = OPENSIM_TO_WORLD @ np.array([-0.00955, -0.034, 0.009])  # from the acromion to the glenohumeral joint [m]
BLADE = OPENSIM_TO_WORLD @ np.array(
    [-0.075, -0.055, -0.055]
)  # a point in the middle of the blade, from the acromion [m]
CLEARANCE = 0.005  # by which the blade is lifted off the ribs, where muscle lies between them [m]
REACH = np.array([[-0.035, 0.045], [-0.025, 0.040]])  # how far the blade may go forwards and upwards [m]
CONTROLS = (9, 8)


@dataclass(frozen=True)
class Ribs:
    """The ellipsoid along which the blade's point moves: centre and semi-axes [m], shape (3,)."""

    centre: Array
    radii: Array

    def frame(self, longitude: float, latitude: float) -> Array:
        """Frame on the ellipsoid, shape (4, 4): x forwards around it, y upwards over it, z outwards."""
        east, north = self.steps(longitude, latitude)
        forwards, normal = east / np.linalg.norm(east), np.cross(east, north)
        normal /= np.linalg.norm(normal)
        rotation = np.column_stack([forwards, np.cross(normal, forwards), normal])
        return transform(rotation, self.point(longitude, latitude))

    def point(self, longitude: float, latitude: float) -> Array:
        """Longitude [rad] runs from the back (0) over the right side (π/2) forwards."""
        ring = np.array([-np.sin(longitude), np.cos(longitude)]) * np.cos(latitude)
        return self.centre + self.radii * np.array([*ring, np.sin(latitude)])

    def steps(self, longitude: float, latitude: float) -> tuple[Array, Array]:
        """Derivatives of `point` [m/rad]."""
        a, b = longitude, latitude
        east = self.radii * np.array([-np.cos(a) * np.cos(b), -np.sin(a) * np.cos(b), 0.0])
        north = self.radii * np.array([np.sin(a) * np.sin(b), -np.cos(a) * np.sin(b), np.cos(b)])
        return east, north


def fit_ribs() -> Ribs:
    """Least-squares ellipsoid through the outermost points of the rib cage, symmetric about the middle plane."""
    vertices = np.vstack([vertices for vertices, _ in rib_cage()])
    hull = vertices[ConvexHull(vertices).vertices]
    outer = hull[hull[:, 2] < 0.0]  # above lie the first ribs and the sternum's top, which an ellipsoid does not meet

    def miss(p: Array) -> Array:
        radii = np.exp(p[2:])
        return (np.linalg.norm((outer - (0.0, p[0], p[1])) / radii, axis=1) - 1.0) * radii.mean()

    p = least_squares(miss, [0.02, -0.15, np.log(0.14), np.log(0.11), np.log(0.17)]).x
    return Ribs(np.array([0.0, p[0], p[1]]), np.exp(p[2:]))


@dataclass(frozen=True)
class BladePath:
    """The ellipsoid that the blade's point moves on, where it rests (longitude, latitude [rad]), and how the blade is
    held there: the scapula's frame in the ellipsoid's frame at that place, shape (4, 4)."""

    surface: Ribs
    longitude: float
    latitude: float
    held: Array


def blade_path(ribs: Ribs) -> BladePath:
    """Scale the ribs' ellipsoid until it meets the blade's point at rest, then lift it by the clearance."""
    rest = transform(None, STERNUM + CLAVICLE)
    scaled = (rest[:3, 3] + BLADE - ribs.centre) / ribs.radii
    level = float(np.linalg.norm(scaled))
    x, y, z = scaled / level
    longitude, latitude = float(np.arctan2(-x, y)), float(np.arcsin(z))
    through = Ribs(ribs.centre, level * ribs.radii)
    lifted = Ribs(ribs.centre, through.radii + CLEARANCE)
    return BladePath(lifted, longitude, latitude, inverse(through.frame(longitude, latitude)) @ rest)


def scapula_pose(path: BladePath, q: Array) -> tuple[Array, float]:
    """The scapula's frame in the thorax, shape (4, 4), at q [m], and its turn about the normal [rad]."""
    east, north = path.surface.steps(path.longitude, path.latitude)
    step = np.asarray(q) / (np.linalg.norm(east), np.linalg.norm(north))
    here = path.surface.frame(path.longitude + step[0], path.latitude + step[1])

    def pose(turn: float) -> Array:
        return here @ transform(rotation_about((0.0, 0.0, 1.0), turn), None) @ path.held

    def too_far(turn: float) -> float:
        return float(np.linalg.norm(pose(turn)[:3, 3] - STERNUM) - np.linalg.norm(CLAVICLE))

    turn = float(brentq(too_far, -0.9, 0.9, xtol=1e-13))
    return pose(turn), turn


def scapula_joint(ribs: Ribs) -> SurfaceFit:
    """The joint, fitted to poses on a grid."""
    path = blade_path(ribs)
    axes = [np.linspace(low, high, 2 * m) for m, (low, high) in zip(CONTROLS, REACH)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    poses = [scapula_pose(path, q)[0] for q in grid]
    return fit_surface(grid, poses, REACH, n_controls=CONTROLS, smoothing=1e-12, home=np.eye(4))
