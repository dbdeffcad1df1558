"""The skin that is shown around a body in its flesh: it rides on the lattice where there is one, else on the bones.

Where only a part of the body has flesh, the skin passes over from the lattice to skinning within a few
centimetres of the cut. What the lattice adds to skinning goes through `flesh.drape`: skin is a thin plate. Fingers
that close round a bar are skinned too, by bones of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from vitruvian.anatomy import Body, BodyFlesh, Skin, SkinShape, body_flesh, bound_skin
from vitruvian.anatomy.fingers import finger_names
from vitruvian.flesh import Drape, Embedding, FleshModel, embed, preset
from vitruvian.flesh.drape import CELLS
from vitruvian.skeleton import bone_poses
from vitruvian.skin import BoundSkin, bind
from vitruvian.systems.breath_flesh import trunk_organs

Array = np.ndarray
BLEND = 0.04  # [m] over which the skin passes from flesh to bones
TRIANGLES = 60_000
NEAR = 0.004  # [m] within which finger bones share the skin


@dataclass(frozen=True)
class TrunkSlice:
    """The part of the trunk that has flesh."""

    wide: float  # half its width [m]
    low: float  # its lowest height [m]
    high: float  # its highest [m]
    front: float  # of the box around it, y [m]
    back: float

    def within(self, p: Array) -> Array:
        """Level set, negative inside, of points [m], shape (n, 3) -> (n,)."""
        return np.max([np.abs(p[:, 0]) - self.wide, self.low - p[:, 2], p[:, 2] - self.high], axis=0)

    @property
    def reach(self) -> tuple[Array, Array]:
        """Corners of a box around it [m]."""
        edge = 0.05
        return (
            np.array([-self.wide - edge, self.front, self.low - edge]),
            np.array([self.wide + edge, self.back, self.high + edge]),
        )

    def flesh(self, body: Body, skin: Skin, parameters: Mapping[str, Any], lungs: bool = False) -> BodyFlesh:
        """Tissue of the slice, as a scene's parameters (spacing, material, ties) want it; lungs: with
        lungs and viscera."""
        return body_flesh(
            body,
            spacing=parameters["spacing"],
            skin=skin,
            material=preset(parameters["material"]),
            within=self.within,
            reach=self.reach,
            ties=parameters["ties"],
            organs=trunk_organs() if lungs else (),
        )


class Cover:
    """A skin that follows flesh and bones."""

    def __init__(
        self,
        body: Body,
        model: FleshModel,
        build: str | SkinShape,
        *,
        within: Callable[[Array], Array] | None = None,
        fists: Sequence[str] = (),
        shown: Callable[[Array], Array] | None = None,
        whole: Body | None = None,
        drape: bool = True,
    ) -> None:
        """within: level set of the part that has flesh, negative inside, None for all; fists: sides ("l", "r") whose
        fingers are bound one by one; shown: which vertices [m] (n, 3) are drawn (n,); whole: the body of which `body`
        is a part: bones that it lacks stand still; drape: the skin is a plate, as it must not be where something
        presses it into a dent no wider than a cell."""
        bound = bound_skin(whole or body, build, triangles=TRIANGLES)
        if shown is not None:
            bound = _cut(body, bound, shown(bound.rest))
        inside = np.ones(len(bound.rest)) if within is None else np.clip(-within(bound.rest) / BLEND, 0.0, 1.0)
        share = inside * inside * (3.0 - 2.0 * inside)
        for side in fists:
            bound = _with_fingers(body, bound, side)
            wrist = bone_poses(body.skeleton, body.default_q)[body.skeleton.index(f"Ha_{side}"), :3, 3]
            beyond = (bound.rest[:, 0] - wrist[0]) * np.sign(wrist[0])
            share = np.where(
                np.abs(bound.rest[:, 2] - wrist[2]) < 0.2, share * np.clip(-beyond / BLEND, 0.0, 1.0), share
            )
        self.bound, self.share, self.faces = bound, share, bound.faces
        self.riding: Embedding = embed(model.elements, bound.rest)
        self.skinned = drape or bool((share < 1.0).any())
        self._drape = (
            Drape(bound.rest, bound.faces, CELLS * float(np.median(model.elements.size)), among=share > 0.0)
            if drape
            else None
        )

    def positions(self, x: Array, poses: Array, offset: Array | None = None) -> Array:
        """Vertices [m] (n, 3) with lattice nodes at x and bones at poses (n_bones, 4, 4); offset: what breath does to
        the skin that rides on bones, in the frames of those that move it most (n, 3)."""
        flesh = self.riding.positions(x)
        if not self.skinned:
            return flesh
        skinned = self.bound.place(poses).vertices
        if offset is not None:
            main = self.bound.bones[self.bound.influence[:, 0]]
            skinned += np.einsum("nij,nj->ni", poses[main, :3, :3], offset)
        beyond = self.share[:, None] * (flesh - skinned)
        return skinned + (beyond if self._drape is None else self._drape(beyond))


def _cut(body: Body, bound: BoundSkin, kept: Array) -> BoundSkin:
    faces = bound.faces[kept[bound.faces].all(axis=1)]
    used, number = np.unique(faces, return_inverse=True)
    weights, there = bound.dense_weights()[used], np.array([n in body.skeleton.names for n in bound.names])
    names = tuple(n for n in bound.names if n in body.skeleton.names)
    root = body.skeleton.names[0]  # of a part of a body, which stands still
    if root not in names:
        names, weights = (*names, root), np.column_stack([weights[:, there], weights[:, ~there].sum(axis=1)])
    else:
        still = weights[:, ~there].sum(axis=1)
        weights = weights[:, there]
        weights[:, names.index(root)] += still
    return bind(body.skeleton, body.default_q, bound.rest[used], number.reshape(-1, 3), names, weights)


def _with_fingers(body: Body, bound: BoundSkin, side: str) -> BoundSkin:
    """The hand's weights shared out among its finger bones by how near they are."""
    skeleton = body.skeleton
    rest = bone_poses(skeleton, body.default_q)[:, :3, 3]
    names = finger_names(side)
    weights = bound.dense_weights()
    hand = weights[:, bound.names.index(f"Ha_{side}")].copy()
    part = np.flatnonzero(hand > 0.5)
    points, owner = [], []
    for name in names:
        i = skeleton.index(name)
        nexts = [rest[k] for k in range(skeleton.n_bones) if skeleton.parent[k] == i]
        before = rest[skeleton.parent[i]] if "proximal" not in name else None
        end = nexts[0] if nexts else rest[i] + 0.8 * (rest[i] - before if before is not None else 0.0)
        for s in np.linspace(0.0, 1.0, 12):
            points.append((1.0 - s) * rest[i] + s * end)
            owner.append(names.index(name))
    knuckles = np.array([rest[skeleton.index(n)] for n in names if "proximal" in n])
    wrist = rest[skeleton.index(f"Ha_{side}")]
    for knuckle in knuckles:  # the palm
        for s in np.linspace(0.0, 0.95, 12):
            points.append((1.0 - s) * wrist + s * knuckle)
            owner.append(len(names))
    far = np.full((len(part), len(names) + 1), np.inf)
    at = np.array(points)
    for k in range(len(names) + 1):
        mine = at[np.array(owner) == k]
        far[:, k] = cKDTree(mine).query(bound.rest[part])[0]
    close = np.exp(-(far - far.min(axis=1, keepdims=True)) / NEAR)
    close /= close.sum(axis=1, keepdims=True)
    more = np.zeros((len(weights), len(names)))
    more[part] = hand[part, None] * close[:, :-1]
    weights[part, bound.names.index(f"Ha_{side}")] = hand[part] * close[:, -1]
    every, shares = (*bound.names, *names), np.concatenate([weights, more], axis=1)
    return bind(body.skeleton, body.default_q, bound.rest, bound.faces, every, shares)
