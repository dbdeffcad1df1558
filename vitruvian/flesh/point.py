"""One point of any element: deformation, stress and stiffness, from the gradients of its k corners' shape functions.

With a, b the rest gradients of two corners, I1 = tr FᵀF and p̂ the pressure, the 3×3 block of the stiffness is

    μ10: 2(a·b) 1        μ01: 2[(I1 a·b − Fa·Fb) 1 + 2 Fa(Fb)ᵀ − Fb(Fa)ᵀ − (a·b) FFᵀ]        p̂: [F(a×b)]×ᵀ
    μc:  2[(a·b) 1 + R[a]×G⁻¹[b]×Rᵀ], G = tr(S) 1 − S            fibre: (a·w)(b·w)[T/λ 1 + (T′ − T/λ) nnᵀ]
    μs, λs: (a·Sb) 1 + μs[Fb(Fa)ᵀ + (a·b) FFᵀ] + λs Fa(Fb)ᵀ, S = 2 μs E + λs tr(E) 1

Blocks are added to the upper half of an element's matrix (3k, 3k); `projection` has them without negative curvature.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from vitruvian.flesh.fibre import fibre_tension
from vitruvian.flesh.rotation import signed_svd


@njit(cache=True)
def deformation(x, nodes, grads, f):
    """F = Σ x_a ⊗ ∇N_a into f (9,), row by row."""
    for i in range(9):
        f[i] = 0.0
    for c in range(len(grads)):
        n = nodes[c]
        for i in range(3):
            f[3 * i] += x[n, i] * grads[c, 0]
            f[3 * i + 1] += x[n, i] * grads[c, 1]
            f[3 * i + 2] += x[n, i] * grads[c, 2]


@njit(cache=True)
def cofactor_of(f, out):
    out[0] = f[4] * f[8] - f[5] * f[7]
    out[1] = f[5] * f[6] - f[3] * f[8]
    out[2] = f[3] * f[7] - f[4] * f[6]
    out[3] = f[2] * f[7] - f[1] * f[8]
    out[4] = f[0] * f[8] - f[2] * f[6]
    out[5] = f[1] * f[6] - f[0] * f[7]
    out[6] = f[1] * f[5] - f[2] * f[4]
    out[7] = f[2] * f[3] - f[0] * f[5]
    out[8] = f[0] * f[4] - f[1] * f[3]
    return f[0] * out[0] + f[1] * out[1] + f[2] * out[2]


@njit(cache=True)
def add_ratio_slope(share, cofactor, grads, g):
    """Add one point's share of ∂J̄/∂x to g (3k,)."""
    for a in range(len(grads)):
        for i in range(3):
            for j in range(3):
                g[3 * a + i] += share * cofactor[3 * i + j] * grads[a, j]


@njit(cache=True)
def add_stress(f, cofactor, moduli, hat, out):
    """Add P [Pa] of tissue and pressure to out (9,); returns Ψ [J/m³]. f, cofactor: row by row."""
    mu10, mu01, muc = moduli[0], moduli[1], moduli[2]
    i1, cc = 0.0, 0.0
    c = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            c[i, j] = f[i] * f[j] + f[3 + i] * f[3 + j] + f[6 + i] * f[6 + j]
            cc += c[i, j] ** 2
        i1 += c[i, i]
    for i in range(3):
        for j in range(3):
            turned = f[3 * i] * c[0, j] + f[3 * i + 1] * c[1, j] + f[3 * i + 2] * c[2, j]
            out[3 * i + j] += 2.0 * (mu10 + mu01 * i1) * f[3 * i + j] - 2.0 * mu01 * turned
            out[3 * i + j] += hat * cofactor[3 * i + j]
    energy = mu10 * (i1 - 3.0) + mu01 * (0.5 * (i1 * i1 - cc) - 3.0)
    if muc > 0.0:
        u, s, v, full = np.empty((3, 3)), np.empty(3), np.empty((3, 3)), np.empty((3, 3))
        for i in range(9):
            full[i // 3, i % 3] = f[i]
        signed_svd(full, u, s, v)
        for i in range(3):
            for j in range(3):
                turn = u[i, 0] * v[j, 0] + u[i, 1] * v[j, 1] + u[i, 2] * v[j, 2]
                out[3 * i + j] += 2.0 * muc * (full[i, j] - turn)
            energy += muc * (s[i] - 1.0) ** 2
    if moduli[7] > 0.0:
        energy += add_venant_stress(f, moduli[7], moduli[8], out)
    return energy


@njit(cache=True)
def second_stress(f, mu, lam, s):
    """S = 2 μs E + λs tr(E) 1 [Pa] into s (3, 3); returns the energy [J/m³]."""
    trace, square = 0.0, 0.0
    for i in range(3):
        for j in range(3):
            green = 0.5 * (f[i] * f[j] + f[3 + i] * f[3 + j] + f[6 + i] * f[6 + j])
            if i == j:
                green -= 0.5
                trace += green
            square += green * green
            s[i, j] = 2.0 * mu * green
    for i in range(3):
        s[i, i] += lam * trace
    return mu * square + 0.5 * lam * trace * trace


@njit(cache=True)
def add_venant_stress(f, mu, lam, out):
    """F S [Pa] to out (9,); returns the energy [J/m³]."""
    s = np.empty((3, 3))
    energy = second_stress(f, mu, lam, s)
    for i in range(3):
        for j in range(3):
            out[3 * i + j] += f[3 * i] * s[0, j] + f[3 * i + 1] * s[1, j] + f[3 * i + 2] * s[2, j]
    return energy


@njit(cache=True)
def add_venant(mu, lam, w, f, grads, out):
    """Stiffness of St. Venant–Kirchhoff tissue, of weight w [m³]."""
    s, left, pushed = np.empty((3, 3)), np.empty((3, 3)), np.empty((len(grads), 3))
    second_stress(f, mu, lam, s)
    for i in range(3):
        for j in range(3):
            left[i, j] = f[3 * i] * f[3 * j] + f[3 * i + 1] * f[3 * j + 1] + f[3 * i + 2] * f[3 * j + 2]
    for a in range(len(grads)):
        for i in range(3):
            pushed[a, i] = f[3 * i] * grads[a, 0] + f[3 * i + 1] * grads[a, 1] + f[3 * i + 2] * grads[a, 2]
    for a in range(len(grads)):
        for b in range(a, len(grads)):
            ab, asb = 0.0, 0.0
            for i in range(3):
                ab += grads[a, i] * grads[b, i]
                for j in range(3):
                    asb += grads[a, i] * s[i, j] * grads[b, j]
            for i in range(3):
                for j in range(3):
                    both = mu * (pushed[b, i] * pushed[a, j] + ab * left[i, j]) + lam * pushed[a, i] * pushed[b, j]
                    out[3 * a + i, 3 * b + j] += w * both
                out[3 * a + i, 3 * b + i] += w * asb


@njit(cache=True)
def add_fibre_stress(f, direction, density, activation, peak, optimal, out):
    """Add the stress [Pa] of fibres to out (9,); returns their energy [J/m³]."""
    n = np.empty(3)
    for i in range(3):
        n[i] = f[3 * i] * direction[0] + f[3 * i + 1] * direction[1] + f[3 * i + 2] * direction[2]
    stretch = np.sqrt(n[0] ** 2 + n[1] ** 2 + n[2] ** 2)
    stored, tension, _ = fibre_tension(stretch, activation, peak, optimal)
    if stretch > 0.0:
        for i in range(3):
            for j in range(3):
                out[3 * i + j] += density * tension / stretch * n[i] * direction[j]
    return density * stored


@njit(cache=True)
def add_elastic(mu10, mu01, hat, w, f, grads, out):
    """Mooney–Rivlin tissue and pressure, of weight w [m³]."""
    left, i1 = np.empty((3, 3)), 0.0  # F Fᵀ
    for i in range(3):
        for j in range(3):
            left[i, j] = f[3 * i] * f[3 * j] + f[3 * i + 1] * f[3 * j + 1] + f[3 * i + 2] * f[3 * j + 2]
        i1 += left[i, i]
    pushed = np.empty((len(grads), 3))  # F a
    for a in range(len(grads)):
        for i in range(3):
            pushed[a, i] = f[3 * i] * grads[a, 0] + f[3 * i + 1] * grads[a, 1] + f[3 * i + 2] * grads[a, 2]
    turn = np.empty(3)  # F (a × b)
    for a in range(len(grads)):
        a0, a1, a2 = grads[a, 0], grads[a, 1], grads[a, 2]
        for b in range(a, len(grads)):
            b0, b1, b2 = grads[b, 0], grads[b, 1], grads[b, 2]
            ab, uv = a0 * b0 + a1 * b1 + a2 * b2, 0.0
            c0, c1, c2 = a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0
            for i in range(3):
                uv += pushed[a, i] * pushed[b, i]
                turn[i] = w * hat * (f[3 * i] * c0 + f[3 * i + 1] * c1 + f[3 * i + 2] * c2)
            for i in range(3):
                for j in range(3):
                    both = 2.0 * pushed[a, i] * pushed[b, j] - pushed[b, i] * pushed[a, j] - ab * left[i, j]
                    out[3 * a + i, 3 * b + j] += 2.0 * w * mu01 * both
                out[3 * a + i, 3 * b + i] += 2.0 * w * (mu10 * ab + mu01 * (i1 * ab - uv))
                j, k = (i + 1) % 3, (i + 2) % 3
                out[3 * a + i, 3 * b + j] += turn[k]
                out[3 * a + j, 3 * b + i] -= turn[k]


@njit(cache=True)
def add_fibre(direction, density, activation, peak, optimal, w, f, grads, projected, out):
    """Stiffness of fibres; projected keeps only what resists: max(T′, 0) nnᵀ + max(T/λ, 0)(1 − nnᵀ)."""
    w0, w1, w2 = direction[0], direction[1], direction[2]
    n = np.empty(3)
    for i in range(3):
        n[i] = f[3 * i] * w0 + f[3 * i + 1] * w1 + f[3 * i + 2] * w2
    stretch = np.sqrt(n[0] ** 2 + n[1] ** 2 + n[2] ** 2)
    if stretch <= 0.0:
        return
    _, tension, slope = fibre_tension(stretch, activation, peak, optimal)
    across = density * tension / stretch
    along = density * slope
    if projected:
        along = max(along, 0.0)
    for i in range(3):
        n[i] /= stretch
    for a in range(len(grads)):
        wa = w * (grads[a, 0] * w0 + grads[a, 1] * w1 + grads[a, 2] * w2)
        for b in range(a, len(grads)):
            wab = wa * (grads[b, 0] * w0 + grads[b, 1] * w1 + grads[b, 2] * w2)
            for i in range(3):
                for j in range(3):
                    out[3 * a + i, 3 * b + j] += wab * (along - across) * n[i] * n[j]
                out[3 * a + i, 3 * b + i] += wab * across


@njit(cache=True)
def add_corotated(mu, u, v, inverse, w, grads, out):
    """2 μ w [(a·b) 1 + R [a]× G⁻¹ [b]× Rᵀ]; inverse: G⁻¹ in the rest frame."""
    r = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            r[i, j] = u[i, 0] * v[j, 0] + u[i, 1] * v[j, 1] + u[i, 2] * v[j, 2]
    left = np.empty((len(grads), 3, 3))  # R [a]×
    for a in range(len(grads)):
        x, y, z = grads[a, 0], grads[a, 1], grads[a, 2]
        for i in range(3):
            left[a, i, 0] = r[i, 1] * z - r[i, 2] * y
            left[a, i, 1] = r[i, 2] * x - r[i, 0] * z
            left[a, i, 2] = r[i, 0] * y - r[i, 1] * x
    for a in range(len(grads)):
        for b in range(a, len(grads)):
            ab = grads[a, 0] * grads[b, 0] + grads[a, 1] * grads[b, 1] + grads[a, 2] * grads[b, 2]
            for i in range(3):
                for j in range(3):
                    # [b]× Rᵀ = −(R [b]×)ᵀ
                    total = 0.0
                    for k in range(3):
                        for l in range(3):
                            total -= left[a, i, k] * inverse[k, l] * left[b, j, l]
                    if i == j:
                        total += ab
                    out[3 * a + i, 3 * b + j] += 2.0 * mu * w * total
