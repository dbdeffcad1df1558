"""Where flesh is likely to be after its bones have moved: the start from which Newton's method needs few steps.

Two parts. Skinning carries every node along with the bones near it (a blend of their motions, weights falling with the
sixth power of distance). Balance then differs from skinning by a correction that is nearly the same in the next step of
a smooth motion, so the last one, turned along, is added again, as large as this motion is against the last:

    x̂ = B x + s B₃ c,   p̂ = p + s Δp,      B = Σ w_b T_b T_b,old⁻¹,   c = x_balanced − B_last x_last

The factor s is found bone by bone from what skinning leaves in the attachment springs, now against then; a rigid motion
leaves nothing there, so that it does not count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit, prange
from scipy.sparse import csr_matrix
from scipy.spatial import cKDTree

from vitruvian.flesh import FleshModel, FleshState

Array = np.ndarray
NEIGHBOURS = 64  # attachment points that carry a node
REACH = 2.0  # cells within which their pull is even: sharper weights fold the flesh in a joint's crease
FARTHEST = 1.5  # |s| beyond which a motion is not the last one's continuation, and its correction no guide


@dataclass
class Trend:
    """What the last balance added to skinning; without rows when it is not known, so that states keep their shape."""

    correction: Array  # c [m], shape (n_nodes, 3)
    pressure: Array  # Δp [Pa], shape (n_cells,)
    left: Array  # what skinning left in the springs [m], in the bones' frames, shape (n_attachments, 3)

    @classmethod
    def unknown(cls) -> Trend:
        return cls(np.zeros((0, 3)), np.zeros(0), np.zeros((0, 3)))

    @property
    def known(self) -> bool:
        return len(self.correction) > 0


@dataclass
class Carried:
    """A predicted step, kept until its balance is known."""

    skinned: Array  # B x [m], shape (n_nodes, 3)
    pressure: Array  # at the start [Pa], shape (n_cells,)
    left: Array  # as in `Trend`


class Predictor:
    """Skinning weights of one model and skeleton."""

    def __init__(self, model: FleshModel) -> None:
        self.model = model
        tied, elements = model.attachments, model.elements
        nodes, h = elements.nodes, float(np.median(elements.size))
        count = min(NEIGHBOURS, len(tied.bone))
        far, near = cKDTree(tied.embedding.positions(nodes)).query(nodes, k=count)
        far, near = far.reshape(len(nodes), -1), near.reshape(len(nodes), -1)
        weight = 1.0 / (far**2 + (REACH * h) ** 2) ** 3
        weight /= weight.sum(axis=1, keepdims=True)
        rows = np.repeat(np.arange(len(nodes)), count)
        self.carriers = csr_matrix((weight.ravel(), (rows, tied.bone[near].ravel())), shape=(len(nodes), tied.n_bones))
        self.carriers.sum_duplicates()
        self.nearest_bone = tied.bone[near[:, 0]]
        count, corners = elements.element_nodes.shape
        corner, rows = elements.element_nodes.ravel(), np.repeat(np.arange(count), corners)
        mean = csr_matrix((np.full(len(corner), 1.0 / corners), (rows, corner)), shape=(count, len(nodes)))
        self.cell_carriers = (mean @ self.carriers).tocsr()

    def carry(self, flesh: FleshState, before: Array, after: Array, trend: Trend) -> Carried | None:
        """Move `flesh` in place as bones move from poses `before` to `after` (n_bones, 4, 4); None if none moves."""
        move = after @ inverse_all(before)
        if np.abs(move - np.eye(4)).max() < 1e-14:
            return None
        tied = self.model.attachments
        old = _in_bones(tied.embedding.positions(flesh.x) - tied.targets(before), before, tied.bone)
        skinned = self._blend(move, flesh.x)
        skinned = np.where(self.model.fixed, flesh.x, skinned)
        left = _in_bones(tied.embedding.positions(skinned) - tied.targets(after), after, tied.bone) - old
        carried = Carried(skinned, flesh.pressure.copy(), left)
        flesh.x[:] = skinned
        if trend.known:
            now, then = (np.bincount(tied.bone, np.sum(a * trend.left, axis=1), len(move)) for a in (left, trend.left))
            factor = np.where(then > 0.0, now / np.where(then > 0.0, then, 1.0), 0.0)
            factor[np.abs(factor) > FARTHEST] = 0.0
            turn = move.copy()
            turn[:, :3, 3] = 0.0
            turned = self._blend(turn, trend.correction)
            flesh.x += np.where(self.model.fixed, 0.0, (self.carriers @ factor)[:, None] * turned)
            flesh.pressure += (self.cell_carriers @ factor) * trend.pressure
        return carried

    def _blend(self, moves: Array, vectors: Array) -> Array:
        """Σ w_b M_b v at each node: vectors (n_nodes, 3) under blended transforms (n_bones, 4, 4)."""
        carriers, out = self.carriers, np.empty_like(vectors)
        _blend(carriers.indptr, carriers.indices, carriers.data, np.ascontiguousarray(moves), vectors, out)
        return out

    def trend(self, carried: Carried, flesh: FleshState) -> Trend:
        """What balance added to a predicted step."""
        return Trend(flesh.x - carried.skinned, flesh.pressure - carried.pressure, carried.left)


def inverse_all(poses: Array) -> Array:
    """Inverses of rigid transforms, shape (n, 4, 4)."""
    out = np.zeros_like(poses)
    out[:, :3, :3] = poses[:, :3, :3].transpose(0, 2, 1)
    out[:, :3, 3] = -np.einsum("nji,nj->ni", poses[:, :3, :3], poses[:, :3, 3])
    out[:, 3, 3] = 1.0
    return out


@njit(cache=True, parallel=True)
def _blend(start, bone, weight, moves, vectors, out):
    for chunk in prange((len(out) + 511) // 512):
        for n in range(512 * chunk, min(512 * chunk + 512, len(out))):
            for i in range(3):
                total = 0.0
                for e in range(start[n], start[n + 1]):
                    m = moves[bone[e], i]
                    total += weight[e] * (m[0] * vectors[n, 0] + m[1] * vectors[n, 1] + m[2] * vectors[n, 2] + m[3])
                out[n, i] = total


def _in_bones(vectors: Array, poses: Array, bone: Array) -> Array:
    """World vectors in the frames of their bones."""
    return np.einsum("nji,nj->ni", poses[bone][:, :3, :3], vectors)
