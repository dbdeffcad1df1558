"""What tissue is made of: elastic energies, their constants with sources, and the stress they give at a point.

All materials share one form, so that one assembly serves them all. With F the deformation gradient, J = det F,

    Ψ(F) = μ10 (I1 − 3) + μ01 (I2 − 3) + μc ‖F − R‖²   at the quadrature points   (R: rotation of F = R S)
         + μs E : E + λs/2 (tr E)²                                              (E = ½(FᵀF − 1))
    U(J̄) = κ/2 (J̄ − 1)² − p0 (J̄ − 1)                    once per cell, J̄ = mean of J over the cell's tissue

* Mooney–Rivlin (Si 2013, eq. 3.4): μ10, μ01; p0 = 2 μ10 + 4 μ01 makes the undeformed body stress free.
* Neo-Hookean: μ10 = μ/2, p0 = μ; without logarithm, so that it is defined for inverted cells (Smith et al. 2018).
* Corotated linear: μc = μ, κ = λ (Stomakhin et al. 2012).
* St. Venant–Kirchhoff: μs = μ, λs = λ, Lamé's, for benchmarks that ask for it. Its stress in compression falls again
  below a stretch of 1/√3, and its volume is counted at the points: no material for tissue, nor for ν near ½.

None of them divides by J. But for the last, volume counts through the cell mean, which is what keeps trilinear cells
from locking. Small-strain moduli: μ = 2 (μ10 + μ01) + μc + μs, K = κ − 2/3 μ10 + 4/3 μ01 + 2/3 (μc + μs) + λs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitruvian.errors import InputError, unknown_name
from vitruvian.flesh.rotation import rotation_of

# elasticity allows −1 < ν ≤ 0 too, but no tissue has it, and Lamé's λ, the κ of corotated tissue, is then not positive
LEAST_KAPPA = 1e-9  # κ/μ of a material that counts no volume through the cell mean; the solver divides by κ
POISSON = "Poisson's ratio of tissue must lie between 0 and 0.5 (both excluded)"


@dataclass(frozen=True)
class Material:
    """Constants of one tissue [Pa], and its density.

    Build with `mooney_rivlin`, `neo_hookean`, `corotated` or `venant_kirchhoff`.
    """

    name: str
    mu10: float
    mu01: float
    mu_corotated: float
    kappa: float
    rest_pressure: float  # p0
    density: float = 1060.0  # [kg/m³]; soft tissue, Duck 1990: muscle 1040-1090
    mu_venant: float = 0.0  # μs
    lambda_venant: float = 0.0  # λs

    def __post_init__(self) -> None:
        every = ("mu10", "mu01", "mu_corotated", "kappa", "rest_pressure", "density", "mu_venant", "lambda_venant")
        for name in every:
            require_number(self.name, name, getattr(self, name))
        for name in ("mu10", "mu01", "mu_corotated", "mu_venant", "lambda_venant"):
            if not 0.0 <= getattr(self, name) < np.inf:
                raise InputError(
                    f"material '{self.name}': {name} must be finite and not negative, got {getattr(self, name)} Pa"
                )
        if not self.shear_modulus > 0.0:
            raise InputError(f"material '{self.name}': the shear modulus must be positive")
        if not (0.0 < self.kappa < np.inf and self.bulk_modulus > 0.0):
            raise InputError(
                f"material '{self.name}': the bulk modulus must be positive and finite, got {self.kappa} Pa for kappa "
                f"and so {self.bulk_modulus:.4g} Pa at small strain"
            )
        if not self.poisson_ratio > 0.0:
            raise InputError(f"material '{self.name}': {POISSON}, and these moduli give {self.poisson_ratio:.4g}")
        if not 0.0 < self.density < np.inf:
            raise InputError(f"material '{self.name}': a density must be positive and finite, not {self.density} kg/m³")

    @property
    def shear_modulus(self) -> float:
        """Small-strain μ [Pa]."""
        return 2.0 * (self.mu10 + self.mu01) + self.mu_corotated + self.mu_venant

    @property
    def bulk_modulus(self) -> float:
        """Small-strain K [Pa]."""
        return self.kappa + self.point_bulk

    @property
    def point_bulk(self) -> float:
        """The part of K that counts at the quadrature points [Pa]; the other, κ, counts through the cell mean."""
        stiff = self.mu_corotated + self.mu_venant
        return (-2.0 * self.mu10 + 4.0 * self.mu01 + 2.0 * stiff) / 3.0 + self.lambda_venant

    @property
    def young_modulus(self) -> float:
        mu, bulk = self.shear_modulus, self.bulk_modulus
        return 9.0 * bulk * mu / (3.0 * bulk + mu)

    @property
    def poisson_ratio(self) -> float:
        mu, bulk = self.shear_modulus, self.bulk_modulus
        return (3.0 * bulk - 2.0 * mu) / (2.0 * (3.0 * bulk + mu))


def mooney_rivlin(mu10: float, mu01: float, kappa: float, *, density: float = 1060.0, name: str = "flesh") -> Material:
    """From Si's constants [Pa]."""
    for constant, value in (("mu10", mu10), ("mu01", mu01)):
        require_number(name, constant, value)
    return Material(name, mu10, mu01, 0.0, kappa, 2.0 * mu10 + 4.0 * mu01, density)


def neo_hookean(young: float, poisson: float, *, density: float = 1060.0, name: str = "neo-Hookean") -> Material:
    """From small-strain constants E [Pa] and ν."""
    mu, bulk = _moduli(name, young, poisson)
    return Material(name, 0.5 * mu, 0.0, 0.0, bulk + mu / 3.0, mu, density)


def mooney_rivlin_from_moduli(
    young: float, poisson: float, *, share: float = 0.75, density: float = 1060.0, name: str = "Mooney-Rivlin"
) -> Material:
    """From small-strain E [Pa] and ν, with μ01 taking `share` of the shear modulus (three quarters in Lee and Si)."""
    mu, bulk = _moduli(name, young, poisson)
    require_number(name, "share", share)
    if not 0.0 <= share <= 1.0:
        raise InputError(f"material '{name}': the share of mu01 must lie between 0 and 1, got {share}")
    mu01, mu10 = 0.5 * mu * share, 0.5 * mu * (1.0 - share)
    return mooney_rivlin(mu10, mu01, bulk + 2.0 / 3.0 * mu10 - 4.0 / 3.0 * mu01, density=density, name=name)


def corotated(young: float, poisson: float, *, density: float = 1060.0, name: str = "corotated") -> Material:
    """From small-strain constants E [Pa] and ν."""
    mu, bulk = _moduli(name, young, poisson)
    return Material(name, 0.0, 0.0, mu, bulk - 2.0 / 3.0 * mu, 0.0, density)


def venant_kirchhoff(
    young: float, poisson: float, *, density: float = 1060.0, name: str = "St. Venant-Kirchhoff"
) -> Material:
    """From small-strain constants E [Pa] and ν. For benchmarks: stress is linear in Green's strain."""
    mu, bulk = _moduli(name, young, poisson)
    return Material(
        name, 0.0, 0.0, 0.0, LEAST_KAPPA * mu, 0.0, density, mu_venant=mu, lambda_venant=bulk - 2.0 / 3.0 * mu
    )


def require_number(material: str, name: str, value: object) -> None:
    if not isinstance(value, (int, float, np.integer, np.floating)):
        raise InputError(f"material '{material}': {name} must be a number, got {value!r}")


PRESETS = {
    # Si 2013, section 3.2.2: μ10 20 kPa, μ01 60 kPa, κ 20 MPa
    "si-thesis": mooney_rivlin(20e3, 60e3, 20e6, name="si-thesis"),
    # Si, Lee, Sifakis and Terzopoulos 2014, appendix A: the same moduli, κ 100 MPa
    "si-paper": mooney_rivlin(20e3, 60e3, 100e6, name="si-paper"),
    # Lee 2008, section 5.2.3: the same moduli, κ 10 MPa
    "lee": mooney_rivlin(20e3, 60e3, 10e6, name="lee"),
    # a tenth of the published stiffness: E = 48 kPa at small strain, amid what indentation of relaxed limbs gives
    # (Zheng, Mak and Lue 1999: 10 to 89 kPa)
    "soft": mooney_rivlin(2e3, 6e3, 10e6, name="soft"),
}


def preset(name: str) -> Material:
    if name not in PRESETS:
        raise unknown_name("flesh material", name, PRESETS)
    return PRESETS[name]


def energy_density(material: Material, gradient: np.ndarray) -> float:
    """Ψ(F) + U(J) [J/m³] for a homogeneous cell; gradient: F, shape (3, 3)."""
    f = np.asarray(gradient, float)
    c = f.T @ f
    i1, i2 = np.trace(c), 0.5 * (np.trace(c) ** 2 - np.trace(c @ c))
    j = np.linalg.det(f)
    stretch, green = f - rotation_of(f), 0.5 * (c - np.eye(3))
    return float(
        material.mu10 * (i1 - 3.0)
        + material.mu01 * (i2 - 3.0)
        + material.mu_corotated * np.sum(stretch * stretch)
        + material.mu_venant * np.sum(green * green)
        + 0.5 * material.lambda_venant * np.trace(green) ** 2
        + 0.5 * material.kappa * (j - 1.0) ** 2
        - material.rest_pressure * (j - 1.0)
    )


def stress(material: Material, gradient: np.ndarray) -> np.ndarray:
    """First Piola–Kirchhoff stress P = ∂(Ψ + U)/∂F [Pa], shape (3, 3)."""
    f = np.asarray(gradient, float)
    j = np.linalg.det(f)
    pressure = material.kappa * (j - 1.0) - material.rest_pressure
    return (
        2.0 * material.mu10 * f
        + 2.0 * material.mu01 * (np.sum(f * f) * f - f @ f.T @ f)
        + 2.0 * material.mu_corotated * (f - rotation_of(f))
        + f @ _second_stress(material, f)
        + pressure * cofactor(f)
    )


def stress_derivative(material: Material, gradient: np.ndarray) -> np.ndarray:
    """∂P/∂F [Pa], shape (3, 3, 3, 3): entry (i, j, k, l) is ∂P_ij/∂F_kl."""
    f = np.asarray(gradient, float)
    eye = np.eye(3)
    j = np.linalg.det(f)
    pressure = material.kappa * (j - 1.0) - material.rest_pressure
    cof = cofactor(f)
    identity = np.einsum("ik,jl->ijkl", eye, eye)
    out = 2.0 * material.mu10 * identity
    out += (
        2.0
        * material.mu01
        * (
            np.sum(f * f) * identity
            + 2.0 * np.einsum("ij,kl->ijkl", f, f)
            - np.einsum("ik,lj->ijkl", eye, f.T @ f)
            - np.einsum("il,kj->ijkl", f, f)
            - np.einsum("ik,jl->ijkl", f @ f.T, eye)
        )
    )
    if material.mu_corotated:
        out += 2.0 * material.mu_corotated * (identity - _rotation_derivative(f))
    if material.mu_venant:
        out += np.einsum("ik,lj->ijkl", eye, _second_stress(material, f))
        out += material.mu_venant * (np.einsum("il,kj->ijkl", f, f) + np.einsum("ik,jl->ijkl", f @ f.T, eye))
        out += material.lambda_venant * np.einsum("ij,kl->ijkl", f, f)
    out += material.kappa * np.einsum("ij,kl->ijkl", cof, cof)
    out += pressure * np.einsum("ikm,jln,mn->ijkl", LEVI_CIVITA, LEVI_CIVITA, f)
    return out


def cofactor(f: np.ndarray) -> np.ndarray:
    """∂ det F/∂F."""
    return 0.5 * np.einsum("ikm,jln,kl,mn->ij", LEVI_CIVITA, LEVI_CIVITA, f, f)


def _second_stress(material: Material, f: np.ndarray) -> np.ndarray:
    """S = 2 μs E + λs tr(E) 1 [Pa] of the St. Venant–Kirchhoff part."""
    green = 0.5 * (f.T @ f - np.eye(3))
    return 2.0 * material.mu_venant * green + material.lambda_venant * np.trace(green) * np.eye(3)


def _rotation_derivative(f: np.ndarray) -> np.ndarray:
    """∂R/∂F of F = R S: δR = R [G⁻¹ axl(Rᵀ δF − δFᵀ R)]×, G = tr(S) 1 − S."""
    r = rotation_of(f)
    s = r.T @ f
    inverse = np.linalg.inv(np.trace(s) * np.eye(3) - s)
    out = np.empty((3, 3, 3, 3))
    for k in range(3):
        for l in range(3):
            change = np.outer(r[k], np.eye(3)[l])
            skew = change - change.T
            w = inverse @ np.array([skew[2, 1], skew[0, 2], skew[1, 0]])
            out[:, :, k, l] = r @ np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
    return out


def _moduli(name: str, young: float, poisson: float) -> tuple[float, float]:
    require_number(name, "Young's modulus", young)
    require_number(name, "Poisson's ratio", poisson)
    if not (young > 0.0 and np.isfinite(young)):
        raise InputError(f"material '{name}': Young's modulus must be positive, got {young} Pa")
    if not 0.0 < poisson < 0.5:
        raise InputError(f"material '{name}': {POISSON}, got {poisson}")
    return young / (2.0 * (1.0 + poisson)), young / (3.0 * (1.0 - 2.0 * poisson))


LEVI_CIVITA = np.zeros((3, 3, 3))
for _i, _j, _k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    LEVI_CIVITA[_i, _j, _k], LEVI_CIVITA[_i, _k, _j] = 1.0, -1.0
