"""Where the face has tissue: level sets at a millimetre of skin, skull, jaw and tissue.

Tissue is what lies within DEEP of the skin and not behind bone; globes and what lies behind them are left out. The
hollow of the mouth is filled up to the gums behind lips and cheeks, and the slit between the lips is cut.
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import label

from vitruvian.anatomy.face.head_mesh import HeadMesh
from vitruvian.mesh import LevelSet, add_mesh, closed_mesh

Array = np.ndarray
LOW, HIGH = np.array([-0.090, -0.150, 1.698]), np.array([0.090, -0.030, 1.914])  # box of the face [m]
GRID = 0.001  # [m] of the level sets
BAND = 0.0235  # [m] in which distances are known
CUT = 1.655  # [m] below this the head is cut off before its level set is made
DEEP, THROAT = 0.022, 0.010  # [m] of tissue under the skin; below the jaw
COVER = 0.0025  # [m] bone nearer to the skin than this is pushed in: the nasal bones of the data come out of it
AXIS = -0.005  # [m] y of the upright line from which "behind bone" is told
VESTIBULE = 0.014  # [m] from bone, filled
SLIT = 0.0012  # [m] half the width of the cut between the lips


def triangles(quads: Array) -> Array:
    return np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])


def face_grids(head: HeadMesh) -> dict[str, Array]:
    """Level sets of skin, bones and tissue at GRID over the box."""
    quads = head.quads[(head.vertices[head.quads][:, :, 2] > CUT).all(axis=1)]
    used, quads = np.unique(quads, return_inverse=True)
    solid = closed_mesh(head.vertices[used], triangles(quads.reshape(-1, 4)), name="head", quiet=True)
    axes = [np.arange(round((b - a) / GRID) + 1) * GRID + a for a, b in zip(LOW, HIGH)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    size = tuple(len(a) for a in axes)
    skin = _even(_distance(size, *solid, "head"))
    bones = {}
    for name, key in (("Sku", "skull"), ("Man", "jaw")):
        bones[key] = _even(_distance(size, *head.bones[name], name))
        # what comes out of the skin is pushed in
        bones[key] = np.maximum(bones[key], skin + np.float32(COVER))
    bone = np.minimum(bones["skull"], bones["jaw"])
    slit = _slit(head, skin, axes)
    # hollow of the mouth: outside the skin, and not reached from the air
    parts, _ = label(skin > 0.0005)
    hollow = (parts > 0) & (parts != parts[0, 0, -1])
    z = axes[2][None, None, :]
    middle = float(np.nanmedian(slit))
    hollow &= (np.abs(axes[0])[:, None, None] < 0.06) & (z > middle - 0.045) & (z < middle + 0.035)
    filled = hollow & (bone < VESTIBULE) & ((z < middle - 0.011) | (z > middle + 0.014))
    tissue = np.maximum(np.where(filled, np.float32(-GRID), skin), -bone)
    below = float(head.bones["Man"][0][:, 2].min()) + 0.004
    tissue = np.maximum(tissue, -(skin + np.where(z < below, THROAT, DEEP).astype(np.float32)))
    near = np.flatnonzero(tissue.ravel() < 0.0)
    behind = _behind(LevelSet(bone, LOW, GRID, BAND), grid[near])
    flat = tissue.ravel()
    flat[near[behind]] = GRID
    for eye in head.eyes:  # nothing behind or in the globes
        off = grid - eye
        in_orbit = (np.hypot(off[:, 0], off[:, 2]) < head.globe + 0.001) & (off[:, 1] > -0.006)
        flat[in_orbit] = np.maximum(flat[in_orbit], GRID)
    cut = np.where(np.isnan(slit)[:, :, None], BAND, np.abs(z - slit[:, :, None])) - SLIT
    tissue = _even(np.maximum(flat.reshape(size), -cut.astype(np.float32)))
    return {
        "skin": skin, "bone": bone, "tissue": tissue.astype(np.float32), "slit": slit, "origin": LOW, **bones,
    }  # fmt: skip


def in_mouth(x: Array, slit: float) -> Array:
    """Whether points [m] (n, 3) lie in the box of the mouth's hollow; slit: its height [m]."""
    return np.asarray((np.abs(x[:, 0]) < 0.06) & (x[:, 2] > slit - 0.045) & (x[:, 2] < slit + 0.035))


def _even(values: Array) -> Array:
    """The mean of a field and its mirror image, so that a face is as even as its muscles."""
    return (0.5 * (values + values[::-1])).astype(np.float32)


def _distance(size: tuple[int, ...], vertices: Array, faces: Array, name: str) -> Array:
    level = LevelSet(np.full(size, BAND, np.float32), LOW, GRID, BAND)
    add_mesh(level, vertices, faces, name=name)
    return level.values


def mouth_corners(head: HeadMesh) -> Array:
    """Left and right corner of the mouth [m], shape (2, 3): vertex 7139 of the base mesh and its mirror image."""
    left = head.vertices[np.flatnonzero(head.base == 7139)[0]]
    return np.array([left, left * (-1.0, 1.0, 1.0)])


def _slit(head: HeadMesh, skin: Array, axes: list[Array]) -> Array:
    """Height of the slit over x and y: where the skin's distance is greatest between the lips; nan where none is."""
    corner = mouth_corners(head)[0]
    near = np.abs(axes[2] - corner[2]) < 0.009
    heights = axes[2][near]
    part = skin[:, :, near]
    inside = (np.abs(axes[0]) < corner[0] - 0.002)[:, None] & (axes[1] > -0.135)[None] & (axes[1] < -0.060)[None]
    found = heights[np.argmax(part, axis=2)]
    # in front of the lips and far behind there is only air
    lips = part.min(axis=2) < -0.001
    slit = np.where(inside & lips, found, np.nan)
    return 0.5 * (slit + slit[::-1])


def _behind(bone: LevelSet, x: Array) -> Array:
    """Whether bone lies outward of points, seen from the upright line at AXIS."""
    way = x - np.array([0.0, AXIS, 0.0])
    way[:, 2] = 0.0
    way /= np.maximum(np.linalg.norm(way, axis=1), 1e-9)[:, None]
    out = np.zeros(len(x), bool)
    for far in np.arange(0.002, 0.045, 0.002):
        left = np.flatnonzero(~out)
        out[left] = bone(x[left] + far * way[left]) < 0.0
    return out


def above_slit(x: Array, slit: Array) -> Array:
    """Whether points [m] (n, 3) lie above the mouth's slit, continued to the sides."""
    middle = float(np.nanmedian(slit))
    i, j = (np.clip(np.round((x[:, a] - LOW[a]) / GRID).astype(int), 0, slit.shape[a] - 1) for a in (0, 1))
    height = slit[i, j]
    return x[:, 2] > np.where(np.isnan(height), middle, height)
