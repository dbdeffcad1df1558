"""Which muscles run through which element, how much of it they fill, and which way their fibres point.

Found by sampling: each sample of an element's tissue is asked whether a muscle covers it and where its fibres point; an
element keeps the covered fraction d and the mean direction of each muscle (Lee 2008, section 5.2.3; Si & al. 2014,
appendix A.1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from vitruvian.errors import InputError
from vitruvian.flesh.elements import Elements
from vitruvian.flesh.fibre import Fibre

# points [m] (n, 3) -> (covered (n,) bool, unit fibre direction (n, 3))
MuscleRegion = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class MuscleFibres:
    """Muscles per element: entries offset[e]:offset[e + 1] belong to element e."""

    names: tuple[str, ...]
    offset: np.ndarray  # shape (n + 1,)
    muscle: np.ndarray  # which muscle, shape (n_entries,)
    density: np.ndarray  # fraction of the element's tissue, 0 to 1
    direction: np.ndarray  # unit vector in the rest body, shape (n_entries, 3)
    peak_stress: np.ndarray  # [Pa] of each muscle
    optimal_stretch: np.ndarray  # of each muscle

    def cell_activation(self, activation: np.ndarray) -> np.ndarray:
        """Density-weighted activation of each element, for colouring, shape (n,)."""
        cell = np.repeat(np.arange(len(self.offset) - 1), np.diff(self.offset))
        return np.bincount(cell, self.density * activation[self.muscle], len(self.offset) - 1)

    def kernel(self) -> tuple[np.ndarray, ...]:
        """What every kernel wants to know of the fibres."""
        return (self.offset, self.muscle, self.density, self.direction, self.peak_stress, self.optimal_stretch)


def no_muscles(n: int) -> MuscleFibres:
    empty = np.zeros(0)
    return MuscleFibres(
        (), np.zeros(n + 1, np.int64), np.zeros(0, np.int64), empty, np.zeros((0, 3)), np.zeros(1), np.ones(1)
    )


def sample_muscles(
    elements: Elements,
    regions: Sequence[tuple[str, MuscleRegion]],
    *,
    fibre: Fibre | Sequence[Fibre] = Fibre(),  # noqa: B008 - frozen
    samples: int = 3,
    least: float = 0.02,
) -> MuscleFibres:
    """Sample each region on samples³ points of each element's tissue.

    Overlapping muscles share a point evenly. Entries below `least` are dropped.
    """
    fibres = [fibre] * len(regions) if isinstance(fibre, Fibre) else list(fibre)
    if len(fibres) != len(regions):
        raise InputError(f"muscle fibres: {len(fibres)} sets of constants for {len(regions)} muscles")
    points = elements.spread_points(samples)
    n_cells, per_cell = points.shape[:2]
    flat = points.reshape(-1, 3)
    hits = []
    covering = np.zeros(len(flat))
    for number, (name, region) in enumerate(regions):
        covered, direction = region(flat)
        where = np.flatnonzero(covered)
        covering[where] += 1.0
        vectors = direction[where]
        if not np.all(np.isfinite(vectors)):
            raise InputError(f"muscle '{name}': its fibre direction is not finite everywhere")
        hits.append((number, where, vectors))
    rows = []
    for number, where, vectors in hits:
        cell = where // per_cell
        weight = 1.0 / covering[where]
        density = np.bincount(cell, weight, n_cells) / per_cell
        mean = np.stack([np.bincount(cell, vectors[:, a], n_cells) for a in range(3)], axis=1)
        length = np.linalg.norm(mean, axis=1)
        kept = np.flatnonzero((density >= least) & (length > 0.0))
        rows.append((kept, np.full(len(kept), number), density[kept], mean[kept] / length[kept, None]))
    cells = np.concatenate([r[0] for r in rows]) if rows else np.zeros(0, int)
    order = np.argsort(cells, kind="stable")
    return MuscleFibres(
        names=tuple(name for name, _ in regions),
        offset=np.searchsorted(cells[order], np.arange(n_cells + 1)).astype(np.int64),
        muscle=np.concatenate([r[1] for r in rows])[order].astype(np.int64) if rows else np.zeros(0, np.int64),
        density=np.concatenate([r[2] for r in rows])[order] if rows else np.zeros(0),
        direction=np.ascontiguousarray(np.concatenate([r[3] for r in rows])[order]) if rows else np.zeros((0, 3)),
        peak_stress=np.array([f.peak_stress for f in fibres] or [0.0]),
        optimal_stretch=np.array([f.optimal_stretch for f in fibres] or [1.0]),
    )
