"""Poses, motions and turns seen in the mirror across the plane x = 0, and made the same on both sides."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vitruvian.control.search.reference import Reference
from vitruvian.skeleton import Skeleton, difference, integrate

Array = np.ndarray


def mirrored(skeleton: Skeleton, q: Array) -> Array:
    """A pose seen in the mirror across the plane x = 0; bones' frames must stand upright in the zero pose."""
    out = q.copy()
    for k, name in enumerate(skeleton.names):
        twin = name[:-2] + {"_l": "_r", "_r": "_l"}[name[-2:]] if name.endswith(("_l", "_r")) else name
        a, b = slice(*skeleton.q_start[k : k + 2]), skeleton.q_start[skeleton.index(twin)]
        own = q[b : b + a.stop - a.start].copy()
        if len(own) >= 4:
            own[-2:] *= -1.0
        if len(own) == 7:
            own[0] *= -1.0
        out[a] = own
    return out


def evened(reference: Reference) -> Reference:
    """A motion half way between itself and its mirror image: the same on both sides at every instant."""
    s, q = reference.skeleton, np.empty_like(reference.q)
    middle = np.array([reference.q[:, 0].mean(), *[0.0] * (s.n_q - 1)])
    for k, one in enumerate(reference.q):
        own = one - middle
        other = mirrored(s, own)
        q[k] = integrate(s, own, difference(s, own, other), 0.5)
        q[k, :3] = 0.5 * (own[:3] + other[:3])
    return replace(reference, q=q)


def even_turns(skeleton: Skeleton, turns: Array) -> Array:
    """Turns (n_v,) with the right side's a mirror image of the left's, those of the middle about x alone."""
    out = turns.copy()
    for k, name in enumerate(skeleton.names):
        a, b = skeleton.v_start[k : k + 2]
        if name.endswith("_r"):
            left = skeleton.v_start[skeleton.index(name[:-1] + "l")]
            out[a:b] = turns[left : left + b - a]
            out[a + 1 : b] *= -1.0
        elif not name.endswith("_l"):
            out[a + 1 : b] = 0.0
    return out
