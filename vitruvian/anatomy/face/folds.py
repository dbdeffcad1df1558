"""Folds finer than the tissue's cells: forehead lines, frown lines, crow's feet, the fold from nose to mouth.

The skin is a thin stiff layer on soft tissue: pressed together along its surface by more than ONSET it buckles rather
than shortens (Cerda & Mahadevan 2003). A fold of wavelength λ that takes up the compression ε beyond that has the
amplitude

    A = (λ/π) √(ε − ONSET)          (arc length of a sine, to second order)

ε is computed: the stretch of the tissue just under the skin, across the direction in which the lines run, averaged over
ALIKE, since a stiff skin does not end a fold within one of the tissue's cells. Where lines run is known: across the
pull of frontalis on the forehead, upright between the brows, like rays from the outer corner of the eye, from the wing
of the nose past the corner of the mouth. Furrows are sharper than the ridges between them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix, diags
from scipy.spatial import cKDTree

from vitruvian.anatomy.face.binding import embedding_in
from vitruvian.anatomy.face.grids import mouth_corners
from vitruvian.anatomy.face.head_mesh import HeadMesh
from vitruvian.anatomy.face.tissue import FaceTissue

Array = np.ndarray
ONSET = 0.03  # strain at which skin buckles
REACH = 0.004  # [m] over which the stretch is taken
UNDER = 0.002  # [m] below the skin
ALIKE, PLACES = 0.005, 0.004  # [m] standard deviation of that average; between places where it is taken
FOREHEAD, FROWN, CROW = 0.0085, 0.0080, np.radians(23.0)  # wavelengths [m], [m], and the angle between rays
NASOLABIAL = 0.0110  # [m]
RAYS = (0.004, 0.009, 0.022, 0.034)  # [m] from the corner of the eye where crow's feet begin, are whole, fade and end
FINE, FINE_RAYS = 0.0028, 0.0015  # [m] edges of the skin that folds ask for, and crow's feet
MOST = 0.0014  # [m]


@dataclass(frozen=True)
class Folds:
    """Lines of one skin of n vertices."""

    vertex: Array  # that may fold, shape (k,)
    pattern: Array  # where in a wave each is: 1 in the furrow to −1/3 on the ridge, times its fade, shape (k,)
    length: Array  # λ [m], shape (k,)
    stretch: csr_matrix  # (x(p + r d) − x(p − r d))/2r from the nodes, averaged about m places, shape (m, n_nodes)
    spread: csr_matrix  # from these places to the vertices, shape (k, m)

    def depth(self, stretched: Array) -> Array:
        """How far each vertex sinks [m], shape (k,); stretched: `stretch` of the nodes, shape (m, 3)."""
        pressed = self.spread @ (1.0 - np.sqrt(np.einsum("ni,ni->n", stretched, stretched)))
        amplitude = self.length / np.pi * np.sqrt(np.maximum(pressed - ONSET, 0.0))
        return np.minimum(amplitude, MOST) * self.pattern


def edges(head: HeadMesh, points: Array) -> Array:
    """Longest edge of the skin [m] that folds ask for at points [m] (n, 3); infinite where none may come."""
    fade, _, _, _, zone = _lines(head, points)
    return np.where(fade > 0.0, np.where(zone == 2, FINE_RAYS, FINE), np.inf)


def _lines(head: HeadMesh, v: Array) -> tuple[Array, Array, Array, Array, Array]:
    """Fade (n,), phase in waves (n,), wavelength [m] (n,), direction of the compression (n, 3) and zone: 0 forehead,
    1 frown, 2 crow's feet, 3 nose to mouth (n,)."""
    x, y, z = np.abs(v[:, 0]), v[:, 1], v[:, 2]
    eye = head.eyes[0]
    brow = head.vertices[np.flatnonzero(head.base == 6996)[0]]
    fade, phase = np.zeros(len(v)), np.zeros(len(v))
    length, way = np.full(len(v), FOREHEAD), np.zeros_like(v)
    way[:, 2] = 1.0
    # forehead: level lines, a little raised in the middle of each side
    height = z - brow[2] + 0.12 * (x - 0.02) - 3.0 * np.maximum(x - 0.035, 0.0) ** 2
    on = (
        np.clip((height - 0.006) / 0.005, 0, 1)
        * np.clip((0.046 - height) / 0.008, 0, 1)
        * np.clip((0.056 - x) / 0.012, 0, 1)
    )
    on = np.where(y < -0.06, on, 0.0)
    fade, phase = np.where(on > 0, on, fade), np.where(on > 0, height / FOREHEAD, phase)
    # between the brows: two upright lines
    middle = brow[2] - 0.002
    on2 = np.clip((0.013 - x) / 0.004, 0, 1) * np.clip(1.0 - np.abs(z - middle) / 0.014, 0, 1)
    on2 = np.where(y < -0.1, on2, 0.0)
    use = on2 > on
    fade, phase, length = (
        np.where(use, on2, fade),
        np.where(use, (x - 0.0055) / FROWN, phase),
        np.where(use, FROWN, length),
    )
    way[use] = (1.0, 0.0, 0.0)
    # crow's feet: rays from the outer corner of the eye, told along the skin, which turns back there
    lid = head.vertices[np.linalg.norm(head.vertices - eye, axis=1) < 1.3 * head.globe]
    corner = lid[np.argmax(lid[:, 0])]
    dx, dz = np.hypot(np.maximum(x - corner[0], 0.0), y - corner[1]) * np.sign(x - corner[0]), z - corner[2]
    far, angle = np.hypot(dx, dz), np.arctan2(dz, dx)
    on3 = np.interp(far, RAYS, [0.0, 1.0, 1.0, 0.0]) * np.clip((np.radians(48) - np.abs(angle + 0.10)) / 0.25, 0, 1)
    on3 = np.where(y > eye[1] - 0.02, on3, 0.0)
    use = on3 > np.maximum(on, on2)
    fade, phase = np.where(use, on3, fade), np.where(use, (angle + 0.10) / CROW, phase)
    length = np.where(use, np.clip(far * CROW, 0.0025, 0.006), length)
    side = np.sign(v[:, 0])
    way[use] = np.stack([-np.sin(angle) * side, np.zeros(len(v)), np.cos(angle)], axis=1)[use]
    zone = np.where(use, 2, np.where(on2 > on, 1, 0))
    _nasolabial(head, v, fade, phase, length, way, zone)
    return fade, phase, length, way, zone


def _nasolabial(head: HeadMesh, v: Array, fade: Array, phase: Array, length: Array, way: Array, zone: Array) -> None:
    """One furrow from the wing of the nose to beside the corner of the mouth, written into the arrays of `_lines`."""
    corner = mouth_corners(head)[0]
    x, z = np.abs(v[:, 0]), v[:, 2]
    start, end = np.array([0.0205, corner[2] + 0.036]), np.array([corner[0] + 0.0095, corner[2] + 0.001])
    along = (end - start) / np.linalg.norm(end - start)
    across = np.array([-along[1], along[0]])  # towards the cheek
    s = ((x - start[0]) * along[0] + (z - start[1]) * along[1]) / np.linalg.norm(end - start)
    off = (x - start[0]) * across[0] + (z - start[1]) * across[1] - 0.003 * np.sin(np.pi * np.clip(s, 0.0, 1.0))
    on = np.clip(s / 0.15, 0, 1) * np.clip((1.05 - s) / 0.25, 0, 1) * np.clip(1.6 - np.abs(off) / 0.0045, 0, 1)
    use = (on > fade) & (v[:, 1] < corner[1] + 0.02)
    fade[use], phase[use], length[use] = on[use], off[use] / NASOLABIAL, NASOLABIAL
    way[use] = np.stack([across[0] * np.sign(v[:, 0]), np.zeros(len(v)), np.full(len(v), across[1])], axis=1)[use]
    zone[use] = 3


def skin_folds(head: HeadMesh, tissue: FaceTissue, skin: Array, normals: Array) -> Folds:
    """Folds of a fine skin [m] (n, 3) with its normals."""
    fade, phase, length, way, zone = _lines(head, skin)
    vertex = np.flatnonzero(fade > 0.0)
    n = normals[vertex]
    way = way[vertex] - np.sum(way[vertex] * n, axis=1)[:, None] * n
    way /= np.linalg.norm(way, axis=1)[:, None]
    under = skin[vertex] - UNDER * n
    ends = []
    for sign in (1.0, -1.0):
        at = under + sign * REACH * way
        ends.append(embedding_in(tissue, tissue.lattice.locate(at), at).matrix)
    wave = np.cos(2.0 * np.pi * phase[vertex])
    sharp = np.where(wave > 0.0, wave**2, 0.33 * wave)  # narrow furrows, broad ridges
    # zones, and sides of the face in all but the frown's, have nothing to do with each other: set them apart
    apart = skin[vertex] + (0.2 * zone[vertex] + 0.1 * ((skin[vertex, 0] < 0.0) & (zone[vertex] > 1)))[:, None]
    _, place = np.unique(np.round(apart / PLACES), axis=0, return_index=True)
    stretch = _mean(apart[place], apart, ALIKE) @ ((ends[0] - ends[1]) / (2.0 * REACH))
    stretch = diags(1.0 / np.linalg.norm(stretch @ tissue.lattice.nodes, axis=1)) @ stretch
    spread = _mean(apart, apart[place], PLACES)
    return Folds(vertex, fade[vertex] * sharp, length[vertex], stretch.tocsr(), spread)


def _mean(at: Array, of: Array, wide: float) -> csr_matrix:
    """Mean about points `at` [m] (n, 3) over points `of` [m] (m, 3), shape (n, m); wide: standard deviation [m]."""
    near = cKDTree(at).sparse_distance_matrix(cKDTree(of), 2.0 * wide, output_type="coo_matrix")
    bell = csr_matrix((np.exp(-0.5 * (near.data / wide) ** 2), (near.row, near.col)), shape=near.shape)
    return (diags(1.0 / np.asarray(bell.sum(axis=1)).ravel()) @ bell).tocsr()
