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
    reactions,
    rest_state,
    venant_kirchhoff,
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
    return Finding(worst(ratios[:2], 1.0), 1.0, 0.015, detail=detail)


@claim
def cantilever_nu_0_30() -> Finding:
    """Tip of a 10:1 cantilever over PL³/3EI at ν = 0.30, root plane, worst of two and four cells."""
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


def _tip(material: Material, thick: int, *, plane: bool) -> float:
    """Tip of a 10:1 cantilever over Timoshenko's, `thick` cells across; plane: in plane strain, one cell wide.

    The root is plane but free to contract. Small strain: one linear solve.
    """
    side = 0.04
    h, length, wide = side / thick, 10 * side, 1 if plane else thick
    lattice = box_lattice((thick, wide, 10 * thick), h)
    nodes = lattice.nodes
    root = nodes[:, 2] < 1e-9
    middle = [root & (np.abs(nodes[:, a] - size / 2) < 1e-9) for a, size in ((0, side), (1, wide * h))]
    held = np.stack([middle[0], np.ones(len(nodes), bool) if plane else middle[1], root], axis=1)
    model = build_flesh(lattice, material, fixed=held)
    load = 1e-4
    force = np.zeros_like(nodes)
    force[:, 0] = load * end_shares(nodes, length)
    free, moved = ~held.ravel(), np.zeros(nodes.size)
    moved[free] = spsolve(free_stiffness(model), force.ravel()[free])
    tip = moved.reshape(-1, 3)[nodes[:, 2] > length - 1e-9, 0].mean()
    young = material.young_modulus / (1.0 - material.poisson_ratio**2 if plane else 1.0)
    shear = load * length / (5.0 / 6.0 * material.shear_modulus * wide * h * side)
    return float(tip / (load * length**3 / (3.0 * young * wide * h * side**3 / 12.0) + shear))


def _tips(plane: bool) -> Finding:
    ratios, detail = [], []
    for poisson in (0.3, 0.49):
        for material in materials(1e6, poisson):
            two, four = (_tip(material, n, plane=plane) for n in (2, 4))
            ratios += [two, four]
            detail.append(f"{material.name} {poisson}: {two:.4f}, {four:.4f}")
    return Finding(worst(ratios, 1.0), 1.0, 0.01, detail="; ".join(detail))


@claim
def cantilever_of_every_material() -> Finding:
    """Tip of a 10:1 cantilever over Timoshenko's, four materials, ν 0.3 and 0.49, two and four cells across."""
    return _tips(False)


@claim
def cantilever_in_plane_strain() -> Finding:
    """The same in plane strain."""
    return _tips(True)


@claim
def cantilever_has_converged_with_two_cells() -> Finding:
    """Tip of the cantilever over Timoshenko's at ν = 0.45, worst of two, four and eight cells thick."""
    shear = 1.0 + 0.25 * 0.1**2 / (5.0 / 6.0) * 2.0 * (1.0 + 0.45)  # Timoshenko over Euler–Bernoulli, L/t = 10
    ratios = [_cantilever_ratio(0.45, n) / shear for n in (2, 4, 8)]
    return Finding(worst(ratios, 1.0), 1.0, 0.003, detail=", ".join(f"{r:.4f}" for r in ratios) + " with 2, 4, 8 cells")


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
def venant_kirchhoff_bar() -> Finding:
    """Force of a St. Venant–Kirchhoff bar over A E λ (λ² − 1)/2, free to the sides, stretched to 0.75, 1.3 and 2."""
    young, errors = 1e5, []
    lattice = box_lattice((2, 2, 4), 0.01)
    nodes = lattice.nodes
    end = nodes[:, 2] > 0.04 - 1e-9
    fixed = np.stack([nodes[:, 0] < 1e-9, nodes[:, 1] < 1e-9, (nodes[:, 2] < 1e-9) | end], axis=1)
    model = build_flesh(lattice, venant_kirchhoff(young, 0.3), fixed=fixed)
    for stretch in (0.75, 1.3, 2.0):
        state = rest_state(model)
        state.x[:, 2] *= stretch
        FleshSolver(model, TIGHT).equilibrium(state, Loads())
        force = float(reactions(model, state)[end, 2].sum())
        errors.append(abs(force / (4e-4 * young * stretch * (stretch**2 - 1.0) / 2.0) - 1.0))
    return Finding.error(worst(errors), 1e-6, detail="nu 0.3, 16 cells; nominal stress E λ (λ² − 1)/2")


@claim
def venant_kirchhoff_cantilever_bends_as_an_elastica() -> Finding:
    """Tip of a St. Venant–Kirchhoff cantilever under PL²/EI = 4, one cell across and 50 long, over Mattiasson's 1981.

    The elastica's tip goes 0.66996 L aside and 0.32894 L back (Mattiasson 1981), as Sze, Liu and Lo's shell benchmark
    of 2004 does with 6.698 and 3.286 of 10.
    """
    young, side, count = 1.2e6, 0.02, 50
    length = count * side
    lattice = box_lattice((1, 1, count), side)
    nodes = lattice.nodes
    end = nodes[:, 2] > length - 1e-9
    model = build_flesh(lattice, venant_kirchhoff(young, 0.3), fixed=nodes[:, 2] < 1e-9)
    load = 4.0 * young * side**4 / 12.0 / length**2
    state = rest_state(model)
    solver = FleshSolver(model, Settings(residual=1e-5, tolerance=1e-4, krylov=20000, newton=200, single=False))
    parts = 0
    for part in np.linspace(0.125, 1.0, 8):
        force = np.zeros_like(nodes)
        force[:, 0] = part * load * end_shares(nodes, length)
        report = solver.equilibrium(state, Loads(force=force))
        parts += report.newton
    aside, back = float((state.x - nodes)[end, 0].mean()), float((nodes - state.x)[end, 2].mean())
    ratios = [aside / (0.66996 * length), back / (0.32894 * length)]
    detail = f"aside {aside / length:.4f} L, back {back / length:.4f} L; 8 load steps, {parts} Newton steps"
    return Finding(worst(ratios, 1.0) if report.converged else np.nan, 1.0, 0.01, detail=detail)


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
