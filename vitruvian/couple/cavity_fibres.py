"""Muscle fibres that are cut into pieces between points: a fibre pulls by its whole length.

    T = law(mean stretch) + even (l / l0 - mean stretch) + even damping (l' / l0 - mean rate)

A piece that pulled by its own length would lose to its neighbours as soon as it is longer than where it pulls best:
some pieces shrink to half, others double, and the fibre pulls with the weakest. The tissue between fibres keeps the
pieces even; a fibre that stretches evenly does no work on that.
"""

from __future__ import annotations

import numba as nb

EVEN, EVEN_DAMPING = 5.0, 0.1  # [N] per stretch, [N s]; those of the sheet across the diaphragm's fibres


@nb.njit(cache=True)
def whole_fibres(fibre, rest_length, length, rate, stretch, whole_length, whole_rate):
    """Fills length [m] and rate [m/s] that each element's law goes by: its own, or its share of its fibre's.

    stretch (fibres, 3): scratch; mean stretch and its rate [1/s] of each fibre, and how long it is at rest [m]."""
    stretch[:] = 0.0
    for n in range(len(fibre)):
        f = fibre[n]
        if f >= 0:
            stretch[f, 0] += length[n]
            stretch[f, 1] += rate[n]
            stretch[f, 2] += rest_length[n]
    for f in range(len(stretch)):
        stretch[f, 0] /= stretch[f, 2]
        stretch[f, 1] /= stretch[f, 2]
    for n in range(len(fibre)):
        f = fibre[n]
        whole_length[n] = length[n] if f < 0 else stretch[f, 0] * rest_length[n]
        whole_rate[n] = rate[n] if f < 0 else stretch[f, 1] * rest_length[n]


@nb.njit(cache=True)
def keep_even(fibre, rest_length, length, rate, stretch, share, tension):
    """Adds what keeps the pieces of each fibre even to tension (5, n): force, stiffness, damping; share: of a line's
    width, (n,)."""
    for n in range(len(fibre)):
        f = fibre[n]
        if f >= 0:
            off = length[n] / rest_length[n] - stretch[f, 0]
            faster = rate[n] / rest_length[n] - stretch[f, 1]
            tension[0, n] += share[n] * (EVEN * off + EVEN_DAMPING * faster)
            tension[3, n] += share[n] * EVEN / rest_length[n]
            tension[4, n] += share[n] * EVEN_DAMPING / rest_length[n]
