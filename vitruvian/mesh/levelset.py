"""Solids as signed distances on a grid: from closed meshes, united, asked at any point, turned back into a surface.

Distances are exact within a band of the surface and clamped to ± band beyond it; negative inside.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy.ndimage import gaussian_filter, label

from vitruvian.errors import InputError
from vitruvian.mesh.distance import mesh_distance, topology

Array = np.ndarray
MOST_NODES = 120_000_000


@dataclass(frozen=True)
class LevelSet:
    """Signed distance [m] on grid nodes, negative inside, clamped to ± band."""

    values: Array  # shape (nx, ny, nz), float32
    origin: Array  # node (0, 0, 0) [m]
    spacing: float  # [m]
    band: float  # [m]

    def __call__(self, points: Array) -> Array:
        """Trilinear value [m] at points [m], shape (n, 3); + band outside the grid."""
        out = np.empty(len(points))
        _interpolate(self.values, self.origin, self.spacing, self.band, np.ascontiguousarray(points, float), out)
        return out

    def gradient(self, points: Array) -> Array:
        """Central differences over half a cell, shape (n, 3)."""
        step = 0.5 * self.spacing
        return np.stack([(self(points + step * e) - self(points - step * e)) / (2.0 * step) for e in np.eye(3)], axis=1)

    @property
    def upper(self) -> Array:
        return self.origin + self.spacing * (np.array(self.values.shape) - 1)


def empty_level_set(lower: Array, upper: Array, spacing: float, band: float) -> LevelSet:
    """Nothing inside, over the box from lower to upper [m] with the band around it."""
    if not spacing > 0.0 or not band >= spacing:
        raise InputError(f"level set: spacing {spacing} m and band {band} m must be positive, the band the larger")
    low = np.asarray(lower, float) - band - spacing
    counts = np.ceil((np.asarray(upper, float) + band + spacing - low) / spacing).astype(int) + 1
    if np.prod(counts.astype(float)) > MOST_NODES:
        raise InputError(f"level set: {counts} nodes of {spacing} m are too many")
    return LevelSet(np.full(counts, band, np.float32), low, float(spacing), float(band))


def add_mesh(
    level: LevelSet, vertices: Array, faces: Array, *, grow: float = 0.0, crossing: bool = False, name: str = "mesh"
) -> None:
    """Unite the level set, in place, with a closed mesh [m], dilated by `grow` [m].

    With `crossing` the mesh may cross itself: whatever can be reached from afar without coming near the surface is
    outside.
    """
    mesh = topology(faces, len(vertices), name)
    distance, _, box = mesh_distance(
        vertices, mesh, level.origin, level.spacing, level.values.shape, level.band + abs(grow)
    )
    if distance.size and crossing:
        far = np.abs(distance) > 1.8 * level.spacing
        parts, _ = label(far)
        rim = np.concatenate(
            [parts[i].ravel() for i in (0, -1)]
            + [parts[:, i].ravel() for i in (0, -1)]
            + [parts[:, :, i].ravel() for i in (0, -1)]
        )
        outside = np.isin(parts, np.setdiff1d(rim, [0]))
        distance = np.where(far, np.where(outside, np.abs(distance), -np.abs(distance)), distance)
    if distance.size:
        part = level.values[tuple(slice(a, b) for a, b in box)]
        np.minimum(part, np.clip(distance - grow, -level.band, level.band).astype(np.float32), out=part)


def add_shell(level: LevelSet, vertices: Array, faces: Array, thickness: float, *, name: str = "mesh") -> None:
    """Unite the level set, in place, with all points within `thickness` [m] of a surface, which may cross itself."""
    mesh = topology(faces, len(vertices), name)
    distance, _, box = mesh_distance(
        vertices, mesh, level.origin, level.spacing, level.values.shape, level.band + thickness
    )
    if distance.size:
        part = level.values[tuple(slice(a, b) for a, b in box)]
        np.minimum(part, np.clip(np.abs(distance) - thickness, -level.band, level.band).astype(np.float32), out=part)


def mesh_level_set(
    vertices: Array, faces: Array, spacing: float, *, band: float | None = None, name: str = "mesh"
) -> LevelSet:
    """The signed distance of one closed mesh."""
    level = empty_level_set(
        vertices.min(axis=0), vertices.max(axis=0), spacing, 4.0 * spacing if band is None else band
    )
    add_mesh(level, vertices, faces, name=name)
    return level


def smoothed_level_set(level: LevelSet, width: float) -> LevelSet:
    """Blurred with a Gaussian of standard deviation `width` [m]: creases and slits narrower than that close."""
    blurred = gaussian_filter(level.values, width / level.spacing, mode="nearest", truncate=3.0)
    return LevelSet(blurred, level.origin, level.spacing, level.band)


def isosurface(level: LevelSet, value: float = 0.0) -> tuple[Array, Array]:
    """The closed surface where the level set is `value` [m]: vertices [m] and faces, normals outward (Lewiner 2003)."""
    from skimage.measure import marching_cubes  # half a second to import

    if not level.values.min() < value < level.values.max():
        raise InputError(f"level set: nothing has the value {value} m")
    vertices, faces, _, _ = marching_cubes(
        level.values, value, spacing=(level.spacing,) * 3, gradient_direction="ascent"
    )
    return vertices.astype(float) + level.origin, faces[:, ::-1].astype(np.int64).copy()


@njit(cache=True)
def _interpolate(values, origin, spacing, band, points, out):
    nx, ny, nz = values.shape
    for n in range(len(points)):
        x = (points[n, 0] - origin[0]) / spacing
        y = (points[n, 1] - origin[1]) / spacing
        z = (points[n, 2] - origin[2]) / spacing
        if not (0.0 <= x < nx - 1 and 0.0 <= y < ny - 1 and 0.0 <= z < nz - 1):
            out[n] = band
            continue
        i, j, k = int(x), int(y), int(z)
        u, v, w = x - i, y - j, z - k
        total = 0.0
        for a in range(2):
            for b in range(2):
                for c in range(2):
                    weight = (u if a else 1.0 - u) * (v if b else 1.0 - v) * (w if c else 1.0 - w)
                    total += weight * values[i + a, j + b, k + c]
        out[n] = total
