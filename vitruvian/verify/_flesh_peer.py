"""The same hyperelastic block in scikit-fem, an independent finite-element library."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse.linalg import spsolve
from skfem import Basis, BilinearForm, ElementHex1, ElementVector, LinearForm, MeshHex
from skfem.helpers import ddot, det, grad, transpose

from vitruvian.flesh import Material

SIDE = 0.1  # [m]


def block_displacements(material: Material, counts: int, shift: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Displacements [m] of a clamped cube of trilinear cells, its top moved by `shift` [m], at points (n, 3).

    Energy μ/2 (I1 − 3) − μ (J − 1) + κ/2 (J − 1)², the neo-Hookean material of `flesh.materials`.
    """
    mu, kappa = 2.0 * material.mu10, material.kappa
    axis = np.linspace(0.0, SIDE, counts + 1)
    mesh = MeshHex.init_tensor(axis, axis, axis)
    basis = Basis(mesh, ElementVector(ElementHex1()), intorder=4)

    def cofactor(f):
        return transpose(_adjugate(f))

    @LinearForm
    def residual(v, w):
        f = grad(w["u"]) + _identity(w.x)
        p = mu * f + (kappa * (det(f) - 1.0) - mu) * cofactor(f)
        return ddot(p, grad(v))

    @BilinearForm
    def tangent(u, v, w):
        f, d = grad(w["u"]) + _identity(w.x), grad(u)
        cof = cofactor(f)
        change = mu * d + kappa * ddot(cof, d) * cof + (kappa * (det(f) - 1.0) - mu) * _cofactor_change(f, d)
        return ddot(change, grad(v))

    u = basis.zeros()
    bottom = basis.get_dofs(lambda x: x[2] < 1e-9).all()
    top = basis.get_dofs(lambda x: x[2] > SIDE - 1e-9).all()
    fixed = np.union1d(bottom, top)
    free = np.setdiff1d(np.arange(basis.N), fixed)
    for part in (0.5, 1.0):
        for component in range(3):
            rows = basis.get_dofs(lambda x: x[2] > SIDE - 1e-9).all(f"u^{component + 1}")
            u[rows] = part * shift[component]
        for _ in range(20):
            r = residual.assemble(basis, u=basis.interpolate(u))[free]
            if np.linalg.norm(r) < 1e-9:
                break
            k = tangent.assemble(basis, u=basis.interpolate(u))
            u[free] -= spsolve(k[free][:, free].tocsc(), r, permc_spec="MMD_AT_PLUS_A")

    def at(points: np.ndarray) -> np.ndarray:
        inside = np.clip(points, 1e-9, SIDE - 1e-9).T
        return (basis.probes(inside) @ u).reshape(3, -1).T

    return at


def _identity(x):
    return np.eye(3)[:, :, None, None] * np.ones_like(x[0])


def _adjugate(f):
    return transpose(_cofactor_pair(f, f)) * 0.5


def _cofactor_change(f, d):
    return _cofactor_pair(f, d)


def _cofactor_pair(a, b):
    """The bilinear form whose half at a = b is the cofactor matrix."""
    out = np.empty(np.broadcast_shapes(a.shape, b.shape))
    for i in range(3):
        for j in range(3):
            i1, i2, j1, j2 = (i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3
            out[i, j] = a[i1, j1] * b[i2, j2] + b[i1, j1] * a[i2, j2] - a[i1, j2] * b[i2, j1] - b[i1, j2] * a[i2, j1]
    return out
