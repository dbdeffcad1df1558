"""Multigrid solves the same system in iterations that do not grow with the lattice, and keeps separate parts apart."""

import numpy as np
import pytest
from scipy.sparse import bsr_matrix
from scipy.sparse.linalg import spsolve

from vitruvian.flesh import (
    FleshSolver,
    Loads,
    Potential,
    Settings,
    box_lattice,
    build_flesh,
    gravity,
    lattice_from_level_set,
    mooney_rivlin_from_moduli,
    preset,
    rest_state,
)
from vitruvian.flesh.krylov import conjugate_gradients, inverse_diagonal, multigrid_gradients
from vitruvian.flesh.lattice.coarsen import coarsen, grid_of
from vitruvian.flesh.multigrid import Multigrid, crossed, multigrid_pays, reach
from vitruvian.flesh.newton import Newton
from vitruvian.flesh.pairs import no_pairs
from vitruvian.flesh.pattern import build_pattern


def held_block(cells):
    """A block of 0.16 x 0.16 x 0.32 m, its foot held, rollers on one side; its matrix and a load."""
    lattice = box_lattice((cells, cells, 2 * cells), 0.16 / cells)
    foot, side = lattice.nodes[:, 2] < 1e-9, lattice.nodes[:, 0] < 1e-9
    model = build_flesh(lattice, preset("si-paper"), fixed=np.stack([foot | side, foot, foot], axis=1))
    state, potential = rest_state(model), Potential(model, Loads())
    data = np.zeros((len(model.pattern.column), 9), np.float32)
    potential.stiffness(state.x, state.pressure, potential.evaluate(state.x, state.pressure), False, data)
    load = np.where(model.fixed, 0.0, np.exp(-50.0 * lattice.nodes) * [1.0, 2.0, 3.0])
    return model, data, load


def solver(model, data):
    pattern = model.pattern
    multigrid = Multigrid(model.lattice.coarser(), pattern.start, pattern.column, pattern.diagonal, model.fixed)
    multigrid.update(data)
    return multigrid


def test_coarse_lattices_carry_every_linear_motion():
    lattice = lattice_from_level_set(lambda p: np.linalg.norm(p, axis=1) - 0.05, [-0.06] * 3, [0.06] * 3, 0.01)
    fine = grid_of(lattice.cells, lattice.cell_nodes)
    while len(fine.nodes) > 30:
        coarse, p = coarsen(fine)
        assert len(coarse.nodes) < 0.5 * len(fine.nodes)
        assert p @ (2.0 * coarse.nodes) == pytest.approx(fine.nodes)
        assert np.asarray(p.sum(axis=1)) == pytest.approx(np.ones((len(fine.nodes), 1)))
        fine = coarse


def test_fingers_stay_apart_on_coarse_lattices():
    def fingers(points):  # two plates 8 mm apart in x, joined at z < 0
        apart = np.abs(np.abs(points[:, 0]) - 0.01) - 0.006
        return np.where(points[:, 2] < 0.0, np.abs(points[:, 0]) - 0.016, apart)

    lattice = lattice_from_level_set(fingers, [-0.02, 0, -0.04], [0.02, 0.02, 0.04], 0.01, samples=5)
    fine = grid_of(lattice.cells, lattice.cell_nodes)
    for _ in range(2):
        coarse, p = coarsen(fine)
        height = fine.nodes[:, 2] / fine.nodes[:, 2].max()
        left, right = (
            (fine.nodes[:, 0] < 0.4 * fine.nodes[:, 0].max()),
            (fine.nodes[:, 0] > 0.6 * fine.nodes[:, 0].max()),
        )
        ridden = [set(p[np.flatnonzero(side & (height > 0.9))].indices) for side in (left, right)]
        assert not ridden[0] & ridden[1]
        fine = coarse


def test_the_v_cycle_is_symmetric_and_positive():
    model, data, _ = held_block(4)
    multigrid = solver(model, data)
    rng = np.random.default_rng(0)
    a, b = (np.where(model.fixed, 0.0, rng.standard_normal(model.lattice.nodes.shape)) for _ in range(2))
    ma, mb = np.empty_like(a), np.empty_like(b)
    multigrid.apply(a, ma)
    multigrid.apply(b, mb)
    assert np.sum(a * mb) == pytest.approx(np.sum(b * ma), rel=1e-4)
    assert np.sum(a * ma) > 0.0
    assert not ma[model.fixed].any()


def test_the_solution_is_that_of_a_direct_solver():
    model, data, load = held_block(4)
    pattern = model.pattern
    x = np.empty_like(load)
    multigrid_gradients(pattern.start, pattern.column, data, solver(model, data), load, x, 1e-6, 200, no_pairs())
    whole = bsr_matrix((data.reshape(-1, 3, 3).astype(float), pattern.column, pattern.start)).tocsr()
    free = ~model.fixed.ravel()
    exact = spsolve(whole[free][:, free].tocsc(), load.ravel()[free])
    assert x.ravel()[free] == pytest.approx(exact, abs=1e-4 * np.abs(exact).max())


def test_iterations_do_not_grow_with_the_lattice():
    counts, plain, none = [], [], no_pairs()
    between = (none.nodes, none.weights, none.direction, none.stiffness)
    for cells in (4, 8, 16):
        model, data, load = held_block(cells)
        pattern, x = model.pattern, np.empty_like(load)
        found = multigrid_gradients(
            pattern.start, pattern.column, data, solver(model, data), load, x, 1e-4, 200, no_pairs()
        )
        counts.append(found[0])
        inverse = np.zeros((len(load), 3, 3))
        inverse_diagonal(data, pattern.diagonal, model.fixed, inverse)
        plain.append(
            conjugate_gradients(pattern.start, pattern.column, data, inverse, load, x, 1e-4, 2000, *between)[0]
        )
    assert counts[2] <= counts[0] + 5
    assert plain[2] > 1.6 * plain[1] > 2.5 * plain[0]  # what diagonal blocks alone do


@pytest.mark.parametrize(
    ("counts", "pays"),
    [((8, 8, 8), False), ((60, 60, 3), False), ((6, 6, 20), False), ((4, 4, 60), True), ((16, 16, 16), True)],
    ids=["small block", "wide slab", "bar", "long bar", "block"],
)
def test_multigrid_is_chosen_by_how_far_loads_must_travel_not_by_the_number_of_nodes(counts, pays):
    """The bar has 1525 nodes, the slab 14,884."""
    lattice = box_lattice(counts, 0.01)
    held = lattice.nodes[:, 2] < 1e-9
    assert reach(build_pattern(lattice), held) == counts[2]
    across = np.sqrt(len(lattice.nodes) / counts[2])
    assert multigrid_pays(counts[2], across) == pays
    assert reach(build_pattern(lattice), np.zeros(len(held), bool)) == (max(counts) + 1) // 2


@pytest.mark.parametrize(("spacing", "pays"), [(0.01, True), (0.02, False)], ids=["10 mm", "20 mm"])
def test_flesh_about_a_bone_is_solved_by_multigrid_where_cells_are_small(spacing, pays):
    """12 cm from the axis to the skin, as at a belly: 12 and 6 cells. Timed on a whole body, where they are as many."""
    n = round(0.24 / spacing)
    lattice = box_lattice((n, 2, n), spacing)
    axis = np.abs(lattice.nodes[:, [0, 2]] - 0.12).max(axis=1) < 1e-9
    newton = Newton(build_flesh(lattice, preset("soft"), fixed=axis), Settings())
    assert newton.reach == n // 2
    assert (newton.multigrid is not None) == pays


def test_short_time_steps_are_solved_with_diagonal_blocks():
    """A wave crosses `crossed` elements in a second: in 1 ms it gets no farther than two, held 60 away or not."""
    lattice = box_lattice((4, 4, 60), 0.01)
    model = build_flesh(lattice, preset("soft"), fixed=lattice.nodes[:, 2] < 1e-9)
    modulus = 12.5 * 16e3 + 4.0 / 3.0 * 16e3
    assert crossed(model) == pytest.approx(np.sqrt(modulus / preset("soft").density) / 0.01)
    solver = FleshSolver(model)
    assert solver.newton.multigrid is not None
    solver.step(rest_state(model), Loads(force=gravity(model)), 1e-3)
    assert solver.newton.multigrid is None
    state = rest_state(model)
    solver.step(state, Loads(force=gravity(model)), 0.06)
    assert solver.newton.multigrid is not None
    alone = rest_state(model)
    FleshSolver(model).step(alone, Loads(force=gravity(model)), 0.06)
    assert np.array_equal(state.x, alone.x)  # what was solved before leaves no trace


@pytest.mark.parametrize("multigrid", [False, True], ids=["diagonal blocks", "multigrid"])
def test_soft_tissue_on_tissue_ten_thousand_times_as_hard_finds_its_balance(multigrid):
    """Only the soft half gives way: as much as on a rigid foot."""
    lattice = box_lattice((4, 4, 8), 0.02)
    soft, hard = mooney_rivlin_from_moduli(1e3, 0.45), mooney_rivlin_from_moduli(1e7, 0.45)
    top = lattice.nodes[:, 2] > 0.16 - 1e-9
    pull = np.zeros_like(lattice.nodes)
    pull[top, 2] = 0.32 / top.sum()
    reached = []
    for below in (hard, None):
        foot = lattice.nodes[:, 2] < (1e-9 if below else 0.08 + 1e-9)
        which = (lattice.cells[:, 2] >= 4).astype(int)
        model = build_flesh(lattice, [below or soft, soft], of_cell=which, fixed=foot)
        state = rest_state(model)
        report = FleshSolver(model, Settings(multigrid=multigrid)).equilibrium(state, Loads(force=pull))
        assert report.converged
        reached.append(float((state.x - lattice.nodes)[top, 2].mean()))
    assert reached[0] == pytest.approx(reached[1], rel=2e-3)
