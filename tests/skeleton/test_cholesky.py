import numpy as np
import pytest

from vitruvian.skeleton.cholesky import cholesky, solve_cholesky


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 60, 163])
def test_solution_equals_numpy(n):
    rng = np.random.default_rng(n)
    B = rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.3)
    A, b = B @ B.T + np.eye(n), rng.normal(size=n)
    factor, x = A.copy(), b.copy()
    assert cholesky(factor) == -1
    solve_cholesky(factor, x)
    assert x == pytest.approx(np.linalg.solve(A, b), rel=1e-10, abs=1e-10)


def test_an_indefinite_matrix_is_told_by_its_first_bad_row():
    assert cholesky(np.diag([1.0, 2.0, -1.0, 3.0, 4.0])) == 2
