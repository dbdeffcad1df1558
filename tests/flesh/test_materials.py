"""Constants are checked, presets mean what they say, and the fibre curve is consistent with its energy."""

import numpy as np
import pytest

from vitruvian.errors import InputError
from vitruvian.flesh import (
    Fibre,
    corotated,
    mooney_rivlin,
    mooney_rivlin_from_moduli,
    neo_hookean,
    preset,
    venant_kirchhoff,
)
from vitruvian.flesh.fibre import fibre_tension
from vitruvian.flesh.materials import energy_density, stress, stress_derivative
from vitruvian.flesh.rotation import rotation_of, signed_svd

MAKERS = [mooney_rivlin_from_moduli, neo_hookean, corotated, venant_kirchhoff]


@pytest.mark.parametrize("make", MAKERS)
def test_small_strain_is_hookes_law(make):
    material = make(1e5, 0.35)
    assert material.young_modulus == pytest.approx(1e5)
    assert material.poisson_ratio == pytest.approx(0.35)
    assert stress(material, np.eye(3)) == pytest.approx(np.zeros((3, 3)), abs=1e-8)
    derivative = stress_derivative(material, np.eye(3))
    mu, lam = material.shear_modulus, material.bulk_modulus - 2.0 / 3.0 * material.shear_modulus
    eye = np.eye(3)
    hooke = lam * np.einsum("ij,kl->ijkl", eye, eye)
    hooke += mu * (np.einsum("ik,jl->ijkl", eye, eye) + np.einsum("il,jk->ijkl", eye, eye))
    assert derivative == pytest.approx(hooke, abs=1e-9 * material.bulk_modulus)


@pytest.mark.parametrize("make", MAKERS)
def test_inverted_gradients_have_finite_energy_and_stress(make):
    material = make(1e5, 0.4)
    turned_inside_out = np.diag([1.0, 1.0, -1.0])
    assert np.isfinite(energy_density(material, turned_inside_out))
    assert np.isfinite(stress(material, turned_inside_out)).all()
    assert np.isfinite(stress(material, np.zeros((3, 3)))).all()


def test_presets_carry_the_published_moduli():
    assert preset("lee").kappa == 10e6
    assert preset("si-thesis").kappa == 20e6
    assert preset("si-paper").kappa == 100e6
    assert {preset(n).shear_modulus for n in ("lee", "si-thesis", "si-paper")} == {160e3}
    with pytest.raises(InputError, match="si-paper"):
        preset("si-papr")


@pytest.mark.parametrize(
    ("young", "poisson", "word"),
    [
        (1e5, 0.5, "Poisson"),
        (1e5, 0.6, "Poisson"),
        (1e5, -0.2, "Poisson"),
        (1e5, 0.0, "Poisson"),
        (1e5, "a", "Poisson"),
        (-1.0, 0.3, "Young"),
        (np.inf, 0.3, "Young"),
    ],
)
def test_unphysical_moduli_are_refused(young, poisson, word):
    for make in MAKERS:
        with pytest.raises(InputError, match=word):
            make(young, poisson)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: mooney_rivlin(-1.0, 60e3, 1e7), "mu10"),
        (lambda: mooney_rivlin(20e3, np.nan, 1e7), "mu01"),
        (lambda: mooney_rivlin(0.0, 0.0, 1e7), "shear"),
        (lambda: mooney_rivlin(20e3, 60e3, -1e7), "bulk"),
        (lambda: mooney_rivlin(20e3, 60e3, np.inf), "bulk"),
        (lambda: mooney_rivlin(np.inf, 60e3, 1e6), "mu10 must be finite"),
        (lambda: mooney_rivlin(20e3, 60e3, 30e3), "Poisson's ratio .* these moduli give -0.033"),
        (lambda: mooney_rivlin("a", 1.0, 2.0), "mu10 must be a number, got 'a'"),
        (lambda: mooney_rivlin_from_moduli(1e5, 0.4, share=2.0), "share"),
        (lambda: neo_hookean(1e5, 0.3, density=0.0), "density"),
        (lambda: Fibre(peak_stress=-1.0), "fibre"),
        (lambda: Fibre(optimal_stretch=0.0), "fibre"),
    ],
)
def test_constants_that_no_tissue_has_are_refused_by_name(call, word):
    with pytest.raises(InputError, match=word):
        call()


def test_fibre_tension_is_the_derivative_of_its_energy_and_peaks_at_optimum():
    step = 1e-6
    for stretch in (0.5, 0.7, 1.0, 1.3, 1.5, 1.8, 2.1, 2.3):
        _, tension, slope = fibre_tension(stretch, 0.6, 3e5, 1.4)
        up, down = fibre_tension(stretch + step, 0.6, 3e5, 1.4), fibre_tension(stretch - step, 0.6, 3e5, 1.4)
        assert tension == pytest.approx((up[0] - down[0]) / (2 * step), rel=1e-6, abs=1e-3)
        assert slope == pytest.approx((up[1] - down[1]) / (2 * step), rel=1e-6, abs=1e-3)
    assert fibre_tension(1.4, 1.0, 3e5, 1.4)[1] == pytest.approx(3e5 / 1.4)
    assert fibre_tension(0.4, 1.0, 3e5, 1.4)[1] == 0.0


def test_signed_singular_values_rebuild_any_matrix():
    rng = np.random.default_rng(0)
    u, s, v = np.empty((3, 3)), np.empty(3), np.empty((3, 3))
    line = np.outer([1.0, 2.0, 3.0], [0.0, 1.0, 0.0])
    for f in [*rng.standard_normal((50, 3, 3)), np.zeros((3, 3)), line, np.diag([1.0, 1.0, -1.0]), np.eye(3)]:
        signed_svd(f, u, s, v)
        assert u @ np.diag(s) @ v.T == pytest.approx(f, abs=1e-12)
        for r in (u, v):
            assert r @ r.T == pytest.approx(np.eye(3), abs=1e-10)
            assert np.linalg.det(r) == pytest.approx(1.0)
        assert abs(s[0]) >= abs(s[1]) - 1e-12
    assert np.linalg.det(rotation_of(np.diag([1.0, 1.0, -0.5]))) == pytest.approx(1.0)
