"""Random trees and relative errors that the skeleton's claims share."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vitruvian.skeleton import Skeleton
from vitruvian.skeleton.samples import random_state, random_tree
from vitruvian.verify.book import Finding, worst

Array = np.ndarray
TREES = 20


def trees(makers: dict, n_bones: int, *, free_roots: bool = True) -> Iterator[tuple[Skeleton, Array, Array, Array]]:
    """Random trees with random states and two random vectors each."""
    for seed in range(TREES):
        rng = np.random.default_rng(seed)
        tree = random_tree(rng, list(makers.values()), n_bones, free_root=free_roots and seed % 2 == 1)
        yield (tree, *random_state(tree, rng), rng.normal(size=(2, tree.n_v)))


def relative(ours: Array, theirs: Array) -> float:
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


def worst_of(errors: list[float], tolerance: float, what: str) -> Finding:
    return Finding.error(worst(errors), tolerance, detail=f"worst of {len(errors)} {what}")
