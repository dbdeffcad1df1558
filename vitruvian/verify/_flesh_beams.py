"""Flesh, textbook answers: bar, cantilever, pressure, bending frequency."""

from __future__ import annotations

import numpy as np
from scipy.sparse import diags
from scipy.sparse.linalg import eigsh, spsolve

from vitruvian.flesh import (
    FleshSolver,
    Loads,
    Material,
    Settings,
    box_lattice,
    build_flesh,
    mooney_rivlin_from_moduli,
    rest_state,
    tangent,
)
from vitruvian.verify._flesh_common import (
    TIGHT,
    end_shares,
    free_stiffness,
    materials,
)
from vitruvian.verify.book import Finding, claim, worst


@claim
def axial_bar() -> Finding:
    """A bar of length L and area A under force F lengthens by FL/(AE), ratio."""
    young, h, counts = 1e5, 0.01, (2, 2, 12)
    lattice = box_lattice(counts, h)
    nodes = lattice.nodes
    fixed = np.stack([nodes[:, 0] < 1e-9, nodes[:, 1] < 1e-9, nodes[:, 2] < 1e-9], axis=1)  # rollers: free to thin
    model = build_flesh(lattice, mooney_rivlin_from_moduli(young, 0.45), fixed=fixed)
    area, length, pull = 4 * h * h, 12 * h, 1e-4
    force = np.zeros_like(nodes)
    force[:, 2] = pull * end_shares(nodes, 12 * h)
    state = rest_state(model)
    FleshSolver(model, TIGHT).equilibrium(state, Loads(force=force))
    end = nodes[:, 2] > length - 1e-9
    stretch = (state.x - nodes)[end, 2].mean()
    return Finding(stretch / (pull * length / (area * young)), 1.0, 1e-4, detail="nu 0.45, 2x2x12 cells, strain 2.5e-6")


def _cantilever_ratio(poisson: float, thick: int, *, clamped: bool = False) -> float:
    """Tip deflection over PL³/3EI of a 10:1 beam, `thick` cells thick.

    The root is held as beam theory means it: plane, but free to contract. Clamped rigidly, a nearly incompressible
    beam is stiffer than PL³/3EI by a percent or two whatever the mesh.
    """
    young, side = 1e6, 0.04
    h, length = side / thick, 10 * side
    lattice = box_lattice((thick, thick, 10 * thick), h)
    nodes = lattice.nodes
    root = nodes[:, 2] < 1e-9
    middle = [root & (np.abs(nodes[:, a] - side / 2) < 1e-9) for a in (0, 1)]
    held = root if clamped else np.stack([*middle, root], axis=1)
    model = build_flesh(lattice, mooney_rivlin_from_moduli(young, poisson), fixed=held)
    load = 1e-4
    force = np.zeros_like(nodes)
    force[:, 0] = load * end_shares(nodes, length)
    state = rest_state(model)
    settings = Settings(residual=1e-5, gap=1e-9, tolerance=1e-2, krylov=4000, newton=60)
    report = FleshSolver(model, settings).equilibrium(state, Loads(force=force))
    if not report.converged:
        return float("nan")
    tip = (state.x - nodes)[nodes[:, 2] > length - 1e-9, 0].mean()
    return float(tip / (load * length**3 / (3.0 * young * side**4 / 12.0)))


def _cantilever(poisson: float) -> Finding:
    ratios = [_cantilever_ratio(poisson, thick, clamped=held) for held in (False, True) for thick in (2, 4)]
    two, four, clamped_two, clamped_four = ratios
    detail = f"two cells thick {two:.4f}, four {four:.4f}; rigidly clamped {clamped_two:.4f}, {clamped_four:.4f}"
    return Finding(worst(ratios, 1.0), 1.0, 0.03, detail=detail)


@claim
def cantilever_nu_0_30() -> Finding:
    """Tip of a 10:1 cantilever over PL³/3EI at ν = 0.30, worst of two and four cells, root plane and clamped."""
    return _cantilever(0.30)


@claim
def cantilever_nu_0_45() -> Finding:
    """The same at ν = 0.45."""
    return _cantilever(0.45)


@claim
def cantilever_nu_0_49() -> Finding:
    """The same at ν = 0.49: plain trilinear cells lock here."""
    return _cantilever(0.49)


@claim
def cantilever_nu_0_499() -> Finding:
    """The same at ν = 0.499."""
    return _cantilever(0.499)


def _pure_bending_ratio(material: Material, thick: int, *, plane: bool) -> float:
    """Energy of a beam `thick` cells across on the exact bending field over theory's; plane: in plane strain."""
    h, count = 0.01, 6
    lattice = box_lattice((count, thick, thick), h, origin=(-0.5 * count * h, -0.5 * thick * h, -0.5 * thick * h))
    model = build_flesh(lattice, material)
    nu, young, side = material.poisson_ratio, material.young_modulus, thick * h
    x, y, z = lattice.nodes.T
    across = 0.0 if plane else nu
    thinner = nu / (1.0 - nu) if plane else nu
    u = np.stack([x * y, -0.5 * x**2 - 0.5 * thinner * y**2 + 0.5 * across * z**2, -across * y * z], axis=1).ravel()
    stored = 0.5 * float(u @ (tangent(model, rest_state(model)) @ u))
    return stored / (0.5 * young / (1.0 - nu**2 if plane else 1.0) * side**4 / 12.0 * count * h)


@claim
def two_cells_bend_right_in_every_material() -> Finding:
    """Energy of beams two cells across in pure bending over theory's, worst of four materials and three ν, free ones
    and in plane strain."""
    ratios = [
        _pure_bending_ratio(material, 2, plane=plane)
        for poisson in (0.2, 0.3, 0.49)
        for material in materials(1e6, poisson)
        for plane in (False, True)
    ]
    return Finding(worst(ratios, 1.0), 1.0, 1e-3, detail=f"{len(ratios)} beams, off by {abs(worst(ratios, 1.0) - 1):.1e}")


def _plane_strain_tip(material: Material, thick: int) -> float:
    """Tip of a 10:1 cantilever in plane strain, root plane but free to thin, over Timoshenko's."""
    side = 0.04
    h, length = side / thick, 10 * side
    lattice = box_lattice((thick, 1, 10 * thick), h)
    nodes = lattice.nodes
    root = nodes[:, 2] < 1e-9
    middle = root & (np.abs(nodes[:, 0] - side / 2) < 1e-9)
    held = np.stack([middle, np.ones(len(nodes), bool), root], axis=1)
    model = build_flesh(lattice, material, fixed=held)
    load = 1e-4 * h / side  # as for a beam as wide as thick
    force = np.zeros_like(nodes)
    force[:, 0] = load * end_shares(nodes, length)
    free = ~held.ravel()
    moved = np.zeros(nodes.size)
    moved[free] = spsolve(free_stiffness(model), force.ravel()[free])
    tip = moved.reshape(-1, 3)[nodes[:, 2] > length - 1e-9, 0].mean()
    stiff = material.young_modulus / (1.0 - material.poisson_ratio**2) * h * side**3 / 12.0
    shear = load * length / (5.0 / 6.0 * material.shear_modulus * h * side)
    return float(tip / (load * length**3 / (3.0 * stiff) + shear))


@claim
def cantilever_in_plane_strain() -> Finding:
    """Tip of a 10:1 cantilever in plane strain over Timoshenko's, worst of four materials, ν 0.3 and 0.49, two and four
    cells across."""
    ratios, detail = [], []
    for poisson in (0.3, 0.49):
        for material in materials(1e6, poisson):
            if material.mu_venant and poisson > 0.4:
                continue
            two, four = (_plane_strain_tip(material, n) for n in (2, 4))
            ratios += [two, four]
            detail.append(f"{material.name} {poisson}: {two:.4f}, {four:.4f}")
    return Finding(worst(ratios, 1.0), 1.0, 0.015, detail="; ".join(detail))


@claim
def cantilever_convergence_rate() -> Finding:
    """Order with which the cantilever's tip converges to Timoshenko's at ν = 0.45, from 4 to 8 cells thick."""
    bent = [_cantilever_ratio(0.45, n) for n in (2, 4, 8)]
    shear = 1.0 + 0.25 * 0.1**2 / (5.0 / 6.0) * 2.0 * (1.0 + 0.45)  # Timoshenko over Euler–Bernoulli, L/t = 10
    errors = [abs(ratio / shear - 1.0) for ratio in bent]
    rates = [float(np.log2(errors[i] / errors[i + 1])) for i in (0, 1)]
    listed = ", ".join(f"{e:.4f}" for e in errors)
    detail = f"errors {listed} with 2, 4, 8 cells; orders {rates[0]:.2f}, {rates[1]:.2f}"
    return Finding.within(rates[1], 1.5, 2.5, detail=detail)


@claim
def clamped_cantilever() -> Finding:
    """Tip of a rigidly clamped 10:1 cantilever over its limit of small cells, worst of two ν, two and four cells."""
    ratios, detail = [], []
    for poisson in (0.30, 0.499):
        two, four, eight = (_cantilever_ratio(poisson, n, clamped=True) for n in (2, 4, 8))
        limit = eight + (eight - four) / 3.0
        ratios += [two / limit, four / limit]
        detail.append(f"nu {poisson}: two cells {two / limit:.3f}, limit {limit:.3f} PL³/3EI")
    return Finding(worst(ratios, 1.0), 1.0, 0.03, detail="; ".join(detail))


@claim
def uniform_pressure() -> Finding:
    """A block under pressure p on all sides shrinks by ΔV/V = −p/K, ratio."""
    material = mooney_rivlin_from_moduli(1e5, 0.49)
    lattice = box_lattice((3, 3, 3), 0.02)
    nodes = lattice.nodes
    pressure = 1e-5 * material.bulk_modulus
    force = np.zeros_like(nodes)
    for axis in range(3):
        others = [b for b in range(3) if b != axis]
        for value, sign in ((nodes[:, axis].min(), 1.0), (nodes[:, axis].max(), -1.0)):
            face = np.flatnonzero(np.abs(nodes[:, axis] - value) < 1e-9)
            on_edge = sum(
                (
                    (np.abs(nodes[face, b] - nodes[:, b].min()) < 1e-9)
                    | (np.abs(nodes[face, b] - nodes[:, b].max()) < 1e-9)
                ).astype(int)
                for b in others
            )
            force[face, axis] += sign * pressure * 0.02**2 / 2.0**on_edge
    fixed = np.stack([nodes[:, a] < 1e-9 for a in range(3)], axis=1)
    model = build_flesh(lattice, material, fixed=fixed)
    state = rest_state(model)
    FleshSolver(model, TIGHT).equilibrium(state, Loads(force=force))
    size = state.x.max(axis=0) - state.x.min(axis=0)
    change = np.prod(size) / 0.06**3 - 1.0
    return Finding(-change * material.bulk_modulus / pressure, 1.0, 0.01, detail="nu 0.49, 27 cells")


@claim
def first_bending_frequency() -> Finding:
    """A 10:1 cantilever rings at (1.875²/2π)√(EI/(ρAL⁴)), ratio, four cells thick, lumped masses."""
    young, side, thick = 1e6, 0.04, 4
    material = mooney_rivlin_from_moduli(young, 0.45, density=1000.0)
    lattice = box_lattice((thick, thick, 10 * thick), side / thick)
    model = build_flesh(lattice, material, fixed=lattice.nodes[:, 2] < 1e-9)
    stiffness = free_stiffness(model)
    free = ~model.fixed.ravel()
    mass = diags(np.repeat(model.node_mass, 3)[free])
    lowest = eigsh(stiffness, k=2, M=mass.tocsc(), sigma=0.0, return_eigenvectors=False)
    found = np.sqrt(lowest.min()) / (2.0 * np.pi)
    expected = 1.8751041**2 / (2.0 * np.pi) * np.sqrt(young * side**4 / 12.0 / (1000.0 * side**2 * (10 * side) ** 4))
    return Finding(found / expected, 1.0, 0.03, detail=f"{found:.3f} Hz")


@claim
def first_bending_frequency_in_time() -> Finding:
    """The same from the zero crossings of a plucked beam stepped through time with backward Euler, ratio."""
    young, side, thick = 1e6, 0.04, 2
    material = mooney_rivlin_from_moduli(young, 0.45, density=1000.0)
    lattice = box_lattice((thick, thick, 10 * thick), side / thick)
    model = build_flesh(lattice, material, fixed=lattice.nodes[:, 2] < 1e-9)
    expected = 1.8751041**2 / (2.0 * np.pi) * np.sqrt(young * side**4 / 12.0 / (1000.0 * side**2 * (10 * side) ** 4))
    state = rest_state(model)
    height = lattice.nodes[:, 2] / (10 * side)
    state.v[:, 0] = 0.01 * height**2 * (3.0 - height) / 2.0  # the shape of a beam under a load at its tip
    dt = 1.0 / expected / 160.0
    solver = FleshSolver(model, Settings(residual=1e-7, gap=1e-7, tolerance=1e-2, krylov=1000))
    tip = lattice.nodes[:, 2] > 10 * side - 1e-9
    trace = [0.0]
    for _ in range(250):
        solver.step(state, Loads(), dt)
        trace.append(float((state.x - lattice.nodes)[tip, 0].mean()))
    values = np.array(trace)
    crossings = np.flatnonzero(values[1:-1] * values[2:] < 0.0) + 1
    times = (crossings + values[crossings] / (values[crossings] - values[crossings + 1])) * dt
    return Finding(
        0.5 / np.diff(times).mean() / expected, 1.0, 0.03, detail=f"{len(times)} zero crossings, 160 steps a period"
    )
