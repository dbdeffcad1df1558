"""A shirt: the skin below a collar, a little above it, cut off smoothly at collar and chest."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix, vstack

from vitruvian.anatomy.face.grids import triangles
from vitruvian.anatomy.face.look import Riders

Array = np.ndarray
COLLAR, CLOTH = 1.655, 0.003  # [m] height at the midline, distance from the skin
HEM, SHOULDER, RISE = 1.553, 0.138, 0.078  # [m] of the bust's lower edge: at the midline; x of its end; rise to there
UNDER = 0.012  # [m] below the collar, where skin is no longer drawn


def below_collar(v: Array) -> Array:
    """How far points [m] (n, 3) lie below the collar [m]."""
    return np.asarray(COLLAR + 0.25 * v[:, 1] - 0.05 * np.abs(v[:, 0]) - v[:, 2])


def above_hem(v: Array) -> Array:
    """How far points [m] (n, 3) lie above the bust's lower edge [m]."""
    return np.asarray(v[:, 2] - HEM - RISE * (v[:, 0] / SHOULDER) ** 4)


def hidden(v: Array, quads: Array) -> Array:
    """Whether quads (m, 4) over points [m] (n, 3) lie under the shirt, or reach below its hem."""
    return np.asarray((below_collar(v) > UNDER)[quads].all(axis=1) | (above_hem(v) < 0.0)[quads].any(axis=1))


def shirt(surface: Array, quads: Array) -> Riders:
    """A shirt over the shoulders, with a rim that goes down to the skin at the collar."""
    faces = triangles(quads)
    mix, faces, on = cut(faces, below_collar(surface), len(surface))
    more, faces, inner = cut(faces, mix @ above_hem(surface), mix.shape[0])
    mix, on = (more @ mix).tocsr(), on[inner[:, 0]]
    rim = _rim(faces, mix @ below_collar(surface))
    n = mix.shape[0]
    own, local = np.unique(rim, return_inverse=True)
    local = local.reshape(-1, 2) + n
    band = np.concatenate(
        [np.stack([rim[:, 1], rim[:, 0], local[:, 0]], 1), np.stack([rim[:, 1], local[:, 0], local[:, 1]], 1)]
    )
    pick = np.concatenate([np.arange(n), own])
    height = np.concatenate([np.full(n, CLOTH), np.full(len(own), -CLOTH)])
    return Riders(np.concatenate([faces, band]), mix[pick], on[pick], height)


def cut(faces: Array, level: Array, n: int) -> tuple[csr_matrix, Array, Array]:
    """The part of triangles (m, 3) over n vertices where `level` (n,) is positive.

    Gives its vertices as mixtures of the old ones (k, n), its triangles (l, 3), and an old triangle on which each of
    its vertices lies (k, 3)."""
    inside = level[faces] > 0.0
    count = inside.sum(axis=1)
    whole = faces[count == 3]
    # turn mixed triangles so that the corner that is alone on its side comes first
    mixed, kept = faces[(count == 1) | (count == 2)], inside[(count == 1) | (count == 2)]
    alone = np.argmax(kept == (kept.sum(axis=1) == 1)[:, None], axis=1)
    rows = np.arange(len(mixed))
    a, b, c = (mixed[rows, (alone + k) % 3] for k in range(3))
    single = kept[rows, alone]
    edges = np.sort(np.concatenate([np.stack([a, b], 1), np.stack([a, c], 1)]), axis=1)
    unique, at = np.unique(edges, axis=0, return_inverse=True)
    share = level[unique[:, 0]] / (level[unique[:, 0]] - level[unique[:, 1]])
    ab, ac = np.split(n + at.ravel(), 2)
    new = np.concatenate(
        [
            whole,
            np.stack([a, ab, ac], 1)[single],
            np.stack([ab, b, c], 1)[~single],
            np.stack([ab, c, ac], 1)[~single],
        ]
    )
    eye = csr_matrix((np.ones(n), (np.arange(n), np.arange(n))), shape=(n, n))
    k = np.arange(len(unique))
    between = csr_matrix(
        (np.concatenate([1.0 - share, share]), (np.concatenate([k, k]), unique.T.ravel())), shape=(len(unique), n)
    )
    on = np.zeros((n + len(unique), 3), int)
    on[faces.ravel()] = np.repeat(faces, 3, axis=0)
    for edge in (ab, ac):
        on[edge] = mixed
    used, local = np.unique(new, return_inverse=True)
    return vstack([eye, between]).tocsr()[used], local.reshape(-1, 3), on[used]


def _rim(faces: Array, level: Array) -> Array:
    """Edges (k, 2) at the border of triangles where `level` is nought."""
    edges = faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    _, first, count = np.unique(np.sort(edges, axis=1), axis=0, return_index=True, return_counts=True)
    border = edges[first[count == 1]]
    return np.asarray(border[(np.abs(level[border]) < 1e-9).all(axis=1)])
