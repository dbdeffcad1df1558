"""The whole step of a body in one compiled call: for bones, muscles, springs and pushes, when nothing else acts.

The same kernels in the same order as `couple.step` with its contributors, so the same numbers; what is saved is the way
from one kernel to the next, which for a small body costs more than the work.
"""

from __future__ import annotations

import numba as nb

from vitruvian.couple.links import link_terms
from vitruvian.couple.muscle_pull import muscle_terms
from vitruvian.couple.step import bone_terms, right_side, solve_step
from vitruvian.couple.stretch_reflex import missed
from vitruvian.couple.wrenches import wrench_forces


@nb.njit(cache=True)
def plain_step(
    tree, joints, scratch, custom, inertia, paths, results, muscles, reflex, activation, links, link_rows, link_force,
    wrench, impulse, q, v, h, poses, screws, force, matrix, damping, right, begun, q_new, v_new, rates,
):  # fmt: skip
    """(q, v) after h [s] into q_new and v_new; rates: of the reflex's muscles then [m/s], (n_muscles,); begun: their
    activation at the start. Returns -1, or the first row of the matrix that is not positive; and by how much activation
    was off (`stretch_reflex.missed`)."""
    bone_terms(tree, joints, scratch, custom, inertia, q, v, h, poses, screws, force, matrix, damping)
    muscle_terms(paths, results, muscles, reflex, poses, screws, v, activation, h, True, force, matrix)
    link_terms(links, tree.place, poses, screws, v, h, link_rows, link_force, force, matrix)
    if len(wrench):
        wrench_forces(tree.topology, poses, screws, wrench, force)
    right_side(tree, force, impulse, h, right)
    bad, off = solve_step(tree, matrix, right, q, v, h, q_new, v_new), 0.0
    if bad < 0 and len(reflex.muscles):
        off = missed(
            reflex, muscles.rest, results.length, results.rate, paths.row_start, paths.column, results.arms, v_new, h,
            begun, activation, results.answer, rates,
        )  # fmt: skip
    return bad, off
