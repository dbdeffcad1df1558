import numba
import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import spsolve

from vitruvian.water.cycle import SMALL
from vitruvian.water.multigrid import Coupling, System, solve


def random_system(shape, rng):
    """A Poisson matrix with random partly open faces, and air above a random height."""
    nx, ny, nz = shape
    arrays = [np.zeros(tuple(n + 2 for n in shape)) for _ in range(4)]
    cx, cy, cz, diagonal = arrays
    wet = np.zeros(diagonal.shape, bool)
    wet[1:-1, 1:-1, 1:-1] = np.arange(nz) < rng.integers(nz // 2, nz, size=(nx, ny))[..., None]
    for axis, c in enumerate((cx, cy, cz)):
        part = rng.choice([0.0, 0.02, 0.5, 1.0], size=c.shape, p=[0.05, 0.05, 0.2, 0.7])
        both = wet & np.roll(wet, 1, axis)
        c[both] = part[both]
        diagonal += c + np.roll(c, -1, axis)
    diagonal[wet] += 1e-3
    surface = wet & ~np.roll(wet, -1, 2)
    diagonal[surface] += 2.0
    diagonal[~wet] = 0.0
    top = np.maximum(1, np.where(wet.any(axis=2), wet.shape[2] - np.argmax(wet[:, :, ::-1], axis=2), 1))
    return System(cx, cy, cz, diagonal, top.astype(np.int64)), wet


def sparse_of(system, wet):
    number = -np.ones(wet.shape, int)
    number[wet] = np.arange(wet.sum())
    rows, columns, values = [number[wet]], [number[wet]], [system.diagonal[wet]]
    for axis, c in enumerate((system.cx, system.cy, system.cz)):
        at = np.argwhere(c > 0.0)
        before = at.copy()
        before[:, axis] -= 1
        i, j = number[tuple(at.T)], number[tuple(before.T)]
        value = -c[tuple(at.T)]
        rows += [i, j]
        columns += [j, i]
        values += [value, value]
    n = int(wet.sum())
    return coo_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(n, n)).tocsr()


def test_solution_equals_a_sparse_direct_solver():
    rng = np.random.default_rng(0)
    system, wet = random_system((13, 10, 12), rng)
    right = np.zeros(wet.shape)
    right[wet] = rng.normal(size=int(wet.sum()))
    x = np.zeros(wet.shape)
    iterations, residual = solve(system, right, x, tolerance=1e-11)
    expected = spsolve(sparse_of(system, wet), right[wet])
    assert residual < 1e-11
    assert iterations < 60
    assert np.abs(x[wet] - expected).max() < 1e-8 * np.abs(expected).max()


def test_iterations_hardly_grow_with_the_grid():
    counts = []
    for n in (16, 32, 64):
        shape = (n, n, n)
        cx, cy, cz, diagonal = (np.zeros(tuple(m + 2 for m in shape)) for _ in range(4))
        cx[2:-1, 1:-1, 1:-1] = cy[1:-1, 2:-1, 1:-1] = cz[1:-1, 1:-1, 2:-1] = 1.0
        for axis, c in enumerate((cx, cy, cz)):
            diagonal += c + np.roll(c, -1, axis)
        diagonal[1:-1, 1:-1, -2] += 2.0
        system = System(cx, cy, cz, diagonal, np.full((n + 2, n + 2), n + 1, np.int64))
        right = np.zeros_like(cx)
        right[1:-1, 1:-1, 1:-1] = np.random.default_rng(1).normal(size=shape)
        counts.append(solve(system, right, np.zeros_like(cx), tolerance=1e-6)[0])
    assert counts[-1] <= counts[0] + 5
    assert max(counts) < 20


def test_a_closed_tank_with_a_yielding_body_is_solved_up_to_a_constant():
    rng = np.random.default_rng(3)
    n = 12
    cx, cy, cz, diagonal = (np.zeros((n + 2,) * 3) for _ in range(4))
    cx[2:-1, 1:-1, 1:-1] = cy[1:-1, 2:-1, 1:-1] = cz[1:-1, 1:-1, 2:-1] = 1.0
    for axis, c in enumerate((cx, cy, cz)):
        diagonal += c + np.roll(c, -1, axis)
    system = System(cx, cy, cz, diagonal, np.full((n + 2, n + 2), n + 1, np.int64))
    cells = np.stack(np.meshgrid(*[np.arange(5, 9)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    rows = rng.normal(size=(len(cells), 6))
    rows -= rows.mean(axis=0)  # a closed body sweeps out as much as it leaves
    factor = rng.normal(size=(6, 6))
    coupling = Coupling(cells, np.zeros(len(cells), np.int64), rows, factor @ factor.T)
    right = np.zeros_like(cx)
    right[1:-1, 1:-1, 1:-1] = rng.normal(size=(n, n, n))
    right[1:-1, 1:-1, 1:-1] -= right[1:-1, 1:-1, 1:-1].mean()
    pockets = np.zeros(cx.shape, np.int64)
    pockets[1:-1, 1:-1, 1:-1] = 1
    x = np.zeros_like(cx)
    _, residual = solve(system, right, x, tolerance=1e-9, coupling=coupling, pockets=pockets)
    assert residual < 1e-9
    at = tuple(cells.T)
    applied = diagonal * x - sum(
        c * np.roll(x, 1, axis) + np.roll(c, -1, axis) * np.roll(x, -1, axis) for axis, c in enumerate((cx, cy, cz))
    )
    applied[at] += rows @ (factor @ factor.T) @ (rows.T @ x[at])
    assert np.abs(applied - right).max() < 1e-8 * np.abs(right).max()


def test_more_threads_give_the_same_bits_on_a_grid_that_uses_them():
    rng = np.random.default_rng(5)
    system, wet = random_system((100, 90, 64), rng)
    assert wet.size > 2 * SMALL  # so that levels on both sides of the threshold are met
    right = np.zeros(wet.shape)
    right[wet] = rng.normal(size=int(wet.sum()))
    cells = np.argwhere(wet)[::997]
    coupling = Coupling(cells, np.zeros(len(cells), np.int64), 1e-3 * rng.normal(size=(len(cells), 6)), np.eye(6))
    found = []
    for threads in sorted({1, 2, numba.config.NUMBA_NUM_THREADS}):
        numba.set_num_threads(threads)
        x = np.zeros(wet.shape)
        iterations, residual = solve(system, right, x, tolerance=1e-6, coupling=coupling)
        found.append((x, iterations, residual))
    for x, iterations, residual in found[1:]:
        assert (iterations, residual) == found[0][1:]
        assert np.array_equal(x, found[0][0])
    assert found[0][2] < 1e-6
