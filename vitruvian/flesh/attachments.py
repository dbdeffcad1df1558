"""Flesh held to bone: points sampled on bone surfaces, tied to the flesh by zero-length springs.

    E = Σ k/2 ‖W x − t‖²,   t = T_bone p                                                   (Si 2013, eq. 3.7)

with a constant stiffness per bone area. The springs' pull on each bone is what the bone feels of the flesh, and since
they are zero-length and act between two points that coincide but for the pull, force and torque on bone and flesh are
opposite.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitruvian.errors import InputError
from vitruvian.flesh.checks import number
from vitruvian.flesh.elements import Elements
from vitruvian.flesh.embedding import Embedding, embed

FARTHEST = 4.0  # extrapolation weight, some three cells off, beyond which a point has nothing to do with the flesh
STIFFNESS = 1e8  # [N/m per m² of bone]: a millimetre under 0.1 MPa


@dataclass(frozen=True)
class Attachments:
    """Springs between bones and flesh."""

    bone: np.ndarray  # which bone, shape (n,)
    point: np.ndarray  # on the bone [m], in its frame, shape (n, 3)
    stiffness: np.ndarray  # [N/m], shape (n,)
    embedding: Embedding
    n_bones: int

    def targets(self, poses: np.ndarray) -> np.ndarray:
        """Where the bones want the points [m], shape (n, 3); poses: bone to world, shape (n_bones, 4, 4)."""
        t = poses[self.bone]
        return np.einsum("nij,nj->ni", t[:, :3, :3], self.point) + t[:, :3, 3]

    def forces(self, x: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Pull on the bones at each point [N], shape (n, 3); the flesh feels the opposite."""
        return self.stiffness[:, None] * (self.embedding.positions(x) - targets)

    def bone_wrenches(self, x: np.ndarray, poses: np.ndarray) -> np.ndarray:
        """Wrench (moment, force) [N m, N] on each bone in its own frame, shape (n_bones, 6)."""
        force = self.forces(x, self.targets(poses))
        local = np.einsum("nji,nj->ni", poses[self.bone][:, :3, :3], force)
        both = np.concatenate([np.cross(self.point, local), local], axis=1)
        return np.stack([np.bincount(self.bone, both[:, k], self.n_bones) for k in range(6)], axis=1)


def no_attachments(elements: Elements) -> Attachments:
    none = np.zeros((0, 3))
    return Attachments(np.zeros(0, np.int64), none, np.zeros(0), embed(elements, none), 0)


def attach(
    elements: Elements,
    bone: np.ndarray,
    points: np.ndarray,
    areas: np.ndarray,
    rest_poses: np.ndarray,
    *,
    stiffness: float = STIFFNESS,
) -> Attachments:
    """Tie sampled bone points to the flesh.

    bone: which bone, shape (n,); points: in the rest body [m], shape (n, 3); areas: bone surface that each stands for
    [m²]; rest_poses: bone to world in the rest body, shape (n_bones, 4, 4); stiffness: [N/m per m²].
    """
    bone = np.asarray(bone, np.int64)
    number("flesh attachments", "stiffness [N/m per m²]", stiffness, above=0.0)
    if len(bone) and (bone.min() < 0 or bone.max() >= len(rest_poses)):
        raise InputError(f"flesh attachments: bone {bone.max()} does not exist, there are {len(rest_poses)}")
    if not np.all(np.asarray(areas) > 0.0):
        raise InputError("flesh attachments: every point must stand for a positive area of bone")
    where = embed(elements, points)
    far = np.abs(where.weights).max(axis=1, initial=0.0) > FARTHEST
    if far.any():
        raise InputError(
            f"flesh attachments: {int(far.sum())} points, the first of bone {bone[far][0]}, lie far off the flesh"
        )
    turn = rest_poses[bone][:, :3, :3]
    local = np.einsum("nji,nj->ni", turn, points - rest_poses[bone][:, :3, 3])
    return Attachments(bone, local, stiffness * np.asarray(areas, float), where, len(rest_poses))


def sample_surface(vertices: np.ndarray, faces: np.ndarray, spacing: float) -> tuple[np.ndarray, np.ndarray]:
    """Points spread evenly over a triangle surface, about one per spacing² [m²], and the area of each [m²].

    Without randomness: the area is laid end to end triangle by triangle and stepped through with a fixed stride, and
    the place inside a triangle follows a low-discrepancy sequence.
    """
    corners = vertices[faces]
    areas = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    total = float(areas.sum())
    count = max(4, round(total / spacing**2))
    reached = np.cumsum(areas)
    triangle = np.minimum(np.searchsorted(reached, (np.arange(count) + 0.5) / count * total), len(faces) - 1)
    # Roberts' R2 sequence in the unit square, folded into the triangle
    u = np.mod(0.5 + np.arange(count) * 0.7548776662466927, 1.0)
    v = np.mod(0.5 + np.arange(count) * 0.5698402909980532, 1.0)
    over = u + v > 1.0
    u[over], v[over] = 1.0 - u[over], 1.0 - v[over]
    a, b, c = corners[triangle, 0], corners[triangle, 1], corners[triangle, 2]
    return a + u[:, None] * (b - a) + v[:, None] * (c - a), np.full(count, total / count)
